// td_torch.hpp: tensors of a C++ host in handles, and back.
#include "tensordict/td_torch.hpp"

#include "td_test.h"

namespace {

// What `call` says when it throws; "" when it does not.
template <class Call>
std::string refusal(Call &&call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

}  // namespace

TD_TEST(share_memory_both_ways) {
  const at::Tensor tensor = at::arange(12, at::kFloat).view({3, 4}).t();
  td_tensor *handle = td_torch::to_handle(tensor);
  const at::Tensor back = td_torch::from_handle(handle);
  td_tensor_free(handle);
  TD_CHECK(back.data_ptr() == tensor.data_ptr());
  TD_CHECK(back.sizes() == tensor.sizes() && back.strides() == tensor.strides());
  back[0][1] = 100;
  TD_CHECK(tensor[0][1].item<float>() == 100);
}

TD_TEST(dictionaries_of_a_batch_size) {
  using Sizes = std::vector<std::int64_t>;
  const at::Tensor rows = at::zeros({6, 4});
  TD_CHECK(td_torch::Dict({6}).batch_size() == Sizes({6}));
  TD_CHECK(td_torch::Dict({0}).batch_size() == Sizes({0}));
  TD_CHECK(td_torch::Dict({2, 3}).batch_size() == Sizes({2, 3}));
  TD_CHECK(td_torch::Dict({}).batch_size().empty());
  TD_CHECK(td_torch::Dict(rows.sizes().slice(0, 1)).batch_size() == Sizes({6}));
}

TD_TEST(keep_what_they_lend) {
  td_tensor *handle = td_torch::to_handle(at::full({2}, 7, at::kInt));
  at::Tensor back = td_torch::from_handle(handle);
  td_tensor_free(handle);
  TD_CHECK(td_debug_live_handles() == 1);
  TD_CHECK(back.sum().item<int>() == 14);
  back = at::Tensor();
  TD_CHECK(td_debug_live_handles() == 0);
}

TD_TEST(every_dtype) {
  for (const auto &row : td_torch::detail::dtypes) {
    const at::Tensor tensor = at::zeros({2}, row.type);
    td_tensor *handle = td_torch::to_handle(tensor);
    td_dtype dtype = TD_DTYPE_OTHER;
    TD_DO(td_tensor_dtype(handle, &dtype));
    TD_CHECK_INT(dtype, row.number);
    const at::Tensor back = td_torch::from_handle(handle);
    td_tensor_free(handle);
    TD_CHECK(back.scalar_type() == row.type && back.data_ptr() == tensor.data_ptr());
  }
}

TD_TEST(nothing_to_point_at) {
  td_tensor *handle = td_torch::to_handle(at::empty({0, 3}));
  TD_CHECK(td_torch::from_handle(handle).sizes() == at::IntArrayRef({0, 3}));
  td_tensor_free(handle);
}

TD_TEST(refuse_what_memory_does_not_hold) {
  const at::Tensor complex = at::complex(at::ones({2}), at::ones({2}));
  TD_CHECK_TEXT(refusal([&] { td_torch::to_handle(complex.conj()); }).c_str(),
                "does not lie in memory");
  TD_CHECK_TEXT(refusal([&] { td_torch::to_handle(at::imag(complex.conj())); }).c_str(),
                "does not lie in memory");
  TD_CHECK_TEXT(refusal([&] { td_torch::to_handle(at::eye(2).to_sparse()); }).c_str(),
                "does not lie in memory");
  TD_CHECK_TEXT(refusal([&] {
                  td_torch::to_handle(at::quantize_per_tensor(at::ones({2}), 1, 0, at::kQInt8));
                }).c_str(),
                "dtype without a number");
  TD_CHECK_TEXT(refusal([&] { td_torch::to_handle(at::empty({2}, at::kMeta)); }).c_str(),
                "no memory");
  td_tensor *handle = td_torch::to_handle(complex.conj().resolve_conj());
  TD_CHECK(at::imag(td_torch::from_handle(handle)).sum().item<float>() == -2);
  td_tensor_free(handle);
}
