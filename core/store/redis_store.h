// core/store/redis_store.h: a Store in a Redis server.
#pragma once

#include "core/store/fetch.h"

#include "core/flat/flat_tree.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace td::store {

// A lazy stack is asked to keep a value that is no tensor.
[[noreturn]] void fail_values(std::string_view path);

class RedisStore final : public Store {
 public:
  RedisStore(const Options& options, Connect connect);

  // Open or create the dictionary, over any connection.
  void attach();
  void begin(SizesView batch, const std::optional<c10::Device>& device, const TensorDict& td,
             bool zeros);

  std::string id() const override { return id_; }
  Sizes batch_size() const override;
  KeyList keys() override;

  at::Tensor get(Path path) override;
  std::string get_non_tensor(Path path) override;
  TensorDict get_dict(Path path) override;
  TensorDict load() override;
  void set(Path path, const at::Tensor& value) override;
  void set_non_tensor(Path path, std::string_view json) override;
  void set_dict(Path path, const TensorDict& value) override;
  void update(const TensorDict& value) override;
  void remove(Path path) override;

  at::Tensor get_at(Path path, c10::ArrayRef<IndexItem> items) override;
  void set_at(Path path, c10::ArrayRef<IndexItem> items, const at::Tensor& value) override;
  TensorDict index(c10::ArrayRef<IndexItem> items) override;

  void lock() noexcept override { locked_ = true; }
  void unlock() noexcept override { locked_ = false; }
  bool is_locked() const noexcept override { return locked_; }

  void erase() override;

 private:
  // One entry to write whole.
  struct NewEntry {
    std::string path;
    at::Tensor tensor;  // plain; undefined: a non-tensor value
    std::string json;
    bool each = false;          // a value for each element of the batch, which has one dimension
    bool in_front = false;      // the stack dimension of a lazy stack lies in front of the others
    std::vector<Sizes> shapes;  // of the elements of a lazy stack, one behind another in `tensor`
    std::string sent_as;        // the server has its bytes already, under this key
  };

  NewEntry tensor_entry(const std::string& path, const at::Tensor& value);
  std::vector<NewEntry> entries_of(const std::string& below, const TensorDict& value);
  std::optional<std::vector<NewEntry>> stack_entries(const std::string& below,
                                                     const TensorDict& value);
  void require_bytes(std::uint64_t bytes, std::string_view path);

  // Stores the entries that `made` returns for the dictionary as it is known. Called again if the dictionary
  // is another one by then.
  void put(const std::function<std::vector<NewEntry>()>& made);
  void send_ahead(std::vector<NewEntry>& entries);
  void drop_ahead(const Error& error) noexcept;
  Meta meta_of(const NewEntry& entry) const;
  void add_removal(Request& commands, const std::string& path) const;
  void add_entries(Request& commands, const std::vector<NewEntry>& entries, bool zeros,
                   decltype(Guess::entries)& metas) const;
  void put_below(const std::string& below, const TensorDict& value);
  void require_unlocked() const;
  void require_room(std::string_view path) const;
  enum class Kind { tensor, value };
  Fetched read_one(Path path, Kind kind);
  Meta tensor_meta(const std::string& path);

  // One attempt at an operation, using known metadata. Returns false if another client has replaced
  // the entry: then it is tried again.
  using Attempt =
      std::function<bool(const std::string& name, const std::string& entry, const Meta& meta)>;
  void until_done(Path path, const char* doing, const Attempt& attempt);
  void refresh_meta(const std::string& path);
  [[noreturn]] void fail_missing(const std::string& path);
  TensorDict local(const std::vector<Leaf>& leaves, std::string_view below) const;
  TensorDict local_stack(const std::vector<Leaf>& leaves, std::string_view below) const;
  TensorDict local_copy(const std::vector<Leaf>& leaves, std::string_view below, SizesView batch,
                        const PickedRows* rows) const;

  std::string id_;
  mutable std::mutex mutex_;
  Connection connection_;
  ServerKeys keys_;
  Guess guess_;
  std::vector<std::string> ahead_;  // keys of values that were sent ahead
  std::atomic<bool> locked_{false};
};

}  // namespace td::store
