// Writes zip archives with the fields and order of Python's zipfile.
#include "core/formats/crc32.h"
#include "core/formats/deflater.h"
#include "core/formats/summer.h"
#include "core/formats/zip_file.h"
#include "core/io/new_file.h"

#include <algorithm>
#include <ctime>

namespace td::zip_file {

namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint16_t padding_field = 0x6474;  // "td"
constexpr std::uint16_t version = 45;            // of the format, with zip64
constexpr std::uint16_t made_by_unix = 3 << 8 | version;
constexpr std::uint32_t permissions = 0644U << 16;
constexpr std::uint16_t name_is_utf8 = 0x0800;
constexpr std::uint64_t narrow_limit = 0x7fffffff;  // Python writes zip64 above it
constexpr std::uint64_t crc_in_header = 14;
constexpr std::uint64_t sizes_before_content = 16;      // of the zip64 field, last in the header
constexpr std::size_t gathered = std::size_t{1} << 16;  // small entries are written together
constexpr std::size_t large = std::size_t{1}
                              << 19;  // larger pieces are checksummed while they are written

class Bytes {
 public:
  explicit Bytes(std::string& out) : out_(out) {}
  Bytes& u16(std::uint64_t value) { return add(value, 2); }
  Bytes& u32(std::uint64_t value) { return add(value, 4); }
  Bytes& u64(std::uint64_t value) { return add(value, 8); }
  Bytes& text(std::string_view text) {
    out_.append(text);
    return *this;
  }

 private:
  Bytes& add(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  std::string& out_;
};

}  // namespace

struct Writer::State {
  struct Done {
    std::string name;
    std::uint16_t method;
    std::uint32_t crc;
    std::uint64_t bytes;
    std::uint64_t packed;
    std::uint64_t header;
    std::string padding;  // an extra field
  };

  explicit State(const std::string& target) : file(target) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    if (::localtime_r(&now, &local) == nullptr || local.tm_year < 80) return;
    time = local.tm_hour << 11 | local.tm_min << 5 | local.tm_sec / 2;
    date = (local.tm_year - 80) << 9 | (local.tm_mon + 1) << 5 | local.tm_mday;
  }

  void flush() {
    file.write(pending.data(), pending.size());
    written += pending.size();
    pending.clear();
  }

  std::uint64_t at() const noexcept { return written + pending.size(); }

  void put(const char* data, std::size_t bytes) {
    if (pending.size() + bytes > gathered) flush();
    if (bytes > gathered) {
      file.write(data, bytes);
      written += bytes;
    } else {
      pending.append(data, bytes);
    }
  }

  static std::uint16_t flags(const Done& entry) noexcept {
    const bool ascii = std::all_of(entry.name.begin(), entry.name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return ascii ? 0 : name_is_utf8;
  }

  void open(std::string_view name, Form form, std::uint64_t bytes) {
    if (name.empty() || name.size() > 0xffff) {
      fail(Code::key_invalid, "the name of an entry of an archive cannot have ", name.size(),
           " bytes");
    }
    Done entry{std::string(name),
               form == Form::deflated ? method_deflated : method_stored,
               0,
               bytes,
               form == Form::deflated ? 0 : bytes,
               at(),
               {}};
    if (form == Form::aligned) {
      const std::uint64_t plain = entry.header + 30 + name.size() + 4 + 20;
      const std::uint64_t padding = (alignment - plain % alignment) % alignment;
      Bytes(entry.padding).u16(padding_field).u16(padding);
      entry.padding.append(padding, '\0');
    }
    done.push_back(std::move(entry));
  }

  // Writes the header; patch() corrects fields that are not yet known.
  void put_header() {
    const Done& entry = done.back();
    std::string header;
    Bytes(header)
        .u32(0x04034b50)
        .u16(version)
        .u16(flags(entry))
        .u16(entry.method)
        .u16(static_cast<std::uint64_t>(time))
        .u16(static_cast<std::uint64_t>(date))
        .u32(entry.crc)
        .u32(0xffffffff)
        .u32(0xffffffff)
        .u16(entry.name.size())
        .u16(entry.padding.size() + 20)
        .text(entry.name)
        .text(entry.padding)
        .u16(0x0001)
        .u16(16)
        .u64(entry.bytes)
        .u64(entry.packed);
    put(header.data(), header.size());
    content = at();
  }

  // Rewrites the fields of the header that were unknown.
  void patch() {
    const Done& entry = done.back();
    flush();
    std::string crc, sizes;
    Bytes(crc).u32(entry.crc);
    Bytes(sizes).u64(entry.bytes).u64(entry.packed);
    file.write_at(entry.header + crc_in_header, crc.data(), crc.size());
    if (entry.method == method_deflated) {
      file.write_at(content - sizes_before_content, sizes.data(), sizes.size());
    }
  }

  std::string directory() const {
    std::string out;
    Bytes to(out);
    for (const Done& entry : done) {
      std::string wide;
      const bool wide_sizes = entry.bytes > narrow_limit || entry.packed > narrow_limit;
      if (wide_sizes) Bytes(wide).u64(entry.bytes).u64(entry.packed);
      const bool wide_place = entry.header > narrow_limit;
      if (wide_place) Bytes(wide).u64(entry.header);
      to.u32(0x02014b50).u16(made_by_unix).u16(version).u16(flags(entry)).u16(entry.method);
      to.u16(static_cast<std::uint64_t>(time)).u16(static_cast<std::uint64_t>(date)).u32(entry.crc);
      to.u32(wide_sizes ? 0xffffffff : entry.packed).u32(wide_sizes ? 0xffffffff : entry.bytes);
      to.u16(entry.name.size()).u16(entry.padding.size() + (wide.empty() ? 0 : 4 + wide.size()));
      to.u16(0).u16(0).u16(0).u32(permissions).u32(wide_place ? 0xffffffff : entry.header);
      to.text(entry.name);
      if (!wide.empty()) to.u16(0x0001).u16(wide.size()).text(wide);
      to.text(entry.padding);
    }
    const std::uint64_t size = out.size();
    const std::uint64_t begin = at();
    if (done.size() > 0xffff || begin > narrow_limit || size > narrow_limit) {
      to.u32(0x06064b50).u64(44).u16(version).u16(version).u32(0).u32(0);
      to.u64(done.size()).u64(done.size()).u64(size).u64(begin);
      to.u32(0x07064b50).u32(0).u64(begin + size).u32(1);
    }
    const std::uint64_t count = std::min<std::uint64_t>(done.size(), 0xffff);
    to.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count);
    to.u32(std::min<std::uint64_t>(size, 0xffffffff));
    to.u32(std::min<std::uint64_t>(begin, 0xffffffff)).u16(comment.size()).text(comment);
    return out;
  }

  files::NewFile file;
  int time = 0;
  int date = 1 << 5 | 1;  // the earliest date of the format
  std::string pending;    // to be written next
  std::uint64_t written = 0;
  std::vector<Done> done;
  std::string comment;
  Summer summer;
  std::unique_ptr<Deflater> deflater;
  std::uint64_t content = 0;  // start of the current entry's content
  std::uint64_t taken = 0;    // bytes of it so far
};

Writer::Writer(const std::string& target) : state_(std::make_unique<State>(target)) {}

Writer::~Writer() = default;

void Writer::set_comment(std::string_view comment) {
  if (comment.size() > 0xffff) {
    fail(Code::invalid_argument, "the comment of an archive cannot have ", comment.size(),
         " bytes");
  }
  state_->comment = comment;
}

void Writer::add(std::string_view name, Form form, const char* data, std::size_t bytes) {
  State& to = *state_;
  if (form == Form::deflated) {
    begin(name, form, bytes);
    append(data, bytes);
    end();
    return;
  }
  to.open(name, form, bytes);
  std::uint32_t& crc = to.done.back().crc;
  if (bytes < large) {
    crc = crc32(0, data, bytes);
    to.put_header();
    to.put(data, bytes);
    return;
  }
  to.put_header();
  to.summer.begin(data, bytes);
  struct Wait {  // in all cases: the other thread reads the caller's memory
    Summer& summer;
    std::uint32_t& crc;
    ~Wait() { crc = summer.end(); }
  };
  {
    const Wait wait{to.summer, crc};
    to.put(data, bytes);
  }
  to.patch();
}

void Writer::begin(std::string_view name, Form form, std::uint64_t bytes) {
  state_->open(name, form, bytes);
  state_->put_header();
  state_->taken = 0;
  if (form == Form::deflated) state_->deflater = std::make_unique<Deflater>();
}

void Writer::append(const char* data, std::size_t bytes) {
  State& to = *state_;
  State::Done& entry = to.done.back();
  entry.crc = crc32(entry.crc, data, bytes);
  to.taken += bytes;
  if (to.deflater == nullptr) {
    to.put(data, bytes);
  } else if (bytes != 0) {
    to.deflater->put(data, bytes, false, [&](const char* out, std::size_t n) {
      to.put(out, n);
      entry.packed += n;
    });
  }
}

void Writer::end() {
  State& to = *state_;
  State::Done& entry = to.done.back();
  if (to.deflater != nullptr) {
    to.deflater->put(nullptr, 0, true, [&](const char* out, std::size_t n) {
      to.put(out, n);
      entry.packed += n;
    });
    to.deflater.reset();
  }
  if (to.taken != entry.bytes) {
    fail(Code::io, "\"", entry.name, "\" changed while it was packed: ", to.taken, " bytes, not ",
         entry.bytes);
  }
  to.patch();
}

Writer::Packed Writer::pack(const char* data, std::size_t bytes) {
  Packed result;
  result.crc = crc32(0, data, bytes);
  result.bytes = bytes;
  Deflater().put(data, bytes, true,
                 [&](const char* out, std::size_t n) { result.data.append(out, n); });
  return result;
}

void Writer::add(std::string_view name, const Packed& packed) {
  State& to = *state_;
  to.open(name, Form::deflated, packed.bytes);
  to.done.back().crc = packed.crc;
  to.done.back().packed = packed.data.size();
  to.put_header();
  to.put(packed.data.data(), packed.data.size());
}

void Writer::close() {
  const std::string directory = state_->directory();
  state_->put(directory.data(), directory.size());
  state_->flush();
}

const std::string& Writer::path() const noexcept { return state_->file.path(); }

void Writer::commit(bool durable) { state_->file.commit(durable); }

}  // namespace td::zip_file
