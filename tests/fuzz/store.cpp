// What a server of stores may answer: the bytes are its answers, in the order in which it is asked.
#include "core/store/redis_store.h"
#include "fuzz.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <string_view>

namespace {

// Takes whatever is sent, and answers with the next bytes; after the last one the connection is gone.
class Answering final : public td::store::Transport {
 public:
  explicit Answering(std::string_view &left) : left_(left) {}

  Moved move(std::string_view out, char *in, std::size_t room, int) override {
    if (!out.empty()) return {out.size(), 0};
    if (left_.empty()) throw td::store::Broken{"no more bytes"};
    // One by one: what follows an answer belongs to the next request.
    *in = left_[0];
    left_.remove_prefix(1);
    return {0, room == 0 ? 0U : 1U};
  }

 private:
  std::string_view &left_;
};

template <class Call>
void attempt(Call &&call) {
  try {
    call();
  } catch (const td::Error &) {
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view left(reinterpret_cast<const char *>(data), size);
  td::store::Options options;
  options.id = "x";
  options.max_bytes = 1 << 20;
  td::store::RedisStore store(
      options, [&](const td::store::Options &) { return std::make_unique<Answering>(left); });
  const std::string_view names[] = {"a"};
  const td::Path path(names, 1);
  const td::IndexItem row = td::IndexItem::at(0);
  const td::IndexItem rows = td::IndexItem::of(at::tensor({1, 0, 1}, at::kLong));
  attempt([&] { store.attach(); });
  attempt([&] { store.load(); });
  attempt([&] { store.index(row); });
  attempt([&] { store.index(rows); });
  attempt([&] { store.keys(); });
  attempt([&] { store.get(path); });
  attempt([&] { store.get_non_tensor(path); });
  attempt([&] { store.get_dict(path); });
  attempt([&] { store.get_at(path, rows); });
  attempt([&] { store.set_at(path, row, at::zeros({})); });
  attempt([&] { store.set(path, at::zeros({2})); });
  attempt([&] { store.remove(path); });
  attempt([&] { store.erase(); });
  return 0;
}
