// core/formats/zip_file.h: zip archives, as Python's zipfile, NumPy and libtorch write them. Nothing that stands in
// one is trusted: each number is checked against the size of the file before it is used.
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
  std::string name;  // '/' between folders, and at the end of a folder's own; may lead anywhere
  std::uint16_t method = method_stored;
  std::uint32_t crc = 0;     // CRC-32 of the content
  std::uint64_t bytes = 0;   // of the content
  std::uint64_t packed = 0;  // in the file; equal to `bytes` when stored
  std::uint64_t offset = 0;  // of the packed content in the file
  std::uint64_t header = 0;  // of the entry's own header in the file
  std::uint64_t record = 0;  // of what the directory says of it, in the file

  bool is_folder() const noexcept { return !name.empty() && name.back() == '/'; }
};

// Whether a name stays in the folder into which it is unpacked: no empty part, no "." and "..", no
// backslash, no letter of a drive, no control character.
bool stays_inside(std::string_view name) noexcept;

// The directory of an archive that lies in memory. All entries are checked here: they lie inside the file
// and not on one another, no two have one name, headers and directory say the same, and nothing claims
// more content than can be packed in its bytes. Throws Code::format, and Code::unsupported for what is
// encrypted or spread over several files.
class Reader {
 public:
  // The bytes must live as long as this; `where` begins the messages.
  Reader(const char* data, std::size_t bytes, std::string where, std::size_t max_entries = 1000000);

  const std::vector<Entry>& entries() const noexcept {
    return entries_;
  }                                                         // as the directory has them
  const Entry* find(std::string_view name) const noexcept;  // nullptr: there is none

  // The content, of `entry.bytes` bytes. Throws Code::format when it is damaged (of what is stored this
  // is seen with `checked` only) and Code::unsupported for other methods than the two above.
  void read(const Entry& entry, char* to, bool checked = true) const;
  std::string text(const Entry& entry, std::size_t limit) const;

  // Whether the content is what the checksum says.
  bool intact(const Entry& entry) const;

  // Where in the file its checksum stands.
  std::vector<std::uint64_t> checksums_of(const Entry& entry) const;

  const std::string& where() const noexcept { return where_; }

 private:
  void read_directory(std::size_t max_entries);
  void read_record(std::uint64_t at, std::uint64_t directory, std::uint64_t end);
  void read_header(Entry& entry, std::uint64_t directory) const;
  void check_overlaps() const;
  void inflate(const Entry& entry, char* to) const;

  const unsigned char* data_;
  std::uint64_t bytes_;
  std::string where_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, std::size_t> names_;  // of the strings in entries_
};

// An archive on the disk: mapped once, and its directory.
class MappedArchive {
 public:
  // `writable`: what is written to its mapped bytes reaches the file; else it stays here.
  static MappedArchive open(const std::string& path, bool writable = false,
                            std::size_t max_entries = 1000000);

  const Reader& reader() const noexcept { return *reader_; }
  const std::shared_ptr<MappedFile>& file() const noexcept { return file_; }

  bool writable() const noexcept { return writable_; }

 private:
  std::shared_ptr<MappedFile> file_;
  std::unique_ptr<const Reader> reader_;  // its strings stay where they are
  bool writable_ = false;
};

// How the content of an entry is written.
enum class Form : std::uint8_t {
  stored,
  aligned,  // stored, and beginning at a multiple of 64 bytes
  deflated,
};

// Writes an archive beside its place, byte for byte as Python's tensordict does; finish() puts it there.
// Without finish() no trace is left.
class Writer {
 public:
  explicit Writer(const std::string& target);  // an absolute path
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(std::string_view name, Form form, const char* data, std::size_t bytes);

  // The same in pieces of `bytes` bytes in all.
  void begin(std::string_view name, Form form, std::uint64_t bytes);
  void append(const char* data, std::size_t bytes);
  void end();

  // What pack() has made of the content, on any thread.
  struct Packed {
    std::string data;
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0;
  };
  static Packed pack(const char* data, std::size_t bytes);
  void add(std::string_view name, const Packed& packed);

  // `durable` waits until all is on the disk.
  void finish(bool durable = false) {
    close();
    commit(durable);
  }

  // The same in two steps: between them the archive is whole, under a name of its own.
  void close();
  const std::string& path() const noexcept;
  void commit(bool durable = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace td::zip_file
