/* Opens what rollout has recorded, takes a random minibatch and adds up the rewards.
 *
 *   read_rollout DIR [DIGITS_DIR]
 *
 * The same program exists in Rust, Julia and C#; the lines "returns" and "digits" must be the same.
 */
#include <inttypes.h>
#include <string.h>

#include "must.h"

/* FNV-1a, 64 bit. */
static uint64_t hash(const void *data, size_t bytes) {
  const unsigned char *at = data;
  uint64_t value = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < bytes; i++) value = (value ^ at[i]) * UINT64_C(1099511628211);
  return value;
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (memory) return memory;
  fprintf(stderr, "read_rollout: no memory for %zu bytes\n", bytes);
  exit(EXIT_FAILURE);
}

static void print(const td_tensordict *td) {
  size_t length;
  must(td_to_string(td, NULL, 0, &length));
  char *text = allocate(length + 1);
  must(td_to_string(td, text, length + 1, &length));
  printf("%s\n", text);
  free(text);
}

/* The values of a tensor in memory of our own; *bytes says how many. */
static void *values(const td_tensordict *td, const char *const *path, size_t path_len,
                    size_t *bytes) {
  td_tensor *tensor;
  must(td_get(td, path, path_len, &tensor));
  must(td_tensor_nbytes(tensor, bytes));
  void *data = allocate(*bytes);
  must(td_tensor_copy_to(tensor, data, *bytes));
  td_tensor_free(tensor);
  return data;
}

/* [minibatch] */
/* `count` rows of a dictionary at random, whatever its batch size. */
static td_tensordict *minibatch(const td_tensordict *td, int64_t count) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_loader *loader;
  td_tensordict *result;
  options.rows = count;
  options.seed = 42;
  options.flags = TD_LOADER_SHUFFLE | TD_LOADER_FLAT;
  must(td_loader_create(td, &options, &loader));
  must(td_loader_next(loader, &result));
  td_loader_free(loader);
  return result;
}
/* [/minibatch] */

static void read_episodes(const char *dir) {
  td_tensordict *td;
  must(td_memmap_load(dir, NULL, &td));
  print(td);

  td_tensordict *batch = minibatch(td, 16);
  int64_t size;
  size_t dims, position_bytes, reward_bytes;
  must(td_batch_size(batch, &size, 1, &dims));
  printf("minibatch of batch size [%" PRId64 "]\n", size);
  void *position = values(batch, TD_KEY("observation", "position"), &position_bytes);

  int64_t sizes[2]; /* episodes, steps */
  must(td_batch_size(td, sizes, 2, &dims));
  if (dims != 2) {
    fprintf(stderr, "read_rollout: %s has %zu batch dimensions, not 2\n", dir, dims);
    exit(EXIT_FAILURE);
  }
  float *reward = values(td, TD_KEY("next", "reward"), &reward_bytes);
  double *returns = allocate(sizeof(double) * (size_t)sizes[0]);
  double total = 0;
  for (int64_t episode = 0; episode < sizes[0]; episode++) {
    returns[episode] = 0;
    for (int64_t step = 0; step < sizes[1]; step++) {
      returns[episode] += (double)reward[episode * sizes[1] + step];
    }
    total += returns[episode];
  }
  printf("returns %016" PRIx64 " mean %.6f minibatch %016" PRIx64 "\n",
         hash(returns, sizeof(double) * (size_t)sizes[0]), total / (double)sizes[0],
         hash(position, position_bytes));
  free(returns);
  free(reward);
  free(position);
  td_free(batch);
  td_free(td);
}

/* Counts the classes in a minibatch of the digits that Python has saved. */
static void read_digits(const char *dir) {
  td_tensordict *td;
  must(td_memmap_load(dir, NULL, &td));
  td_tensordict *batch = minibatch(td, 256);
  size_t bytes;
  int64_t *label = values(batch, TD_KEY("label"), &bytes);
  int counts[10] = {0};
  for (size_t i = 0; i < bytes / sizeof *label; i++) {
    if (label[i] >= 0 && label[i] < 10) counts[label[i]]++;
  }
  printf("digits");
  for (int digit = 0; digit < 10; digit++) printf(" %d:%d", digit, counts[digit]);
  printf("\n");
  free(label);
  td_free(batch);
  td_free(td);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3 || argv[1][0] == '-') {
    fprintf(stderr, "usage: read_rollout DIR [DIGITS_DIR]\n");
    return 2;
  }
  read_episodes(argv[1]);
  if (argc == 3) read_digits(argv[2]);
  return EXIT_SUCCESS;
}
