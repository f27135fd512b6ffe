#include "core/videos/mp4.h"

#include "core/base/error.h"
#include "core/base/quote.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace td::videos {

namespace {

constexpr std::size_t most_frames = std::size_t{1} << 24;
constexpr int deepest_box = 8;

// Numbers of a box, most significant byte first.
class BoxReader {
 public:
  BoxReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::string_view rest() const noexcept { return bytes_; }
  std::string_view take(std::uint64_t bytes) {
    if (bytes > bytes_.size()) fail(Code::format, where_, ": a table of the video is cut");
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(bytes));
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (const char one : take(static_cast<std::uint64_t>(bytes)))
      value = value << 8 | static_cast<unsigned char>(one);
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  int version() { return static_cast<int>(number(4) >> 24); }  // and flags
  // How many entries of `bytes` follow.
  std::size_t count(std::size_t bytes) {
    const std::uint32_t told = u32();
    if (told > bytes_.size() / bytes)
      fail(Code::format, where_, ": a table of the video tells of ", told, " entries, and has ",
           bytes_.size() / bytes);
    return told;
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

// Calls `each(name, content)` for the boxes that follow each other.
template <class Each>
void for_boxes(std::string_view bytes, const std::string& where, Each each) {
  while (bytes.size() >= 8) {
    BoxReader reader(bytes, where);
    std::uint64_t size = reader.u32();
    const std::string_view name = reader.take(4);
    std::uint64_t begin = 8;
    if (size == 1) {
      size = reader.number(8);
      begin = 16;
    } else if (size == 0) {
      size = bytes.size();  // up to the end
    }
    if (size < begin || size > bytes.size()) {
      fail(Code::format, where, ": the part ", quote(name), " has ", size, " bytes, and ",
           bytes.size(), " are left: the file is cut or damaged");
    }
    each(name,
         bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size - begin)));
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

// The tables of one track.
struct Track {
  std::string_view handler, entry, edits, times, offsets, keys, chunks, sizes, places;
  bool wide = false;  // places of 64 bits
  std::string_view media_header;
};

void find_tables(std::string_view box, const std::string& where, Track& track, int level) {
  for_boxes(box, where, [&](std::string_view name, std::string_view content) {
    struct Row {
      const char* name;
      std::string_view Track::*to;
    };
    static constexpr Row rows[] = {
        {"mdhd", &Track::media_header}, {"hdlr", &Track::handler}, {"elst", &Track::edits},
        {"stsd", &Track::entry},        {"stts", &Track::times},   {"ctts", &Track::offsets},
        {"stss", &Track::keys},         {"stsc", &Track::chunks},  {"stsz", &Track::sizes},
        {"stco", &Track::places},       {"co64", &Track::places}};
    for (const char* holder : {"mdia", "minf", "stbl", "edts"}) {
      if (name == holder && level < deepest_box) find_tables(content, where, track, level + 1);
    }
    for (const Row& row : rows) {
      if (name == row.name) track.*row.to = content;
    }
    track.wide = track.wide || name == "co64";
  });
}

class IndexReader {
 public:
  IndexReader(std::string_view file, const std::string& where) : file_(file), where_(where) {}

  VideoIndex run() {
    find_track();
    read_entry();
    read_units();
    read_sizes();
    read_places();
    read_times();
    read_keys();
    index_.shown.resize(index_.frames.size());
    std::iota(index_.shown.begin(), index_.shown.end(), 0);
    std::stable_sort(index_.shown.begin(), index_.shown.end(),
                     [&](auto a, auto b) { return index_.frames[a].time < index_.frames[b].time; });
    return std::move(index_);
  }

 private:
  void find_track() {
    bool found = false, has_movie = false;
    for_boxes(file_, where_, [&](std::string_view name, std::string_view content) {
      if (name == "moof") fail(Code::unsupported, where_, ": a video in fragments is not read");
      if (name != "moov" || has_movie) return;
      has_movie = true;
      for_boxes(content, where_, [&](std::string_view inner, std::string_view part) {
        if (inner == "mvhd") {
          BoxReader reader(part, where_);
          reader.take(reader.version() == 1 ? 16 : 8);
          movie_units_ = reader.u32();
        } else if (inner == "trak" && !found) {
          Track track;
          find_tables(part, where_, track, 0);
          found = track.handler.size() >= 12 && track.handler.substr(8, 4) == "vide";
          if (found) track_ = track;
        }
      });
    });
    if (!has_movie) {
      fail(Code::format, where_,
           " has no table of contents (\"moov\"): it is no MP4 file, or was cut before its end");
    }
    if (!found) fail(Code::format, where_, " holds no video");
  }

  void read_entry() {
    BoxReader reader(track_.entry, where_);
    reader.version();
    const std::uint32_t entries = reader.u32();
    if (entries == 0) fail(Code::format, where_, ": nothing tells the codec of the video");
    if (entries > 1)
      fail(Code::unsupported, where_, ": the video is encoded in ", entries, " ways");
    const std::uint64_t size = reader.u32();
    const std::string_view name = reader.take(4);
    BoxReader entry(reader.take(size < 8 ? 0 : size - 8), where_);
    entry.take(24);
    index_.width = static_cast<std::int64_t>(entry.number(2));
    index_.height = static_cast<std::int64_t>(entry.number(2));
    entry.take(50);
    struct Known {
      const char *name, *header;
      Codec codec;
    };
    static constexpr Known known[] = {{"avc1", "avcC", Codec::h264},
                                      {"avc3", "avcC", Codec::h264},
                                      {"hvc1", "hvcC", Codec::hevc},
                                      {"hev1", "hvcC", Codec::hevc},
                                      {"av01", "av1C", Codec::av1}};
    const auto row = std::find_if(std::begin(known), std::end(known),
                                  [&](const Known& one) { return name == one.name; });
    if (row == std::end(known)) {
      fail(Code::unsupported, where_, ": the codec of the video is ", quote(name),
           "; H.264, HEVC and AV1 are read");
    }
    index_.codec = row->codec;
    for_boxes(entry.rest(), where_, [&](std::string_view inner, std::string_view content) {
      if (inner == row->header) index_.header = content;
    });
  }

  void read_units() {
    BoxReader reader(track_.media_header, where_);
    reader.take(reader.version() == 1 ? 16 : 8);
    index_.units = reader.u32();
    if (index_.units == 0) fail(Code::format, where_, ": the video has no unit of time");
  }

  void read_sizes() {
    BoxReader reader(track_.sizes, where_);
    reader.version();
    const std::uint32_t same = reader.u32();
    const std::size_t count = same != 0 ? reader.u32() : reader.count(4);
    if (count > most_frames || count > file_.size()) {
      fail(Code::format, where_, ": the video tells of ", count, " frames in ", file_.size(),
           " bytes");
    }
    index_.frames.resize(count);
    std::uint64_t all = 0;
    for (EncodedFrame& frame : index_.frames) {
      frame.bytes = same != 0 ? same : reader.u32();
      all += frame.bytes;
      if (frame.bytes == 0 || all > file_.size()) {
        fail(Code::format, where_, ": frame ", &frame - index_.frames.data(), " of the video has ",
             frame.bytes, " bytes, and the file ", file_.size());
      }
    }
  }

  // Frames lie in chunks; a table has runs of chunks with as many frames.
  void read_places() {
    BoxReader chunks(track_.chunks, where_), places(track_.places, where_);
    chunks.version();
    places.version();
    std::size_t runs = chunks.count(12);
    const int bytes = track_.wide ? 8 : 4;
    const std::size_t count = places.count(static_cast<std::size_t>(bytes));
    std::uint64_t next_run = runs == 0 ? 0 : chunks.u32();
    std::size_t length = 0, at = 0;
    for (std::size_t chunk = 1; chunk <= count && at < index_.frames.size(); ++chunk) {
      while (runs > 0 && chunk >= next_run) {
        length = chunks.u32();
        if (chunks.u32() != 1)
          fail(Code::unsupported, where_, ": the video is encoded in several ways");
        next_run = --runs == 0 ? 0 : chunks.u32();
      }
      std::uint64_t offset = places.number(bytes);
      for (std::size_t i = 0; i < length && at < index_.frames.size(); ++i, ++at) {
        EncodedFrame& frame = index_.frames[at];
        frame.offset = offset;
        if (offset > file_.size() || frame.bytes > file_.size() - offset) {
          fail(Code::format, where_, ": frame ", at, " of ", index_.frames.size(),
               " of the video lies behind the end of the file: the file was cut");
        }
        offset += frame.bytes;
      }
    }
    if (at < index_.frames.size()) {
      fail(Code::format, where_, ": a table has the places of ", at,
           " frames of the video, which has ", index_.frames.size());
    }
  }

  void read_times() {
    BoxReader times(track_.times, where_), offsets(track_.offsets, where_);
    times.version();
    std::size_t runs = times.count(8), shifts = 0;
    const bool shifted = !track_.offsets.empty();
    if (shifted) {
      offsets.version();
      shifts = offsets.count(8);
    }
    const std::int64_t shift = first_shown();
    std::uint32_t left = 0, left_shifted = 0;
    std::int64_t step = 0, offset = 0, now = 0;
    for (EncodedFrame& frame : index_.frames) {
      while (left == 0 && runs > 0) {
        --runs;
        left = times.u32();
        step = times.u32();
      }
      while (shifted && left_shifted == 0 && shifts > 0) {
        --shifts;
        left_shifted = offsets.u32();
        offset = offsets.i32();
      }
      if (left == 0 || (shifted && left_shifted == 0)) {
        fail(Code::format, where_, ": a table has the times of ", &frame - index_.frames.data(),
             " frames of the video, which has ", index_.frames.size());
      }
      --left;
      left_shifted -= shifted ? 1 : 0;
      frame.time = now + offset + shift;  // 2^24 frames of 2^32 units are below 2^57
      now += step;
    }
  }

  // What is added to the times in the tables: the edits say which of them is shown first, and after what pause.
  std::int64_t first_shown() {
    if (track_.edits.empty()) return 0;
    BoxReader edits(track_.edits, where_);
    const int bytes = edits.version() == 1 ? 8 : 4;
    const std::size_t count = edits.count(static_cast<std::size_t>(2 * bytes + 4));
    constexpr double most = 1e15;
    double pause = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t length = edits.number(bytes), told = edits.number(bytes);
      edits.u32();
      const std::int64_t from = bytes == 8
                                    ? static_cast<std::int64_t>(told)
                                    : static_cast<std::int32_t>(static_cast<std::uint32_t>(told));
      if (from == -1) {
        pause += movie_units_ == 0 ? 0
                                   : static_cast<double>(length) / movie_units_ *
                                         static_cast<double>(index_.units);
        continue;
      }
      if (i + 1 < count)
        fail(Code::unsupported, where_, ": a video that is cut together of parts is not read");
      if (from < 0 || static_cast<double>(from) > most || pause > most)
        fail(Code::format, where_, ": the video begins at ", from);
      return static_cast<std::int64_t>(pause) - from;
    }
    return 0;
  }

  // Decoding begins at a frame that is no difference from others. One that is shown before that frame, and decoded behind
  // it, needs those of the frame before.
  void read_keys() {
    std::vector<bool> is_key(index_.frames.size(), track_.keys.empty());
    if (!track_.keys.empty()) {
      BoxReader keys(track_.keys, where_);
      keys.version();
      for (std::size_t left = keys.count(4); left > 0; --left) {
        const std::uint32_t number = keys.u32();
        if (number == 0 || number > is_key.size()) {
          fail(Code::format, where_, ": frame ", number,
               " of the video is a key frame, and it has ", is_key.size());
        }
        is_key[number - 1] = true;
      }
    }
    std::uint32_t last = 0, before = 0;
    for (std::uint32_t i = 0; i < index_.frames.size(); ++i) {
      if (is_key[i]) {
        before = last;
        last = i;
      }
      EncodedFrame& frame = index_.frames[i];
      frame.key = frame.time < index_.frames[last].time ? before : last;
    }
  }

  std::string_view file_;
  const std::string& where_;
  std::uint32_t movie_units_ = 0;
  Track track_;
  VideoIndex index_;
};

}  // namespace

VideoIndex read_mp4(std::string_view file, const std::string& where) {
  return IndexReader(file, where).run();
}

}  // namespace td::videos
