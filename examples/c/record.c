/* A loop that records every step to files, without allocating anything, and what it reads later. */
#include "must.h"

enum { STEPS = 300 };

/* What the loop has at each step: a ball that falls and bounces. */
typedef struct ball {
  double height, speed;
} ball;

static int bounce(ball *it, double seconds) {
  it->speed -= 9.81 * seconds;
  it->height += it->speed * seconds;
  if (it->height > 0) return 0;
  it->height = -it->height;
  it->speed *= -0.8;
  return 1;
}

/* [allocate] */
/* One step gives the sizes; expanded, it takes no memory; its like on disk is the recording. */
static td_tensordict *allocate(const char *folder) {
  td_tensordict *step, *all, *recording;
  td_tensor *state, *hit;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &step));
  must(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &state));
  must(td_tensor_zeros(NULL, 0, TD_DTYPE_BOOL, TD_DEVICE_CPU, -1, &hit));
  must(td_set(step, TD_KEY("ball", "state"), state));
  must(td_set(step, TD_KEY("hit"), hit));
  must(td_expand(step, (const int64_t[]){STEPS}, 1, &all));
  must(td_memmap_like(all, folder, NULL, &recording));
  td_tensor_free(state);
  td_tensor_free(hit);
  td_free(all);
  td_free(step);
  return recording;
}
/* [/allocate] */

/* [record] */
static void record(td_tensordict *recording) {
  td_writer *writer;
  int32_t state, hit;
  must(td_writer_open(recording, NULL, &writer));
  must(td_writer_bind(writer, TD_KEY("ball", "state"), &state));
  must(td_writer_bind(writer, TD_KEY("hit"), &hit));
  ball it = {2.0, 0.0};
  for (int step = 0; step < STEPS; step++) {
    const uint8_t touched = (uint8_t)bounce(&it, 0.01);
    must(td_writer_put(writer, state, &it, sizeof it));
    must(td_writer_put(writer, hit, &touched, sizeof touched));
    must(td_writer_next(writer));
  }
  int64_t rows;
  must(td_writer_rows(writer, &rows));
  must(td_writer_close(writer)); /* waits for the disk */
  td_writer_free(writer);
  printf("recorded %lld steps\n", (long long)rows);
}
/* [/record] */

/* [read] */
static void read_back(const char *folder) {
  td_tensordict *td, *hits;
  td_tensor *hit;
  must(td_memmap_load(folder, NULL, &td));
  must(td_get(td, TD_KEY("hit"), &hit));
  const td_index_item where[] = {TD_I_TENSOR(hit)}; /* td[td["hit"]] */
  must(td_index(td, where, 1, &hits));
  int64_t count;
  size_t dims;
  must(td_batch_size(hits, &count, 1, &dims));
  printf("the ball touched the ground %lld times\n", (long long)count);

  const td_index_item first[] = {TD_I_INT(0)};
  td_tensordict *touch;
  td_tensor *state;
  ball it;
  must(td_index(hits, first, 1, &touch));
  must(td_get(touch, TD_KEY("ball", "state"), &state));
  must(td_tensor_copy_to(state, &it, sizeof it));
  printf("and left it at %.2f m/s at first\n", it.speed);
  td_tensor_free(state);
  td_free(touch);
  td_tensor_free(hit);
  td_free(hits);
  td_free(td);
}
/* [/read] */

int main(void) {
  td_tensordict *recording = allocate("recording");
  record(recording);
  td_free(recording);
  read_back("recording");
  return EXIT_SUCCESS;
}
