// td_module.hpp: parameters of a torch::nn::Module as a dictionary, and back for a while.
#include "tensordict/td_module.hpp"

#include "td_test.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

namespace {

using td_torch::Dict;
using td_torch::ToModule;

// Linear(3, 4) > BatchNorm > Linear(4, 2)
torch::nn::Sequential model() {
  return torch::nn::Sequential(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4),
                               torch::nn::Linear(4, 2));
}

at::Tensor entry(const Dict &td, const td_torch::detail::Names &names) {
  return td_torch::detail::get(td.handle(), names);
}

// Copies of all, filled with one value.
Dict filled(const Dict &like, double value) {
  td_tensordict *raw = nullptr;
  TD_DO(td_clone(like.handle(), 0, &raw));
  Dict result(raw);
  for (const auto &names : td_torch::detail::leaves(raw)) {
    td_torch::detail::put(raw, names, at::full_like(entry(result, names).detach(), value));
  }
  return result;
}

template <class Call>
std::string refusal(Call &&call) {
  try {
    call();
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

}  // namespace

TD_TEST(parameters_and_buffers_are_the_very_ones) {
  auto net = model();
  const Dict params = td_torch::from_module(*net);
  const auto names = td_torch::detail::leaves(params.handle());
  TD_CHECK_INT(names.size(), 9); /* 2 + 2 + 2 and 3 buffers */
  TD_CHECK(entry(params, {"0", "weight"}).is_same(net[0]->named_parameters()["weight"]));
  TD_CHECK(entry(params, {"1", "running_mean"}).is_same(net[1]->named_buffers()["running_mean"]));
  TD_CHECK(entry(params, {"0", "weight"}).requires_grad());
  size_t dims = 99;
  TD_DO(td_batch_size(params.handle(), nullptr, 0, &dims));
  TD_CHECK_INT(dims, 0);
}

TD_TEST(values_are_there_while_the_guard_lives) {
  auto net = model();
  net->eval();
  const Dict params = td_torch::from_module(*net);
  const Dict zeros = filled(params, 0);
  const at::Tensor x = at::ones({5, 3});
  const at::Tensor weight = net[0]->named_parameters()["weight"];
  const void *memory = weight.data_ptr();
  const at::Tensor expected = net->forward(x);
  {
    const ToModule guard(zeros.handle(), *net);
    TD_CHECK(net->forward(x).abs().sum().item<float>() == 0);
    const Dict before = guard.before();
    TD_CHECK(entry(before, {"0", "weight"}).data_ptr() == memory);
  }
  TD_CHECK(weight.data_ptr() == memory);
  TD_CHECK(net[0]->named_parameters()["weight"].is_same(weight));
  TD_CHECK(net->forward(x).equal(expected));
}

TD_TEST(an_exception_gives_back_what_was_there) {
  torch::nn::Linear net(2, 2);
  const at::Tensor values = net->weight.detach().clone();
  const Dict ones = filled(td_torch::from_module(*net), 1);
  try {
    const ToModule guard(ones.handle(), *net);
    TD_CHECK(net->weight.sum().item<float>() == 4);
    throw 5;
  } catch (int) {
  }
  TD_CHECK(net->weight.equal(values));
}

TD_TEST(guards_inside_each_other) {
  torch::nn::Linear net(2, 2);
  const at::Tensor values = net->weight.detach().clone();
  const Dict params = td_torch::from_module(*net);
  const Dict ones = filled(params, 1), twos = filled(params, 2);
  {
    const ToModule outer(ones.handle(), *net);
    {
      const ToModule inner(twos.handle(), *net);
      TD_CHECK(net->weight.sum().item<float>() == 8);
    }
    TD_CHECK(net->weight.sum().item<float>() == 4);
    const ToModule itself(params.handle(), *net);  // nothing to do
    TD_CHECK(net->weight.sum().item<float>() == 4);
  }
  TD_CHECK(net->weight.equal(values));
}

TD_TEST(gradients_go_to_the_dictionary) {
  torch::nn::Linear net(2, 1);
  const Dict ones = filled(td_torch::from_module(*net), 1);
  TD_DO(td_set_requires_grad(ones.handle(), 1));
  at::Tensor late;
  {
    const ToModule guard(ones.handle(), *net);
    net->forward(at::full({1, 2}, 3.0)).sum().backward();
    const at::Tensor x = at::ones({1, 2}).requires_grad_();
    late = net->forward(x).sum();
  }
  TD_CHECK(!net->weight.grad().defined());
  TD_CHECK(entry(ones, {"weight"}).grad().equal(at::full({1, 2}, 3.0)));
  // The memory that the late one was computed with is no longer there.
  bool refused = false;
  try {
    late.backward();
  } catch (const c10::Error &) {
    refused = true;
  }
  TD_CHECK(refused);
  net->forward(at::ones({1, 2})).sum().backward();
  TD_CHECK(net->weight.grad().equal(at::ones({1, 2})));
  TD_CHECK(entry(ones, {"weight"}).grad().equal(at::full({1, 2}, 3.0)));
}

TD_TEST(a_part_of_a_model_and_a_part_of_its_parameters) {
  auto net = model();
  const Dict params = td_torch::from_module(*net);
  td_tensordict *raw = nullptr;
  const char *path[] = {"2"};
  TD_DO(td_get_dict(params.handle(), path, 1, &raw));
  const Dict last(raw);
  Dict ones = filled(last, 1);
  const char *bias[] = {"bias"};
  TD_DO(td_remove(ones.handle(), bias, 1));
  const auto linear = net[2]->as<torch::nn::Linear>();
  const at::Tensor kept = linear->bias.detach().clone();
  const ToModule guard(ones.handle(), *linear);
  TD_CHECK(linear->weight.sum().item<float>() == 8);
  TD_CHECK(linear->bias.equal(kept));
}

TD_TEST(what_does_not_fit_changes_nothing) {
  torch::nn::Linear net(2, 2);
  const at::Tensor values = net->weight.detach().clone();
  Dict other = filled(td_torch::from_module(*net), 1);
  td_torch::detail::put(other.handle(), {"weigth"}, at::zeros({2, 2}));
  TD_CHECK_TEXT(refusal([&] { ToModule(other.handle(), *net); }).c_str(), "weigth");
  TD_CHECK_TEXT(refusal([&] { td_torch::copy_to_module(other.handle(), *net); }).c_str(), "weigth");
  other = filled(td_torch::from_module(*net), 1);
  td_torch::detail::put(other.handle(), {"bias"}, at::zeros({3}));
  TD_CHECK_TEXT(refusal([&] { ToModule(other.handle(), *net); }).c_str(), "bias");
  TD_CHECK_TEXT(refusal([&] { td_torch::copy_to_module(other.handle(), *net); }).c_str(), "bias");
  td_torch::detail::put(other.handle(), {"bias"}, at::zeros({2}, at::kDouble));
  TD_CHECK_TEXT(refusal([&] { ToModule(other.handle(), *net); }).c_str(), "bias");
  TD_CHECK(net->weight.equal(values));
}

TD_TEST(values_can_be_written_for_good) {
  torch::nn::Linear net(2, 2);
  const at::Tensor weight = net->weight;
  const Dict ones = filled(td_torch::from_module(*net), 1);
  td_torch::copy_to_module(ones.handle(), *net);
  TD_CHECK(weight.is_same(net->weight) && weight.sum().item<float>() == 4);
  TD_CHECK(weight.requires_grad());
}

TD_TEST(tied_parameters_stay_one) {
  struct Tied : torch::nn::Module {
    Tied() {
      one = register_module("one", std::make_shared<torch::nn::LinearImpl>(2, 2));
      two = register_module("two", one);
    }
    std::shared_ptr<torch::nn::LinearImpl> one, two;
  };
  Tied net;
  const at::Tensor values = net.one->weight.detach().clone();
  const Dict params = td_torch::from_module(net);
  TD_CHECK(entry(params, {"one", "weight"}).is_same(entry(params, {"two", "weight"})));
  const Dict ones = filled(params, 1);
  {
    const ToModule guard(ones.handle(), net);
    TD_CHECK(net.two->weight.sum().item<float>() == 4);
  }
  TD_CHECK(net.one->weight.equal(values));
}

TD_TEST(an_ensemble_lies_side_by_side) {
  std::vector<std::shared_ptr<torch::nn::Module>> nets;
  for (int i = 0; i < 3; i++) nets.push_back(std::make_shared<torch::nn::LinearImpl>(2, 2));
  const Dict all = td_torch::from_modules(nets);
  int64_t size = 0;
  size_t dims = 0;
  TD_DO(td_batch_size(all.handle(), &size, 1, &dims));
  TD_CHECK_INT(size, 3);
  TD_CHECK(entry(all, {"weight"}).requires_grad() && entry(all, {"weight"}).is_leaf());
  TD_CHECK(entry(all, {"weight"})[1].equal(nets[1]->named_parameters()["weight"]));
  td_index_item item = {};
  item.kind = TD_INDEX_INT;
  item.start = 2;
  td_tensordict *raw = nullptr;
  TD_DO(td_index(all.handle(), &item, 1, &raw));
  const Dict last(raw);
  const ToModule guard(last.handle(), *nets[0]);
  TD_CHECK(nets[0]->named_parameters()["weight"].equal(nets[2]->named_parameters()["weight"]));
}

TD_TEST(as_the_guide_says) {
  // [swap]
  torch::nn::Linear net(2, 1);
  const Dict params = td_torch::from_module(*net);  // its own tensors: "weight" and "bias"
  td_tensordict *copy = nullptr;
  td_torch::check(td_clone(params.handle(), 0, &copy));
  const Dict slow(copy);  // another set of parameters, say a target network
  {
    const ToModule guard(slow.handle(), *net);
    net->forward(at::ones({1, 2}));  // computes with `slow`
  }  // and from here on with its own again, whatever happened in between
  // [/swap]
  TD_CHECK(entry(params, {"weight"}).is_same(net->weight));
}

TD_TEST(a_host_of_another_libtorch_is_refused) {
  const at::Tensor tensor = at::ones({2});
  td_tensor *handle = nullptr, *refused = nullptr;
  void *impl = TD_POISON;
  const int32_t wrong = td_torch::host_torch + 100;
  TD_DO(td_tensor_from_torch(tensor.unsafeGetTensorImpl(), td_torch::host_torch, &handle));
  TD_EXPECT(td_tensor_to_torch(handle, wrong, &impl), TD_ERR_VERSION);
  TD_CHECK(impl == nullptr);
  TD_EXPECT(td_tensor_from_torch(tensor.unsafeGetTensorImpl(), wrong, &refused), TD_ERR_VERSION);
  TD_CHECK(refused == nullptr);
  TD_DO(td_tensor_to_torch(handle, td_torch::host_torch, &impl));
  TD_CHECK(impl == tensor.unsafeGetTensorImpl());
  TD_EXPECT(td_tensor_to_torch_tensor(handle, wrong, &impl), TD_ERR_VERSION);
  TD_CHECK(impl == nullptr);
  td_tensor_free(handle);
}

TD_TEST(a_host_gets_a_tensor_of_its_own) {
  const at::Tensor tensor = at::ones({2}, at::requires_grad());
  td_tensor *handle = nullptr;
  void *made = nullptr;
  TD_DO(td_tensor_from_torch(tensor.unsafeGetTensorImpl(), td_torch::host_torch, &handle));
  TD_DO(td_tensor_to_torch_tensor(handle, td_torch::host_torch, &made));
  td_tensor_free(handle);
  const std::unique_ptr<at::Tensor> own(static_cast<at::Tensor *>(made));
  TD_CHECK(own->is_same(tensor));
  TD_CHECK(tensor.use_count() == 2);
}
