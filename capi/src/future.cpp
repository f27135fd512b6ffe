// tensordict/td_future.h
#include "future_handle.h"
#include "give.h"
#include "guard.h"
#include "memmap_options.h"

#include <cmath>

namespace capi {

std::function<void(const std::function<void()>&)> like_this_thread() {
  return [grad = grad_wanted](const std::function<void()>& work) {
    grad_wanted = grad;
    const CallScope scope;
    work();
  };
}

}  // namespace capi

td_status td_memmap_async(const td_tensordict* td, const char* dir,
                          const td_memmap_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return td::memmap_start(in(td), capi::dir_in(dir), capi::memmap_options_in(options),
                            capi::like_this_thread());
  });
}

td_status td_future_wait(const td_future* future, int64_t timeout_ms, int32_t* done) noexcept {
  return guard_plain(__func__, [&] {
    not_null(done, "done");
    *done = in(future)->wait(std::chrono::milliseconds(timeout_ms)) ? 1 : 0;
  });
}

td_status td_future_progress(const td_future* future, size_t* done, size_t* total) noexcept {
  return guard_plain(__func__, [&] {
    not_null(done, "done");
    not_null(total, "total");
    const td::WorkCount& count = in(future)->count();
    *done = count.done;
    *total = count.total;
  });
}

td_status td_future_result(const td_future* future, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(future)->result(); });
}

td_status td_future_cancel(const td_future* future) noexcept {
  return guard_plain(__func__, [&] { in(future)->cancel(); });
}

void td_future_free(td_future* future) noexcept { capi::free_handle(future); }
