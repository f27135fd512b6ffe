// Folders of replay buffers: JSON files, rows, states of samplers, live.bin. The first byte says how the folder
// is opened.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Scratch scratch;
  scratch.unpack("r", {reinterpret_cast<const char *>(data) + 1, size - 1});
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = (data[0] >> 1 & 3) == 3 ? TD_REPLAY_SAMPLER_PRIORITIZED : data[0] >> 1 & 3;
  const std::string folder = scratch.path("r"), saved = scratch.path("saved");
  td_replay *replay = nullptr;
  const td_status opened = (data[0] & 1) != 0 ? td_replay_open(folder.c_str(), &options, &replay)
                                              : td_replay_load(folder.c_str(), &options, &replay);
  if (!fuzz::done(opened)) {
    FUZZ_CHECK(replay == nullptr);
    return 0;
  }
  int64_t len = -1, capacity = -1, cursor = -1;
  FUZZ_DO(td_replay_where(replay, &len, &capacity, &cursor, nullptr));
  FUZZ_CHECK(len >= 0 && len <= capacity && cursor >= 0 && cursor < capacity);
  fuzz::Dict rows, batch;
  FUZZ_DO(td_replay_dict(replay, rows.out()));
  fuzz::read_all(rows.get());
  for (int i = 0; i < 3; ++i)
    if (fuzz::done(td_replay_sample(replay, 5, batch.out()))) fuzz::read_all(batch.get());
  if (fuzz::done(td_replay_save(replay, saved.c_str(), 0))) {
    td_replay *again = nullptr;
    FUZZ_DO(td_replay_load(saved.c_str(), nullptr, &again));
    int64_t same = -1;
    FUZZ_DO(td_replay_where(again, &same, nullptr, nullptr, nullptr));
    FUZZ_CHECK(same == len);
    td_replay_free(again);
  }
  td_replay_free(replay);
  return 0;
}
