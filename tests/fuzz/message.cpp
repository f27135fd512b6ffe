// Messages, as they come from another process.
#include "fuzz.h"

#include <cstring>

namespace {

td_status give(void *user, void *data, std::size_t bytes) {
  auto &left = *static_cast<std::string_view *>(user);
  if (bytes > left.size()) return TD_ERR_IO;
  std::memcpy(data, left.data(), bytes);
  left.remove_prefix(bytes);
  return TD_OK;
}

td_status take(void *user, const void *data, std::size_t bytes) {
  static_cast<std::string *>(user)->append(static_cast<const char *>(data), bytes);
  return TD_OK;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view left(reinterpret_cast<const char *>(data), size);
  fuzz::Dict td, again;
  if (!fuzz::done(td_recv(nullptr, nullptr, give, &left, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  std::string sent;
  if (!fuzz::done(td_send(td.get(), NULL, take, &sent))) return 0;
  left = sent;
  FUZZ_DO(td_recv(nullptr, nullptr, give, &left, again.out()));
  FUZZ_CHECK(left.empty());
  fuzz::same_leaves(td.get(), again.get());
  // Into what is there, and once more with a message that ends too early.
  left = sent;
  fuzz::Dict same;
  fuzz::done(td_recv(again.get(), nullptr, give, &left, same.out()));
  fuzz::same_leaves(td.get(), again.get());
  left = std::string_view(sent).substr(0, sent.size() / 2);
  FUZZ_CHECK(!fuzz::done(td_recv(again.get(), nullptr, give, &left, same.out())));
  fuzz::same_leaves(td.get(), again.get());
  return 0;
}
