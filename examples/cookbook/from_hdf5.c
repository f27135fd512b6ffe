/* Demonstrations in an HDF5 file become a folder that Python and C map. */
#include <inttypes.h>

#include "../c/must.h"

/* A file as robotics has them: groups demo_0, demo_1 … of different lengths below "data". */
static void make_file(void) {
  td_tensordict *demos[2], *both;
  for (int i = 0; i < 2; i++) {
    const float actions[5][2] = {{(float)i}};
    must(td_create(TD_SIZES(4 + i), TD_DEVICE_NONE, -1, &demos[i]));
    must(td_set_data(demos[i], TD_KEY("action"), actions, (size_t)(4 + i) * 8, TD_SIZES(4 + i, 2),
                     TD_DTYPE_FLOAT32));
  }
  td_hdf5_save_options options = TD_HDF5_SAVE_OPTIONS_INIT;
  options.flags = TD_HDF5_SAVE_STACK;
  options.group = "data";
  must(td_lazy_stack((const td_tensordict *const *)demos, 2, 0, &both));
  must(td_hdf5_save(both, "demos.h5", &options));
  td_free(both);
  for (int i = 0; i < 2; i++) td_free(demos[i]);
}

int main(void) {
  make_file();
  /* [convert] */
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  td_tensordict *loaded, *demos[2], *rows, *stored;
  size_t count;
  options.group = "data";
  options.batch_dims = 1;        /* steps */
  options.flags = TD_HDF5_STACK; /* demo_0, demo_1 … side by side */
  must(td_hdf5_load("demos.h5", &options, &loaded));
  must(td_memmap(loaded, "demos", NULL, &stored)); /* keeps the episodes apart */
  td_free(stored);
  must(td_unbind(loaded, 0, demos, 2, &count));
  must(td_cat((const td_tensordict *const *)demos, count, 0, &rows)); /* all steps in a row */
  must(td_memmap(rows, "steps", NULL, &stored));
  /* [/convert] */
  int64_t steps;
  size_t dims;
  must(td_batch_size(stored, &steps, 1, &dims));
  printf("%zu demonstrations, %" PRId64 " steps\n", count, steps);
  for (size_t i = 0; i < count; i++) td_free(demos[i]);
  td_free(stored);
  td_free(rows);
  td_free(loaded);
  return EXIT_SUCCESS;
}
