/* Entries of dictionaries as wholes: updated, selected, renamed, flattened. */
#include "must.h"

static void put(td_tensordict *td, const char *const *path, size_t path_len, float value) {
  const float values[] = {value, value};
  const int64_t sizes[] = {2};
  td_tensor *tensor;
  must(td_tensor_from_data(values, sizeof values, sizes, 1, TD_DTYPE_FLOAT32, &tensor));
  must(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

static td_tensordict *batch_of_two(void) {
  const int64_t sizes[] = {2};
  td_tensordict *td;
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &td));
  return td;
}

static void print_keys(const char *title, const td_tensordict *td) {
  td_keys_options leaves = TD_KEYS_OPTIONS_INIT;
  leaves.include_nested = leaves.leaves_only = 1;
  td_keys *keys;
  must(td_keys_of(td, &leaves, &keys));
  printf("%s:", title);
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(keys, i, &path, &path_len));
    printf(" ");
    for (size_t k = 0; k < path_len; k++) printf(k == 0 ? "%s" : "/%s", path[k]);
  }
  printf("\n");
  td_keys_free(keys);
}

int main(void) {
  td_tensordict *state = batch_of_two(), *step = batch_of_two();
  put(state, TD_KEY("obs"), 0);
  /* [set] */
  const float pos[] = {0, 1};
  td_tensor *tensor;
  td_tensordict *agent;
  must(td_set_data(state, TD_KEY("agent", "pos"), pos, sizeof pos, TD_SIZES(2), TD_DTYPE_FLOAT32));
  must(td_get(state, TD_KEY("agent", "pos"), &tensor)); /* the tensor itself, no copy */
  must(td_get_dict(state, TD_KEY("agent"), &agent));    /* the dictionary itself */
  /* [/set] */
  put(agent, TD_KEY("vel"), 0);
  td_tensor_free(tensor);
  td_free(agent);
  put(step, TD_KEY("obs"), 1);
  put(step, TD_KEY("agent", "pos"), 1);

  /* [update] */
  must(td_update(state, step, NULL)); /* the tensors of `step` are stored in `state` */

  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  must(td_lock(state));
  must(td_update(state, step, &strict)); /* their values are written into existing entries */
  must(td_unlock(state));
  /* [/update] */

  /* [select] */
  const td_key wanted[] = {{TD_KEY("agent", "pos")}, {TD_KEY("obs")}};
  td_tensordict *part, *rest;
  must(td_select(state, wanted, 2, NULL, &part));
  must(td_exclude(state, wanted, 2, NULL, &rest));
  /* [/select] */
  print_keys("part", part);
  print_keys("rest", rest);

  /* [flatten] */
  td_tensordict *flat, *nested;
  must(td_flatten_keys(state, ".", NULL, &flat));
  must(td_unflatten_keys(flat, ".", &nested));
  /* [/flatten] */
  print_keys("flat", flat);
  print_keys("nested", nested);

  /* [rename] */
  must(td_rename_key(state, TD_KEY("agent", "vel"), TD_KEY("velocity"), 0));
  /* [/rename] */
  print_keys("renamed", state);

  td_free(nested);
  td_free(flat);
  td_free(rest);
  td_free(part);
  td_free(step);
  td_free(state);
  return 0;
}
