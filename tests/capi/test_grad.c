/* Gradients: off until a thread asks, and then recorded by the same operations. */
#include <pthread.h>

#include "td_values.h"

static td_tensordict *recorded(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensor *w = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2));
  TD_DO(td_tensor_set_requires_grad(w, 1));
  TD_CHECK_FLAG(td_tensor_requires_grad, w, 1);
  td_put(td, TD_KEY("w"), w);
  return td;
}

static void check_recorded(td_tensordict *part, int32_t want) {
  td_tensor *w = td_take(part, TD_KEY("w"));
  TD_CHECK_FLAG(td_tensor_requires_grad, w, want);
}

/* A view of a recorded tensor counts as recorded in libtorch, whatever the mode: it shares values. */
static void check_views(const td_tensordict *td, int32_t want) {
  td_tensordict *part = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_INT(0)), &part));
  check_recorded(part, want);
  TD_DO(td_view(td, TD_SIZES(1, 2), &part));
  check_recorded(part, want);
  TD_DO(td_unsqueeze(td, 0, &part));
  check_recorded(part, want);
}

static void check_copies(const td_tensordict *td, int32_t want) {
  td_tensordict *part = NULL;
  td_tensor *position = td_positions((const int64_t[]){1, 0}, 2);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(position)), &part));
  check_recorded(part, want);
  TD_DO(td_clone(td, 0, &part));
  check_recorded(part, want);
  TD_DO(td_stack((const td_tensordict *const[]){td, td}, 2, 0, &part));
  check_recorded(part, want);
  TD_DO(td_cat((const td_tensordict *const[]){td, td}, 2, 0, &part));
  check_recorded(part, want);
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &part));
  check_recorded(part, want);
}

TD_TEST(nothing_is_recorded_unless_asked) {
  td_tensordict *td = recorded();
  TD_CHECK_INT(td_set_grad_enabled(0), 0);
  check_copies(td, 0);
}

TD_TEST(everything_is_recorded_when_asked) {
  td_tensordict *td = recorded();
  TD_CHECK_INT(td_set_grad_enabled(1), 0);
  check_copies(td, 1);
  check_views(td, 1);
  TD_CHECK_INT(td_set_grad_enabled(0), 1);
}

static void *ask_there(void *user) {
  *(int32_t *)user = td_set_grad_enabled(0);
  return NULL;
}

TD_TEST(each_thread_asks_for_itself) {
  int32_t before = -1;
  pthread_t thread;
  td_set_grad_enabled(1);
  TD_CHECK(pthread_create(&thread, NULL, ask_there, &before) == 0);
  pthread_join(thread, NULL);
  TD_CHECK_INT(before, 0);
  TD_CHECK_INT(td_set_grad_enabled(0), 1);
}

TD_TEST(leaves_are_written_when_nothing_is_recorded) {
  td_tensordict *td = recorded();
  td_tensor *nine = td_filled(TD_DTYPE_FLOAT32, 9, TD_NO_SIZES);
  TD_DO(td_fill_at(td, TD_AT(TD_I_INT(1)), nine));
  TD_DO(td_set_inplace(td, TD_KEY("w"), nine));
  TD_CHECK_ENTRY(td, TD_KEY("w"), TD_SIZES(2, 2), TD_VALUES(9, 9, 9, 9));
  td_set_grad_enabled(1);
  const td_status status = td_fill_at(td, TD_AT(TD_I_INT(1)), nine); /* torch forbids it */
  td_set_grad_enabled(0);
  TD_CHECK_INT(status, TD_ERR_TORCH);
}

TD_TEST(only_numbers_with_fractions_can_be_recorded) {
  td_tensor *whole = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2));
  TD_EXPECT(td_tensor_set_requires_grad(whole, 1), TD_ERR_DTYPE);
  TD_DO(td_tensor_set_requires_grad(whole, 0));
}

TD_TEST(mapped_copies_are_not_recorded) {
  td_tensordict *td = recorded(), *mapped = NULL;
  TD_DO(td_memmap(td, NULL, NULL, &mapped));
  check_recorded(mapped, 0);
}

/* {"w": of 3 and 4, "n": {"v": none, "same": that of "w"}} */
TD_TEST(long_gradients_are_shortened) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *given = td_empty(TD_NO_SIZES), *grad = NULL;
  td_put(td, TD_KEY("w"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_tensor *w = td_take(td, TD_KEY("w"));
  td_put(td, TD_KEY("n", "same"), w); /* counts once */
  double norm = -1;
  TD_DO(td_clip_grad_norm(td, 1, &norm)); /* no gradients */
  TD_CHECK(norm == 0);
  TD_DO(td_set_requires_grad(td, 1));
  td_tensor *tensor = NULL;
  const float numbers[] = {3, 4};
  TD_DO(td_tensor_from_data(numbers, sizeof numbers, TD_SIZES(2), TD_DTYPE_FLOAT32, &tensor));
  td_put(given, TD_KEY("w"), tensor);
  TD_DO(td_set_grad(td, given));
  TD_DO(td_clip_grad_norm(td, 5.5, &norm));
  TD_CHECK(norm == 5);
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(3, 4));
  TD_DO(td_clip_grad_norm(td, 0, NULL));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_CHECK_ENTRY(grad, TD_KEY("n", "same"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_EXPECT(td_clip_grad_norm(td, -1, &norm), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_clip_grad_norm(td, 0.0 / 0.0, &norm), TD_ERR_INVALID_ARGUMENT);
}
