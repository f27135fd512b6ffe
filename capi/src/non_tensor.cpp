// tensordict/td_non_tensor.h
#include "arguments.h"
#include "guard.h"

#include "core/tree/non_tensor.h"

td_status td_set_non_tensor_json(td_tensordict* td, const char* const* path, size_t path_len,
                                 const char* text) noexcept {
  return guard(__func__,
               [&] { td::set_value(in(td), PathIn(path, path_len), not_null(text, "text")); });
}

td_status td_set_non_tensor_stack_json(td_tensordict* td, const char* const* path, size_t path_len,
                                       const char* text) noexcept {
  return guard(__func__,
               [&] { td::set_values(in(td), PathIn(path, path_len), not_null(text, "text")); });
}

td_status td_get_non_tensor_stack_json(const td_tensordict* td, const char* const* path,
                                       size_t path_len, char* text, size_t text_cap,
                                       size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_text(td::values_of(in(td), PathIn(path, path_len)), text, text_cap, length);
  });
}

td_status td_get_non_tensor_value_json(const td_tensordict* td, const char* const* path,
                                       size_t path_len, char* text, size_t text_cap,
                                       size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_text(td::value_of(in(td), PathIn(path, path_len)), text, text_cap, length);
  });
}

td_status td_set_text(td_tensordict* td, const char* const* path, size_t path_len,
                      const char* text) noexcept {
  return guard(__func__,
               [&] { td::set_text(in(td), PathIn(path, path_len), not_null(text, "text")); });
}

td_status td_get_text(const td_tensordict* td, const char* const* path, size_t path_len, char* text,
                      size_t text_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_text(td::text_in(in(td), PathIn(path, path_len)), text, text_cap, length);
  });
}

td_status td_set_texts(td_tensordict* td, const char* const* path, size_t path_len,
                       const char* const* texts, size_t texts_len) noexcept {
  return guard(__func__, [&] {
    if (texts_len != 0) not_null(texts, "texts");
    td::set_texts(in(td), PathIn(path, path_len), {texts, texts_len});
  });
}

td_status td_get_row_text(const td_tensordict* td, const char* const* path, size_t path_len,
                          int64_t row, char* text, size_t text_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_text(td::text_in_row(in(td), PathIn(path, path_len), row), text, text_cap, length);
  });
}

td_status td_spread_non_tensor(td_tensordict* td, const char* const* path,
                               size_t path_len) noexcept {
  return guard(__func__, [&] { td::spread_value(in(td), PathIn(path, path_len)); });
}

td_status td_set_non_tensor_bytes(td_tensordict* td, const char* const* path, size_t path_len,
                                  const void* bytes, size_t bytes_len) noexcept {
  return guard(__func__, [&] {
    if (bytes_len != 0) not_null(bytes, "bytes");
    td::set_bytes(in(td), PathIn(path, path_len), {static_cast<const char*>(bytes), bytes_len});
  });
}

td_status td_get_non_tensor_bytes(const td_tensordict* td, const char* const* path, size_t path_len,
                                  void* bytes, size_t bytes_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_bytes(td::bytes_of_value(in(td), PathIn(path, path_len)), bytes, bytes_cap, length);
  });
}
