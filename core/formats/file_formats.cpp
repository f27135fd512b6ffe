#include "core/formats/file_formats.h"

#include "core/base/error.h"
#include "core/formats/zip_file.h"
#include "core/io/file_io.h"

#include <cstring>
#include <optional>

namespace td {

namespace {

bool begins(std::string_view text, std::string_view with) noexcept {
  return text.substr(0, with.size()) == with;
}

std::uint64_t number_at(std::string_view file, std::size_t at) noexcept {
  std::uint64_t result;
  std::memcpy(&result, file.data() + at, sizeof result);
  return result;
}

// The directory of a zip archive, read when a row first asks for a member.
class Members {
 public:
  explicit Members(std::string_view file) : file_(file) {}

  bool has(std::string_view member) {
    if (!read_) read();
    if (!zip_) return false;
    if (!begins(member, "*/")) return zip_->find(member) != nullptr;
    return !zip_->folder_of(member.substr(2)).empty();
  }

 private:
  void read() {
    read_ = true;
    try {
      zip_.emplace(file_.data(), file_.size(), std::string());
    } catch (const Error& error) {  // a damaged archive has no members; its reader says why
      if (error.code() != Code::format && error.code() != Code::unsupported) throw;
    }
  }

  std::string_view file_;
  bool read_ = false;
  std::optional<zip_file::Reader> zip_;
};

}  // namespace

bool is_zip(std::string_view file) noexcept {
  return begins(file, "PK\3\4") || begins(file, "PK\5\6");
}

// A length, then a JSON object.
bool is_safetensors(std::string_view file) noexcept {
  return file.size() > 8 && number_at(file, 0) <= file.size() - 8 && file[8] == '{';
}

// The signature is at byte 0, 512, 1024, 2048 and so on, after an optional user block.
bool is_hdf5(std::string_view file) noexcept {
  for (std::size_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    if (begins(file.substr(at), "\x89HDF\r\n\x1a\n")) return true;
  }
  return false;
}

// Ends with a JSON object and its length.
bool is_consolidated(std::string_view file) noexcept {
  if (file.size() < 10) return false;
  const std::size_t end = file.size() - 8;
  const std::uint64_t length = number_at(file, end);
  return length >= 2 && length <= end && file[end - static_cast<std::size_t>(length)] == '{' &&
         file[end - 1] == '}';
}

FileFormat format_of_content(std::string_view file) {
  Members members(file);
  for (const FormatRow& row : format_rows) {
    const bool tells =
        row.is != nullptr ? row.is(file) : !row.magic.empty() && begins(file, row.magic);
    if (tells && (row.member.empty() || members.has(row.member))) return row.format;
  }
  return FileFormat::detect;
}

FileFormat format_of_name(std::string_view path) noexcept {
  path = path.substr(0, path.find_last_not_of('/') + 1);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  FileFormat found = FileFormat::detect;
  for (const FormatRow& row : format_rows) {
    each_suffix(row, [&](std::string_view suffix) {
      if (name.size() > suffix.size() && files::ends_with(name, suffix)) found = row.format;
    });
  }
  return found;
}

std::string suffixes_of(unsigned can) {
  std::string result;
  for (const FormatRow& row : format_rows) {
    if (!is_file_call(row.format) || (row.can & can) != can) continue;
    each_suffix(row, [&](std::string_view suffix) {
      result.append(result.empty() ? "" : ", ").append(suffix);
    });
  }
  return result;
}

}  // namespace td
