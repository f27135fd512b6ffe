// tensordict/td_arrow.h
#include "core/arrow/arrow.h"
#include "choices.h"
#include "guard.h"
#include "tensordict/td_arrow.h"

namespace {

td::arrow::ImportOptions from_arrow_in(const td_from_arrow_options* options) {
  const td_from_arrow_options given =
      capi::options_in(options, td_from_arrow_options TD_FROM_ARROW_OPTIONS_INIT);
  td::arrow::ImportOptions result;
  result.copy = capi::flag_in(given.flags, TD_FROM_ARROW_COPY);
  result.nulls = capi::choice_in<td::arrow::Nulls>(given.nulls, TD_ARROW_NULLS_REFUSE,
                                                   TD_ARROW_NULLS_MASK, "nulls");
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  if (given.separator != nullptr) result.separator = given.separator;
  return result;
}

td::arrow::ExportOptions to_arrow_in(const td_to_arrow_options* options) {
  const td_to_arrow_options given =
      capi::options_in(options, td_to_arrow_options TD_TO_ARROW_OPTIONS_INIT);
  td::arrow::ExportOptions result;
  result.complex_pairs = capi::flag_in(given.flags, TD_TO_ARROW_COMPLEX_PAIRS);
  if (given.separator != nullptr) result.separator = given.separator;
  return result;
}

}  // namespace

td_status td_from_arrow(struct ArrowSchema* schema, struct ArrowArray* array,
                        const td_from_arrow_options* options, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    td::arrow::Import import(not_null(schema, "schema"), not_null(array, "array"),
                             from_arrow_in(options));
    out.put(td::TensorDict(import.result()));
    import.commit();
  });
}

td_status td_from_arrow_stream(struct ArrowArrayStream* stream,
                               const td_from_arrow_options* options,
                               td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    if (result != nullptr) *result = nullptr;
    td::arrow::Reader reader(not_null(stream, "stream"));  // releases the stream in every case
    Out<td_tensordict> out(result);
    out.put(reader.read(from_arrow_in(options)));
  });
}

td_status td_to_arrow(const td_tensordict* td, const td_to_arrow_options* options,
                      struct ArrowSchema* schema, struct ArrowArray* array) noexcept {
  return guard(__func__, [&] {
    not_null(schema, "schema")->release = nullptr;
    not_null(array, "array")->release = nullptr;
    td::arrow::export_batch(in(td), to_arrow_in(options), schema, array);
  });
}

td_status td_to_arrow_stream(const td_tensordict* td, int64_t rows,
                             const td_to_arrow_options* options,
                             struct ArrowArrayStream* stream) noexcept {
  return guard(__func__, [&] {
    not_null(stream, "stream")->release = nullptr;
    td::arrow::export_stream(in(td), to_arrow_in(options), rows, stream);
  });
}
