#include "core/videos/mp4_write.h"

#include <algorithm>

namespace td::videos {

namespace {

constexpr std::uint32_t movie_units = 1000;
constexpr int no_language = 0x55c4;
// No turn and no change of size.
constexpr std::uint32_t matrix[] = {0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000};

std::string box(std::string_view name, const std::string& content) {
  std::string made;
  put_big(made, content.size() + 8, 4);
  return made.append(name).append(content);
}

// A box with a version and flags.
class Box {
 public:
  explicit Box(std::string_view name, std::uint32_t flags = 0) : name_(name) { put(flags); }
  Box& put(std::uint64_t value, int bytes = 4) {
    put_big(content_, value, bytes);
    return *this;
  }
  Box& put(std::string_view text) {
    content_ += text;
    return *this;
  }
  Box& put_matrix() {
    for (const std::uint32_t one : matrix) put(one);
    return *this;
  }
  std::string make() const { return box(name_, content_); }

 private:
  std::string_view name_;
  std::string content_;
};

std::string entry(const WrittenVideo& video) {
  const bool is_av1 = video.codec == Codec::av1;
  std::string content(6, '\0');
  put_big(content, 1, 2);
  content.append(16, '\0');
  put_big(content, static_cast<std::uint64_t>(video.width), 2);
  put_big(content, static_cast<std::uint64_t>(video.height), 2);
  for (int i = 0; i < 2; ++i) put_big(content, 72 << 16, 4);  // dots in an inch
  put_big(content, 0, 4);
  put_big(content, 1, 2);
  content.append(32, '\0');
  put_big(content, 24, 2);
  put_big(content, 0xffff, 2);
  content += box(is_av1 ? "av1C" : "avcC", video.header);
  return Box("stsd").put(1).put(box(is_av1 ? "av01" : "avc1", content)).make();
}

// How long each frame is shown, in runs.
std::string times(const WrittenVideo& video) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> runs;
  for (std::size_t i = 0; i < video.frames.size(); ++i) {
    const bool is_last = i + 1 == video.frames.size();
    const std::int64_t length =
        (is_last ? video.end : video.frames[i + 1].time) - video.frames[i].time;
    if (runs.empty() || runs.back().second != length) runs.emplace_back(0, length);
    ++runs.back().first;
  }
  Box made("stts");
  made.put(runs.size());
  for (const auto& run : runs) made.put(run.first).put(static_cast<std::uint64_t>(run.second));
  return made.make();
}

std::string tables(const WrittenVideo& video) {
  const std::size_t count = video.frames.size();
  Box keys("stss"), sizes("stsz");
  const auto is_key = [](const WrittenFrame& one) { return one.is_key; };
  keys.put(
      static_cast<std::uint64_t>(std::count_if(video.frames.begin(), video.frames.end(), is_key)));
  sizes.put(0).put(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (video.frames[i].is_key) keys.put(i + 1);
    sizes.put(video.frames[i].bytes);
  }
  // All of them are one chunk.
  return box("stbl", entry(video) + times(video) + keys.make() +
                         Box("stsc").put(1).put(1).put(count).put(1).make() + sizes.make() +
                         Box("stco").put(1).put(mp4_front(0).size()).make());
}

}  // namespace

void put_big(std::string& to, std::uint64_t value, int bytes) {
  while (bytes > 0) to += static_cast<char>(value >> 8 * --bytes & 255);
}

std::string mp4_front(std::uint64_t bytes) {
  std::string front = box("ftyp", std::string("isom\0\0\2\0isomiso2mp41", 20));
  put_big(front, 1, 4);
  front += "mdat";
  put_big(front, bytes + 16, 8);
  return front;
}

std::string mp4_tables(const WrittenVideo& video) {
  const auto whole = static_cast<std::uint64_t>(video.end);
  const std::uint64_t shown = whole * movie_units / static_cast<std::uint64_t>(video.units);
  const std::string media =
      Box("mdhd", 1 << 24)
          .put(0, 8)
          .put(0, 8)
          .put(static_cast<std::uint64_t>(video.units))
          .put(whole, 8)
          .put(no_language, 2)
          .put(0, 2)
          .make() +
      Box("hdlr")
          .put(0)
          .put("vide")
          .put(0)
          .put(0)
          .put(0)
          .put(std::string_view("video\0", 6))
          .make() +
      box("minf", Box("vmhd", 1).put(0, 8).make() +
                      box("dinf", Box("dref").put(1).put(Box("url ", 1).make()).make()) +
                      tables(video));
  const std::string track = Box("tkhd", 1 << 24 | 3)
                                .put(0, 8)
                                .put(0, 8)
                                .put(1)
                                .put(0)
                                .put(shown, 8)
                                .put(0, 8)
                                .put(0, 8)
                                .put_matrix()
                                .put(static_cast<std::uint64_t>(video.width) << 16)
                                .put(static_cast<std::uint64_t>(video.height) << 16)
                                .make();
  const std::string movie = Box("mvhd", 1 << 24)
                                .put(0, 8)
                                .put(0, 8)
                                .put(movie_units)
                                .put(shown, 8)
                                .put(0x10000)
                                .put(0x100, 2)
                                .put(0, 2)
                                .put(0, 8)
                                .put_matrix()
                                .put(0, 8)
                                .put(0, 8)
                                .put(0, 8)
                                .put(2)
                                .make();
  return box("moov", movie + box("trak", track + box("mdia", media)));
}

}  // namespace td::videos
