// tensordict/td_entries.h
#include "tensordict/td_entries.h"

#include "choices.h"
#include "core/keys/entries.h"
#include "core/keys/plain_values.h"
#include "foreign_call.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"
#include "keys_in.h"

namespace {

td::UpdateMode mode_in(td_update_mode mode) {
  switch (mode) {
    case TD_UPDATE_STORE: return td::UpdateMode::store;
    case TD_UPDATE_INPLACE: return td::UpdateMode::inplace;
    case TD_UPDATE_STRICT: return td::UpdateMode::strict;
    default: td::fail(td::Code::invalid_argument, "mode is ", mode, "; it must be 0, 1 or 2");
  }
}

td::SelectOptions select_in(const td_select_options* options, bool inplace) {
  const td_select_options given =
      capi::options_in(options, td_select_options TD_SELECT_OPTIONS_INIT);
  return {inplace, given.ignore_missing != 0};
}

td::SplitOptions split_in(const td_split_keys_options* options, bool inplace) {
  const td_split_keys_options given =
      capi::options_in(options, td_split_keys_options TD_SPLIT_KEYS_OPTIONS_INIT);
  return {inplace, given.ignore_missing != 0, given.keep_structure != 0, given.keep_emptied != 0};
}

// Converts sets of keys to the type of the core.
void split(const td_tensordict* td, const td_key_set* sets, size_t sets_len,
           const td::SplitOptions& options, capi::OutList<td_tensordict>& out) {
  if (sets_len != 0) not_null(sets, "sets");
  auto dict = in(td);
  if (!out.expect(sets_len + 1)) return;
  std::vector<KeysIn> keys, names;
  std::vector<td::KeySet> wanted;
  keys.reserve(sets_len);
  names.reserve(sets_len);
  for (size_t i = 0; i < sets_len; ++i) {
    const bool renamed = sets[i].names != nullptr;
    keys.emplace_back(sets[i].keys, sets[i].keys_len, "sets.keys");
    names.emplace_back(sets[i].names, renamed ? sets[i].keys_len : 0, "sets.names");
    wanted.push_back({keys.back(), names.back()});
  }
  out.put(td::split_keys(dict, wanted, options));
}

td::TensorDict flatten(const td::TensorDict& td, const char* separator,
                       const td_flatten_keys_options* options, bool inplace) {
  const td_flatten_keys_options given =
      capi::options_in(options, td_flatten_keys_options TD_FLATTEN_KEYS_OPTIONS_INIT);
  capi::require_zero(given.reserved);
  const td::LeafFn is_leaf = capi::leaf_in(given.is_leaf, given.user);
  return td::flatten_keys(td, not_null(separator, "separator"),
                          {inplace, is_leaf ? &is_leaf : nullptr});
}

// Removes an entry and gives it out: as a tensor, or as a dictionary.
td::EntryKind pop(td::TensorDict& td, td::Path path, Out<td_tensor>& tensor,
                  Out<td_tensordict>& dict) {
  const td::Value value = td::find_entry(td.node(), path);
  const td::EntryKind kind = td::kind_of(value);
  std::optional<td::TensorDict> given;
  if (kind == td::EntryKind::non_tensor) {
    given = td::holding(path.back(), value);
  } else if (value.is_node()) {
    given.emplace(value.node());
  }
  td.remove(path);
  if (given) {
    dict.put(*given);
  } else {
    tensor.put(value.tensor());
  }
  return kind;
}

}  // namespace

td_status td_update(td_tensordict* td, const td_tensordict* source,
                    const td_update_options* options) noexcept {
  return guard(__func__, [&] {
    const td_update_options given =
        capi::options_in(options, td_update_options TD_UPDATE_OPTIONS_INIT);
    const KeysIn keys(given.keys, given.keys_len, "options.keys");
    td::UpdateOptions wanted;
    wanted.mode = mode_in(given.mode);
    wanted.clone = given.clone != 0;
    wanted.whole_nodes = given.whole_dicts != 0;
    wanted.update_batch_size = given.update_batch_size != 0;
    wanted.ignore_lock = given.ignore_lock != 0;
    if (given.has_keys != 0) wanted.keys = keys;
    td::update(in(td), in(source), wanted);
  });
}

td_status td_update_at(td_tensordict* td, const td_index_item* items, size_t items_len,
                       const td_tensordict* source, td_update_at_flags flags) noexcept {
  return guard(__func__, [&] {
    td::update_at(in(td), items_in(items, items_len), in(source),
                  {capi::flag_in(flags, TD_UPDATE_AT_EXACT)});
  });
}

td_status td_write_or_set(td_tensordict* td, const char* const* path, size_t path_len,
                          const td_tensor* source) noexcept {
  return guard(__func__, [&] { td::write(in(td), PathIn(path, path_len), in(source)); });
}

td_status td_fill_entry(td_tensordict* td, const char* const* path, size_t path_len,
                        const td_tensor* source) noexcept {
  return guard(__func__, [&] { td::fill(in(td), PathIn(path, path_len), in(source)); });
}

td_status td_get_entry_at(const td_tensordict* td, const char* const* path, size_t path_len,
                          const td_index_item* items, size_t items_len,
                          td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::get_at(in(td), PathIn(path, path_len), items_in(items, items_len));
  });
}

td_status td_set_entry_at(td_tensordict* td, const char* const* path, size_t path_len,
                          const td_index_item* items, size_t items_len,
                          const td_tensor* source) noexcept {
  return guard(__func__, [&] {
    td::set_entry_at(in(td), PathIn(path, path_len), items_in(items, items_len), in(source));
  });
}

td_status td_get_or_set(td_tensordict* td, const char* const* path, size_t path_len,
                        const td_tensor* source, td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::get_or_set(in(td), PathIn(path, path_len), in(source)); });
}

td_status td_pop(td_tensordict* td, const char* const* path, size_t path_len, td_entry_kind* kind,
                 td_tensor** tensor, td_tensordict** dict) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(tensor, dict);
    Out<td_tensor> tensor_out(tensor);
    Out<td_tensordict> dict_out(dict);
    *not_null(kind, "kind") = TD_ENTRY_NONE;
    *kind = capi::kind_out(pop(in(td), PathIn(path, path_len), tensor_out, dict_out));
  });
}

td_status td_pop_last(td_tensordict* td, td_keys** key, td_tensor** tensor,
                      td_tensordict** dict) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(key, tensor, dict);
    Out<td_keys> key_out(key);
    Out<td_tensor> tensor_out(tensor);
    Out<td_tensordict> dict_out(dict);
    auto last = std::make_unique<capi::KeySnapshot>(td::last_key(in(td)));
    const std::string_view name = last->path(0)[0];
    pop(in(td), name, tensor_out, dict_out);
    key_out.put(std::move(last));
  });
}

td_status td_create_nested(td_tensordict* td, const char* const* path, size_t path_len) noexcept {
  return guard(__func__, [&] { td::create_nested(in(td), PathIn(path, path_len)); });
}

td_status td_rename_key(td_tensordict* td, const char* const* path, size_t path_len,
                        const char* const* new_path, size_t new_path_len,
                        td_rename_key_flags flags) noexcept {
  return guard(__func__, [&] {
    not_null(new_path, "new_path");
    td::rename_key(in(td), PathIn(path, path_len), PathIn(new_path, new_path_len),
                   capi::flag_in(flags, TD_RENAME_KEY_SAFE));
  });
}

td_status td_rename_keys(const td_tensordict* td, const td_key* keys, const td_key* new_keys,
                         size_t keys_len, td_rename_keys_flags flags,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::rename_keys(in(td), KeysIn(keys, keys_len), KeysIn(new_keys, keys_len, "new_keys"),
                           capi::flag_in(flags, TD_RENAME_KEYS_IGNORE_MISSING));
  });
}

td_status td_clear(td_tensordict* td) noexcept {
  return guard_plain(__func__, [&] { td::clear(in(td)); });
}

td_status td_select(const td_tensordict* td, const td_key* keys, size_t keys_len,
                    const td_select_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::select(in(td), KeysIn(keys, keys_len), select_in(options, false));
  });
}

td_status td_select_inplace(td_tensordict* td, const td_key* keys, size_t keys_len,
                            const td_select_options* options) noexcept {
  return guard(__func__,
               [&] { td::select(in(td), KeysIn(keys, keys_len), select_in(options, true)); });
}

td_status td_exclude(const td_tensordict* td, const td_key* keys, size_t keys_len,
                     const td_select_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::exclude(in(td), KeysIn(keys, keys_len), select_in(options, false));
  });
}

td_status td_exclude_inplace(td_tensordict* td, const td_key* keys, size_t keys_len,
                             const td_select_options* options) noexcept {
  return guard(__func__,
               [&] { td::exclude(in(td), KeysIn(keys, keys_len), select_in(options, true)); });
}

td_status td_split_keys(const td_tensordict* td, const td_key_set* sets, size_t sets_len,
                        const td_split_keys_options* options, td_tensordict** results,
                        size_t results_cap, size_t* count) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, count);
    split(td, sets, sets_len, split_in(options, false), out);
  });
}

td_status td_split_keys_inplace(td_tensordict* td, const td_key_set* sets, size_t sets_len,
                                const td_split_keys_options* options, td_tensordict** results,
                                size_t results_cap, size_t* count) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, count);
    split(td, sets, sets_len, split_in(options, true), out);
  });
}

td_status td_empty_like(const td_tensordict* td, td_empty_like_flags flags,
                        td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::empty(in(td), capi::flag_in(flags, TD_EMPTY_LIKE_RECURSE)); });
}

td_status td_remove_empty(td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::remove_empty(in(td)); });
}

td_status td_filter_non_tensor(const td_tensordict* td, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::filter_non_tensor(in(td)); });
}

td_status td_flatten_keys(const td_tensordict* td, const char* separator,
                          const td_flatten_keys_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return flatten(in(td), separator, options, false); });
}

td_status td_flatten_keys_inplace(td_tensordict* td, const char* separator,
                                  const td_flatten_keys_options* options) noexcept {
  return guard(__func__, [&] { flatten(in(td), separator, options, true); });
}

td_status td_unflatten_keys(const td_tensordict* td, const char* separator,
                            td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::unflatten_keys(in(td), not_null(separator, "separator"), false); });
}

td_status td_unflatten_keys_inplace(td_tensordict* td, const char* separator) noexcept {
  return guard(__func__,
               [&] { td::unflatten_keys(in(td), not_null(separator, "separator"), true); });
}

td_status td_merge(const td_tensordict* const* sources, size_t sources_len,
                   td_apply_entry_fn callback, void* user, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td::MergeFn combine = [&](td::Path path, c10::ArrayRef<td::Value> values) {
      return capi::call_apply_entry(callback, user, path, values);
    };
    return td::merge(capi::dicts_in(sources, sources_len),
                     callback == nullptr ? nullptr : &combine);
  });
}

td_status td_depth(const td_tensordict* td, size_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = td::depth(in(td)); });
}

td_status td_get_sizes(const td_tensordict* td, const char* const* path, size_t path_len,
                       int64_t* sizes, size_t sizes_cap, size_t* dims) noexcept {
  return guard(__func__, [&] {
    capi::write_sizes(td::entry_sizes(in(td), PathIn(path, path_len)), sizes, sizes_cap, dims);
  });
}

td_status td_get_dtype(const td_tensordict* td, const char* const* path, size_t path_len,
                       td_dtype* result) noexcept {
  return guard(__func__, [&] {
    not_null(result, "result");
    *result = capi::dtype_out(td::entry_dtype(in(td), PathIn(path, path_len)));
  });
}

td_status td_auto_batch_size(td_tensordict* td, int64_t max_dims,
                             td_auto_batch_size_flags flags) noexcept {
  return guard(__func__, [&] {
    td::auto_batch_size(in(td), max_dims, capi::flag_in(flags, TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT));
  });
}
