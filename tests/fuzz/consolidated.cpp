// One file with all tensors in one buffer.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  scratch.write("m", {reinterpret_cast<const char *>(data), size});
  const std::string file = scratch.path("m"), again = scratch.path("n");
  fuzz::Dict td, packed, loaded;
  if (!fuzz::done(td_consolidated_load(file.c_str(), nullptr, td.out()))) {
    FUZZ_CHECK(!td);
    return 0;
  }
  fuzz::read_all(td.get());
  if (fuzz::done(td_consolidate(td.get(), again.c_str(), nullptr, packed.out()))) {
    fuzz::same_leaves(td.get(), packed.get());
    FUZZ_DO(td_consolidated_load(again.c_str(), nullptr, loaded.out()));
    fuzz::same_leaves(td.get(), loaded.get());
  }
  fuzz::saves_again(scratch, td.get());
  return 0;
}
