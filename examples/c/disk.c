/* Recorded here for a training loop in Python: chunks that are appended, a checkpoint that is replaced as a
 * whole, folders that are verified, one file to send away. */
#include <stdio.h>
#include <stdlib.h>
#include <tensordict/td.h>

#include "must.h"

static td_tensordict *steps(int64_t first, int64_t count) {
  td_tensordict *td;
  td_tensor *reward;
  float *values = malloc((size_t)count * sizeof *values);
  if (values == NULL) exit(EXIT_FAILURE);
  for (int64_t i = 0; i < count; i++) values[i] = (float)(first + i);
  must(td_create(&count, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(values, (size_t)count * sizeof *values, &count, 1, TD_DTYPE_FLOAT32,
                           &reward));
  must(td_set(td, TD_KEY("next", "reward"), reward));
  td_tensor_free(reward);
  free(values);
  return td;
}

/* [checkpoint] */
static void save_checkpoint(const td_tensordict *state, const char *folder) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *mapped;
  options.durable = 1;   /* a loss of power leaves the old one or this one, too */
  options.checksums = 1; /* for td_memmap_verify() */
  must(td_memmap(state, folder, &options, &mapped));
  td_free(mapped);
}
/* [/checkpoint] */

/* [verify] */
static td_status tell(void *user, const td_damage *damage) {
  (void)user;
  printf("damaged: %s\n", damage->path);
  return TD_OK; /* and on to the next */
}

static size_t verify(const char *folder) {
  td_verify_options options = TD_VERIFY_OPTIONS_INIT;
  size_t damaged;
  options.damage = tell;
  must(td_memmap_verify(folder, &options, &damaged));
  return damaged;
}
/* [/verify] */

/* What a bad disk does. */
static void change_a_byte(const char *path) {
  FILE *file = fopen(path, "r+b");
  if (file == NULL || fputc(0x55, file) == EOF || fclose(file) != 0) exit(EXIT_FAILURE);
}

int main(void) {
  td_tensordict *chunk = steps(0, 100), *all;
  int64_t rows;

  save_checkpoint(chunk, "recording");
  td_free(chunk);
  /* [append] */
  for (int episode = 1; episode < 5; episode++) {
    chunk = steps(100 * episode, 100);
    must(td_memmap_append("recording", chunk, NULL)); /* all of it, or nothing */
    td_free(chunk);
  }
  /* [/append] */
  must(td_memmap_length("recording", &rows, NULL, NULL));
  printf("%lld steps\n", (long long)rows);

  chunk = steps(7, 3);
  save_checkpoint(chunk, "model");
  save_checkpoint(chunk, "model"); /* over the old one */
  td_free(chunk);

  /* [pack] */
  must(td_memmap_pack("recording", "recording.tdz", NULL));
  must(td_memmap_load("recording.tdz", NULL, &all)); /* mapped, not unpacked */
  /* [/pack] */
  must(td_batch_size(all, &rows, 1, &(size_t){0}));
  printf("%lld in one file\n", (long long)rows);
  td_free(all);

  printf("%zu damaged files\n", verify("recording"));
  change_a_byte("recording/next/reward.memmap");
  printf("%zu damaged files\n", verify("recording"));
  return EXIT_SUCCESS;
}
