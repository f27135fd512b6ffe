#include "core/datasets/parquet_rescue.h"

#include "core/datasets/parquet_form.h"
#include "core/datasets/thrift.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace td::datasets {

namespace {

enum : std::int64_t { data_page = 0, dictionary_page = 2, data_page_2 = 3 };

struct ParquetPage {
  std::int64_t kind = -1, values = 0, encoding = 0;
  std::uint64_t at = 0, end = 0;  // with its head
  std::uint64_t packed = 0, unpacked = 0, head = 0;
};

struct ParquetChunk {
  std::uint64_t dictionary = 0, data = 0;  // where these pages begin; 0: no such page
  std::uint64_t packed = 0, unpacked = 0;
  std::int64_t values = 0, codec = -1;
  std::vector<std::int64_t> encodings;

  void add(const ParquetPage& page, std::string_view bytes) {
    const bool is_dictionary = page.kind == dictionary_page;
    if (is_dictionary) dictionary = page.at;
    if (!is_dictionary && data == 0) data = page.at;
    if (!is_dictionary) values += page.values;
    packed += page.end - page.at;
    unpacked += page.head + page.unpacked;
    if (std::find(encodings.begin(), encodings.end(), page.encoding) == encodings.end())
      encodings.push_back(page.encoding);
    if (page.kind != data_page_2 && codec < 0) codec = codec_of(page, bytes);
  }

 private:
  // By the first bytes of what is packed; -1: as the other file has it.
  static std::int64_t codec_of(const ParquetPage& page, std::string_view bytes) {
    const std::string_view body = bytes.substr(page.at + page.head, page.packed);
    if (body.substr(0, 4) == std::string_view("\x28\xB5\x2F\xFD", 4)) return parquet_codec::zstd;
    if (body.substr(0, 2) == "\x1F\x8B") return parquet_codec::gzip;
    std::uint64_t size = 0;
    for (unsigned i = 0; i < 5 && i < body.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(body[i]);
      size |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
      if (byte < 0x80) break;
    }
    if (size == page.unpacked && size != 0) return parquet_codec::snappy;
    return page.packed == page.unpacked ? parquet_codec::uncompressed : -1;
  }
};

struct ParquetGroup {
  std::vector<ParquetChunk> chunks;
  std::int64_t rows = 0;
};

// Finds the row groups of a file by its pages.
class PageScan {
 public:
  PageScan(std::string_view bytes, const ParquetForm& form)
      : bytes_(bytes), form_(form), budget_(16 * bytes.size() + 4096) {}

  // The number of rows is that with which all columns end where a page does.
  bool group_at(std::uint64_t& at, ParquetGroup& group) {
    ParquetChunk first;
    ParquetPage page;
    std::uint64_t here = at;
    while (page_at(here, page) && fits(first, page)) {
      first.add(page, bytes_);
      here = page.end;
      const std::int64_t in_row = form_.leaves[0].in_row;
      if (page.kind == dictionary_page || first.values == 0 || first.values % in_row != 0) continue;
      ParquetGroup found;
      found.rows = first.values / in_row;
      found.chunks.push_back(first);
      std::uint64_t end = here;
      if (!others_at(end, found)) continue;
      group = std::move(found);
      at = end;
      return true;
    }
    return false;
  }

 private:
  bool others_at(std::uint64_t& at, ParquetGroup& group) {
    skip_about(at);
    for (std::size_t i = 1; i < form_.leaves.size(); ++i) {
      std::int64_t wanted = 0;
      if (__builtin_mul_overflow(group.rows, form_.leaves[i].in_row, &wanted)) return false;
      ParquetChunk chunk;
      ParquetPage page;
      while (chunk.values < wanted) {
        if (!page_at(at, page) || !fits(chunk, page)) return false;
        chunk.add(page, bytes_);
        at = page.end;
      }
      if (chunk.values != wanted) return false;
      group.chunks.push_back(std::move(chunk));
      skip_about(at);
    }
    return true;
  }

  static bool fits(const ParquetChunk& chunk, const ParquetPage& page) {
    return page.kind != dictionary_page || (chunk.dictionary == 0 && chunk.data == 0);
  }

  // Some writers say behind a column what the footer says of it.
  void skip_about(std::uint64_t& at) const {
    ThriftReader in(bytes_, at);
    ThriftReader::Field field;
    if (!in.next(field) || field.id != 2 || field.type != thrift::i64) return;
    in = ThriftReader(bytes_, at);
    in.skip(thrift::record);
    if (in.good()) at = in.at();
  }

  bool page_at(std::uint64_t at, ParquetPage& page) {
    if (budget_ == 0) return false;
    page = ParquetPage();
    page.at = at;
    std::int64_t unpacked = -1, packed = -1;
    ThriftReader in(bytes_, at);
    for (ThriftReader::Field field; in.next(field);) {
      if (field.id == 1 && field.type == thrift::i32) {
        page.kind = in.integer();
      } else if (field.id == 2) {
        unpacked = in.integer();
      } else if (field.id == 3) {
        packed = in.integer();
      } else if (field.type == thrift::record &&
                 (field.id == 5 || field.id == 7 || field.id == 8)) {
        read_about(in, page, field.id == 8 ? 4 : 2);
      } else {
        in.skip(field.type);
      }
    }
    budget_ -= std::min<std::uint64_t>(budget_, in.at() - at);
    const bool known =
        page.kind == data_page || page.kind == dictionary_page || page.kind == data_page_2;
    if (!in.good() || !known || unpacked < 0 || packed < 0 || page.values < 0 ||
        unpacked > INT32_MAX || static_cast<std::uint64_t>(packed) > bytes_.size() - in.at())
      return false;
    page.head = in.at() - at;
    page.packed = static_cast<std::uint64_t>(packed);
    page.unpacked = static_cast<std::uint64_t>(unpacked);
    page.end = in.at() + page.packed;
    return page.values <= INT32_MAX;
  }

  static void read_about(ThriftReader& in, ParquetPage& page, std::int32_t encoding) {
    for (ThriftReader::Field field; in.next(field);) {
      if (field.id == 1) {
        page.values = in.integer();
      } else if (field.id == encoding) {
        page.encoding = in.integer();
      } else {
        in.skip(field.type);
      }
    }
  }

  std::string_view bytes_;
  const ParquetForm& form_;
  std::uint64_t budget_;  // bytes of heads that are looked at, all in all
};

void write_chunk(ThriftWriter& out, const ParquetChunk& chunk, const ParquetLeaf& leaf) {
  out.begin();
  out.integer(2, thrift::i64, 0);
  out.begin(3);
  out.integer(1, thrift::i32, leaf.type);
  out.list(2, thrift::i32, chunk.encodings.size());
  for (const std::int64_t one : chunk.encodings) out.item(one);
  out.list(3, thrift::binary, leaf.path.size());
  for (const std::string& one : leaf.path) out.item(std::string_view(one));
  out.integer(4, thrift::i32, chunk.codec < 0 ? leaf.codec : chunk.codec);
  out.integer(5, thrift::i64, chunk.values);
  out.integer(6, thrift::i64, static_cast<std::int64_t>(chunk.unpacked));
  out.integer(7, thrift::i64, static_cast<std::int64_t>(chunk.packed));
  out.integer(9, thrift::i64, static_cast<std::int64_t>(chunk.data));
  if (chunk.dictionary != 0)
    out.integer(11, thrift::i64, static_cast<std::int64_t>(chunk.dictionary));
  out.end();
  out.end();
}

std::string footer_of(const ParquetForm& form, const std::vector<ParquetGroup>& groups,
                      std::int64_t rows) {
  ThriftWriter out;
  out.integer(1, thrift::i32, form.version);
  out.copy(2, thrift::list, form.schema);
  out.integer(3, thrift::i64, rows);
  out.list(4, thrift::record, groups.size());
  for (const ParquetGroup& group : groups) {
    std::uint64_t bytes = 0;
    out.begin();
    out.list(1, thrift::record, group.chunks.size());
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
      write_chunk(out, group.chunks[i], form.leaves[i]);
      bytes += group.chunks[i].unpacked;
    }
    out.integer(2, thrift::i64, static_cast<std::int64_t>(bytes));
    out.integer(3, thrift::i64, group.rows);
    out.end();
  }
  if (!form.pairs.empty()) out.copy(5, thrift::list, form.pairs);
  if (!form.writer.empty()) out.copy(6, thrift::binary, form.writer);
  if (!form.orders.empty()) out.copy(7, thrift::list, form.orders);
  std::string bytes = out.take();
  bytes += '\0';
  return bytes;
}

// Whether a version and a schema follow, where a page would have its kind and its size.
bool is_footer(std::string_view bytes) {
  ThriftReader in(bytes);
  ThriftReader::Field field;
  if (!in.next(field) || field.id != 1) return false;
  in.integer();
  return in.next(field) && field.id == 2 && field.type == thrift::list;
}

}  // namespace

RescuedTable rescue_parquet(std::string_view cut, std::string_view like, std::size_t most_groups,
                            const std::string& where) {
  const ParquetForm form = read_parquet_form(like, where);
  RescuedTable table;
  std::vector<ParquetGroup> groups;
  std::int64_t rows = 0;
  std::uint64_t at = parquet_magic.size();
  if (cut.substr(0, parquet_magic.size()) == parquet_magic) {
    PageScan scan(cut, form);
    for (std::uint64_t end = at; groups.size() < most_groups; at = end) {
      ParquetGroup group;
      if (!scan.group_at(end, group) || __builtin_add_overflow(rows, group.rows, &rows)) break;
      table.groups.push_back(group.rows);
      groups.push_back(std::move(group));
    }
  }
  const std::string_view rest = cut.substr(std::min<std::size_t>(at, cut.size()));
  table.left = is_footer(rest) ? 0 : rest.size();
  const std::string footer = footer_of(form, groups, rows);
  table.bytes.reserve(at + footer.size() + 8);
  table.bytes += groups.empty() ? parquet_magic : cut.substr(0, at);
  table.bytes += footer;
  const auto length = static_cast<std::uint32_t>(footer.size());
  table.bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  table.bytes += parquet_magic;
  return table;
}

}  // namespace td::datasets
