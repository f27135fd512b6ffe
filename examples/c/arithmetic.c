/* Arithmetic and reductions on a whole dictionary: discounted returns and their spread. */
#include "must.h"

static void put(td_tensordict *td, const char *name, const float *values, const int64_t *sizes,
                size_t dims) {
  td_tensor *tensor;
  size_t count = 1;
  for (size_t i = 0; i < dims; i++) count *= (size_t)sizes[i];
  must(td_tensor_from_data(values, count * sizeof *values, sizes, dims, TD_DTYPE_FLOAT32, &tensor));
  must(td_set(td, TD_KEY(name), tensor));
  td_tensor_free(tensor);
}

static void show(const char *what, const td_tensordict *td, const char *name) {
  td_tensor *tensor;
  float value;
  must(td_get(td, TD_KEY(name), &tensor));
  must(td_tensor_copy_to(tensor, &value, sizeof value));
  printf("%s of %s: %g\n", what, name, (double)value);
  td_tensor_free(tensor);
}

int main(void) {
  const int64_t sizes[] = {4, 2};
  const float rewards[] = {1, 2, 3, 4}, observed[] = {1, 2, 3, 4, 5, 6, 7, 8},
              discounts[] = {1, 0.5f, 0.25f, 0.125f};
  td_tensordict *td;
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &td)); /* four steps */
  put(td, "reward", rewards, sizes, 1);
  put(td, "obs", observed, sizes, 2);

  /* [operands] */
  td_tensor *discount;
  td_tensordict *weighted, *shifted;
  must(td_tensor_from_data(discounts, sizeof discounts, sizes, 1, TD_DTYPE_FLOAT32, &discount));
  /* A number or a dictionary beside it, or a tensor over the batch: one factor for each step. */
  must(td_binary(td, TD_BINARY_MUL, TD_BY(TD_O_TENSOR(discount)), NULL, &weighted));
  must(td_binary(td, TD_BINARY_SUB, TD_BY(TD_O_DICT(weighted)), NULL, &shifted));
  must(td_binary_inplace(shifted, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL));
  /* [/operands] */

  /* [reduce] */
  td_reduce_options over_time = TD_REDUCE_OPTIONS_INIT;
  const int64_t first = 0;
  td_tensordict *returns, *largest, *same;
  int32_t equal;
  over_time.over =
      TD_REDUCE_OVER_DIMS; /* else over everything; TD_REDUCE_OVER_FEATURES for each step */
  over_time.dims = &first;
  over_time.dims_len = 1;
  must(td_reduce(weighted, TD_REDUCE_SUM, &over_time, &returns));
  must(td_reduce(shifted, TD_REDUCE_AMAX, NULL, &largest));
  must(td_binary(td, TD_BINARY_EQ, TD_BY(TD_O_DICT(td)), NULL, &same));
  must(td_all(same, &equal));
  /* [/reduce] */

  show("sum", returns, "reward");
  show("largest", largest, "reward");
  show("largest", largest, "obs");
  printf("equal: %d\n", (int)equal);
  td_tensor_free(discount);
  td_free(same);
  td_free(largest);
  td_free(returns);
  td_free(shifted);
  td_free(weighted);
  td_free(td);
  return 0;
}
