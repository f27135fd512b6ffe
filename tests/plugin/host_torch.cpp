// A host that uses libtorch itself: what it has set stays as it is, whatever the library does.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "td_test.h"

namespace {

struct Settings {
  caffe2::TypeMeta dtype = c10::get_default_dtype();
  bool grad = at::GradMode::is_enabled();
  int threads = at::get_num_threads();
  uint64_t seed = at::globalContext().defaultGenerator(at::kCPU).current_seed();
  bool deterministic = at::globalContext().deterministicAlgorithms();
  c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();

  bool operator==(const Settings &other) const {
    return dtype == other.dtype && grad == other.grad && threads == other.threads &&
           seed == other.seed && deterministic == other.deterministic &&
           keys.included_ == other.keys.included_ && keys.excluded_ == other.keys.excluded_;
  }
};

td_status fail(void *, const char *const *, size_t, const td_tensor *, td_tensor **) {
  return -10001;
}

void work() {
  const int64_t sizes[2] = {3, 2};
  const char *const path[2] = {"agent", "observation"};
  td_tensordict *td = nullptr, *other = nullptr;
  td_tensor *tensor = nullptr;
  TD_DO(td_create(sizes, 1, TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensor_zeros(sizes, 2, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &tensor));
  TD_DO(td_set(td, path, 2, tensor));
  td_tensor_free(tensor);
  const td_tensordict *both[2] = {td, td};
  TD_DO(td_stack(both, 2, 0, &other));
  td_free(other);
  TD_DO(td_memmap(td, td_test_folder(), nullptr, &other));
  td_free(other);
  TD_DO(td_to_device(td, TD_DEVICE_META, -1, nullptr, &other));
  td_free(other);
  TD_EXPECT(td_apply(td, nullptr, fail, nullptr, &other), -10001);
  TD_EXPECT(td_squeeze(td, 7, &other), TD_ERR_INDEX);
  td_free(td);
}

void check_unchanged() {
  const Settings before;
  work();
  TD_CHECK(Settings() == before);
  TD_CHECK(td_set_grad_enabled(1) == 0);
  TD_CHECK(Settings() == before);
  work();
  TD_CHECK(Settings() == before);
  TD_CHECK(td_set_grad_enabled(0) == 1);
  TD_CHECK(Settings() == before);
}

}  // namespace

TD_TEST(settings_as_libtorch_has_them) { check_unchanged(); }

TD_TEST(settings_as_the_host_made_them) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_current_seed(1234);
  c10::set_default_dtype(caffe2::TypeMeta::fromScalarType(at::kDouble));
  at::set_num_threads(1);
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::GradMode::set_enabled(false);
  check_unchanged();
  at::GradMode::set_enabled(true);
  check_unchanged();
}

// The mode was taken for unchanged when the callback had set it to what the host's was.
TD_TEST(settings_when_a_callback_asks_for_gradients) {
  const auto turn = [](void *wanted, const char *const *, size_t, const td_tensor *source,
                       td_tensor **result) -> td_status {
    td_set_grad_enabled(*static_cast<int32_t *>(wanted));
    return td_tensor_dup(source, result);
  };
  const int64_t size = 2;
  const char *const path[1] = {"a"};
  td_tensordict *td = nullptr, *result = nullptr;
  td_tensor *tensor = nullptr;
  TD_DO(td_create(&size, 1, TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensor_zeros(&size, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor));
  TD_DO(td_set(td, path, 1, tensor));
  td_tensor_free(tensor);
  for (const bool host : {false, true}) {
    for (int32_t before : {0, 1}) {
      int32_t wanted = 1 - before;
      at::GradMode::set_enabled(host);
      td_set_grad_enabled(before);
      TD_DO(td_apply(td, nullptr, turn, &wanted, &result));
      td_free(result);
      TD_CHECK_INT(at::GradMode::is_enabled(), host);
      TD_CHECK_INT(td_set_grad_enabled(0), wanted);
    }
  }
  td_free(td);
}
