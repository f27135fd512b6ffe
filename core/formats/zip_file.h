// core/formats/zip_file.h: zip archives as Python's zipfile, NumPy and libtorch write them. Archives are not
// trusted: each number is checked against the size of the file.
#pragma once

#include "core/base/error.h"
#include "core/io/file_io.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace td {
class MappedFile;
}

namespace td::zip_file {

inline constexpr std::uint16_t method_stored = 0;
inline constexpr std::uint16_t method_deflated = 8;

struct Entry {
  std::string name;  // with '/' between and after folders; may lead anywhere
  std::uint16_t method = method_stored;
  std::uint32_t crc = 0;     // of the content
  std::uint64_t bytes = 0;   // of the content
  std::uint64_t packed = 0;  // size in the file; equals `bytes` if stored
  std::uint64_t offset = 0;  // of the packed content in the file
  std::uint64_t header = 0;  // of the local header in the file
  std::uint64_t record = 0;  // of the directory's record in the file

  bool is_folder() const noexcept { return !name.empty() && name.back() == '/'; }
};

// Whether unpacking stays in its folder: no empty part, ".", "..", backslash, drive letter or control
// character.
bool stays_inside(std::string_view name) noexcept;

// The directory of an archive in memory. Checks that entries lie in the file without overlap, names are
// unique, headers agree with the directory, and sizes are plausible for their packed bytes. Throws
// Code::format, and Code::unsupported for encrypted or split archives.
class Reader {
 public:
  // The bytes must outlive the reader; `where` begins the messages.
  Reader(const char* data, std::size_t bytes, std::string where, std::size_t max_entries = 1000000);

  const std::vector<Entry>& entries() const noexcept {
    return entries_;
  }  // in the directory's order
  // The top-level folder of the file `name`, with its slash; empty without such a folder.
  std::string folder_of(std::string_view name) const;
  const Entry* find(std::string_view name) const noexcept;  // nullptr: not found

  // Reads `entry.bytes` bytes of content. Throws Code::format for damage (in stored content only with
  // `checked`), Code::unsupported for other compression methods.
  void read(const Entry& entry, char* to, bool checked = true) const;
  std::string text(const Entry& entry, std::size_t limit) const;

  // Whether the content matches its checksum.
  bool intact(const Entry& entry) const;

  // Offsets of the entry's checksum in the file.
  std::vector<std::uint64_t> checksums_of(const Entry& entry) const;

  const std::string& where() const noexcept { return where_; }
  std::string_view comment() const noexcept { return comment_; }  // of the archive

 private:
  void read_directory(std::size_t max_entries);
  void read_record(std::uint64_t at, std::uint64_t directory, std::uint64_t end);
  void read_header(Entry& entry, std::uint64_t directory) const;
  void check_overlaps() const;
  void inflate(const Entry& entry, char* to) const;

  const unsigned char* data_;
  std::uint64_t bytes_;
  std::string where_;
  std::string_view comment_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, std::size_t> names_;  // of the strings in entries_
};

class MappedArchive {
 public:
  // `writable`: writes to the mapped bytes reach the file; otherwise they are private.
  static MappedArchive open(const std::string& path, bool writable = false,
                            std::size_t max_entries = 1000000);

  const Reader& reader() const noexcept { return *reader_; }
  const std::shared_ptr<MappedFile>& file() const noexcept { return file_; }

  bool writable() const noexcept { return writable_; }

 private:
  std::shared_ptr<MappedFile> file_;
  std::unique_ptr<const Reader> reader_;  // its strings have stable addresses
  bool writable_ = false;
};

// How to write an entry's content.
enum class Form : std::uint8_t {
  stored,
  aligned,  // stored at a multiple of 64 bytes
  deflated,
};

// Writes an archive aside, byte for byte as Python's tensordict does; finish() puts it in place. Without
// finish() it leaves no trace.
class Writer {
 public:
  explicit Writer(const std::string& target);  // an absolute path
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(std::string_view name, Form form, const char* data, std::size_t bytes);

  // Writes an entry in pieces, of `bytes` bytes in all.
  void begin(std::string_view name, Form form, std::uint64_t bytes);
  void append(const char* data, std::size_t bytes);
  void end();

  // A text about the archive, of up to 65,535 bytes, which other readers ignore.
  void set_comment(std::string_view comment);

  // The result of pack(), which may run on any thread.
  struct Packed {
    std::string data;
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0;
  };
  static Packed pack(const char* data, std::size_t bytes);
  void add(std::string_view name, const Packed& packed);

  // `durable` waits until everything is on disk.
  void finish(bool durable = false) {
    close();
    commit(durable);
  }

  // finish() in two steps: after close() the archive is complete under a temporary name.
  void close();
  const std::string& path() const noexcept;
  void commit(bool durable = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace td::zip_file
