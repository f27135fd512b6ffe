/* The first steps: make a dictionary, take parts of it, save it, load it. Run in a scratch folder.
 */
#include "must.h"

static void print(const td_tensordict *td) {
  char text[2000];
  size_t length;
  must(td_to_string(td, text, sizeof text, &length));
  printf("%s\n", text);
}

int main(void) {
  /* [create] */
  td_tensordict *td;
  must(td_create((const int64_t[]){3, 4}, 2, TD_DEVICE_NONE, -1, &td));

  td_tensor *reward;
  must(
      td_tensor_zeros((const int64_t[]){3, 4, 1}, 3, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &reward));
  must(td_set(td, TD_KEY("next", "reward"), reward));
  td_tensor_free(reward); /* the dictionary keeps the tensor */
  /* [/create] */

  /* [blob] */
  static float frames[3 * 4 * 2]; /* memory of the engine, used as it is */
  td_tensor *observation;
  must(td_tensor_from_blob(frames, (const int64_t[]){3, 4, 2}, NULL, 3, TD_DTYPE_FLOAT32,
                           TD_DEVICE_CPU, 0, NULL, NULL, &observation));
  must(td_set(td, TD_KEY("observation"), observation));
  td_tensor_free(observation);
  /* [/blob] */
  print(td);

  /* [index] */
  td_tensordict *last; /* td[..., -1]: a view */
  must(td_index(td, (const td_index_item[]){TD_I_ELLIPSIS, TD_I_INT(-1)}, 2, &last));

  td_index_item items[4]; /* the same from text, for people who type it */
  size_t items_len;
  must(td_index_parse("..., ::2", items, 4, &items_len));
  td_tensordict *even;
  must(td_index(td, items, items_len, &even));
  /* [/index] */
  print(last);
  print(even);

  /* [write] */
  /* td[:, 0] = last */
  must(td_set_at(td, (const td_index_item[]){TD_I_ALL, TD_I_INT(0)}, 2, last));
  /* [/write] */

  /* [save] */
  td_tensordict *saved, *loaded;
  must(td_memmap(td, "first", NULL, &saved));
  must(td_memmap_load("first", NULL, &loaded));
  int32_t equal;
  must(td_equal(td, loaded, &equal));
  printf("loaded is %s\n", equal ? "equal" : "different");
  /* [/save] */

  /* [error] */
  td_tensor *missing;
  td_status status = td_get(td, TD_KEY("rewards"), &missing);
  if (status == TD_ERR_KEY_NOT_FOUND) printf("%s\n", td_last_error_message());
  /* [/error] */

  td_free(loaded);
  td_free(saved);
  td_free(even);
  td_free(last);
  td_free(td);
  printf("%lld handles left\n", (long long)td_debug_live_handles());
  return EXIT_SUCCESS;
}
