// tensordict/td_store.h
#include "choices.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"
#include "tensordict/td_store.h"

#include "core/store/store.h"

namespace capi {

template <>
struct Traits<td_store> : OwnedTraits<td::store::Store, Kind::store> {
  static constexpr const char* name = "store";
};

}  // namespace capi

namespace {

td::store::Options store_options_in(const td_store_options* options) {
  const td_store_options given = capi::options_in(options, td_store_options TD_STORE_OPTIONS_INIT);
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  td::store::Options result;
  const auto text = [](const char* from, std::string& to) {
    if (from != nullptr) to = from;
  };
  text(given.host, result.host);
  text(given.unix_socket, result.unix_socket);
  text(given.username, result.username);
  text(given.password, result.password);
  text(given.prefix, result.prefix);
  text(given.id, result.id);
  if (given.port != 0) result.port = given.port;
  result.database = given.db;
  if (given.timeout_ms != 0) result.timeout_ms = given.timeout_ms;
  if (given.max_bytes != 0) result.max_bytes = given.max_bytes;
  result.tls.on = given.tls != 0;
  text(given.tls_ca, result.tls.ca);
  text(given.tls_cert, result.tls.cert);
  text(given.tls_key, result.tls.key);
  text(given.tls_server_name, result.tls.server_name);
  return result;
}

}  // namespace

td_status td_store_open(const td_store_options* options, td_store** result) noexcept {
  return give(__func__, result, [&] {
    return td::store::Store::open(store_options_in(not_null(options, "options")));
  });
}

td_status td_store_create(const int64_t* batch_size, size_t batch_dims,
                          const td_store_options* options, td_store** result) noexcept {
  return give(__func__, result, [&] {
    return td::store::Store::create(sizes_in(batch_size, batch_dims, "batch_size"),
                                    store_options_in(options));
  });
}

td_status td_store_from(const td_tensordict* td, const td_store_options* options,
                        td_store** result) noexcept {
  return give(__func__, result,
              [&] { return td::store::Store::from(in(td), store_options_in(options)); });
}

td_status td_store_from_schema(const char* text, const td_store_options* options,
                               td_store** result) noexcept {
  return give(__func__, result, [&] {
    return td::store::Store::from_schema(not_null(text, "text"), store_options_in(options));
  });
}

void td_store_free(td_store* store) noexcept { capi::free_handle(store); }

td_status td_store_delete(td_store* store) noexcept {
  return guard(__func__, [&] { in(store)->erase(); });
}

td_status td_store_id(const td_store* store, char* text, size_t text_cap, size_t* length) noexcept {
  return guard_plain(__func__, [&] { capi::write_text(in(store)->id(), text, text_cap, length); });
}

td_status td_store_batch_size(const td_store* store, int64_t* sizes, size_t sizes_cap,
                              size_t* dims) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_sizes(in(store)->batch_size(), sizes, sizes_cap, dims); });
}

td_status td_store_keys(const td_store* store, td_keys** result) noexcept {
  return give(__func__, result,
              [&] { return std::make_unique<capi::KeySnapshot>(in(store)->keys()); });
}

td_status td_store_get(const td_store* store, const char* const* path, size_t path_len,
                       td_tensor** result) noexcept {
  return give(__func__, result, [&] { return in(store)->get(PathIn(path, path_len)); });
}

td_status td_store_get_non_tensor_json(const td_store* store, const char* const* path,
                                       size_t path_len, char* text, size_t text_cap,
                                       size_t* length) noexcept {
  return guard(__func__, [&] {
    capi::write_text(in(store)->get_non_tensor(PathIn(path, path_len)), text, text_cap,
                     not_null(length, "length"));
  });
}

td_status td_store_get_dict(const td_store* store, const char* const* path, size_t path_len,
                            td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(store)->get_dict(PathIn(path, path_len)); });
}

td_status td_store_load(const td_store* store, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(store)->load(); });
}

td_status td_store_set(td_store* store, const char* const* path, size_t path_len,
                       const td_tensor* source) noexcept {
  return guard(__func__, [&] { in(store)->set(PathIn(path, path_len), *in(source)); });
}

td_status td_store_set_non_tensor_json(td_store* store, const char* const* path, size_t path_len,
                                       const char* json) noexcept {
  return guard(__func__,
               [&] { in(store)->set_non_tensor(PathIn(path, path_len), not_null(json, "json")); });
}

td_status td_store_set_dict(td_store* store, const char* const* path, size_t path_len,
                            const td_tensordict* source) noexcept {
  return guard(__func__, [&] { in(store)->set_dict(PathIn(path, path_len), in(source)); });
}

td_status td_store_update(td_store* store, const td_tensordict* source) noexcept {
  return guard(__func__, [&] { in(store)->update(in(source)); });
}

td_status td_store_set_inplace(td_store* store, const char* const* path, size_t path_len,
                               const td_tensor* source) noexcept {
  return guard(__func__, [&] { in(store)->set_at(PathIn(path, path_len), {}, *in(source)); });
}

td_status td_store_get_at(const td_store* store, const char* const* path, size_t path_len,
                          const td_index_item* items, size_t items_len,
                          td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    const auto index = items_in(items, items_len);
    return in(store)->get_at(PathIn(path, path_len), index);
  });
}

td_status td_store_set_at(td_store* store, const char* const* path, size_t path_len,
                          const td_index_item* items, size_t items_len,
                          const td_tensor* source) noexcept {
  return guard(__func__, [&] {
    const auto index = items_in(items, items_len);
    in(store)->set_at(PathIn(path, path_len), index, *in(source));
  });
}

td_status td_store_index(const td_store* store, const td_index_item* items, size_t items_len,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(store)->index(items_in(items, items_len)); });
}

td_status td_store_remove(td_store* store, const char* const* path, size_t path_len) noexcept {
  return guard(__func__, [&] { in(store)->remove(PathIn(path, path_len)); });
}

td_status td_store_lock(td_store* store) noexcept {
  return guard_plain(__func__, [&] { in(store)->lock(); });
}

td_status td_store_unlock(td_store* store) noexcept {
  return guard_plain(__func__, [&] { in(store)->unlock(); });
}

td_status td_store_is_locked(const td_store* store, int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = in(store)->is_locked() ? 1 : 0; });
}
