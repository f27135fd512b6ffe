// core/store/store.h: a dictionary in a Redis server, in the format of Python's TensorDictStore.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace td::store {

// How a connection is encrypted. Files are in PEM format.
struct TlsOptions {
  bool on = false;
  std::string ca;           // certificates to trust; empty: those of the system
  std::string cert, key;    // of this client; may be empty
  std::string server_name;  // in the server's certificate; empty: its host
};

struct Options {
  std::string host = "localhost";
  std::int64_t port = 6379;
  std::string unix_socket;  // instead of host and port
  std::int64_t database = 0;
  std::string username, password;  // empty: no login
  std::string prefix = "tensordict";
  std::string id;                    // empty: a random one
  std::int64_t timeout_ms = 10'000;  // for connecting, and for silence; -1: no limit
  std::uint64_t max_bytes = std::uint64_t{16} << 30;  // of the replies to one call
  TlsOptions tls;
};

// Redis' default limit for one value.
inline constexpr std::int64_t max_value_bytes = std::int64_t{512} << 20;

// A connection to one dictionary. Threads may share it; calls are serialized. A call whose
// connection breaks is repeated once: every call is idempotent.
class Store {
 public:
  // Opens an existing dictionary by its id.
  static std::unique_ptr<Store> open(const Options& options);
  // Creates a dictionary. Code::key_exists if the id is taken.
  static std::unique_ptr<Store> create(SizesView batch, const Options& options);
  static std::unique_ptr<Store> from(const TensorDict& td, const Options& options);
  // Creates zeros on the server. The text has the form of from_schema().
  static std::unique_ptr<Store> from_schema(std::string_view schema, const Options& options);

  virtual ~Store() = default;

  virtual std::string id() const = 0;
  virtual Sizes batch_size() const = 0;
  virtual KeyList keys() = 0;  // of the leaves, sorted

  // Whole entries, as copies.
  virtual at::Tensor get(Path path) = 0;
  virtual std::string get_non_tensor(Path path) = 0;
  virtual TensorDict get_dict(Path path) = 0;
  virtual TensorDict load() = 0;
  virtual void set(Path path, const at::Tensor& value) = 0;
  virtual void set_non_tensor(Path path, std::string_view json) = 0;
  virtual void set_dict(Path path, const TensorDict& value) = 0;
  virtual void update(const TensorDict& value) = 0;
  virtual void remove(Path path) = 0;

  // Parts of entries. A value is broadcast and converted; no items: the whole entry.
  virtual at::Tensor get_at(Path path, c10::ArrayRef<IndexItem> items) = 0;
  virtual void set_at(Path path, c10::ArrayRef<IndexItem> items, const at::Tensor& value) = 0;
  virtual TensorDict index(c10::ArrayRef<IndexItem> items) = 0;

  // Locks this object only: other clients can still write.
  virtual void lock() noexcept = 0;
  virtual void unlock() noexcept = 0;
  virtual bool is_locked() const noexcept = 0;

  // Removes the dictionary from the server.
  virtual void erase() = 0;
};

}  // namespace td::store
