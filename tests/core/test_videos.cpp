// Videos in MP4: every frame is the one that PyAV reads, in any order; files that are cut, damaged, or lie.
#include "core/base/sha256.h"
#include "core/formats/json_text.h"
#include "core/videos/video.h"
#include "core/videos/video_writer.h"

#include "folders.h"
#include "trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>

namespace td {
namespace {

const std::string folder = std::string(TD_TEST_DATA) + "/videos/";
constexpr const char* names[] = {"av1.mp4", "h264.mp4", "hevc.mp4", "narrow.mp4"};

std::shared_ptr<const Video> video_of(const std::string& bytes) {
  const auto held = std::make_shared<std::string>(bytes);
  return std::make_shared<const Video>(FileBytes(held->data(), held->size(), held, "\"a video\""));
}
std::shared_ptr<const Video> video_named(const std::string& name) {
  return video_of(test::read_file(folder + name));
}

class Videos : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      VideoReader reader(video_named("av1.mp4"));
    } catch (const Error& failure) {
      if (failure.code() != Code::unsupported) throw;
      GTEST_SKIP() << failure.what();
    }
  }
};

std::string read_frame(VideoReader& reader, std::uint32_t frame) {
  const videos::VideoIndex& index = reader.video()->index();
  std::string pixels(static_cast<std::size_t>(index.height * index.width * 3), '\0');
  reader.read(frame, index.height, index.width, reinterpret_cast<std::uint8_t*>(pixels.data()),
              "frame " + std::to_string(frame));
  return pixels;
}

TEST_F(Videos, EachFrameInAnyOrder) {
  const Plain all = read_value(test::read_file(folder + "videos.json"), "videos.json");
  for (const char* name : names) {
    SCOPED_TRACE(name);
    const Plain& wanted = *all.find(name);
    const auto video = video_named(name);
    const auto count = static_cast<std::size_t>(video->frames());
    ASSERT_EQ(count, wanted.find("times")->items().size());
    VideoReader reader(video);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(7);
    for (int round = 0; round < 4; ++round) {
      for (const std::size_t i : order) {
        const double time = wanted.find("times")->items()[i].number();
        const auto frame = video->frame_at(time + 4e-5, 1e-4);
        ASSERT_TRUE(frame) << time;
        EXPECT_EQ(*frame, video->index().shown[i]);
        std::string pixels;
        ASSERT_NO_THROW(pixels = read_frame(reader, *frame)) << "round " << round << ", " << i;
#ifdef __x86_64__  // on other processors FFmpeg rounds colours in another way
        EXPECT_EQ(sha256(pixels), wanted.find("sha256")->items()[i].characters()) << i;
#endif
        EXPECT_EQ(reader.steps_to(*frame), 0u);
      }
      if (round == 0) {
        std::reverse(order.begin(), order.end());
      } else {
        std::shuffle(order.begin(), order.end(), random);
      }
    }
  }
}

TEST_F(Videos, InOrderDecodeEachFrameOnce) {
  const auto video = video_named("h264.mp4");
  VideoReader reader(video);
  std::size_t steps = 0;
  for (const std::uint32_t frame : video->index().shown) {
    steps += reader.steps_to(frame);
    read_frame(reader, frame);
  }
  EXPECT_LE(steps, 2 * static_cast<std::size_t>(video->frames()));
  EXPECT_EQ(reader.steps_to(video->index().shown[0]), 1u);  // a key frame
}

TEST_F(Videos, TimesWithoutAFrame) {
  const auto video = video_named("h264.mp4");
  EXPECT_TRUE(video->frame_at(0, 1e-4));
  EXPECT_FALSE(video->frame_at(-1, 1e-4));
  EXPECT_FALSE(video->frame_at(40.0 / 30, 1e-4));
  EXPECT_FALSE(video->frame_at(0.5 / 30, 1e-4));
  EXPECT_FALSE(video->frame_at(std::numeric_limits<double>::quiet_NaN(), 1e-4));
  EXPECT_FALSE(video->frame_at(std::numeric_limits<double>::infinity(), 1e-4));
  EXPECT_EQ(video->frame_at(1e9, 1e10), std::optional(video->index().shown.back()));
}

TEST_F(Videos, OfAnotherSize) {
  VideoReader reader(video_named("av1.mp4"));
  std::string pixels(64 * 64 * 3, '\0');
  auto* const to = reinterpret_cast<std::uint8_t*>(pixels.data());
  try {
    reader.read(3, 64, 32, to, "\"x.mp4\", row 3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::format);
    EXPECT_STREQ(error.what(), "\"x.mp4\", row 3: the frame is 64 by 64, where 64 by 32 should be");
  }
  reader.read(3, 64, 64, to, "x");  // goes on
}

// Nothing but these statuses comes.
void look_at(const std::string& bytes, bool decode) {
  const Code code = test::code_of([&] {
    const auto video = video_of(bytes);
    if (!decode || video->frames() == 0) return;
    VideoReader reader(video);
    for (const std::uint32_t frame : video->index().shown) {
      const videos::VideoIndex& index = video->index();
      if (index.height * index.width > 1 << 16) return;
      test::code_of([&] { read_frame(reader, frame); });
    }
  });
  EXPECT_TRUE(code == Code::ok || code == Code::format || code == Code::unsupported)
      << static_cast<int>(code);
}

TEST_F(Videos, CutAtEveryByte) {
  for (const char* name : names) {
    const std::string whole = test::read_file(folder + name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(test::code_of([&] { video_of(whole.substr(0, size)); }), Code::ok) << size;
    }
  }
}

TEST_F(Videos, DamagedAtRandom) {
  testing::internal::CaptureStderr();
  std::mt19937 random(11);
  for (const char* name : names) {
    const std::string whole = test::read_file(folder + name);
    const std::size_t table = whole.find("moov");
    for (int round = 0; round < 600; ++round) {
      std::string changed = whole;
      const bool in_table = round % 2 == 0;
      for (int n = 0; n < 1 + round % 4; ++n) {
        const std::size_t from = in_table ? table : 0, room = whole.size() - from;
        changed[from + random() % room] = static_cast<char>(random());
      }
      look_at(changed, round % 4 < 2);
    }
  }
  // libavutil speaks through the callback of a program that has FFmpeg already, which libtorch may bring.
  std::istringstream said(testing::internal::GetCapturedStderr());
  for (std::string line; std::getline(said, line);)
    EXPECT_NE(line.find("[IMGUTILS"), std::string::npos) << line;
}

// A number of four bytes behind a name, in the tables.
std::string with_number(std::string bytes, const char* name, std::size_t offset,
                        std::uint32_t value) {
  const std::size_t at = bytes.rfind(name) + 4 + offset;
  for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
  return bytes;
}

TEST_F(Videos, TablesThatLie) {
  const std::string whole = test::read_file(folder + "h264.mp4");
  const auto message = [&](const char* name, std::size_t offset, std::uint32_t value) {
    try {
      video_of(with_number(whole, name, offset, value));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("stsz", 8, 0xFFFFFFFF), "tells of 4294967295 entries");
  has(message("stsz", 12, 0x7FFFFFFF), "frame 0 of the video has 2147483647 bytes");
  has(message("stts", 8, 3), "the times of 3 frames of the video, which has 40");
  has(message("stss", 8, 41), "frame 41 of the video is a key frame");
  has(message("stco", 8, 0xFFFFFF00), "behind the end of the file");
  has(message("mdhd", 12, 0), "no unit of time");
  has(message("stsd", 4, 2), "is encoded in 2 ways");
  has(message("stsd", 12, 0x6D703476), "the codec of the video is \"mp4v\"");
  has(message("moov", 0, 8), "is cut");
  has(message("moov", 0, 7), "the part \"mvhd\" has 7 bytes");
}

// [height, width, 3] of colours that change slowly, and with each frame.
std::vector<std::uint8_t> painted(std::int64_t height, std::int64_t width, int frame) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      pixels.push_back(static_cast<std::uint8_t>(
          128 + 100 * std::sin(0.05 * static_cast<double>(x + 4 * frame))));
      pixels.push_back(static_cast<std::uint8_t>(
          128 + 100 * std::cos(0.06 * static_cast<double>(y + 3 * frame))));
      pixels.push_back(static_cast<std::uint8_t>(2 * frame + y));
    }
  }
  return pixels;
}

class VideosWritten : public Videos {};

TEST_F(VideosWritten, EachFrameComesBackAtItsTime) {
  const struct {
    videos::Codec codec;
    std::int64_t height, width;
    double rate;
  } cases[] = {{videos::Codec::h264, 48, 64, 10},    {videos::Codec::h264, 64, 32, 29.97},
               {videos::Codec::av1, 47, 63, 30},     {videos::Codec::av1, 48, 64, 1 / 3.0},
               {videos::Codec::h264, 48, 64, 0.001}, {videos::Codec::h264, 48, 64, 99999.5}};
  for (const auto& one : cases) {
    SCOPED_TRACE(text_of(static_cast<int>(one.codec), " ", one.rate));
    test::TempFolder folder;
    const std::string path = folder("a.mp4");
    VideoForm form;
    form.codec = one.codec;
    form.height = one.height;
    form.width = one.width;
    form.rate = one.rate;
    {
      VideoWriter dropped(path, form, "a video");
      dropped.add(painted(one.height, one.width, 0).data());
    }
    EXPECT_FALSE(test::fs::exists(path));
    constexpr int frames = 31;
    VideoWriter writer(path, form, "a video");
    for (int i = 0; i < frames; ++i) writer.add(painted(one.height, one.width, i).data());
    EXPECT_EQ(writer.frames(), frames);
    writer.finish();
    const auto video = video_of(test::read_file(path));
    ASSERT_EQ(video->frames(), frames);
    EXPECT_EQ(video->index().height, one.height);
    EXPECT_EQ(video->index().width, one.width);
    EXPECT_EQ(video->index().codec, one.codec);
    VideoReader reader(video);
    for (int i = 0; i < frames; ++i) {
      const auto frame = video->frame_at(i / one.rate, 1e-5);
      ASSERT_TRUE(frame) << i;
      EXPECT_EQ(*frame, static_cast<std::uint32_t>(i));
      const std::vector<std::uint8_t> wanted = painted(one.height, one.width, i);
      const std::string found = read_frame(reader, *frame);
      double error = 0;
      for (std::size_t at = 0; at < wanted.size(); ++at) {
        const double differs =
            static_cast<std::uint8_t>(found[at]) - static_cast<double>(wanted[at]);
        error += differs * differs;
      }
      error /= static_cast<double>(wanted.size());
      EXPECT_LT(error, 255.0 * 255.0 / std::pow(10, 3.2)) << "below 32 dB at frame " << i;
    }
  }
}

TEST_F(VideosWritten, WhatACodecCannotHold) {
  test::TempFolder folder;
  VideoForm form;
  form.height = 47;
  form.width = 64;
  const auto open = [&] { VideoWriter(folder("a.mp4"), form, "the video \"x\""); };
  test::expect_error(Code::unsupported, "cannot have frames of 47 by 64; both must be even", open);
  form.height = 70000;
  test::expect_error(Code::unsupported, "cannot have frames of 70000 by 64", open);
  form.height = 48;
  form.quality = 52;
  test::expect_error(Code::invalid_argument, "the quality of H.264 is 1 to 51, or 0; not 52", open);
  form.quality = 0;
  for (const double rate :
       {0.0, -30.0, 1e-9, 1e9, std::nan(""), std::numeric_limits<double>::infinity()}) {
    form.rate = rate;
    test::expect_error(Code::unsupported, "a video has 0.001 to 100000 frames in a second, not",
                       open);
  }
  EXPECT_TRUE(test::fs::is_empty(folder("")));
}

}  // namespace
}  // namespace td
