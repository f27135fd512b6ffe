// tensordict/td_names.h
#include "core/tree/names.h"

#include "arguments.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"

namespace {

td::Names names_in(const char* const* names, std::size_t n, const char* what) {
  if (n != 0) not_null(names, what);
  td::Names result(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] != nullptr) result[i] = names[i];
  }
  return result;
}

td::KeyList names_out(const td::Names& names, std::size_t dims) {
  td::KeyList list;
  for (std::size_t i = 0; i < dims; ++i) {
    list.keys.push_back({{}, td::EntryKind::none});
    if (i < names.size() && names[i]) list.keys.back().path.push_back(*names[i]);
  }
  return list;
}

}  // namespace

td_status td_names(const td_tensordict* td, td_keys** result) noexcept {
  return give_plain(__func__, result, [&] {
    auto source = in(td);
    return std::make_unique<capi::KeySnapshot>(
        names_out(td::names_of(*source->node()), source->batch_size().size()));
  });
}

td_status td_set_names(td_tensordict* td, const char* const* names, size_t names_len) noexcept {
  return guard_plain(__func__, [&] { td::set_names(in(td), names_in(names, names_len, "names")); });
}

td_status td_rename_dims(td_tensordict* td, const char* const* names, const char* const* new_names,
                         size_t names_len) noexcept {
  return guard_plain(__func__, [&] {
    auto target = in(td);
    td::rename_names(target, names_in(names, names_len, "names"),
                     names_in(new_names, names_len, "new_names"));
  });
}

td_status td_refine_names(td_tensordict* td, const char* const* names, size_t names_len) noexcept {
  return guard_plain(__func__,
                     [&] { td::refine_names(in(td), names_in(names, names_len, "names")); });
}
