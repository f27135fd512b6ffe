/* Files of other programs: written for safetensors and NumPy, and a log of records read as a dictionary. */
#define _XOPEN_SOURCE 700
#include <stddef.h>
#include <unistd.h>

#include "show.h"

static td_tensordict *weights(void) {
  const float values[] = {1, 2, 3};
  td_tensordict *td;
  td_tensor *x;
  must(td_create((const int64_t[]){3}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(values, sizeof values, (const int64_t[]){3}, 1, TD_DTYPE_FLOAT32, &x));
  must(td_set(td, TD_KEY("x"), x));
  must(td_set(td, TD_KEY("layer", "bias"), x));
  td_tensor_free(x);
  return td;
}

static void write_and_read(void) {
  td_tensordict *td = weights(), *again;
  /* [safetensors] */
  must(td_file_save(td, "weights.safetensors", NULL)); /* "x" and "layer.bias" */
  must(td_file_load("weights.safetensors", NULL, &again));
  /* [/safetensors] */
  show("safetensors", again);
  td_free(again);
  /* [npz] */
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.batch_dims = 1; /* NumPy has no batch size: the first dimension is ours */
  must(td_file_save(td, "weights.npz", NULL));
  must(td_file_load("weights.npz", &options, &again));
  /* [/npz] */
  show("npz", again);
  td_free(again);
  td_free(td);
}

/* [records] */
struct sample { /* as the engine writes them, one after the other */
  double time;
  float x[2];
};

static td_tensordict *read_log(const char *file) {
  const int64_t two[] = {2};
  const td_member members[] = {
      TD_MEMBER(struct sample, time, TD_DTYPE_FLOAT64, "time"),
      {TD_KEY("x"), two, 1, offsetof(struct sample, x), TD_DTYPE_FLOAT32, 0},
  };
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.members = members;
  options.members_len = 2;
  options.item_bytes = sizeof(struct sample);
  td_tensordict *td;
  must(td_file_load(file, &options, &td)); /* mapped, however long the log is */
  return td;
}
/* [/records] */

int main(void) {
  const struct sample samples[] = {{0.0, {1, 2}}, {0.1, {3, 4}}};
  char folder[] = "/tmp/files-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return EXIT_FAILURE;
  write_and_read();
  FILE *log = fopen("log.bin", "wb");
  if (log == NULL || fwrite(samples, sizeof samples, 1, log) != 1 || fclose(log) != 0)
    return EXIT_FAILURE;
  td_tensordict *td = read_log("log.bin");
  show("log", td);
  td_free(td);
  remove("log.bin");
  remove("weights.npz");
  remove("weights.safetensors");
  return rmdir(folder) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
