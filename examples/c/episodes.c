/* Episodes of different lengths side by side: a lazy stack, read padded; values for each; a sub-tensordict. */
#include "must.h"

static td_tensordict *episode(int64_t steps) {
  td_tensordict *td;
  td_tensor *rewards;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &td));
  const float values[] = {1, 2, 3};
  must(td_tensor_from_data(values, (size_t)steps * sizeof *values, &steps, 1, TD_DTYPE_FLOAT32,
                           &rewards));
  must(td_set(td, TD_KEY("reward"), rewards));
  td_tensor_free(rewards);
  return td;
}

static void print(const char *what, const td_tensor *tensor) {
  float values[6];
  size_t bytes;
  must(td_tensor_nbytes(tensor, &bytes));
  must(td_tensor_copy_to(tensor, values, bytes));
  printf("%s:", what);
  for (size_t i = 0; i < bytes / sizeof *values; i++) printf(" %g", (double)values[i]);
  printf("\n");
}

int main(void) {
  td_tensordict *two = episode(2), *three = episode(3);

  /* [stack] */
  td_tensordict *episodes;
  td_tensor *padded;
  const td_tensordict *both[] = {two, three};
  must(td_lazy_stack(both, 2, 0, &episodes)); /* batch [2]; nothing is copied */
  must(td_lazy_get_padded(episodes, TD_KEY("reward"), NULL, &padded)); /* shape [2, 3] */
  /* [/stack] */
  print("padded", padded);

  /* [values] */
  char name[16];
  size_t length;
  td_tensordict *second;
  must(td_set_non_tensor_stack_json(episodes, TD_KEY("player"), "[\"left\", \"right\"]"));
  must(td_index(episodes, (const td_index_item[]){TD_I_INT(1)}, 1,
                &second)); /* the dictionary `three` */
  must(td_get_non_tensor_json(second, TD_KEY("player"), name, sizeof name, &length));
  /* [/values] */
  printf("player of the second: %s\n", name);

  /* [sub-tensordict] */
  td_tensordict *dense, *late;
  td_tensor *zero, *rewards;
  td_padding_options pad = TD_PADDING_OPTIONS_INIT;
  pad.pad = 1;
  must(td_densify(episodes, &pad, &dense));
  const td_index_item last[] = {TD_I_INT(1)};
  must(td_sub_tensordict(dense, last, 1, &late)); /* what is written here … */
  must(td_tensor_zeros(NULL, 0, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &zero));
  must(td_set_inplace(late, TD_KEY("reward"), zero));
  must(td_get(dense, TD_KEY("reward"), &rewards)); /* … stands there */
  /* [/sub-tensordict] */
  print("after the sub-tensordict", rewards);

  td_tensor_free(rewards);
  td_tensor_free(zero);
  td_tensor_free(padded);
  td_free(late);
  td_free(dense);
  td_free(second);
  td_free(episodes);
  td_free(three);
  td_free(two);
  return 0;
}
