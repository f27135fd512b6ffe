// Arrays and archives of NumPy. The content says which.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  scratch.write("f", {reinterpret_cast<const char *>(data), size});
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = size > 1 && data[0] == 'P' ? TD_FILE_NPZ : TD_FILE_NPY;
  const std::string file = scratch.path("f"), again = scratch.path("g");
  fuzz::Dict td, loaded;
  if (!fuzz::done(td_file_load(file.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  if (fuzz::done(td_file_save(td.get(), again.c_str(), &options))) {
    FUZZ_DO(td_file_load(again.c_str(), &options, loaded.out()));
    fuzz::same_leaves(td.get(), loaded.get());
  }
  return 0;
}
