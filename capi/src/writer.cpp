// tensordict/td_writer.h
#include "give.h"
#include "guard.h"
#include "writer_handle.h"

#include "core/append/tensor_writer.h"
#include "core/tensor/dtype.h"

namespace {

td::WriterOptions writer_options_in(const td_writer_options* options) {
  const td_writer_options given =
      capi::options_in(options, td_writer_options TD_WRITER_OPTIONS_INIT);
  if (given.reserved != 0)
    td::fail(td::Code::invalid_argument, "td_writer_options.reserved is not zero");
  td::WriterOptions result;
  result.first_row = given.first_row;
  result.capacity = given.capacity;
  return result;
}

}  // namespace

td_status td_writer_open(td_tensordict* td, const td_writer_options* options,
                         td_writer** result) noexcept {
  return give(__func__, result, [&] {
    return std::make_unique<td::TensorWriter>(*in(td), writer_options_in(options));
  });
}

td_status td_writer_bind(td_writer* writer, const char* const* path, size_t path_len,
                         int32_t* result) noexcept {
  return guard(__func__, [&] {
    *not_null(result, "result") = -1;
    *result = in(writer)->bind(PathIn(path, path_len));
  });
}

td_status td_writer_field(td_writer* writer, const char* const* path, size_t path_len,
                          const int64_t* sizes, size_t dims, td_dtype dtype,
                          int32_t* result) noexcept {
  return guard(__func__, [&] {
    *not_null(result, "result") = -1;
    *result = in(writer)->field(PathIn(path, path_len), sizes_in(sizes, dims),
                                td::dtype_of(capi::dtype_in(dtype)));
  });
}

td_status td_writer_row_bytes(const td_writer* writer, int32_t field, size_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(writer)->row_bytes(field); });
}

td_status td_writer_put(td_writer* writer, int32_t field, const void* data, size_t bytes) noexcept {
  return guard_plain(__func__, [&] { in(writer)->put(field, not_null(data, "data"), bytes); });
}

td_status td_writer_put_text(td_writer* writer, int32_t field, const char* text) noexcept {
  return guard_plain(__func__, [&] { in(writer)->put_text(field, not_null(text, "text")); });
}

td_status td_writer_next(td_writer* writer) noexcept {
  return guard_plain(__func__, [&] { in(writer)->next(); });
}

td_status td_writer_rows(const td_writer* writer, int64_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(writer)->rows(); });
}

td_status td_writer_flush(td_writer* writer) noexcept {
  return guard(__func__, [&] { in(writer)->flush(); });
}

td_status td_writer_close(td_writer* writer) noexcept {
  return guard(__func__, [&] { in(writer)->close(); });
}

void td_writer_free(td_writer* writer) noexcept { capi::free_handle(writer); }
