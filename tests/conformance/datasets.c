/* Opens each data set of a list and hashes its values: datasets DATA LIST [--write]. README.md describes the list.
 * With --write the first words of the lines are enough, and the whole list is printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

static const char *const kinds[] = {"", "minari", "robomimic", "d4rl", "lerobot", "torchrl", "ros"};
static int failures, skipped;

static void must(td_status status) {
  if (status == TD_OK) return;
  printf("not ok: %s\n", td_last_error_message());
  exit(1);
}

/* FNV-1a of 64 bits. */
static uint64_t hash_of(const void *bytes, size_t count, uint64_t hash) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* The bytes of a tensor; of texts those of each row and a zero. Whether there are any. */
static int hash_entry(const td_tensordict *flat, const char *key, int64_t rows, uint64_t *hash) {
  td_entry_kind kind;
  td_tensor *tensor = NULL;
  size_t bytes = 0, length = 0;
  char text[4096];
  *hash = UINT64_C(0xcbf29ce484222325);
  must(td_get_kind(flat, &key, 1, &kind));
  if (kind == TD_ENTRY_TENSOR) {
    must(td_get(flat, &key, 1, &tensor));
    must(td_tensor_nbytes(tensor, &bytes));
    void *values = malloc(bytes + 1);
    must(td_tensor_copy_to(tensor, values, bytes));
    *hash = hash_of(values, bytes, *hash);
    free(values);
    td_tensor_free(tensor);
    return 1;
  }
  for (int64_t row = 0; row < rows; row++) {
    if (td_get_row_text(flat, &key, 1, row, text, sizeof text, &length) != TD_OK) return 0;
    *hash = hash_of(text, length + 1, *hash);
  }
  return 1;
}

static void write_set(const char *name, const td_tensordict *flat, const char *kind,
                      int64_t episodes, int64_t steps) {
  td_keys *keys = NULL;
  uint64_t hash;
  printf("%s %s %" PRId64 " %" PRId64 "\n", name, kind, episodes, steps);
  must(td_keys_of(flat, NULL, &keys));
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t length = 0;
    must(td_keys_at(keys, i, &path, &length));
    if (hash_entry(flat, path[0], steps, &hash)) printf("  %s %016" PRIx64 "\n", path[0], hash);
  }
  td_keys_free(keys);
}

int main(int argc, char **argv) {
  char line[1024], place[2048], name[512] = "", kind[32], key[512];
  const int writes = argc > 3 && strcmp(argv[3], "--write") == 0;
  int64_t episodes = 0, steps = 0, want_episodes, want_steps;
  td_tensordict *flat = NULL;
  uint64_t hash, want;
  FILE *list = argc > 2 ? fopen(argv[2], "r") : NULL;
  if (!list) return 2;
  while (fgets(line, sizeof line, list)) {
    if (line[0] == ' ') {
      if (writes || !flat || sscanf(line, "%511s %" SCNx64, key, &want) != 2) continue;
      if (hash_entry(flat, key, steps, &hash) && hash == want) continue;
      failures++;
      printf("not ok: %s: %s has the hash %016" PRIx64 "\n", name, key, hash);
      continue;
    }
    td_dataset *set = NULL;
    td_tensordict *nested = NULL;
    td_dataset_kind found;
    td_free(flat);
    flat = NULL;
    want_episodes = want_steps = 0;
    const int words =
        sscanf(line, "%511s %31s %" SCNd64 " %" SCNd64, name, kind, &want_episodes, &want_steps);
    if (words < 1 || (words < 4 && !writes)) continue;
    snprintf(place, sizeof place, "%s/%s", argv[1], name);
    td_status status = td_dataset_open(place, NULL, &set);
    if (status == TD_OK) status = td_dataset_flat(set, &nested);
    if (status == TD_ERR_UNSUPPORTED) { /* a build without HDF5 or Arrow */
      td_dataset_free(set);
      skipped++;
      continue;
    }
    must(status);
    must(td_dataset_about(set, &found, &episodes, &steps));
    must(td_flatten_keys(nested, "/", NULL, &flat));
    td_free(nested);
    td_dataset_free(set);
    if (writes) {
      write_set(name, flat, kinds[found], episodes, steps);
    } else if (strcmp(kinds[found], kind) || episodes != want_episodes || steps != want_steps) {
      failures++;
      printf("not ok: %s is of %s, with %" PRId64 " episodes and %" PRId64 " steps\n", name,
             kinds[found], episodes, steps);
    }
  }
  td_free(flat);
  fclose(list);
  if (skipped) fprintf(stderr, "%d sets were left out: this build lacks HDF5 or Arrow\n", skipped);
  return failures != 0;
}
