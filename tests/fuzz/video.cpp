// Videos in MP4: their tables; where every frame lies, and which is shown when.
#include "fuzz.h"

#include "core/base/error.h"
#include "core/videos/video.h"

#include <cstring>

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto held = std::make_shared<std::string>(reinterpret_cast<const char *>(data), size);
  try {
    const td::Video video(td::FileBytes(held->data(), held->size(), held, "\"a video\""));
    const td::videos::VideoIndex &index = video.index();
    FUZZ_CHECK(index.units > 0 && index.shown.size() == index.frames.size());
    for (std::uint32_t i = 0; i < index.frames.size(); ++i) {
      const std::string_view bytes = video.bytes_of(i);
      FUZZ_CHECK(bytes.data() >= held->data() &&
                 bytes.data() + bytes.size() <= held->data() + held->size());
      FUZZ_CHECK(index.frames[i].key <= i);
      const auto found = video.frame_at(video.seconds_of(i), 0);
      FUZZ_CHECK(found && video.seconds_of(*found) == video.seconds_of(i));
    }
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.what()[0] != '\0' && std::strchr(error.what(), '\n') == nullptr);
  }
  return 0;
}
