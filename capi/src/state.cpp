// tensordict/td_state.h
#include "choices.h"
#include "core/inspect/describe.h"
#include "core/inspect/state_dict.h"
#include "give.h"
#include "guard.h"

td_status td_state_dict(const td_tensordict* td, const td_state_dict_options* options,
                        td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_state_dict_options given =
        capi::options_in(options, td_state_dict_options TD_STATE_DICT_OPTIONS_INIT);
    capi::require_zero(given.reserved);
    return td::state_dict(in(td), {given.nested != 0, given.keep_vars != 0});
  });
}

td_status td_load_state_dict(td_tensordict* td, const td_tensordict* source,
                             const td_load_state_dict_options* options) noexcept {
  return guard(__func__, [&] {
    const td_load_state_dict_options given =
        capi::options_in(options, td_load_state_dict_options TD_LOAD_STATE_DICT_OPTIONS_INIT);
    const auto form =
        capi::choice_in<td::StateForm>(given.form, TD_STATE_DETECT, TD_STATE_NESTED, "form");
    td::load_state_dict(in(td), in(source), {given.partial == 0, given.assign != 0, form});
  });
}

td_status td_schema(const td_tensordict* td, char* text, size_t text_cap, size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text(td::describe_dict(in(td)), text, text_cap, length); });
}

td_status td_from_schema(const char* text, const td_schema_options* options,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_schema_options given =
        capi::options_in(options, td_schema_options TD_SCHEMA_OPTIONS_INIT);
    td::FromSchemaOptions wanted;
    wanted.content =
        capi::choice_in<td::Content>(given.content, TD_SCHEMA_ZEROS, TD_SCHEMA_META, "content");
    wanted.device = capi::device_in(given.device_type, given.device_index);
    return td::from_schema(not_null(text, "text"), wanted);
  });
}
