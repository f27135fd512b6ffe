// The end of a file of MCAP that its writer did not close.
#include "core/bags/bag.h"
#include "core/bags/bytes.h"
#include "core/bags/mcap_records.h"
#include "core/base/quote.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"

namespace td::bags {

namespace {

// The records of a chunk that is cut, if it is not compressed, as they are written behind the others.
void rescue(std::string_view bytes, std::uint64_t at, const std::string& where, McapEnd& end) {
  constexpr std::size_t fixed = 3 * 8 + 4;  // times, size, CRC
  if (bytes.size() - at < record_head + fixed + 4 || bytes[at] != op::chunk) return;
  Bytes content(bytes.substr(at + record_head + fixed), where);
  const auto length = content.number<std::uint32_t>();
  if (length != 0 || content.rest().size() < 8) return;
  content.number<std::uint64_t>();
  const std::string_view inside = content.rest();
  std::uint64_t next = 0;
  for (Record record{}; record_at(inside, next, record);) {
    if (record.opcode != op::schema && record.opcode != op::channel && record.opcode != op::message)
      return;
    if (record.opcode == op::message) ++end.rescued;
    end.records.assign(inside.substr(0, next));
  }
}

std::string number_bytes(std::uint64_t number, std::size_t count) {
  return {reinterpret_cast<const char*>(&number), count};
}

}  // namespace

McapEnd find_end(const std::string& path) {
  const auto file = MappedFile::open(path, MappedFile::whole, MapMode::priv);
  const std::string_view bytes(file->data(), file->bytes());
  const std::string where = quote(path);
  McapEnd end;
  if (bytes.substr(0, mcap_magic.size()) != mcap_magic)
    fail(Code::format, where, " is no MCAP file of version 0");
  std::uint64_t at = mcap_magic.size();
  end.kept = at;
  bool ended = false;
  for (Record record{}; at < bytes.size() && bytes[at] != 0 && record_at(bytes, at, record);) {
    ended = ended || record.opcode == op::data_end || record.opcode == op::footer;
    if (!ended) end.kept = at;
    if (record.opcode != op::footer) continue;
    end.is_whole = bytes.substr(at) == mcap_magic;
    break;
  }
  if (end.is_whole) return end;
  if (end.kept == mcap_magic.size() ||
      static_cast<std::uint8_t>(bytes[mcap_magic.size()]) != op::header)
    fail(Code::format, where, " has no whole record");
  if (!ended) rescue(bytes, end.kept, where, end);
  end.left = ended ? 0 : bytes.size() - end.kept - end.records.size();
  return end;
}

void write_end(const std::string& path, const std::string& out, const McapEnd& end, bool durable) {
  const auto file = MappedFile::open(path, MappedFile::whole, MapMode::priv);
  if (file->bytes() < end.kept) fail(Code::busy, quote(path), " was replaced meanwhile");
  files::NewFile to(out);
  const auto record = [&](std::uint8_t opcode, std::size_t length) {
    const std::string text =
        number_bytes(opcode, 1) + number_bytes(length, 8) + std::string(length, '\0');
    to.write(text.data(), text.size());
  };
  to.write(file->data(), end.kept);
  to.write(end.records.data(), end.records.size());
  record(op::data_end, 4);  // no CRC
  record(op::footer, 20);   // no summary
  to.write(mcap_magic.data(), mcap_magic.size());
  to.commit(durable);
}

}  // namespace td::bags
