// tensordict/td_apply.h
#include "core/apply/apply.h"

#include "foreign_call.h"
#include "guard.h"

namespace {

td::FilterEmpty filter_in(td_filter_empty filter) {
  switch (filter) {
    case TD_FILTER_EMPTY_DEFAULT: return td::FilterEmpty::unset;
    case TD_FILTER_EMPTY_YES: return td::FilterEmpty::yes;
    case TD_FILTER_EMPTY_NO: return td::FilterEmpty::no;
    default:
      td::fail(td::Code::invalid_argument, "filter_empty is ", filter, "; it must be 0, 1 or 2");
  }
}

td::Names names_in(const char* const* names, std::size_t names_len) {
  not_null(names, "names");
  td::Names result;
  for (std::size_t i = 0; i < names_len; ++i) {
    result.push_back(names[i] == nullptr ? std::nullopt : std::optional<std::string>(names[i]));
  }
  return result;
}

td::ApplyManyOptions apply_options_in(const td_apply_options* options, bool inplace) {
  constexpr std::size_t first_size = offsetof(td_apply_options, call_on_nested);
  const td_apply_options given =
      capi::options_in(options, td_apply_options TD_APPLY_OPTIONS_INIT, first_size);
  td::ApplyManyOptions result;
  result.inplace = inplace;
  result.filter_empty = filter_in(given.filter_empty);
  result.propagate_lock = given.propagate_lock != 0;
  result.call_on_nested = given.call_on_nested != 0;
  result.fill_missing = given.fill_missing != 0;
  if (given.default_value != nullptr) result.default_value = *in(given.default_value);
  if (given.has_batch_size != 0) {
    result.batch_size = sizes_in(given.batch_size, given.batch_dims, "options.batch_size");
  }
  result.device = capi::device_in(given.device_type, given.device_index);
  if (given.names_len != 0) result.names = names_in(given.names, given.names_len);
  if (given.out != nullptr) result.out = *in(given.out);
  return result;
}

std::optional<td::TensorDict> apply(const td_tensordict* td, const td_apply_options* options,
                                    bool inplace, td_apply_fn callback, void* user) {
  not_null(reinterpret_cast<void*>(callback), "callback");
  return td::apply_leaves(*in(td), apply_options_in(options, inplace),
                          [&](td::Path path, const at::Tensor& leaf) {
                            return capi::call_apply(callback, user, path, leaf);
                          });
}

std::optional<td::TensorDict> apply(const td_tensordict* td, const td_tensordict* const* others,
                                    size_t others_len, const td_apply_options* options,
                                    bool inplace, td_apply_entry_fn callback, void* user) {
  not_null(reinterpret_cast<void*>(callback), "callback");
  return td::apply(*in(td), capi::dicts_in(others, others_len), apply_options_in(options, inplace),
                   [&](td::Path path, c10::ArrayRef<td::Value> sources) {
                     return capi::call_apply_entry(callback, user, path, sources);
                   });
}

void put(Out<td_tensordict>& out, std::optional<td::TensorDict> result) {
  if (result) out.put(std::move(*result));
}

}  // namespace

td_status td_apply(const td_tensordict* td, const td_apply_options* options, td_apply_fn callback,
                   void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    put(out, apply(td, options, false, callback, user));
  });
}

td_status td_apply_inplace(td_tensordict* td, const td_apply_options* options, td_apply_fn callback,
                           void* user) noexcept {
  return guard(__func__, [&] { apply(td, options, true, callback, user); });
}

td_status td_apply_entries(const td_tensordict* td, const td_tensordict* const* others,
                           size_t others_len, const td_apply_options* options,
                           td_apply_entry_fn callback, void* user,
                           td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    put(out, apply(td, others, others_len, options, false, callback, user));
  });
}

td_status td_apply_entries_inplace(td_tensordict* td, const td_tensordict* const* others,
                                   size_t others_len, const td_apply_options* options,
                                   td_apply_entry_fn callback, void* user) noexcept {
  return guard(__func__, [&] { apply(td, others, others_len, options, true, callback, user); });
}
