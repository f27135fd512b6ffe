#include "core/formats/safetensors_header.h"

#include "core/base/quote.h"
#include "core/formats/json_reader.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_set>

namespace td::safetensors {

namespace {

// The format's dtypes that libtorch lacks.
constexpr std::string_view lacking[] = {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0"};

// Parses the JSON text: names, properties of tensors, and metadata.
class HeaderReader final : public json::Reader {
 public:
  HeaderReader(const std::string& where, std::size_t max_entries, Header& header)
      : Reader(where, 3), where_(where), max_entries_(max_entries), header_(header) {}

 private:
  Header::Entry& entry() { return header_.entries.back(); }

  void on_open(bool is_object) override {
    switch (depth()) {
      case 1:
        if (!is_object) fail_here("the header is not an object");
        return;
      case 2:
        if (!is_object) fail_here(quote(name_), " is not an object");
        in_metadata_ = name_ == "__metadata__";
        if (in_metadata_) return;
        if (header_.entries.size() == max_entries_) {
          fail_here("more than ", max_entries_, " tensors");
        }
        header_.entries.emplace_back();
        entry().name = name_;
        has_dtype_ = has_shape_ = false;
        offsets_.clear();
        return;
      default:
        if (in_metadata_ || is_object || (field_ != "shape" && field_ != "data_offsets")) {
          fail_here(quote(name_), " has an unexpected form");
        }
        if (field_ == "shape" ? has_shape_ : !offsets_.empty())
          fail_here(quote(name_), " repeats a field");
        has_shape_ = has_shape_ || field_ == "shape";
    }
  }

  void on_close(bool) override {
    if (depth() != 1 || in_metadata_) return;
    if (!has_dtype_ || !has_shape_ || offsets_.size() != 2) {
      fail_here(quote(name_), " lacks its dtype, its shape or its data_offsets");
    }
    entry().start = offsets_[0];
    entry().stop = offsets_[1];
  }

  void on_key(std::string_view key) override {
    if (depth() == 1) {
      if (!names_.emplace(key).second) fail_here("two tensors are called ", quote(key));
      name_ = key;
      return;
    }
    if (in_metadata_) {
      for (const auto& item : header_.metadata) {
        if (item.first == key) fail_here("the metadata contain ", quote(key), " twice");
      }
      if (header_.metadata.size() == max_metadata) fail_here("more metadata than allowed");
    } else if (key != "dtype" && key != "shape" && key != "data_offsets") {
      fail_here(quote(name_), " has the field ", quote(key), ", which is unknown");
    }
    field_ = key;
  }

  void on_scalar(const Plain& value) override {
    if (depth() == 2 && in_metadata_ && value.is(Plain::text)) {
      header_.metadata.emplace_back(field_, std::string(value.characters()));
    } else if (depth() == 2 && !in_metadata_ && field_ == "dtype" && value.is(Plain::text) &&
               !has_dtype_) {
      entry().dtype = dtype_called(value.characters());
      has_dtype_ = true;
    } else if (depth() == 3 && value.is(Plain::integer) && value.integral() >= 0) {
      number(value.integral());
    } else {
      fail_here(depth() < 2 ? "the header" : quote(name_), " has an unexpected form");
    }
  }

  DType dtype_called(std::string_view name) const {
    if (const DTypeRow* row = find_dtype(&DTypeRow::safetensors, name)) return row->dtype;
    if (std::find(std::begin(lacking), std::end(lacking), name) != std::end(lacking)) {
      fail(Code::dtype, where_, ": ", quote(name_), ": libtorch has no dtype ", name);
    }
    fail_here(quote(name_), ": no dtype is called ", quote(name));
  }

  void number(std::int64_t value) {
    if (field_ == "shape") {
      if (entry().sizes.size() == max_listed_dims)
        fail_here("more than ", max_listed_dims, " dimensions");
      entry().sizes.push_back(value);
    } else {
      if (offsets_.size() == 2) fail_here(quote(name_), " has more than two data_offsets");
      offsets_.push_back(static_cast<std::size_t>(value));
    }
  }

  static constexpr std::size_t max_metadata = 10000;

  const std::string& where_;
  std::size_t max_entries_;
  Header& header_;
  std::unordered_set<std::string> names_;
  std::string name_;
  std::string field_;
  std::vector<std::size_t> offsets_;
  bool in_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
};

// Checks that the tensors fill the data without gaps and overlaps.
void check_places(const Header& header, std::size_t data_bytes, const std::string& where) {
  std::vector<const Header::Entry*> sorted;
  for (const Header::Entry& entry : header.entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->start != b->start ? a->start < b->start : a->stop < b->stop;
  });
  std::size_t at = 0;
  for (const Header::Entry* entry : sorted) {
    const std::optional<std::int64_t> bytes =
        checked_bytes(entry->sizes, find_dtype(entry->dtype)->bytes);
    if (entry->start != at || entry->stop < at || entry->stop > data_bytes) {
      fail(Code::format, where, ": ", quote(entry->name), " lies from byte ", entry->start, " to ",
           entry->stop, " of ", data_bytes, ", where the one before it ends at ", at);
    }
    if (!bytes || static_cast<std::size_t>(*bytes) != entry->stop - entry->start) {
      fail(Code::format, where, ": ", quote(entry->name), " of shape ", show_sizes(entry->sizes),
           " does not match its ", entry->stop - entry->start, " bytes");
    }
    at = entry->stop;
  }
  if (at != data_bytes) {
    fail(Code::format, where, ": the tensors end at byte ", at, " of ", data_bytes);
  }
}

}  // namespace

Header Header::read(std::string_view file, const std::string& where, std::size_t max_entries) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) {
    fail(Code::format, where, " is too short: ", file.size(), " bytes");
  }
  std::memcpy(&length, file.data(), sizeof length);
  const std::size_t rest = file.size() - sizeof length;
  if (length > rest || length > max_header_bytes) {
    fail(Code::format, where, ": a header of ", length, " bytes in a file of ", file.size());
  }
  const std::string_view text = file.substr(sizeof length, length);
  if (text.empty() || text[0] != '{') fail(Code::format, where, ": the header is not JSON");
  Header header;
  HeaderReader(where, max_entries, header).run(text);
  check_places(header, rest - text.size(), where);
  for (Entry& entry : header.entries) {
    entry.start += sizeof length + text.size();
    entry.stop += sizeof length + text.size();
  }
  return header;
}

std::optional<std::size_t> order_of(DType dtype) noexcept {
  const DTypeRow* row = find_dtype(dtype);
  if (row == nullptr || row->safetensors_place < 0) return std::nullopt;
  return static_cast<std::size_t>(row->safetensors_place);
}

}  // namespace td::safetensors
