/* HDF5 files: written, read by rows, demonstrations of different lengths as a lazy stack. */
#include <inttypes.h>

#include "must.h"

/* Steps of a robot: "action" is [steps, 2], "obs"/"image" is [steps, 8, 8, 3]. */
static td_tensordict *steps(int64_t count) {
  td_tensordict *td;
  td_tensor *tensor;
  must(td_create(TD_SIZES(count), TD_DEVICE_NONE, -1, &td));
  must(td_tensor_zeros(TD_SIZES(count, 2), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor));
  must(td_set(td, TD_KEY("action"), tensor));
  td_tensor_free(tensor);
  must(td_tensor_zeros(TD_SIZES(count, 8, 8, 3), TD_DTYPE_UINT8, TD_DEVICE_CPU, -1, &tensor));
  must(td_set(td, TD_KEY("obs", "image"), tensor));
  td_tensor_free(tensor);
  return td;
}

static void show(const char *what, const td_tensordict *td) {
  int64_t sizes[4];
  size_t dims;
  must(td_batch_size(td, sizes, 4, &dims));
  printf("%s: [", what);
  for (size_t i = 0; i < dims; i++) printf("%s%" PRId64, i ? ", " : "", sizes[i]);
  printf("]\n");
}

static void save(const td_tensordict *td) {
  /* [save] */
  td_hdf5_save_options options = TD_HDF5_SAVE_OPTIONS_INIT;
  options.deflate = 4; /* in chunks of about a megabyte */
  must(td_hdf5_save(td, "steps.h5", &options));
  /* [/save] */
}

static void read_rows(void) {
  /* [rows] */
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  td_hdf5 *file;
  td_tensordict *part;
  td_index_item rows[] = {TD_I_SLICE(10, 20)};
  options.batch_dims = 1;
  must(td_hdf5_open("steps.h5", &options, &file));
  must(td_hdf5_read(file, rows, 1, &part)); /* ten steps, and none of the others */
  /* [/rows] */
  show("part", part);
  td_free(part);
  td_hdf5_free(file);
}

static void stack(void) {
  td_tensordict *demonstrations[] = {steps(5), steps(9)}, *both, *loaded;
  must(td_lazy_stack((const td_tensordict *const *)demonstrations, 2, 0, &both));
  td_hdf5_save_options saving = TD_HDF5_SAVE_OPTIONS_INIT;
  saving.flags = TD_HDF5_SAVE_STACK;
  saving.group = "data";
  must(td_hdf5_save(both, "demos.h5", &saving));
  /* [stack] */
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.group = "data";
  options.flags = TD_HDF5_STACK; /* demo_0, demo_1, ... */
  must(td_hdf5_load("demos.h5", &options, &loaded));
  /* [/stack] */
  show("demonstrations", loaded);
  td_free(loaded);
  td_free(both);
  td_free(demonstrations[0]);
  td_free(demonstrations[1]);
}

int main(void) {
  td_tensordict *td = steps(100);
  save(td);
  td_free(td);
  read_rows();
  stack();
  return 0;
}
