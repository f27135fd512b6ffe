// Reads untrusted zip archives.
#include "core/base/quote.h"
#include "core/formats/crc32.h"
#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"

#include <zlib.h>
#include <algorithm>
#include <cstring>

namespace td::zip_file {

namespace {

constexpr std::uint32_t header_mark = 0x04034b50;
constexpr std::uint32_t record_mark = 0x02014b50;
constexpr std::uint32_t end_mark = 0x06054b50;
constexpr std::uint32_t wide_end_mark = 0x06064b50;
constexpr std::uint32_t wide_locator_mark = 0x07064b50;
constexpr std::uint64_t header_bytes = 30;
constexpr std::uint64_t record_bytes = 46;
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t wide_end_bytes = 56;
constexpr std::uint64_t wide_locator_bytes = 20;
constexpr std::uint64_t max_comment = 65535;
constexpr std::uint64_t wide = 0xffffffff;     // the real number is in the extra field
constexpr std::uint16_t wide_field = 0x0001;   // the id of that field
constexpr std::uint64_t deflate_ratio = 1032;  // maximum compression ratio of deflate
constexpr unsigned encrypted_flags = 0x2041;
constexpr unsigned described_after = 0x0008;  // checksum and sizes follow the content
constexpr std::uint32_t description_mark = 0x08074b50;

std::uint16_t u16(const unsigned char* at) noexcept {
  return static_cast<std::uint16_t>(at[0] | at[1] << 8);
}
std::uint32_t u32(const unsigned char* at) noexcept {
  return u16(at) | static_cast<std::uint32_t>(u16(at + 2)) << 16;
}
std::uint64_t u64(const unsigned char* at) noexcept {
  return u32(at) | static_cast<std::uint64_t>(u32(at + 4)) << 32;
}

}  // namespace

bool stays_inside(std::string_view name) noexcept {
  if (!name.empty() && name.back() == '/') name.remove_suffix(1);
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.size() >= 2 && letter(name[0]) && name[1] == ':') return false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

Reader::Reader(const char* data, std::size_t bytes, std::string where, std::size_t max_entries)
    : data_(reinterpret_cast<const unsigned char*>(data)), bytes_(bytes), where_(std::move(where)) {
  read_directory(max_entries);
  check_overlaps();
  names_.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!names_.emplace(entries_[i].name, i).second) {
      fail(Code::format, where_, ": two entries are called ", quote(entries_[i].name));
    }
  }
}

std::string Reader::folder_of(std::string_view name) const {
  for (const Entry& entry : entries_) {
    const std::size_t slash = entry.name.find('/');
    if (slash != 0 && slash != std::string::npos &&
        std::string_view(entry.name).substr(slash + 1) == name) {
      return entry.name.substr(0, slash + 1);
    }
  }
  return {};
}

const Entry* Reader::find(std::string_view name) const noexcept {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &entries_[found->second];
}

void Reader::read_directory(std::size_t max_entries) {
  // Search for the end record: its mark, and a comment that fills the rest of the file.
  std::uint64_t end = bytes_;
  for (std::uint64_t comment = 0; comment <= max_comment; ++comment) {
    if (bytes_ < end_bytes + comment) break;
    const unsigned char* at = data_ + (bytes_ - end_bytes - comment);
    if (u32(at) == end_mark && u16(at + 20) == comment) {
      end = bytes_ - end_bytes - comment;
      comment_ = {reinterpret_cast<const char*>(at + end_bytes), static_cast<std::size_t>(comment)};
      break;
    }
  }
  if (end == bytes_) fail(Code::format, where_, " is not a zip archive");
  const unsigned char* at = data_ + end;
  std::uint64_t disks = u16(at + 4) | u16(at + 6);
  std::uint64_t count = u16(at + 10);
  std::uint64_t size = u32(at + 12);
  std::uint64_t directory = u32(at + 16);
  if (end >= wide_locator_bytes && u32(data_ + end - wide_locator_bytes) == wide_locator_mark) {
    const std::uint64_t locator = end - wide_locator_bytes;
    const std::uint64_t record = u64(data_ + locator + 8);
    if (locator < wide_end_bytes || record > locator - wide_end_bytes ||
        u32(data_ + record) != wide_end_mark || u64(data_ + record + 4) != locator - record - 12) {
      fail(Code::format, where_, ": the zip64 end record that its end refers to is missing");
    }
    at = data_ + record;
    disks = u32(data_ + locator + 4) | u32(at + 16) | u32(at + 20);
    count = u64(at + 32);
    size = u64(at + 40);
    directory = u64(at + 48);
    end = record;
  }
  if (disks != 0) fail(Code::unsupported, where_, " is spread over several files");
  if (directory > end || size != end - directory) {
    fail(Code::format, where_, ": a directory of ", size, " bytes at ", directory,
         " does not end at ", end, ", where it must");
  }
  if (count > size / record_bytes) {
    fail(Code::format, where_, ": ", count, " entries in a directory of ", size, " bytes");
  }
  if (count > max_entries) fail(Code::format, where_, ": more entries than allowed");
  entries_.reserve(static_cast<std::size_t>(count));
  std::uint64_t next = directory;
  for (std::uint64_t i = 0; i < count; ++i) {
    read_record(next, directory, end);
    next += record_bytes;
    next += u16(data_ + next - 18) + std::uint64_t{u16(data_ + next - 16)} + u16(data_ + next - 14);
  }
  if (next != end)
    fail(Code::format, where_, ": its directory holds more than its ", count, " entries");
}

void Reader::read_record(std::uint64_t at, std::uint64_t directory, std::uint64_t end) {
  const unsigned char* record = data_ + at;
  if (end - at < record_bytes || u32(record) != record_mark) {
    fail(Code::format, where_, ": no entry of the directory at ", at);
  }
  const std::uint64_t name_bytes = u16(record + 28);
  const std::uint64_t extra_bytes = u16(record + 30);
  if (name_bytes + extra_bytes + u16(record + 32) > end - at - record_bytes) {
    fail(Code::format, where_, ": an entry of the directory at ", at,
         " is longer than the directory");
  }
  Entry entry;
  entry.name.assign(reinterpret_cast<const char*>(record) + record_bytes, name_bytes);
  if (entry.name.empty() || entry.name.find('\0') != std::string::npos) {
    fail(Code::format, where_, ": an entry without a name, or with a NUL in it");
  }
  if ((u16(record + 8) & encrypted_flags) != 0) {
    fail(Code::unsupported, where_, ": ", quote(entry.name), " is encrypted");
  }
  entry.method = u16(record + 10);
  entry.crc = u32(record + 16);
  entry.packed = u32(record + 20);
  entry.bytes = u32(record + 24);
  entry.header = u32(record + 42);
  entry.record = at;
  // 64-bit values of the fields that overflow, in this order.
  const unsigned char* extra = record + record_bytes + name_bytes;
  for (std::uint64_t left = extra_bytes; left >= 4;) {
    const std::uint64_t length = u16(extra + 2);
    if (length > left - 4) {
      fail(Code::format, where_, ": ", quote(entry.name), " has an extra field that is too long");
    }
    if (u16(extra) == wide_field) {
      std::uint64_t used = 0;
      for (std::uint64_t* number : {&entry.bytes, &entry.packed, &entry.header}) {
        if (*number != wide) continue;
        if (length - used < 8) {
          fail(Code::format, where_, ": ", quote(entry.name), " lacks a number of 64 bits");
        }
        *number = u64(extra + 4 + used);
        used += 8;
      }
    }
    extra += 4 + length;
    left -= 4 + length;
  }
  read_header(entry, directory);
  entries_.push_back(std::move(entry));
}

// Checks the local header against the directory, and finds the start of the content.
void Reader::read_header(Entry& entry, std::uint64_t directory) const {
  const auto refuse = [&](const auto&... why) {
    fail(Code::format, where_, ": ", quote(entry.name), " ", why...);
  };
  if (directory < header_bytes || entry.header > directory - header_bytes) {
    refuse("begins at ", entry.header, ", outside the file");
  }
  const unsigned char* header = data_ + entry.header;
  const std::uint64_t room = directory - entry.header - header_bytes;
  const std::uint64_t name_bytes = u16(header + 26);
  if (u32(header) != header_mark || name_bytes + u16(header + 28) > room) {
    refuse("has no header at ", entry.header);
  }
  if (name_bytes != entry.name.size() ||
      std::memcmp(header + header_bytes, entry.name.data(), entry.name.size()) != 0 ||
      u16(header + 8) != entry.method || (u16(header + 6) & encrypted_flags) != 0) {
    refuse("has another name or compression in its own header");
  }
  const std::uint64_t before = name_bytes + u16(header + 28);
  entry.offset = entry.header + header_bytes + before;
  if (entry.packed > room - before) {
    refuse("of ", entry.packed, " bytes at ", entry.offset, " does not end inside the file");
  }
  if (entry.method == method_stored && entry.packed != entry.bytes) {
    refuse("is stored, and has ", entry.packed, " bytes instead of ", entry.bytes);
  }
  if (entry.method == method_deflated && entry.bytes / deflate_ratio > entry.packed) {
    refuse("claims ", entry.bytes, " bytes packed in ", entry.packed, ", which is impossible");
  }
  if (entry.is_folder() && entry.bytes != 0) refuse("is a folder and has content");
}

void Reader::check_overlaps() const {
  std::vector<const Entry*> order;
  order.reserve(entries_.size());
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->header < b->header; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->header < order[i - 1]->offset + order[i - 1]->packed) {
      fail(Code::format, where_, ": ", quote(order[i - 1]->name), " and ", quote(order[i]->name),
           " overlap");
    }
  }
}

void Reader::inflate(const Entry& entry, char* to) const {
  constexpr std::uint64_t piece = std::uint64_t{1} << 30;  // zlib counts with 32 bits
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    fail(Code::out_of_memory, "no memory to inflate ", where_);
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &::inflateEnd);
  std::uint64_t in = entry.packed;
  std::uint64_t out = entry.bytes;
  Bytef nothing = 0;  // zlib needs an address even for no output
  stream.next_in = const_cast<Bytef*>(data_ + entry.offset);
  stream.next_out = out == 0 ? &nothing : reinterpret_cast<Bytef*>(to);
  int status = Z_OK;
  while (status == Z_OK) {
    const auto given = static_cast<uInt>(std::min(in, piece));
    const auto room = static_cast<uInt>(std::min(out, piece));
    stream.avail_in = given;
    stream.avail_out = room;
    status = ::inflate(&stream, Z_NO_FLUSH);
    in -= given - stream.avail_in;
    out -= room - stream.avail_out;
  }
  if (status == Z_MEM_ERROR) fail(Code::out_of_memory, "no memory to inflate ", where_);
  if (status != Z_STREAM_END || in != 0 || out != 0) {
    fail(Code::format, where_, ": ", quote(entry.name), " is damaged: it cannot be inflated");
  }
}

void Reader::read(const Entry& entry, char* to, bool checked) const {
  switch (entry.method) {
    case method_stored:
      if (entry.bytes != 0) std::memcpy(to, data_ + entry.offset, entry.bytes);
      break;
    case method_deflated:
      inflate(entry, to);
      checked = true;
      break;
    default:
      fail(Code::unsupported, where_, ": ", quote(entry.name), " uses compression method ",
           entry.method, "; only stored and deflated entries are supported");
  }
  if (checked && crc32(0, to, entry.bytes) != entry.crc) {
    fail(Code::format, where_, ": ", quote(entry.name), " is damaged: its checksum differs");
  }
}

std::string Reader::text(const Entry& entry, std::size_t limit) const {
  if (entry.bytes > limit) {
    fail(Code::format, where_, ": ", quote(entry.name), " is too long: ", entry.bytes,
         " bytes, at most ", limit, " are read");
  }
  std::string result(static_cast<std::size_t>(entry.bytes), '\0');
  read(entry, result.data());
  return result;
}

bool Reader::intact(const Entry& entry) const {
  if (entry.method == method_stored) {
    return crc32(0, data_ + entry.offset, entry.bytes) == entry.crc;
  }
  try {
    const std::unique_ptr<char[]> content(new char[entry.bytes]);
    read(entry, content.get());
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::format) throw;
    return false;
  }
}

std::vector<std::uint64_t> Reader::checksums_of(const Entry& entry) const {
  std::uint64_t first = entry.header + 14;
  if ((u16(data_ + entry.header + 6) & described_after) != 0) {
    first = entry.offset + entry.packed;
    if (first + 8 <= entries_.front().record && u32(data_ + first) == description_mark) first += 4;
    if (first + 4 > entries_.front().record) {
      fail(Code::format, where_, ": ", quote(entry.name), " lacks its description");
    }
  }
  return {first, entry.record + 16};
}

MappedArchive MappedArchive::open(const std::string& path, bool writable, std::size_t max_entries) {
  const std::string name = files::absolute(path);
  MappedArchive result;
  const MapMode mode = writable ? MapMode::shared : MapMode::priv;
  result.file_ = MappedFile::open(name, MappedFile::whole, mode);
  if (writable && !result.file_->writes_through()) {
    fail(Code::io, "cannot write to \"", name, "\"");
  }
  result.writable_ = writable;
  result.reader_ = std::make_unique<const Reader>(result.file_->data(), result.file_->bytes(),
                                                  "\"" + name + "\"", max_entries);
  return result;
}

}  // namespace td::zip_file
