// Rows that are counted beside a dictionary. The input is a file of counts, a byte that says its length, and a
// folder. The first byte says whether the file gets the checksums that it needs to be believed.
#include "core/formats/row_count.h"
#include "fuzz.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

// Of a folder of that name there is none: to read one as a stream throws.
std::string content_of(const std::string &path) {
  if (!std::filesystem::is_regular_file(path)) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// As RowCount says it: a folder that begins with rows has at least those, one without has none.
bool can_be(std::int64_t base, std::int64_t rows) {
  return base == 0 ? rows == 0 : base > 0 && rows >= base;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  namespace format = td::format;
  if (size < 2) return 0;
  const bool believed = (data[0] & 1) != 0;
  const std::size_t bytes = std::min<std::size_t>(data[1], size - 2);
  const std::string_view text(reinterpret_cast<const char *>(data) + 2, bytes);
  const fuzz::Scratch scratch;
  scratch.unpack("m", {reinterpret_cast<const char *>(data) + 2 + bytes, size - 2 - bytes});
  const std::string folder = scratch.path("m");
  const std::string meta = content_of(folder + "/meta.json");
  const td::Digest digest = td::digest_of(meta.data(), meta.size());
  if (believed) {
    std::int64_t numbers[3] = {1, 1, 1};
    std::memcpy(numbers, text.data(), std::min(text.size(), sizeof numbers));
    const format::RowCount count{numbers[0], numbers[1], static_cast<std::uint64_t>(numbers[2]),
                                 digest};
    const std::string slot = format::count_text(count);
    const auto read = format::read_count(slot, digest);
    FUZZ_CHECK(read.has_value() == can_be(count.base, count.rows));
    FUZZ_CHECK(!format::read_count(slot, {digest.high, digest.low + 1}));
    scratch.write("m/.%rows", slot);
  } else {
    const auto read = format::read_count(text, digest);
    FUZZ_CHECK(!read || can_be(read->base, read->rows));
    scratch.write("m/.%rows", text);
  }
  std::int64_t rows = -1, again = -1, stored = -1;
  if (fuzz::done(td_memmap_length(folder.c_str(), &rows, &stored, nullptr))) FUZZ_CHECK(rows >= 0);
  fuzz::Dict td;
  if (fuzz::done(td_memmap_load(folder.c_str(), nullptr, td.out()))) fuzz::read_all(td.get());
  std::size_t damaged = 0;
  fuzz::done(td_memmap_verify(folder.c_str(), nullptr, &damaged));
  td_writer *writer = nullptr;
  if (fuzz::done(td_writer_open_append(folder.c_str(), nullptr, nullptr, &writer))) {
    FUZZ_CHECK(stored >= rows);
    td_writer_free(writer);
    FUZZ_DO(td_memmap_length(folder.c_str(), &again, nullptr, nullptr));
    FUZZ_CHECK(again >= rows &&
               again <= stored);  // whole rows that a killed writer left are taken up
  }
  return 0;
}
