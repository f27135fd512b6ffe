/* Parts of a dictionary: views, copies by position and by condition, and writing into a part. */
#include "must.h"

#include "show.h"

int main(void) {
  /* [make] */
  float numbers[4 * 3];
  for (int i = 0; i < 4 * 3; i++) numbers[i] = (float)i;
  td_tensor *x;
  must(td_tensor_from_data(numbers, sizeof numbers, (const int64_t[]){4, 3}, 2, TD_DTYPE_FLOAT32,
                           &x));
  td_tensordict *td;
  must(td_create((const int64_t[]){4, 3}, 2, TD_DEVICE_NONE, -1, &td));
  must(td_set(td, TD_KEY("x"), x));
  td_tensor_free(x);
  show("td", td);
  /* [/make] */

  /* [view] */
  const td_index_item row[] = {TD_I_INT(-1)};                      /* td[-1] */
  const td_index_item corner[] = {TD_I_SLICE(0, 2), TD_I_FROM(1)}; /* td[0:2, 1:] */
  const td_index_item wider[] = {TD_I_NONE, TD_I_INT(0)};          /* td[None, 0] */
  td_tensordict *part;
  must(td_index(td, row, 1, &part));
  show("td[-1]", part);
  td_free(part);
  must(td_index(td, corner, 2, &part));
  show("td[0:2, 1:]", part);
  td_free(part);
  must(td_index(td, wider, 2, &part));
  show("td[None, 0]", part);
  td_free(part);
  /* [/view] */

  /* [gather] */
  td_tensor *positions, *mask;
  must(td_tensor_from_data((const int64_t[]){2, 0}, 2 * sizeof(int64_t), (const int64_t[]){2}, 1,
                           TD_DTYPE_INT64, &positions));
  must(td_tensor_from_data((const uint8_t[]){1, 0, 0, 1}, 4, (const int64_t[]){4}, 1, TD_DTYPE_BOOL,
                           &mask));
  const td_index_item by_position[] = {TD_I_TENSOR(positions)}; /* td[[2, 0]]: a copy */
  const td_index_item by_condition[] = {TD_I_TENSOR(mask)};     /* td[mask]: a copy */
  td_tensordict *picked;
  must(td_index(td, by_position, 1, &picked));
  show("td[[2, 0]]", picked);
  must(td_index(td, by_condition, 1, &part));
  show("td[mask]", part);
  td_free(part);
  /* [/gather] */

  /* [write] */
  must(td_set_at(td, by_condition, 1, picked)); /* td[mask] = picked */
  show("after td[mask] = td[[2, 0]]", td);
  td_tensor *zero;
  must(td_tensor_zeros(NULL, 0, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &zero));
  td_index_item last_column[2];
  size_t items_len;
  must(td_index_parse("..., -1", last_column, 2, &items_len));
  must(td_fill_at(td, last_column, items_len, zero)); /* td[..., -1] = 0 */
  show("after td[..., -1] = 0", td);
  /* [/write] */

  td_tensor_free(zero);
  td_tensor_free(mask);
  td_tensor_free(positions);
  td_free(picked);
  td_free(td);
  return EXIT_SUCCESS;
}
