// Bags of ROS 2 in MCAP: opened, described and read. A sum of 0 is not checked, so that the bytes behind it are met.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const fuzz::Scratch scratch;
  scratch.write("bag.mcap", {reinterpret_cast<const char *>(data), size});
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  options.kind = TD_DATASET_KIND_ROS;
  options.max_bytes = 1 << 16;
  options.max_entries = 1000;
  options.flags = size % 2 == 0 ? TD_DATASET_DECODE : 0;
  td_dataset *set = nullptr;
  if (!fuzz::done(td_dataset_open(scratch.path("bag.mcap").c_str(), &options, &set))) return 0;
  fuzz::Dict metadata, rows;
  int64_t steps = -1;
  FUZZ_DO(td_dataset_about(set, nullptr, nullptr, &steps));
  FUZZ_CHECK(steps >= 0);
  if (fuzz::done(td_dataset_episode_metadata(set, 0, metadata.out())))
    fuzz::read_all(metadata.get());
  if (fuzz::done(td_dataset_flat(set, rows.out()))) fuzz::read_all(rows.get());
  td_dataset_free(set);
  return 0;
}
