// tensordict/td_dict.h
#include "arguments.h"
#include "choices.h"
#include "foreign_call.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"

#include "core/inspect/owned_nbytes.h"
#include "core/inspect/print.h"
#include "core/keys/entries.h"
#include "core/keys/plain_values.h"
#include "core/tensor/foreign.h"

#include <new>

td_status td_create(const int64_t* batch_size, size_t batch_dims, td_device_type device_type,
                    int32_t device_index, td_tensordict** result) noexcept {
  return give_plain(__func__, result, [&] {
    return td::TensorDict(sizes_in(batch_size, batch_dims, "batch_size"),
                          capi::device_in(device_type, device_index));
  });
}

td_status td_dup(const td_tensordict* td, td_tensordict** result) noexcept {
  return give_plain(__func__, result, [&] { return *in(td); });
}

void td_free(td_tensordict* td) noexcept { capi::free_handle(td); }

td_status td_clone(const td_tensordict* td, td_clone_flags flags, td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return in(td)->clone(!capi::flag_in(flags, TD_CLONE_SHALLOW)); });
}

td_status td_set(td_tensordict* td, const char* const* path, size_t path_len,
                 const td_tensor* source) noexcept {
  return guard_plain(__func__, [&] {
    auto dict = in(td);
    const PathIn at(path, path_len);
    at::Tensor value = *in(source);
    if (dict->set_now(at, value)) return;
    const capi::TorchScope scope(dict->set_may_compute(at));
    dict->set(at, std::move(value));
  });
}

td_status td_set_dict(td_tensordict* td, const char* const* path, size_t path_len,
                      const td_tensordict* source) noexcept {
  return guard(__func__, [&] { in(td)->set(PathIn(path, path_len), *in(source)); });
}

td_status td_set_inplace(td_tensordict* td, const char* const* path, size_t path_len,
                         const td_tensor* source) noexcept {
  return guard(__func__, [&] { in(td)->set_inplace(PathIn(path, path_len), in(source)); });
}

td_status td_get(const td_tensordict* td, const char* const* path, size_t path_len,
                 td_tensor** result) noexcept {
  return give_plain(__func__, result, [&] {
    auto dict = in(td);
    const PathIn at(path, path_len);
    const at::Tensor* stored = dict->stored(at);
    const capi::TorchScope scope(stored == nullptr);
    return stored != nullptr ? at::Tensor(*stored) : dict->get(at);
  });
}

td_status td_get_dict(const td_tensordict* td, const char* const* path, size_t path_len,
                      td_tensordict** result) noexcept {
  return give_plain(__func__, result, [&] {
    auto dict = in(td);
    const PathIn at(path, path_len);
    const capi::TorchScope scope(dict->get_dict_may_compute(at));
    return dict->get_dict(at);
  });
}

td_status td_set_data(td_tensordict* td, const char* const* path, size_t path_len, const void* data,
                      size_t bytes, const int64_t* sizes, size_t dims, td_dtype dtype) noexcept {
  return guard(__func__, [&] {
    const PathIn names(path, path_len);
    in(td)->set(names, td::from_bytes(data, bytes, capi::dtype_in(dtype), sizes_in(sizes, dims)));
  });
}

td_status td_get_data(const td_tensordict* td, const char* const* path, size_t path_len,
                      td_dtype dtype, void* data, size_t bytes) noexcept {
  return guard(__func__, [&] {
    td::copy_entry_out(in(td), PathIn(path, path_len), capi::dtype_in(dtype), data, bytes);
  });
}

td_status td_set_int(td_tensordict* td, const char* const* path, size_t path_len, int64_t value,
                     td_dtype dtype) noexcept {
  return guard(__func__, [&] {
    td::set_number(in(td), PathIn(path, path_len), value, capi::dtype_in(dtype));
  });
}

td_status td_set_double(td_tensordict* td, const char* const* path, size_t path_len, double value,
                        td_dtype dtype) noexcept {
  return guard(__func__, [&] {
    td::set_number(in(td), PathIn(path, path_len), value, capi::dtype_in(dtype));
  });
}

td_status td_get_int(const td_tensordict* td, const char* const* path, size_t path_len,
                     int64_t* result) noexcept {
  return guard(__func__, [&] {
    *not_null(result, "result") = td::integer_of(in(td), PathIn(path, path_len));
  });
}

td_status td_get_double(const td_tensordict* td, const char* const* path, size_t path_len,
                        double* result) noexcept {
  return guard(__func__,
               [&] { *not_null(result, "result") = td::real_of(in(td), PathIn(path, path_len)); });
}

td_status td_get_non_tensor_json(const td_tensordict* td, const char* const* path, size_t path_len,
                                 char* text, size_t text_cap, size_t* length) noexcept {
  return guard_plain(__func__, [&] {
    capi::write_text(in(td)->get_non_tensor(PathIn(path, path_len)), text, text_cap,
                     not_null(length, "length"));
  });
}

td_status td_get_kind(const td_tensordict* td, const char* const* path, size_t path_len,
                      td_entry_kind* result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = TD_ENTRY_NONE;
    *result = capi::kind_out(in(td)->kind_of(PathIn(path, path_len)));
  });
}

td_status td_remove(td_tensordict* td, const char* const* path, size_t path_len) noexcept {
  return guard_plain(__func__, [&] { in(td)->remove(PathIn(path, path_len)); });
}

td_status td_keys_of(const td_tensordict* td, const td_keys_options* options,
                     td_keys** result) noexcept {
  return give_plain(__func__, result, [&] {
    const td_keys_options given = capi::options_in(options, td_keys_options TD_KEYS_OPTIONS_INIT,
                                                   offsetof(td_keys_options, include_non_tensor));
    const td::LeafFn is_leaf = capi::leaf_in(given.is_leaf, given.user);
    td::KeyQuery wanted;
    wanted.include_nested = given.include_nested != 0;
    wanted.leaves_only = given.leaves_only != 0;
    wanted.sort = given.sort != 0;
    wanted.include_non_tensor = given.include_non_tensor != 0;
    wanted.contents_first = given.contents_first != 0;
    if (given.is_leaf != nullptr) wanted.is_leaf = &is_leaf;
    return std::make_unique<capi::KeySnapshot>(td::list_keys(in(td), wanted));
  });
}

size_t td_keys_len(const td_keys* keys) noexcept {
  const capi::KeySnapshot* snapshot = capi::find_or_null(keys);
  return snapshot == nullptr ? 0 : snapshot->size();
}

td_status td_keys_at(const td_keys* keys, size_t position, const char* const** path,
                     size_t* path_len) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(path, "path") = nullptr;
    *not_null(path_len, "path_len") = 0;
    const capi::KeySnapshot& snapshot = *in(keys);
    *path = snapshot.path(position);
    *path_len = snapshot.path_len(position);
  });
}

td_status td_keys_kind_at(const td_keys* keys, size_t position, td_entry_kind* result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = TD_ENTRY_NONE;
    *result = capi::kind_out(in(keys)->kind(position));
  });
}

void td_keys_free(td_keys* keys) noexcept { capi::free_handle(keys); }

td_status td_batch_size(const td_tensordict* td, int64_t* sizes, size_t sizes_cap,
                        size_t* dims) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_sizes(in(td)->batch_size(), sizes, sizes_cap, dims); });
}

td_status td_set_batch_size(td_tensordict* td, const int64_t* batch_size,
                            size_t batch_dims) noexcept {
  return guard_plain(
      __func__, [&] { in(td)->set_batch_size(sizes_in(batch_size, batch_dims, "batch_size")); });
}

td_status td_device(const td_tensordict* td, td_device_type* result,
                    int32_t* result_index) noexcept {
  return guard_plain(__func__, [&] {
    not_null(result_index, "result_index");
    const auto device = in(td)->device();
    *not_null(result, "result") = capi::device_type_out(device);
    *result_index = capi::device_index_out(device);
  });
}

td_status td_lock(td_tensordict* td) noexcept {
  return guard_plain(__func__, [&] { in(td)->lock(); });
}

td_status td_unlock(td_tensordict* td) noexcept {
  return guard_plain(__func__, [&] { in(td)->unlock(); });
}

td_status td_is_locked(const td_tensordict* td, int32_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(td)->is_locked() ? 1 : 0; });
}

td_status td_is_memmap(const td_tensordict* td, int32_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(td)->is_memmap() ? 1 : 0; });
}

td_status td_is_empty(const td_tensordict* td, int32_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(td)->is_empty() ? 1 : 0; });
}

td_status td_nbytes(const td_tensordict* td, size_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = in(td)->nbytes(); });
}

td_status td_owned_nbytes(const td_tensordict* td, size_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = td::owned_nbytes(*in(td)); });
}

td_status td_is_same(const td_tensordict* td, const td_tensordict* other,
                     int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = in(td)->is_same(in(other)) ? 1 : 0; });
}

td_status td_equal(const td_tensordict* td, const td_tensordict* other, int32_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = in(td)->equal(in(other)) ? 1 : 0; });
}

td_status td_print(const td_tensordict* td, const td_print_options* options, char* text,
                   size_t text_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    const td_print_options given =
        capi::options_in(options, td_print_options TD_PRINT_OPTIONS_INIT);
    const auto form = capi::choice_in<td::PrintForm>(given.form, 0, TD_PRINT_DETAILED, "form");
    check_flags(given.show | given.hide, td::print_part::all);
    td::PrintOptions wanted = td::print_options(form, given.show, given.hide, given.brief != 0);
    wanted.sorted = given.unsorted == 0;
    capi::write_text(td::print(in(td), wanted), text, text_cap, length);
  });
}

td_status td_to_string(const td_tensordict* td, char* text, size_t text_cap,
                       size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text(td::print(in(td)), text, text_cap, length); });
}
