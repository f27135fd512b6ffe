// One file that is an archive of a folder (.tdz).
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Scratch scratch;
  scratch.write("m.tdz", {reinterpret_cast<const char *>(data) + 1, size - 1});
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = data[0] & 1;
  if ((data[0] >> 1 & 1) != 0) options.device_type = TD_DEVICE_META;
  const std::string file = scratch.path("m.tdz");
  fuzz::Dict td;
  if (!fuzz::done(td_memmap_load(file.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  if (options.device_type != TD_DEVICE_META) fuzz::saves_again(scratch, td.get());
  return 0;
}
