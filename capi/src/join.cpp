// tensordict/td_join.h
#include "tensordict/td_join.h"

#include "choices.h"
#include "core/keys/collate.h"
#include "core/shape/join.h"
#include "give.h"
#include "guard.h"
#include "keys_in.h"

namespace {

td::Join join_in(td_join_kind kind) { return capi::choice_in<td::Join>(kind, 0, 1, "kind"); }

}  // namespace

td_status td_maybe_dense_stack(const td_tensordict* const* sources, size_t sources_len, int64_t dim,
                               td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::maybe_dense_stack(capi::dicts_in(sources, sources_len), dim); });
}

td_status td_collate(const td_tensordict* const* sources, size_t sources_len,
                     const td_collate_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_collate_options given =
        capi::options_in(options, td_collate_options TD_COLLATE_OPTIONS_INIT);
    capi::require_zero(given.reserved);
    const capi::OptionalPath masks(given.masks, given.masks_len);
    const std::size_t values = given.pad_values == nullptr ? 0 : given.pad_keys_len;
    return td::collate(capi::dicts_in(sources, sources_len),
                       {KeysIn(given.pad_keys, given.pad_keys_len, "pad_keys"),
                        capi::array_in(given.pad_values, values, "pad_values"),
                        KeysIn(given.nested_keys, given.nested_keys_len, "nested_keys"), masks});
  });
}

td_status td_join_into(td_tensordict* td, td_join_kind kind, const td_tensordict* const* sources,
                       size_t sources_len, int64_t dim, td_join_into_flags flags) noexcept {
  return guard(__func__, [&] {
    td::join_into(in(td), join_in(kind), capi::dicts_in(sources, sources_len), dim,
                  capi::flag_in(flags, TD_JOIN_INTO_STRICT));
  });
}

td_status td_join_entries(td_tensordict* td, td_join_kind kind, const td_key* keys, size_t keys_len,
                          const char* const* path, size_t path_len, int64_t dim,
                          td_join_entries_flags flags) noexcept {
  return guard(__func__, [&] {
    td::join_entries(in(td), join_in(kind), KeysIn(keys, keys_len), PathIn(path, path_len), dim,
                     capi::flag_in(flags, TD_JOIN_ENTRIES_KEEP));
  });
}

td_status td_join_tensors(const td_tensordict* td, td_join_kind kind, int64_t dim,
                          td_join_tensors_flags flags, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::join_leaves(in(td), join_in(kind), dim,
                           capi::flag_in(flags, TD_JOIN_TENSORS_SORTED));
  });
}
