// Tables of text, CSV and JSON. The first byte says which.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Scratch scratch;
  scratch.write("t", {reinterpret_cast<const char *>(data) + 1, size - 1});
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  options.format = data[0] & 1;
  options.flags = (data[0] >> 1 & 1) != 0 ? TD_TABLE_FLATTEN : 0;
  options.separator = (data[0] >> 2 & 1) != 0 ? "." : nullptr;
  const std::string file = scratch.path("t"), again = scratch.path("u");
  fuzz::Dict td, loaded;
  if (!fuzz::done(td_table_load(file.c_str(), &options, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  if (fuzz::done(td_table_save(td.get(), again.c_str(), &options))) {
    FUZZ_DO(td_table_load(again.c_str(), &options, loaded.out()));
  }
  fuzz::saves_again(scratch, td.get());
  return 0;
}
