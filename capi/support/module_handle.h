// module_handle.h: what a handle on a module stands for.
#pragma once

#include "arguments.h"
#include "keys_in.h"

#include "core/nn/module.h"

namespace capi {

template <>
struct Traits<td_module> : OwnedTraits<td::ModulePtr, Kind::module> {
  static constexpr const char* name = "module";
};

inline std::unique_ptr<td::ModulePtr> module_out(td::ModulePtr module) {
  return std::make_unique<td::ModulePtr>(std::move(module));
}

inline td::KeyPaths key_paths_in(const td_key* keys, std::size_t n, const char* name) {
  td::KeyPaths result;
  const KeysIn given(keys, n, name);
  for (const td::Path path : c10::ArrayRef<td::Path>(given)) {
    td::check_path(path);
    result.emplace_back(path);
  }
  return result;
}

}  // namespace capi
