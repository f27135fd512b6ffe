// tensordict/td_apply.h
#include "arguments.h"
#include "foreign_call.h"
#include "guard.h"

using capi::guard;
using capi::in;
using capi::not_null;
using capi::Out;

namespace {

td::FilterEmpty filter_in(td_filter_empty filter) {
  switch (filter) {
    case TD_FILTER_EMPTY_DEFAULT: return td::FilterEmpty::unset;
    case TD_FILTER_EMPTY_YES: return td::FilterEmpty::yes;
    case TD_FILTER_EMPTY_NO: return td::FilterEmpty::no;
    default:
      td::fail(td::Code::invalid_argument, "filter_empty is ", filter,
               "; 0, 1 and 2 have a meaning");
  }
}

td::ApplyOptions apply_options_in(const td_apply_options* options) {
  const td_apply_options given =
      capi::options_in(options, td_apply_options TD_APPLY_OPTIONS_INIT, sizeof(td_apply_options));
  td::ApplyOptions result;
  result.inplace = given.inplace != 0;
  result.filter_empty = filter_in(given.filter_empty);
  result.propagate_lock = given.propagate_lock != 0;
  return result;
}

}  // namespace

td_status td_apply(const td_tensordict* td, const td_apply_options* options, td_apply_fn callback,
                   void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    not_null(reinterpret_cast<void*>(callback), "callback");
    out.put(in(td)->apply(apply_options_in(options), [&](td::Path path, const at::Tensor& leaf) {
      return capi::call_apply(callback, user, path, leaf);
    }));
  });
}
