// Files of safetensors.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  scratch.write("f", {reinterpret_cast<const char *>(data), size});
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = TD_FILE_SAFETENSORS;
  const std::string file = scratch.path("f"), again = scratch.path("g");
  fuzz::Dict td, loaded;
  if (!fuzz::done(td_file_load(file.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  size_t length = 0;
  FUZZ_DO(td_file_metadata(file.c_str(), &options, nullptr, 0, &length));
  if (fuzz::done(td_file_save(td.get(), again.c_str(), &options))) {
    FUZZ_DO(td_file_load(again.c_str(), &options, loaded.out()));
    fuzz::same_leaves(td.get(), loaded.get());
  }
  return 0;
}
