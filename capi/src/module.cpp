// tensordict/td_module.h
#include "choices.h"
#include "foreign_call.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"
#include "module_handle.h"
#include "owner.h"

#include "core/nn/function.h"
#include "core/nn/script.h"

namespace {

// Optional keys. NULL with a length is refused.
std::optional<td::KeyPaths> optional_keys(const td_key* keys, std::size_t n, const char* name) {
  if (keys == nullptr && n == 0) return std::nullopt;
  return key_paths_in(keys, n, name);
}

td::ScriptOptions load_options_in(const td_module_load_options* options) {
  const td_module_load_options given =
      capi::options_in(options, td_module_load_options TD_MODULE_LOAD_OPTIONS_INIT);
  check_flags(given.flags, TD_MODULE_LOAD_FREEZE | TD_MODULE_LOAD_OPTIMIZE | TD_MODULE_LOAD_TRAIN);
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  td::ScriptOptions result;
  result.device = capi::device_in(given.device_type, given.device_index);
  if (given.dtype != TD_DTYPE_OTHER) result.dtype = capi::dtype_in(given.dtype);
  result.freeze = (given.flags & TD_MODULE_LOAD_FREEZE) != 0;
  result.optimize = (given.flags & TD_MODULE_LOAD_OPTIMIZE) != 0;
  result.train = (given.flags & TD_MODULE_LOAD_TRAIN) != 0;
  result.in_keys = optional_keys(given.in_keys, given.in_keys_len, "options.in_keys");
  result.out_keys = optional_keys(given.out_keys, given.out_keys_len, "options.out_keys");
  if (given.sha256 != nullptr) result.sha256 = given.sha256;
  return result;
}

td::FunctionOptions function_options_in(const td_module_function_options* options) {
  const td_module_function_options given =
      capi::options_in(options, td_module_function_options TD_MODULE_FUNCTION_OPTIONS_INIT);
  td::FunctionOptions result;
  result.in_keys = key_paths_in(given.in_keys, given.in_keys_len, "options.in_keys");
  result.out_keys = key_paths_in(given.out_keys, given.out_keys_len, "options.out_keys");
  result.strict = capi::flag_in(given.flags, TD_MODULE_FUNCTION_STRICT);
  return result;
}

td::SequenceOptions sequence_options_in(const td_module_sequence_options* options) {
  const td_module_sequence_options given =
      capi::options_in(options, td_module_sequence_options TD_MODULE_SEQUENCE_OPTIONS_INIT);
  td::SequenceOptions result;
  result.partial_tolerant = capi::flag_in(given.flags, TD_MODULE_SEQUENCE_PARTIAL_TOLERANT);
  return result;
}

std::vector<td::ModulePtr> modules_in(const td_module* const* modules, std::size_t n) {
  if (n != 0) not_null(modules, "modules");
  std::vector<td::ModulePtr> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(*in(not_null(modules[i], "modules[i]")));
  return result;
}

std::unique_ptr<capi::KeySnapshot> keys_out(const td::KeyPaths& keys) {
  td::KeyList list;
  for (const td::KeyPath& key : keys) list.keys.push_back({key.names(), td::EntryKind::none});
  return std::make_unique<capi::KeySnapshot>(std::move(list));
}

}  // namespace

td_status td_module_load(const char* file, const td_module_load_options* options,
                         td_module** result) noexcept {
  return give(__func__, result, [&] {
    return module_out(td::load_script(not_null(file, "file"), load_options_in(options)));
  });
}

td_status td_module_save(const td_module* module, const char* file) noexcept {
  return guard(__func__, [&] { td::save_script(**in(module), not_null(file, "file")); });
}

td_status td_module_from_function(const td_module_function_options* options, td_module_fn callback,
                                  void* user, td_release_fn release, td_module** result) noexcept {
  return guard(__func__, [&] {
    capi::Owner owner(release, user);
    Out<td_module> out(result);
    not_null(reinterpret_cast<void*>(callback), "callback");
    out.put(module_out(td::module_from_function(
        [callback, user, kept = owner.share()](const td::TensorDict& source) {
          return capi::call_module(callback, user, source);
        },
        function_options_in(options))));
  });
}

td_status td_module_sequence(const td_module* const* modules, size_t modules_len,
                             const td_module_sequence_options* options,
                             td_module** result) noexcept {
  return give(__func__, result, [&] {
    return module_out(
        td::module_sequence(modules_in(modules, modules_len), sequence_options_in(options)));
  });
}

td_status td_module_select_subsequence(const td_module* module, const td_key* in_keys,
                                       size_t in_keys_len, const td_key* out_keys,
                                       size_t out_keys_len, td_module** result) noexcept {
  return give(__func__, result, [&] {
    return module_out(td::select_subsequence(*in(module),
                                             optional_keys(in_keys, in_keys_len, "in_keys"),
                                             optional_keys(out_keys, out_keys_len, "out_keys")));
  });
}

td_status td_module_select_out_keys(const td_module* module, const td_key* keys, size_t keys_len,
                                    td_module** result) noexcept {
  return give(__func__, result, [&] {
    return module_out(td::select_out_keys(*in(module), key_paths_in(keys, keys_len, "keys")));
  });
}

void td_module_free(td_module* module) noexcept { capi::free_handle(module); }

td_status td_module_in_keys(const td_module* module, td_keys** result) noexcept {
  return give_plain(__func__, result, [&] { return keys_out((*in(module))->in_keys()); });
}

td_status td_module_out_keys(const td_module* module, td_keys** result) noexcept {
  return give_plain(__func__, result, [&] { return keys_out((*in(module))->out_keys()); });
}

td_status td_module_to_string(const td_module* module, char* text, size_t text_cap,
                              size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text((*in(module))->to_string(), text, text_cap, length); });
}

td_status td_module_params(const td_module* module, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return (*in(module))->params(); });
}

td_status td_module_set_params(td_module* module, const td_key* part,
                               const td_tensordict* params) noexcept {
  return guard(__func__, [&] {
    const td::ModulePtr changed = *in(module);
    auto given = in(params);
    if (part == nullptr) return changed->set_params({}, given);
    changed->set_params(key_paths_in(part, 1, "part")[0], given);
  });
}

td_status td_module_call(const td_tensordict* td, const td_module* module,
                         const td_module_call_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    auto source = in(td);
    const td::ModulePtr called = *in(module);  // a called function may free the handle
    return called->call(source, module_call_in(options));
  });
}

td_status td_module_call_inplace(td_tensordict* td, const td_module* module,
                                 const td_module_call_options* options) noexcept {
  return guard(__func__, [&] {
    auto target = in(td);
    const td::ModulePtr called = *in(module);
    called->call_inplace(target, module_call_in(options));
  });
}
