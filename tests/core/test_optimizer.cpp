// The optimiser's steps, in which small parameters go through libtorch side by side, against libtorch's own over the same
// parameters: the bits are the same.
#include "trees.h"

#include "core/nn/optimizer.h"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cstring>
#include <random>

namespace td {
namespace {

using namespace test;

struct Params {
  TensorDict td = dict({});
  std::vector<at::Tensor> own, theirs;
};

Params some_params() {
  at::manual_seed(3);
  Params params;
  const std::vector<std::vector<std::int64_t>> shapes = {
      {7},    {64, 3}, {1}, {5, 5, 5}, {31}, {},   {200, 200}, {2, 9},
      {1000}, {64},    {0}, {129, 31}, {3},  {17}, {8, 8}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const at::ScalarType dtype = i % 4 == 3 ? at::kDouble : at::kFloat;
    at::Tensor one = at::randn(shapes[i]).to(dtype);
    if (i == 7) one = one.t();
    params.own.push_back(one.clone().requires_grad_());
    params.theirs.push_back(one.clone().requires_grad_());
    params.td.set({"k" + std::to_string(i)}, params.own.back());
  }
  return params;
}

// In some steps some parameters have no gradient, so that they have taken fewer steps than others.
void set_gradients(Params& params, std::mt19937& random, int step) {
  for (std::size_t i = 0; i < params.own.size(); ++i) {
    const bool has = step < 2 || random() % 4 != 0;
    at::Tensor gradient = at::randn(params.own[i].sizes()).to(params.own[i].scalar_type());
    if (i == 1) gradient = gradient.t().contiguous().t();
    params.own[i].mutable_grad() = has ? gradient : at::Tensor();
    params.theirs[i].mutable_grad() = has ? gradient.clone() : at::Tensor();
  }
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor one = a.detach().contiguous(), other = b.detach().contiguous();
  return one.nbytes() == other.nbytes() &&
         (one.nbytes() == 0 || std::memcmp(one.data_ptr(), other.data_ptr(), one.nbytes()) == 0);
}

template <class Torch, class Options>
void expect_same_steps(const OptimizerOptions& options, const Options& theirs) {
  Params params = some_params();
  Optimizer own(params.td, options);
  Torch torch(params.theirs, theirs);
  std::mt19937 random(7);
  for (int step = 0; step < 6; ++step) {
    set_gradients(params, random, step);
    const std::int64_t before = static_cast<std::int64_t>(params.own[0]._version());
    own.step();
    torch.step();
    EXPECT_EQ(params.own[0]._version() > before, params.own[0].grad().defined());
    for (std::size_t i = 0; i < params.own.size(); ++i)
      ASSERT_TRUE(same_bits(params.own[i], params.theirs[i])) << "k" << i << " in step " << step;
    if (step == 3) own.load_state(own.state());
  }
  EXPECT_EQ(torch.state().size(), params.own.size());
  std::int64_t with_state = 0;
  const TensorDict state = own.state();
  for (std::size_t i = 0; i < params.own.size(); ++i)
    with_state += state.kind_of({"k" + std::to_string(i)}) == EntryKind::dict;
  EXPECT_EQ(with_state, static_cast<std::int64_t>(params.own.size()));
}

TEST(Optimizer, StepsAreThoseOfAdam) {
  OptimizerOptions options(OptimizerKind::adam);
  expect_same_steps<torch::optim::Adam>(options, torch::optim::AdamOptions(1e-3));
  options.amsgrad = true;
  options.weight_decay = 0.01;
  expect_same_steps<torch::optim::Adam>(
      options, torch::optim::AdamOptions(1e-3).amsgrad(true).weight_decay(0.01));
}

TEST(Optimizer, StepsAreThoseOfAdamW) {
  expect_same_steps<torch::optim::AdamW>(OptimizerOptions(OptimizerKind::adamw),
                                         torch::optim::AdamWOptions(1e-3));
}

TEST(Optimizer, StepsAreThoseOfSgd) {
  OptimizerOptions options(OptimizerKind::sgd);
  options.lr = 0.1;
  options.momentum = 0.9;
  options.dampening = 0.3;
  expect_same_steps<torch::optim::SGD>(options,
                                       torch::optim::SGDOptions(0.1).momentum(0.9).dampening(0.3));
  options.dampening = 0;
  options.nesterov = true;
  expect_same_steps<torch::optim::SGD>(options,
                                       torch::optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
}

// Parameters that share memory are changed one after the other, as libtorch does.
TEST(Optimizer, ParametersThatShareMemory) {
  const auto make = [](TensorDict* td) {
    std::vector<at::Tensor> params;
    const at::Tensor memory = at::arange(12, at::kFloat);
    for (std::int64_t i = 0; i < 4; ++i) {
      params.push_back(memory.narrow(0, 2 * i, 4).detach().requires_grad_());
      params.back().mutable_grad() = at::full({4}, 1 + i, at::kFloat);
      if (td != nullptr) td->set({"k" + std::to_string(i)}, params.back());
    }
    return params;
  };
  TensorDict td = dict({});
  const std::vector<at::Tensor> own = make(&td), theirs = make(nullptr);
  OptimizerOptions options(OptimizerKind::sgd);
  options.lr = 0.5;
  Optimizer(td, options).step();
  torch::optim::SGD(theirs, torch::optim::SGDOptions(0.5)).step();
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_TRUE(same_bits(own[i], theirs[i]));
}

}  // namespace
}  // namespace td
