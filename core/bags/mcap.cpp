// MCAP: records with a length each, messages in chunks or beside them. The summary at the end tells where the messages are; a
// file without one, such as a recording that was killed, is read from the start.
#include "core/bags/bag.h"
#include "core/bags/bytes.h"
#include "core/bags/mcap_records.h"
#include "core/bags/unpack.h"
#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/formats/crc32.h"
#include "core/io/mapped_file.h"

#include <algorithm>
#include <map>

namespace td::bags {

namespace {

// A chunk before it is unpacked.
struct Chunk {
  std::uint64_t size, packed_at, packed_size;
  std::uint32_t crc;
  std::string packing;
};

class Mcap final : public Bag {
 public:
  Mcap(const std::string& path, std::uint64_t max_bytes)
      : file_(MappedFile::open(path, MappedFile::whole, MapMode::priv)),
        bytes_(file_->data(), file_->bytes()),
        most_(max_bytes != 0 ? max_bytes : 1100 * bytes_.size() + (std::uint64_t{64} << 20)) {
    where = quote(path);
    if (bytes_.substr(0, mcap_magic.size()) != mcap_magic)
      fail(Code::format, where, " is no MCAP file of version 0");
    if (!read_summary()) {
      forget();
      read_all();
    }
    finish();
  }

  std::string_view message(std::size_t topic, const Place& place,
                           Unpacked& unpacked) const override {
    const std::string_view in =
        place.chunk == Place::no_chunk ? bytes_ : whole(place.chunk, unpacked);
    std::uint64_t next = place.at;
    Record record{};
    if (!record_at(in, next, record) || record.opcode != op::message)
      fail_place(place, "there is no message");
    Bytes content(record.content, where);
    const auto found = channels_.find(content.number<std::uint16_t>());
    content.number<std::uint32_t>();
    const auto time = content.number<std::uint64_t>();
    if (found == channels_.end() || found->second != topic ||
        time != static_cast<std::uint64_t>(place.time))
      fail_place(place, "there is a message of another topic or time than the index says");
    content.number<std::uint64_t>();
    return content.rest();
  }

 private:
  struct Schema {
    std::string name, encoding, text;
  };

  [[noreturn]] void fail_place(const Place& place, const char* what) const {
    const std::string in =
        place.chunk == Place::no_chunk ? "" : " of chunk " + std::to_string(place.chunk);
    fail(Code::format, where, ": at byte ", place.at, in, " ", what);
  }

  std::string chunk_name(std::uint32_t number) const {
    return where + ": chunk " + std::to_string(number);
  }

  std::string_view whole(std::uint32_t number, Unpacked& unpacked) const {
    const Chunk& chunk = chunks_[number];
    const std::string_view packed = bytes_.substr(chunk.packed_at, chunk.packed_size);
    const bool as_is = chunk.packing.empty() && packed.size() == chunk.size;
    if (unpacked.chunk != number) {
      const std::string name = chunk_name(number);
      if (!as_is && chunk.size > most_) {
        fail(Code::format, name, " would take ", chunk.size, " bytes, more than the limit of ",
             most_);
      }
      unpacked.chunk = Place::no_chunk;
      unpacked.bytes = as_is ? "" : unpack(packed, chunk.packing, chunk.size, name);
      check_crc(number, as_is ? packed : unpacked.bytes);
      unpacked.chunk = number;
    }
    return as_is ? packed : unpacked.bytes;
  }

  void check_crc(std::uint32_t number, std::string_view bytes) const {
    const std::uint32_t wanted = chunks_[number].crc;
    if (wanted != 0 && crc32(0, bytes.data(), bytes.size()) != wanted)
      fail(Code::format, chunk_name(number), " is damaged: its CRC is another one");
  }

  void forget() {
    chunks_.clear();
    channels_.clear();
    schemas_.clear();
    notes_.clear();
    topics.clear();
    messages_ = 0;
  }

  // Where all messages are, by the chunk indexes; false: there is no such summary, or it is damaged.
  bool read_summary() {
    constexpr std::size_t footer_size = record_head + 20;
    const std::size_t size = bytes_.size();
    if (size < 2 * mcap_magic.size() + footer_size ||
        bytes_.substr(size - mcap_magic.size()) != mcap_magic)
      return false;
    std::uint64_t at = size - mcap_magic.size() - footer_size;
    const std::uint64_t end = at;
    Record record{};
    if (!record_at(bytes_, at, record) || record.opcode != op::footer ||
        record.content.size() != 20)
      return false;
    Bytes foot(record.content, where);
    const auto start = foot.number<std::uint64_t>();
    foot.number<std::uint64_t>();
    const auto crc = foot.number<std::uint32_t>();
    if (start < mcap_magic.size() || start > end) return false;
    if (crc != 0 && crc32(0, bytes_.data() + start, end - start + record_head + 16) != crc)
      return false;
    bool indexed = false;
    std::uint64_t counted = UINT64_MAX;
    try {
      const std::string_view summary = bytes_.substr(0, end);
      for (at = start; record_at(summary, at, record);) {
        if (record.opcode == op::schema || record.opcode == op::channel) take(record);
      }
      for (at = start; record_at(summary, at, record);) {
        if (record.opcode == op::metadata_index && !take_metadata(record)) return false;
        if (record.opcode == op::statistics)
          counted = Bytes(record.content, where).number<std::uint64_t>();
        if (record.opcode != op::chunk_index) continue;
        indexed = true;
        if (!take_index(record)) return false;
      }
      // Messages beside the chunks are in no index.
      if (!indexed || (counted != messages_ && counted != UINT64_MAX)) return false;
      at = mcap_magic.size();
      if (record_at(bytes_, at, record)) take(record);
    } catch (const Error& error) {
      if (error.code() != Code::format) throw;
      return false;
    }
    return true;
  }

  bool take_metadata(const Record& index) {
    auto at = Bytes(index.content, where).number<std::uint64_t>();
    Record record{};
    if (!record_at(bytes_, at, record) || record.opcode != op::metadata) return false;
    take(record);
    return true;
  }

  // Chunks follow each other, so that no file tells of more messages than it has bytes.
  bool take_index(const Record& index) {
    Bytes content(index.content, where);
    content.number<std::uint64_t>();
    content.number<std::uint64_t>();
    auto at = content.number<std::uint64_t>();
    content.number<std::uint64_t>();
    content.text();  // the place of each record, which follow the chunk anyhow
    const auto length = content.number<std::uint64_t>();
    Record record{};
    if (at < indexed_to_ || !record_at(bytes_, at, record) || record.opcode != op::chunk ||
        length > bytes_.size() - at)
      return false;
    add_chunk(record);
    indexed_to_ = at + length;
    if (length == 0) return chunks_.back().size == 0;
    return take_message_indexes(at, at + length);
  }

  bool take_message_indexes(std::uint64_t at, std::uint64_t end) {
    const std::string_view in = bytes_.substr(0, end);
    const auto number = static_cast<std::uint32_t>(chunks_.size() - 1);
    for (Record record{}; at < end;) {
      if (!record_at(in, at, record) || record.opcode != op::message_index) return false;
      Bytes content(record.content, where);
      const auto id = content.number<std::uint16_t>();
      Bytes places(content.text(), where);
      if (places.empty()) continue;
      const auto found = channels_.find(id);
      if (found == channels_.end()) return false;
      while (!places.empty()) {
        const std::int64_t time = time_of(places.number<std::uint64_t>());
        add_place(found->second, {time, places.number<std::uint64_t>(), number});
      }
    }
    return true;
  }

  void add_place(std::size_t topic, const Place& place) {
    if (++messages_ > most_ / sizeof(Place)) {
      fail(Code::format, where, ": the places of its messages would take more than the limit of ",
           most_, " bytes");
    }
    topics[topic].messages.push_back(place);
  }

  void add_chunk(const Record& record) {
    Bytes content(record.content, where);
    content.number<std::uint64_t>();
    content.number<std::uint64_t>();
    Chunk one{};
    one.size = content.number<std::uint64_t>();
    one.crc = content.number<std::uint32_t>();
    one.packing = std::string(content.text());
    one.packed_size = content.number<std::uint64_t>();
    one.packed_at =
        static_cast<std::uint64_t>(content.take(one.packed_size).data() - bytes_.data());
    if (chunks_.size() >= Place::no_chunk) fail(Code::format, where, " has too many chunks");
    chunks_.push_back(std::move(one));
  }

  std::int64_t time_of(std::uint64_t time) const {
    if (time > INT64_MAX) fail(Code::format, where, ": a message of the time ", time, " ns");
    return static_cast<std::int64_t>(time);
  }

  // From the start to the end, or to where it was cut.
  void read_all() {
    std::uint64_t at = mcap_magic.size();
    Unpacked unpacked;
    for (Record record{}; record_at(bytes_, at, record);) {
      if (record.opcode == op::chunk) {
        add_chunk(record);
        const auto number = static_cast<std::uint32_t>(chunks_.size() - 1);
        const std::string_view in = whole(number, unpacked);
        std::uint64_t inside = 0;
        for (Record one{}; record_at(in, inside, one);) take(one, number);
        if (inside != in.size())
          fail(Code::format, chunk_name(number), " ends within a record, at byte ", inside);
      } else if (record.opcode == op::data_end || record.opcode == op::footer) {
        return;
      } else {
        take(record);
      }
    }
    cut = text_of("the file ends at byte ", bytes_.size(),
                  ", within a record or without an end; what is whole was read");
  }

  void take(const Record& record, std::uint32_t in_chunk = Place::no_chunk) {
    Bytes content(record.content, where);
    switch (record.opcode) {
      case op::header:
        content.text();
        library = std::string(content.text());
        if (!is_utf8(library)) library.clear();
        break;
      case op::schema: {
        const auto id = content.number<std::uint16_t>();
        const std::string_view name = content.text(), encoding = content.text();
        schemas_[id] = {std::string(name), std::string(encoding), std::string(content.text())};
        break;
      }
      case op::channel: {
        const auto id = content.number<std::uint16_t>();
        if (channels_.count(id) != 0) break;
        const auto of = content.number<std::uint16_t>();
        Topic topic;
        topic.name = std::string(content.text());
        topic.encoding = std::string(content.text());
        const auto found = schemas_.find(of);
        if (of != 0 && found != schemas_.end()) {
          topic.type = found->second.name;
          topic.schema_encoding = found->second.encoding;
          topic.schema = found->second.text;
        }
        channels_[id] = topics.size();
        topics.push_back(std::move(topic));
        break;
      }
      case op::message: {
        const auto id = content.number<std::uint16_t>();
        content.number<std::uint32_t>();
        const std::int64_t time = time_of(content.number<std::uint64_t>());
        content.number<std::uint64_t>();
        const auto found = channels_.find(id);
        if (found == channels_.end()) {
          fail(Code::format, where, ": at byte ", record.at, " there is a message of channel ", id,
               ", which was not described before");
        }
        add_place(found->second, {time, record.at, in_chunk});
        break;
      }
      case op::metadata: {
        const std::string_view name = content.text();
        Bytes map(content.text(), where);
        std::vector<std::pair<std::string, std::string>> members;
        while (!map.empty()) {
          const std::string_view key = map.text(), value = map.text();
          if (is_utf8(key) && is_utf8(value)) members.emplace_back(key, value);
        }
        if (!is_utf8(name)) break;
        notes_.emplace_back(name, std::move(members));
        break;
      }
      default: break;  // attachments, statistics, and what later versions add
    }
  }

  void finish() {
    for (Topic& topic : topics) {
      std::stable_sort(topic.messages.begin(), topic.messages.end(),
                       [](const Place& one, const Place& other) {
                         return one.time != other.time     ? one.time < other.time
                                : one.chunk != other.chunk ? one.chunk < other.chunk
                                                           : one.at < other.at;
                       });
    }
    if (notes_.empty()) return;
    PlainBuilder builder;
    builder.open();
    for (const auto& note : notes_) {
      builder.name(note.first);
      builder.open();
      for (const auto& member : note.second) {
        builder.name(member.first);
        builder.add(Plain::of_text(member.second));
      }
      builder.close(true);
    }
    builder.close(true);
    notes = builder.take();
  }

  std::shared_ptr<MappedFile> file_;
  std::string_view bytes_;
  std::uint64_t most_;
  std::uint64_t messages_ = 0, indexed_to_ = 0;
  std::vector<Chunk> chunks_;
  std::map<std::uint16_t, Schema> schemas_;
  std::map<std::uint16_t, std::size_t> channels_;  // the topic of each
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> notes_;
};

}  // namespace

std::unique_ptr<Bag> open_mcap(const std::string& path, std::uint64_t max_bytes) {
  return std::make_unique<Mcap>(path, max_bytes);
}

}  // namespace td::bags
