// tensordict/td_host.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include <ATen/ATen.h>

namespace {

// Host and library share a TensorImpl only if they were built for the same libtorch.
void require_version(int32_t torch_version) {
  constexpr int32_t ours = 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR;
  if (torch_version != ours) {
    td::fail(td::Code::version, "the host was built for libtorch ", torch_version / 10000, ".",
             torch_version / 100 % 100, ", this library for ", TORCH_VERSION_MAJOR, ".",
             TORCH_VERSION_MINOR);
  }
}

}  // namespace

td_status td_tensor_from_torch(void* impl, int32_t torch_version, td_tensor** result) noexcept {
  return give_plain(__func__, result, [&] {
    not_null(impl, "impl");
    require_version(torch_version);
    return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
        static_cast<c10::TensorImpl*>(impl)));
  });
}

td_status td_tensor_to_torch(const td_tensor* tensor, int32_t torch_version,
                             void** result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = nullptr;
    require_version(torch_version);
    *result = in(tensor)->unsafeGetTensorImpl();
  });
}

td_status td_tensor_to_torch_tensor(const td_tensor* tensor, int32_t torch_version,
                                    void** result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = nullptr;
    require_version(torch_version);
    *result = new at::Tensor(in(tensor));
  });
}
