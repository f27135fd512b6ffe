/* Works on data sets for the process of tests/python/set_speed, and prints the seconds that the work took.
 *
 *   set_speed write FOLDER EPISODES STEPS    LeRobot, episode by episode, tables alone
 *   set_speed film FOLDER EPISODES STEPS     the same, with a picture of 96 x 128 in each step
 *   set_speed many FOLDER EPISODES           LeRobot in one call, two steps an episode
 *   set_speed minari FOLDER EPISODES STEPS   Minari in HDF5
 *   set_speed open PATH                      opens a set and reads the lengths of its episodes
 *   set_speed rows PATH ROWS COUNT           COUNT shuffled batches, pictures decoded
 *   set_speed folder PATH TO                 a folder of tensordict from a set, in parts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensordict/td.h"

enum { HEIGHT = 96, WIDTH = 128, PART = 2000 };

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "set_speed: %s: %s\n", td_last_error_function(), td_last_error_message());
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A tensor whose values follow from their place. */
static void put(td_tensordict *td, const char *const *path, size_t path_len, const int64_t *sizes,
                size_t dims, td_dtype dtype, int64_t from) {
  td_tensor *counted, *made;
  int64_t count = 1;
  for (size_t i = 0; i < dims; i++) count *= sizes[i];
  int64_t *values = malloc((size_t)count * sizeof *values);
  for (int64_t i = 0; i < count; i++)
    values[i] = dtype == TD_DTYPE_UINT8 ? (from + i / WIDTH + i % 7 * 3) % 256 : (from + i) % 1000;
  must(td_tensor_from_data(values, (size_t)count * 8, sizes, dims, TD_DTYPE_INT64, &counted));
  must(td_tensor_to(counted, dtype, TD_DEVICE_NONE, -1, &made));
  must(td_set(td, path, path_len, made));
  td_tensor_free(made);
  td_tensor_free(counted);
  free(values);
}

static td_tensordict *steps_of(int64_t steps, int64_t from, int filmed) {
  td_tensordict *td;
  must(td_create(&steps, 1, TD_DEVICE_NONE, -1, &td));
  put(td, TD_KEY("observation", "state"), (int64_t[]){steps, 6}, 2, TD_DTYPE_FLOAT32, from);
  put(td, TD_KEY("action"), (int64_t[]){steps, 4}, 2, TD_DTYPE_FLOAT32, from);
  if (filmed)
    put(td, TD_KEY("observation", "image", "top"), (int64_t[]){steps, HEIGHT, WIDTH, 3}, 4,
        TD_DTYPE_UINT8, from);
  must(td_set_text(td, TD_KEY("language_instruction"), "move"));
  return td;
}

/* The same episode again and again, which is freed. */
static double write_episodes(const char *folder, td_dataset_kind kind, double fps,
                             td_tensordict *episode, int64_t episodes) {
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer;
  options.fps = fps;
  const double begin = now();
  must(td_dataset_writer_open(folder, kind, NULL, &options, &writer));
  for (int64_t i = 0; i < episodes; i++) must(td_dataset_writer_add(writer, episode, NULL));
  must(td_dataset_writer_close(writer));
  const double took = now() - begin;
  td_dataset_writer_free(writer);
  td_free(episode);
  return took;
}

static double write_set(const char *folder, int64_t episodes, int64_t steps, int filmed) {
  return write_episodes(folder, TD_DATASET_KIND_LEROBOT, 50, steps_of(steps, 0, filmed), episodes);
}

static double save_many(const char *folder, int64_t episodes) {
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_tensordict *td = steps_of(2 * episodes, 0, 0);
  td_tensor *numbers;
  int64_t *values = malloc((size_t)episodes * 2 * sizeof *values);
  const int64_t rows = 2 * episodes;
  for (int64_t i = 0; i < rows; i++) values[i] = i / 2;
  must(td_tensor_from_data(values, (size_t)rows * 8, &rows, 1, TD_DTYPE_INT64, &numbers));
  must(td_set(td, TD_KEY("episode"), numbers));
  options.fps = 50;
  const double begin = now();
  must(td_dataset_save(td, NULL, TD_DATASET_KIND_LEROBOT, folder, &options));
  const double took = now() - begin;
  td_tensor_free(numbers);
  td_free(td);
  free(values);
  return took;
}

static double write_minari(const char *folder, int64_t episodes, int64_t steps) {
  td_tensordict *td;
  must(td_create(&steps, 1, TD_DEVICE_NONE, -1, &td));
  put(td, TD_KEY("observation"), (int64_t[]){steps, 300}, 2, TD_DTYPE_FLOAT32, 0);
  put(td, TD_KEY("next", "observation"), (int64_t[]){steps, 300}, 2, TD_DTYPE_FLOAT32, 300);
  put(td, TD_KEY("action"), (int64_t[]){steps, 8}, 2, TD_DTYPE_FLOAT32, 0);
  put(td, TD_KEY("next", "reward"), (int64_t[]){steps, 1}, 2, TD_DTYPE_FLOAT64, 0);
  put(td, TD_KEY("next", "terminated"), (int64_t[]){steps, 1}, 2, TD_DTYPE_BOOL, 0);
  put(td, TD_KEY("next", "truncated"), (int64_t[]){steps, 1}, 2, TD_DTYPE_BOOL, 0);
  return write_episodes(folder, TD_DATASET_KIND_MINARI, 0, td, episodes);
}

static td_dataset *opened(const char *path) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set;
  options.flags = TD_DATASET_DECODE;
  must(td_dataset_open(path, &options, &set));
  return set;
}

static double open_set(const char *path) {
  const double begin = now();
  td_dataset *set = opened(path);
  int64_t episodes = 0;
  must(td_dataset_about(set, NULL, &episodes, NULL));
  int64_t *lengths = malloc((size_t)episodes * sizeof *lengths);
  size_t count;
  must(td_dataset_lengths(set, lengths, (size_t)episodes, &count));
  const double took = now() - begin;
  free(lengths);
  td_dataset_free(set);
  return took;
}

static double read_rows(const char *path, int64_t rows, int64_t count) {
  td_dataset *set = opened(path);
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_loader *loader;
  td_tensordict *batch;
  options.rows = rows;
  options.flags = TD_LOADER_SHUFFLE | TD_LOADER_DROP_LAST;
  must(td_loader_create_from_dataset(set, &options, &loader));
  const double begin = now();
  for (int64_t i = 0; i < count; i++) {
    must(td_loader_next(loader, &batch)); /* epoch after epoch */
    td_free(batch);
  }
  const double took = now() - begin;
  td_loader_free(loader);
  td_dataset_free(set);
  return took;
}

/* In parts, which need little memory. */
static double folder_of(const char *path, const char *to) {
  const double begin = now();
  td_dataset *set = opened(path);
  int64_t steps = 0;
  must(td_dataset_about(set, NULL, NULL, &steps));
  for (int64_t first = 0; first < steps; first += PART) {
    td_tensordict *rows;
    must(td_dataset_rows(set, first, steps - first < PART ? steps - first : PART, &rows));
    must(td_memmap_append(to, rows, NULL));
    td_free(rows);
  }
  const double took = now() - begin;
  td_dataset_free(set);
  return took;
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[1] : "";
  const int64_t first = argc > 3 ? atoll(argv[3]) : 0, second = argc > 4 ? atoll(argv[4]) : 0;
  double took = 0;
  if (strcmp(what, "write") == 0)
    took = write_set(argv[2], first, second, 0);
  else if (strcmp(what, "film") == 0)
    took = write_set(argv[2], first, second, 1);
  else if (strcmp(what, "many") == 0)
    took = save_many(argv[2], first);
  else if (strcmp(what, "minari") == 0)
    took = write_minari(argv[2], first, second);
  else if (strcmp(what, "open") == 0)
    took = open_set(argv[2]);
  else if (strcmp(what, "rows") == 0)
    took = read_rows(argv[2], first, second);
  else if (strcmp(what, "folder") == 0 && argc > 3)
    took = folder_of(argv[2], argv[3]);
  else
    return 2;
  printf("%.9f\n", took);
  return 0;
}
