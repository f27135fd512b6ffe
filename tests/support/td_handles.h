// td_handles.h: handles of the C interface that free themselves, and its failures as exceptions.
#ifndef TD_HANDLES_H
#define TD_HANDLES_H

#include <memory>
#include <stdexcept>
#include <string>

#include "tensordict/td.h"

namespace handles {

template <auto Free>
struct Freed {
  template <class Handle>
  void operator()(Handle *handle) const {
    Free(handle);
  }
};
using Dict = std::unique_ptr<td_tensordict, Freed<td_free>>;
using Tensor = std::unique_ptr<td_tensor, Freed<td_tensor_free>>;
using Keys = std::unique_ptr<td_keys, Freed<td_keys_free>>;

// The library has refused a call.
struct Refused : std::runtime_error {
  Refused(td_status code, const std::string &text) : std::runtime_error(text), status(code) {}
  td_status status;
};

inline void check(td_status status) {
  if (status == TD_OK) return;
  throw Refused(status, std::string(td_status_name(status)) + " from " + td_last_error_function() +
                            ": " + td_last_error_message());
}

// made<Dict>([&](auto result) { return td_dup(td, result); })
template <class Handle, class Call>
Handle made(Call call) {
  typename Handle::pointer result = nullptr;
  check(call(&result));
  return Handle(result);
}

}  // namespace handles

#endif
