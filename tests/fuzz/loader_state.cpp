// States of loaders: the numbers of a good one, changed, removed, or of another dtype or shape. The first byte says
// how the loader draws; then come 10 bytes for each change: which entry, what becomes of it, and a number.
#include "fuzz.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace {

constexpr std::int64_t rows = 23;
const char *const names[] = {"epoch", "batch",      "source_rows", "seed",        "rows",
                             "rank",  "world_size", "drop_last",   "order",       "draws",
                             "flat",  "slice_len",  "slice_step",  "short_slices"};
// The first four are where a loader is; the others must be those of its options, and seldom change.
constexpr std::size_t places = 4;

struct Change {
  unsigned char name, form;
  std::int64_t number;
};

void change(td_tensordict *state, const Change &by) {
  const bool place = (by.name & 0x80) == 0;
  const char *const path[] = {names[by.name % (place ? places : std::size(names))]};
  const std::int64_t two[] = {by.number, by.number};
  const std::int64_t length = by.form % 3;
  const auto put = [&](const std::int64_t *sizes, std::size_t dims, td_dtype dtype) {
    const std::size_t count = dims == 0 ? 1 : static_cast<std::size_t>(length);
    FUZZ_DO(td_set_data(state, path, 1, two, count * sizeof *two, sizes, dims, dtype));
  };
  if (by.form < 200) return put(nullptr, 0, TD_DTYPE_INT64);
  if (by.form < 215) return put(&length, 1, TD_DTYPE_INT64);
  if (by.form < 230) return put(nullptr, 0, TD_DTYPE_FLOAT64);
  if (by.form < 240) return (void)fuzz::done(td_set_non_tensor_json(state, path, 1, "5"));
  (void)fuzz::done(td_remove(state, path, 1));
}

void where(const td_loader *loader, std::int64_t (&at)[3]) {
  FUZZ_DO(td_loader_where(loader, &at[0], &at[1], &at[2]));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  fuzz::Dict td, state, batch;
  std::int64_t x[rows];
  for (std::int64_t i = 0; i < rows; ++i) x[i] = i;
  const std::int64_t sizes[] = {rows};
  const char *const path[] = {"x"};
  FUZZ_DO(td_create(sizes, 1, TD_DEVICE_NONE, 0, td.out()));
  FUZZ_DO(td_set_data(td.get(), path, 1, x, sizeof x, sizes, 1, TD_DTYPE_INT64));
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = 4;
  options.epochs = 3;
  options.flags = data[0] & (TD_LOADER_SHUFFLE | TD_LOADER_DROP_LAST | TD_LOADER_REFRESH);
  if ((data[0] & 2) != 0) options.flags = TD_LOADER_REPLACEMENT;
  if ((data[0] & 8) != 0) options.slice_len = 3;
  if ((data[0] & 32) != 0) options.world_size = 2;
  td_loader *loader = nullptr;
  if (!fuzz::done(td_loader_create(td.get(), &options, &loader))) return 0;  // no full batch
  for (int i = data[0] >> 6; i > 0; --i) FUZZ_DO(td_loader_next(loader, batch.out()));
  FUZZ_DO(td_loader_state(loader, state.out()));
  ++data, --size;
  for (Change by{}; size >= 10; data += 10, size -= 10) {
    by.name = data[0];
    by.form = data[1];
    std::memcpy(&by.number, data + 2, sizeof by.number);
    change(state.get(), by);
  }
  std::int64_t before[3], after[3];
  where(loader, before);
  if (!fuzz::done(td_loader_load_state(loader, state.get()))) {
    where(loader, after);
    FUZZ_CHECK(std::equal(before, before + 3, after));
  }
  // Wherever it is now, its batches are rows of the dictionary, and it says where it is.
  for (int i = 0; i < 20; ++i) {
    where(loader, before);
    FUZZ_CHECK(before[0] >= 0 && before[1] >= 0 && before[2] >= 0);
    FUZZ_DO(td_loader_next(loader, batch.out()));
    if (!batch) continue;
    fuzz::read_all(batch.get());
    where(loader, after);
    FUZZ_CHECK(after[0] > before[0] || after[1] == before[1] + 1);
    std::int64_t shape[2] = {0, 1}, got[4 * 3];
    std::size_t dims = 0;
    FUZZ_DO(td_get_sizes(batch.get(), path, 1, shape, 2, &dims));
    const auto count = static_cast<std::size_t>(shape[0] * (dims == 2 ? shape[1] : 1));
    FUZZ_CHECK(count >= 1 && count <= std::size(got));
    FUZZ_DO(td_get_data(batch.get(), path, 1, TD_DTYPE_INT64, got, count * sizeof *got));
    FUZZ_CHECK(
        std::all_of(got, got + count, [](std::int64_t one) { return one >= 0 && one < rows; }));
  }
  td_loader_free(loader);
  return 0;
}
