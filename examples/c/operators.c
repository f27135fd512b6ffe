/* Operators of libtorch by their name, and names of dimensions. */
#include "show.h"

static td_tensordict *data(void) {
  const float values[] = {-1.5f, 0.5f, 2.5f, 4.5f, 0.25f, -0.25f};
  td_tensordict *td;
  td_tensor *x;
  must(td_create((const int64_t[]){2, 3}, 2, TD_DEVICE_NONE, -1, &td));
  must(
      td_tensor_from_data(values, sizeof values, (const int64_t[]){2, 3}, 2, TD_DTYPE_FLOAT32, &x));
  must(td_set(td, TD_KEY("x"), x));
  td_tensor_free(x);
  return td;
}

static void call(td_tensordict *td) {
  /* [call] */
  td_tensordict *within, *sum;
  size_t count;
  const td_call_argument bounds[] = {TD_ARG_DOUBLE(NULL, 0.0), TD_ARG_DOUBLE("max", 1.0)};
  must(td_call(td, "aten::clamp", bounds, 2, NULL, &within, 1, &count));
  const td_call_argument twice[] = {TD_ARG_DICT(NULL, within), TD_ARG_INT("alpha", 2)};
  must(td_call(td, "aten::add", twice, 2, NULL, &sum, 1, &count));
  show("x + 2 * within", sum);
  /* [/call] */
  td_free(sum);
  td_free(within);
}

static void several(const td_tensordict *td) {
  /* [several] */
  td_tensordict *largest[2]; /* the values, and where they stood */
  size_t count;
  td_call_options options = TD_CALL_OPTIONS_INIT;
  options.has_batch_size = 1; /* dimension 1 goes */
  options.batch_size = (const int64_t[]){2};
  options.batch_dims = 1;
  const td_call_argument dim[] = {TD_ARG_INT("dim", 1)};
  must(td_call(td, "aten::max", dim, 1, &options, largest, 2, &count));
  show("largest", largest[0]);
  /* [/several] */
  td_free(largest[0]);
  td_free(largest[1]);
}

static void names(td_tensordict *td) {
  /* [names] */
  const char *const *name;
  size_t length;
  td_tensordict *part;
  td_keys *list;
  must(td_set_names(td, (const char *const[]){"env", "time"}, 2));
  must(td_index(td, (const td_index_item[]){TD_I_INT(0)}, 1, &part));
  must(td_names(part, &list));
  must(td_keys_at(list, 0, &name, &length)); /* length 0: a dimension without a name */
  printf("left is %s\n", name[0]);
  /* [/names] */
  td_keys_free(list);
  td_free(part);
}

int main(void) {
  td_tensordict *td = data();
  call(td);
  several(td);
  names(td);
  td_free(td);
  return 0;
}
