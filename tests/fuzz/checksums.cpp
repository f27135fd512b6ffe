// Folders that are verified: the file of checksums beside meta.json and files of values.
#include "fuzz.h"

namespace {

td_status told(void *user, const td_damage *damage) {
  FUZZ_CHECK(damage->path != nullptr && damage->message != nullptr && damage->message[0] != '\0');
  ++*static_cast<std::size_t *>(user);
  return TD_OK;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  scratch.unpack("m", {reinterpret_cast<const char *>(data), size});
  const std::string folder = scratch.path("m");
  std::size_t damaged = 0, reported = 0, again = 0;
  td_verify_options options = TD_VERIFY_OPTIONS_INIT;
  options.damage = told;
  options.user = &reported;
  if (!fuzz::done(td_memmap_verify(folder.c_str(), &options, &damaged))) return 0;
  FUZZ_CHECK(damaged == reported);
  fuzz::Dict td;
  const td_status loaded = td_memmap_load(folder.c_str(), nullptr, td.out());
  if (!fuzz::done(loaded)) {
    // What cannot be loaded is damaged, or was saved on a device that this machine has not.
    FUZZ_CHECK(damaged != 0 || loaded == TD_ERR_DEVICE);
    return 0;
  }
  // With new checksums it is sound.
  if (fuzz::done(td_memmap_write_checksums(folder.c_str(), nullptr))) {
    FUZZ_DO(td_memmap_verify(folder.c_str(), nullptr, &again));
    FUZZ_CHECK(again == 0);
  }
  return 0;
}
