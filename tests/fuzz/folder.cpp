// Folders: meta.json, files of values, links. The first byte says how the folder is loaded.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Scratch scratch;
  scratch.unpack("m", {reinterpret_cast<const char *>(data) + 1, size - 1});
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = data[0] & 1;
  options.verbatim_names = data[0] >> 1 & 1;
  if ((data[0] >> 2 & 1) != 0) options.device_type = TD_DEVICE_META;
  if ((data[0] >> 3 & 1) != 0) options.max_depth = 3;
  if ((data[0] >> 4 & 1) != 0) options.max_entries = 5;
  const std::string folder = scratch.path("m");
  fuzz::Dict td;
  if (!fuzz::done(td_memmap_load(folder.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  if (options.device_type != TD_DEVICE_META) fuzz::saves_again(scratch, td.get());
  return 0;
}
