#include "core/formats/checksums.h"

#include "core/io/beneath.h"

#include <xxhash.h>

#include <charconv>
#include <new>
#include <unordered_set>

namespace td {

namespace {

constexpr std::string_view comment =
    "# XXH3 of the files of a dictionary, 128 bits; \"xxh128sum -c checksums\" checks them.\n";
constexpr std::string_view bytes_end = " bytes";
constexpr std::size_t digits = 32;

Digest digest_in(const XXH128_hash_t& hash) noexcept { return {hash.high64, hash.low64}; }

XXH3_state_t* state_in(void* state) noexcept { return static_cast<XXH3_state_t*>(state); }

// As coreutils and xxhsum: a line whose name has such characters starts with a backslash.
bool must_escape(std::string_view path) noexcept {
  return path.find_first_of("\\\n\r") != std::string_view::npos;
}

void put_escaped(std::string& text, std::string_view path) {
  for (const char c : path) {
    switch (c) {
      case '\\': text += "\\\\"; break;
      case '\n': text += "\\n"; break;
      case '\r': text += "\\r"; break;
      default: text += c;
    }
  }
}

bool unescape(std::string_view text, std::string& path) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      path += text[i];
      continue;
    }
    if (++i == text.size()) return false;
    switch (text[i]) {
      case '\\': path += '\\'; break;
      case 'n': path += '\n'; break;
      case 'r': path += '\r'; break;
      default: return false;
    }
  }
  return true;
}

void put_hex(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15U];
}

bool get_hex(std::string_view text, std::uint64_t& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

bool stays_inside(std::string_view path) noexcept {
  if (path.find('\0') != std::string_view::npos) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  reset();
}
Hasher::~Hasher() { XXH3_freeState(state_in(state_)); }
void Hasher::reset() noexcept { XXH3_128bits_reset(state_in(state_)); }
void Hasher::add(const void* data, std::size_t bytes) noexcept {
  XXH3_128bits_update(state_in(state_), data, bytes);
}
Digest Hasher::digest() const noexcept { return digest_in(XXH3_128bits_digest(state_in(state_))); }

Digest digest_of(const void* data, std::size_t bytes) noexcept {
  return digest_in(XXH3_128bits(data, bytes));
}

std::string checksums_name(int folder) {
  const std::string name(checksums_file);
  return checksums_name(files::look_beneath(folder, name, name).found);
}

std::string checksums_text(const std::vector<Checksum>& checksums) {
  std::string text(comment);
  for (const Checksum& one : checksums) {
    text.append("# ").append(std::to_string(one.bytes)).append(bytes_end).append("\n");
    const bool escaped = must_escape(one.path);
    if (escaped) text += '\\';
    put_hex(text, one.digest.high);
    put_hex(text, one.digest.low);
    text += "  ";
    if (escaped) {
      put_escaped(text, one.path);
    } else {
      text += one.path;
    }
    text += '\n';
  }
  return text;
}

std::vector<Checksum> read_checksums(std::string_view text, const std::string& where) {
  std::vector<Checksum> result;
  std::unordered_set<std::string> seen;
  std::uint64_t bytes = 0;
  bool has_bytes = false;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto refuse = [&](const char* why) {
      fail(Code::format, where, ", line ", number, ": ", why);
    };
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.substr(0, 1) == "#") {
      if (line.size() <= 2 + bytes_end.size() ||
          line.substr(line.size() - bytes_end.size()) != bytes_end) {
        continue;
      }
      const std::string_view count = line.substr(2, line.size() - 2 - bytes_end.size());
      const auto parsed = std::from_chars(count.data(), count.data() + count.size(), bytes);
      has_bytes = parsed.ec == std::errc() && parsed.ptr == count.data() + count.size();
      continue;
    }
    if (line.empty()) continue;
    const bool escaped = line.front() == '\\';
    if (escaped) line.remove_prefix(1);
    Checksum one;
    if (line.size() < digits + 3 ||
        (line.substr(digits, 2) != "  " && line.substr(digits, 2) != " *") ||
        !get_hex(line.substr(0, 16), one.digest.high) ||
        !get_hex(line.substr(16, 16), one.digest.low)) {
      refuse("not a checksum of 32 hexadecimal digits and a name");
    }
    if (!has_bytes) refuse("no line before it gives its number of bytes");
    const std::string_view name = line.substr(digits + 2);
    if (!escaped) one.path = name;
    if (escaped && !unescape(name, one.path)) refuse("a name with an invalid backslash escape");
    if (!stays_inside(one.path)) refuse("this name leads out of the folder");
    if (!seen.insert(one.path).second) refuse("a file is named twice");
    one.bytes = bytes;
    has_bytes = false;
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace td
