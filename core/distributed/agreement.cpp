#include "core/distributed/agreement.h"

#include "core/distributed/transfer.h"
#include "core/tensor/buffer.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace td::distributed {

namespace {

// What is compared at most, of a dictionary that differs from others.
constexpr std::size_t longest = std::size_t{1} << 24;

void add(std::string& text, std::string_view part) {
  const auto length = static_cast<std::uint32_t>(part.size());
  text.append(reinterpret_cast<const char*>(&length), sizeof length);
  text.append(part);
}

// The next part; nothing at the end, and where a list was cut off.
std::optional<std::string_view> next(std::string_view& text) {
  std::uint32_t length = 0;
  if (text.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, text.data(), sizeof length);
  text.remove_prefix(sizeof length);
  if (text.size() < length) return std::nullopt;
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(length);
  return part;
}

std::string described(const at::Tensor& tensor) {
  std::string text = dtype_name(tensor.scalar_type());
  text += " [";
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(tensor.size(i));
  }
  return text + "]";
}

at::Tensor row_of(std::string_view text, std::size_t bytes) {
  at::Tensor row = Buffer::row(bytes);
  std::memset(row.data_ptr(), 0, bytes);
  std::memcpy(row.data_ptr(), text.data(), std::min(bytes, text.size()));
  return row;
}

}  // namespace

std::size_t bytes_of(RowsView rows) noexcept {
  std::size_t bytes = 0;
  for (const at::Tensor& row : rows) bytes += row.nbytes();
  return bytes;
}

void pack(RowsView rows, at::Tensor& into, std::size_t at) {
  for (const at::Tensor& row : rows) {
    if (row.nbytes() == 0) continue;
    std::memcpy(static_cast<char*>(into.data_ptr()) + at, row.data_ptr(), row.nbytes());
    at += row.nbytes();
  }
}

void fail_at_first_difference(std::string_view a, std::string_view b, int rank_a, int rank_b) {
  const std::string_view call_a = next(a).value_or("?");
  const std::string_view call_b = next(b).value_or("?");
  if (call_a != call_b) {
    fail(Code::shape, "rank ", rank_a, " calls ", call_a, ", rank ", rank_b, " calls ", call_b);
  }
  for (;;) {
    const auto path_a = next(a);
    const auto path_b = next(b);
    if (!path_a && !path_b) fail(Code::shape, call_a, ": the ranks have other tensors");
    // Sorted: of two paths, the lesser one is missing on the other rank.
    if (!path_b || (path_a && *path_a != *path_b && *path_a < *path_b)) {
      fail(Code::shape, call_a, ": \"", *path_a, "\" of rank ", rank_a, " is missing on rank ",
           rank_b);
    }
    if (!path_a || *path_a != *path_b) {
      fail(Code::shape, call_a, ": \"", *path_b, "\" of rank ", rank_b, " is missing on rank ",
           rank_a);
    }
    const auto kind_a = next(a);
    const auto kind_b = next(b);
    if (kind_a != kind_b) {
      fail(Code::shape, call_a, ": \"", *path_a, "\" is ", kind_a.value_or("?"), " on rank ",
           rank_a, " and ", kind_b.value_or("?"), " on rank ", rank_b);
    }
  }
}

std::string list_of(const std::string& call, const std::vector<Leaf>& leaves) {
  std::vector<const Leaf*> sorted;
  for (const Leaf& leaf : leaves) sorted.push_back(&leaf);
  std::sort(sorted.begin(), sorted.end(),
            [](const Leaf* a, const Leaf* b) { return a->path < b->path; });
  std::string text;
  add(text, call);
  for (const Leaf* leaf : sorted) {
    add(text, leaf->path);
    add(text, described(leaf->tensor));
  }
  return text;
}

Agreement::Agreement(const std::string& call, const std::vector<Leaf>& leaves)
    : text_(list_of(call, leaves)) {}

Agreement::Agreement(const Error& refused)
    : text_(refused.what()), refuses_(true), code_(refused.code()) {}

std::vector<at::Tensor> Agreement::compare(Backend& backend, Expected& expected,
                                           RowsView rows) const {
  // How the rank takes part, how long its list is, and the sum of the list; then the values that all ranks expect.
  const Digest digest = digest_of(text_.data(), text_.size());
  const std::int64_t own[4] = {refuses_ ? static_cast<std::int64_t>(code_) : 0,
                               static_cast<std::int64_t>(std::min(text_.size(), longest)),
                               static_cast<std::int64_t>(digest.low),
                               static_cast<std::int64_t>(digest.high)};
  const bool carries = !refuses_ && expected.is(digest);
  at::Tensor message = Buffer::row(sizeof own + expected.bytes());
  std::memcpy(message.data_ptr(), own, sizeof own);
  if (carries) {
    pack(rows, message, sizeof own);
  } else {
    std::memset(static_cast<char*>(message.data_ptr()) + sizeof own, 0, expected.bytes());
  }
  const std::vector<at::Tensor> all = backend.all_gather(message);
  const auto of = [&](std::size_t i) {
    return static_cast<const std::int64_t*>(all[i].data_ptr());
  };
  std::size_t other = 0;
  std::size_t refuses = all.size();
  std::size_t most = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (std::memcmp(of(i), of(0), sizeof own) != 0) other = i;
    if (of(i)[0] != 0) refuses = i;
    most = std::max(most, static_cast<std::size_t>(std::clamp<std::int64_t>(
                              of(i)[1], 0, static_cast<std::int64_t>(longest))));
  }
  if (other == 0) {
    if (refuses_) fail(code_, text_);
    expected.agreed(digest, bytes_of(rows));
    std::vector<at::Tensor> values;
    for (const at::Tensor& one : all) {
      if (carries) values.push_back(one.slice(0, sizeof own));
    }
    return values;
  }
  const std::vector<at::Tensor> texts = backend.all_gather(row_of(text_, most));
  const auto text_of = [&](std::size_t i) {
    return text_in(texts[i],
                   std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(of(i)[1], 0))));
  };
  if (refuses_) fail(code_, text_);
  if (refuses != all.size()) {
    const bool dtype = of(refuses)[0] == static_cast<std::int64_t>(Code::dtype);
    fail(dtype ? Code::dtype : Code::shape, "rank ", refuses,
         " refused the call: ", text_of(refuses));
  }
  fail_at_first_difference(text_of(0), text_of(other), 0, static_cast<int>(other));
}

}  // namespace td::distributed
