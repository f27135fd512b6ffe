/* Writes a data set of LeRobot episode by episode: set_grows FOLDER EPISODES [PAUSE]
 *
 * Goes on with a set that is there, until it has so many episodes, and prints the number of episodes after each. Episode e has
 * 3 + e % 4 steps; recordings.py knows what is in them. PAUSE: microseconds between two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensordict/td.h"

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "set_grows: %s: %s\n", td_last_error_function(), td_last_error_message());
  exit(1);
}

static void put(td_tensordict *td, const char *const *path, size_t path_len, const void *data,
                size_t bytes, const int64_t *sizes, size_t dims, td_dtype dtype) {
  td_tensor *tensor;
  must(td_tensor_from_data(data, bytes, sizes, dims, dtype, &tensor));
  must(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

static td_tensordict *episode(int64_t number) {
  const int64_t steps = 3 + number % 4;
  float state[6][4], reward[6];
  double action[6][2];
  unsigned char picture[6][8][10][3];
  char tasks[400] = "[";
  for (int64_t i = 0; i < steps; i++) {
    for (int64_t j = 0; j < 4; j++) state[i][j] = (float)(100 * number + 10 * i + j);
    for (int64_t j = 0; j < 2; j++) action[i][j] = (double)(number - i) / 2;
    memset(picture[i], (int)((number * 7 + i) % 256), sizeof picture[i]);
    reward[i] = (float)i;
    snprintf(tasks + strlen(tasks), sizeof tasks - strlen(tasks), "%s\"task %d\"", i ? "," : "",
             (int)(number / 5));
  }
  strcat(tasks, "]");
  td_tensordict *td;
  must(td_create(&steps, 1, TD_DEVICE_NONE, -1, &td));
  put(td, TD_KEY("observation", "state"), state, (size_t)steps * 16, (int64_t[]){steps, 4}, 2,
      TD_DTYPE_FLOAT32);
  put(td, TD_KEY("observation", "image", "top"), picture, (size_t)steps * 240,
      (int64_t[]){steps, 8, 10, 3}, 4, TD_DTYPE_UINT8);
  put(td, TD_KEY("action"), action, (size_t)steps * 16, (int64_t[]){steps, 2}, 2, TD_DTYPE_FLOAT64);
  put(td, TD_KEY("next", "reward"), reward, (size_t)steps * 4, &steps, 1, TD_DTYPE_FLOAT32);
  must(td_set_non_tensor_stack_json(td, TD_KEY("language_instruction"), tasks));
  return td;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer;
  int64_t there = 0;
  options.flags = TD_DATASET_SAVE_RESUME;
  options.fps = 20;
  must(td_dataset_writer_open(argv[1], TD_DATASET_KIND_LEROBOT, NULL, &options, &writer));
  must(td_dataset_writer_episodes(writer, &there));
  while (there < atoi(argv[2])) {
    td_tensordict *td = episode(there);
    must(td_dataset_writer_add(writer, td, NULL));
    td_free(td);
    printf("%lld\n", (long long)++there);
    fflush(stdout);
    if (argc > 3) usleep((useconds_t)atoi(argv[3]));
  }
  must(td_dataset_writer_close(writer));
  td_dataset_writer_free(writer);
  return 0;
}
