#include "core/replay/writer_state.h"

#include "core/io/file_io.h"
#include "core/io/new_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace td {

namespace {

constexpr std::size_t longest_table = std::size_t{1} << 32;

std::string where_of(const std::string& folder) { return "\"" + folder + "\""; }

// The sizes of a table, from writer/metadata.json.
std::vector<std::int64_t> sizes_in(const JsonMembers& json, const std::string& folder,
                                   const char* name, std::size_t dims) {
  const Plain* sizes = json.find(name);
  std::vector<std::int64_t> result;
  if (sizes != nullptr && sizes->is(Plain::list))
    for (const Plain& size : sizes->items())
      result.push_back(size.is(Plain::integer) ? size.integral() : -1);
  const bool good = result.size() == dims && std::all_of(result.begin(), result.end(),
                                                         [](std::int64_t n) { return n >= 0; });
  if (!good) fail(Code::format, where_of(folder), " has no \"", name, "\" of ", dims, " sizes");
  return result;
}

template <class T>
std::vector<T> table(const std::string& path, std::size_t count) {
  if (count == 0) return {};
  const std::string bytes = files::read(path, longest_table);
  if (bytes.size() < count * sizeof(T)) {
    fail(Code::format, "\"", path, "\" has ", bytes.size(), " bytes; ", count, " numbers of ",
         sizeof(T), " are expected");
  }
  std::vector<T> result(count);
  std::memcpy(result.data(), bytes.data(), count * sizeof(T));
  return result;
}

template <class T>
std::vector<double> reals(const std::string& path, std::size_t count) {
  const std::vector<T> values = table<T>(path, count);
  return {values.begin(), values.end()};
}

template <class T>
void write_table(const std::string& path, bool in_new, const std::vector<T>& values) {
  files::NewFile file(path, in_new);
  file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  file.commit();
}

std::vector<std::string> key_of(const Plain& key, const std::string& folder) {
  std::vector<std::string> path;
  if (key.is(Plain::text)) path.emplace_back(key.characters());
  if (key.is(Plain::list))
    for (const Plain& name : key.items()) path.emplace_back(name.characters());
  const bool named =
      !path.empty() && std::none_of(path.begin(), path.end(), std::mem_fn(&std::string::empty));
  if (!named) fail(Code::format, where_of(folder), " has a \"rank_key\" that is no key");
  return path;
}

}  // namespace

WriterState WriterState::read(const std::string& folder, const JsonMembers& json,
                              std::int64_t places) {
  WriterState result;
  if (json.find("generation_shape") != nullptr) {
    const auto rows = static_cast<std::size_t>(sizes_in(json, folder, "generation_shape", 1)[0]);
    const Plain* dtype = json.find("generation_dtype", Plain::text);
    if (dtype == nullptr || dtype->characters() != "torch.int64")
      fail(Code::format, where_of(folder), " has a \"generation_dtype\" other than torch.int64");
    result.generations = table<std::int64_t>(files::join(folder, generations_file), rows);
    result.counts_generations = true;
  }
  const Plain* key = json.find("rank_key");
  if (key == nullptr || key->is(Plain::null)) return result;
  result.rank_key = key_of(*key, folder);
  const Plain* dtype = json.find("dtype", Plain::text);
  const std::string_view name = dtype == nullptr ? "" : dtype->characters();
  const Plain* shape = json.find("shape");
  const bool none = shape != nullptr && shape->is(Plain::list) && shape->items().size() == 1;
  const std::size_t rows =
      none ? 0 : static_cast<std::size_t>(sizes_in(json, folder, "shape", 2)[0]);
  if (rows > static_cast<std::size_t>(std::max<std::int64_t>(places, 0)))
    fail(Code::format, where_of(folder), " ranks ", rows, " rows; the buffer has places for ",
         places);
  const std::string path = files::join(folder, ranks_file);
  std::vector<double> numbers;
  if (name == "torch.float32") {
    numbers = reals<float>(path, rows * 2);
  } else if (name == "torch.float64") {
    result.rank_dtype = c10::ScalarType::Double;
    numbers = reals<double>(path, rows * 2);
  } else if (name == "torch.int64") {
    result.rank_dtype = c10::ScalarType::Long;
    numbers = reals<std::int64_t>(path, rows * 2);
  } else {
    fail(Code::format, where_of(folder), " ranks rows by \"", name,
         "\"; float32, float64 and int64 are known");
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const double rank = numbers[2 * i], place = numbers[2 * i + 1];
    const bool good = !std::isnan(rank) && place >= 0 && place < static_cast<double>(places);
    if (!good) fail(Code::format, "\"", path, "\" gives place ", place, " rank ", rank);
    result.ranks.emplace_back(rank, static_cast<std::int64_t>(place));
  }
  if (!std::is_heap(result.ranks.begin(), result.ranks.end(), std::greater<>()))
    std::make_heap(result.ranks.begin(), result.ranks.end(), std::greater<>());
  return result;
}

void WriterState::write(const std::string& folder, bool in_new, JsonMembers& json) const {
  if (counts_generations) {
    json.set("generation_shape", "[" + std::to_string(generations.size()) + "]");
    write_table(files::join(folder, generations_file), in_new, generations);
  }
  if (!by_rank()) return;
  // As torch.as_tensor() of an empty list has it.
  json.set("shape", ranks.empty() ? "[0]" : "[" + std::to_string(ranks.size()) + ", 2]");
  const std::string path = files::join(folder, ranks_file);
  const auto put = [&](auto zero) {
    std::vector<decltype(zero)> numbers;
    for (const auto& [rank, place] : ranks) {
      numbers.push_back(static_cast<decltype(zero)>(rank));
      numbers.push_back(static_cast<decltype(zero)>(place));
    }
    write_table(path, in_new, numbers);
  };
  if (rank_dtype == c10::ScalarType::Float) put(float{});
  if (rank_dtype == c10::ScalarType::Double) put(double{});
  if (rank_dtype == c10::ScalarType::Long) put(std::int64_t{});
}

std::int64_t WriterState::place_for(double rank, std::int64_t cursor, std::int64_t capacity) {
  std::int64_t place = cursor;
  if (static_cast<std::int64_t>(ranks.size()) >= capacity) {
    if (!(rank > ranks.front().first)) return -1;
    place = ranks.front().second;
    std::pop_heap(ranks.begin(), ranks.end(), std::greater<>());
    ranks.pop_back();
  }
  ranks.emplace_back(rank, place);
  std::push_heap(ranks.begin(), ranks.end(), std::greater<>());
  return place;
}

void WriterState::reserve(std::int64_t rows, std::int64_t capacity, std::int64_t places) {
  const auto most = static_cast<std::size_t>(capacity);
  if (by_rank()) ranks.reserve(std::min(most, ranks.size() + static_cast<std::size_t>(rows)) + 1);
  const std::size_t all = most / static_cast<std::size_t>(places);
  if (counts_generations && generations.size() < all) generations.resize(all, -1);
}

void WriterState::count(std::int64_t row) noexcept {
  if (counts_generations) ++generations[static_cast<std::size_t>(row)];
}

}  // namespace td
