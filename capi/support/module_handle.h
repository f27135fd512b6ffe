// module_handle.h: the object behind a td_module.
#pragma once

#include "arguments.h"
#include "choices.h"
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

inline td::ModuleCall module_call_in(const td_module_call_options* options) {
  const td_module_call_options given =
      options_in(options, td_module_call_options TD_MODULE_CALL_OPTIONS_INIT);
  check_flags(given.flags, TD_MODULE_CALL_MAP_INPUT | TD_MODULE_CALL_SKIP_EXISTING);
  td::ModuleCall result;
  result.map_input = (given.flags & TD_MODULE_CALL_MAP_INPUT) != 0;
  result.skip_existing = (given.flags & TD_MODULE_CALL_SKIP_EXISTING) != 0;
  result.output = choice_in<td::ModuleOutput>(given.output, TD_MODULE_OUTPUT_LIKE_INPUT,
                                              TD_MODULE_OUTPUT_PLAIN, "options.output");
  result.interaction =
      choice_in<td::Interaction>(given.interaction, TD_INTERACTION_DEFAULT,
                                 TD_INTERACTION_DETERMINISTIC, "options.interaction");
  if (given.params != nullptr) result.params = *in(given.params);
  if (given.out != nullptr) result.out = *in(given.out);
  return result;
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

using capi::key_paths_in;
using capi::module_call_in;
using capi::module_out;
