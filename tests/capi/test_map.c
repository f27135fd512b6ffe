/* A function over the pieces of a dictionary: cuts, order, failures, and threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "td_values.h"

/* What the callbacks are told to do, and what they saw. On workers nothing is checked by TD_…: that
 * belongs to the thread of the test. */
typedef struct job {
  _Atomic int calls;
  _Atomic int elsewhere; /* calls on another thread than that of the test */
  _Atomic int running, most_running;
  pthread_t caller;
  size_t fail_at; /* the piece that fails; from 1, 0: none */
  td_status status;
  size_t drop_from; /* pieces from here on, counted from 1, have no result */
  int slow_first;   /* the first piece takes longer than the others */
  _Atomic int64_t first, length;
  _Atomic uint64_t seeds;
  td_map_iter *_Atomic iter; /* of the callback, to be misused */
  td_tensordict *td;
  _Atomic td_status answer;
} job;

static void sleep_us(long us) {
  const struct timespec time = {0, us * 1000};
  nanosleep(&time, NULL);
}

static void enter(job *it) {
  const int running = ++it->running;
  int most = it->most_running;
  while (running > most && !atomic_compare_exchange_weak(&it->most_running, &most, running)) {
  }
  it->calls++;
  it->elsewhere += !pthread_equal(it->caller, pthread_self());
}

static td_status share(void *user, const td_map_piece *piece, td_tensordict *source,
                       td_tensordict **result) {
  job *it = user;
  enter(it);
  it->first += piece->first;
  it->length += piece->length;
  it->seeds += piece->seed;
  if (it->slow_first && piece->number == 0) sleep_us(20000);
  if (it->fail_at != 0 && piece->number + 1 >= it->fail_at) {
    char text[64];
    strcpy(text, "piece   is broken");
    text[6] = (char)('0' + piece->number % 10);
    td_set_error(it->status, text);
    it->running--;
    return it->status;
  }
  it->running--;
  if (it->drop_from != 0 && piece->number + 1 >= it->drop_from) return TD_OK;
  return td_dup(source, result);
}

static td_map_options cut(td_map_cut how, int64_t amount, int32_t workers) {
  td_map_options options = TD_MAP_OPTIONS_INIT;
  options.cut = how;
  options.amount = amount;
  options.num_workers = workers;
  return options;
}

static job new_job(void) {
  job it;
  memset(&it, 0, sizeof it);
  it.caller = pthread_self();
  return it;
}

/* {"a": float32 [n] of 0…, "n": {"b": int64 [n, 2] of 0…}} */
static td_tensordict *line(int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(n)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(n, 2)));
  return td;
}

TD_TEST(all_cuts_give_all_elements_in_order) {
  static const struct {
    td_map_cut cut;
    int64_t amount;
    int pieces[3]; /* with 1, 2 and 5 workers */
  } cases[] = {{TD_MAP_CUT_PER_WORKER, 0, {1, 2, 4}}, {TD_MAP_CUT_SIZE, 3, {3, 3, 3}},
               {TD_MAP_CUT_SIZE, 100, {1, 1, 1}},     {TD_MAP_CUT_COUNT, 4, {4, 4, 4}},
               {TD_MAP_CUT_COUNT, 100, {7, 7, 7}},    {TD_MAP_CUT_ELEMENTS, 0, {7, 7, 7}}};
  static const int workers[] = {1, 2, 5};
  td_tensordict *td = line(7), *result = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t k = 0; k < 3; k++) {
      const td_map_options options = cut(cases[i].cut, cases[i].amount, workers[k]);
      job it = new_job();
      it.slow_first = 1;
      TD_DO(td_map(td, &options, share, &it, &result));
      TD_CHECK_EQUAL(td, result);
      TD_CHECK_INT(it.calls, cases[i].pieces[k]);
      TD_CHECK_INT(it.length, 7);
      if (workers[k] == 1) TD_CHECK_INT(it.elsewhere, 0);
    }
  }
  job it = new_job();
  TD_DO(td_map(td, NULL, share, &it, &result)); /* as many workers as CPUs */
  TD_CHECK_EQUAL(td, result);
}

TD_TEST(along_any_dimension) {
  td_tensordict *td = td_sample(), *result = NULL;
  for (int64_t dim = -2; dim < 2; dim++) {
    for (int32_t how = TD_MAP_CUT_SIZE; how <= TD_MAP_CUT_ELEMENTS; how++) {
      td_map_options options = cut(how, 2, 2);
      job it = new_job();
      options.dim = dim;
      TD_DO(td_map(td, &options, share, &it, &result));
      TD_CHECK_EQUAL(td, result);
      td_free(result);
    }
  }
  td_map_options options = cut(TD_MAP_CUT_SIZE, 2, 2);
  job it = new_job();
  for (options.dim = -3; options.dim <= 2; options.dim += 5)
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INDEX, result);
  TD_CHECK_INT(it.calls, 0);
}

TD_TEST(bad_options) {
  td_tensordict *td = line(4), *result;
  td_map_iter *iter;
  job it = new_job();
  for (int64_t amount = -1; amount <= 0; amount++) {
    td_map_options options = cut(TD_MAP_CUT_SIZE, amount, 1);
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
    options.cut = TD_MAP_CUT_COUNT;
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  }
  td_map_options options = cut(4, 1, 1);
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  for (int32_t workers = -1; workers <= 1025; workers += 1026) {
    options = cut(TD_MAP_CUT_SIZE, 1, workers);
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  }
  options = cut(TD_MAP_CUT_SIZE, 1, 1);
  options.reserved = 1;
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.reserved = 0;
  options.shuffle = 1; /* of iterators */
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.shuffle = 0;
  options.ahead = 1;
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.out = td; /* not of iterators */
  TD_EXPECT_NULL(td_map_iter_create(td, &options, share, &it, &iter), TD_ERR_INVALID_ARGUMENT,
                 iter);
  TD_CHECK_INT(it.calls, 0);
}

TD_TEST(pieces_without_a_result_are_left_out) {
  td_tensordict *td = line(6), *result = NULL;
  td_map_options options = cut(TD_MAP_CUT_SIZE, 2, 2);
  job it = new_job();
  it.drop_from = 3;
  TD_DO(td_map(td, &options, share, &it, &result));
  TD_CHECK_BATCH(result, 4);
  it.drop_from = 1;
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_OK, result);
  td_tensordict *nothing = line(0);
  options = cut(TD_MAP_CUT_ELEMENTS, 0, 2);
  TD_EXPECT_NULL(td_map(nothing, &options, share, &it, &result), TD_OK, result);
  it.drop_from = 0;
  options = cut(TD_MAP_CUT_SIZE, 2, 2); /* one empty piece: it says what the entries look like */
  TD_DO(td_map(nothing, &options, share, &it, &result));
  TD_CHECK_EQUAL(nothing, result);
}

/* Adds 1 in place. */
static td_status add_one(void *user, const td_map_piece *piece, td_tensordict *source,
                         td_tensordict **result) {
  float values[64];
  td_tensor *a = NULL;
  void *data = NULL;
  td_status status = td_get(source, TD_KEY("a"), &a);
  (void)result;
  enter(user);
  if (status == TD_OK) status = td_tensor_data(a, &data);
  for (int64_t i = 0; status == TD_OK && i < piece->length; i++) ((float *)data)[i] += 1;
  (void)values;
  ((job *)user)->running--;
  td_tensor_free(a);
  return status;
}

TD_TEST(in_place_into_the_pieces) {
  td_tensordict *td = line(8), *result;
  const td_map_options options = cut(TD_MAP_CUT_SIZE, 1, 4);
  job it = new_job();
  TD_EXPECT_NULL(td_map(td, &options, add_one, &it, &result), TD_OK, result);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(8), TD_VALUES(1, 2, 3, 4, 5, 6, 7, 8));
}

TD_TEST(results_into_a_dictionary_that_is_there) {
  td_tensordict *td = line(5), *result = NULL;
  for (int32_t how = TD_MAP_CUT_SIZE; how <= TD_MAP_CUT_ELEMENTS; how++) {
    td_tensordict *out = td_empty(TD_SIZES(5));
    td_put(out, TD_KEY("a"), td_filled(TD_DTYPE_INT16, -1, TD_SIZES(5)));
    td_put(out, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT64, -1, TD_SIZES(5, 2)));
    td_tensor *a = td_take(out, TD_KEY("a"));
    td_map_options options = cut(how, 2, 2);
    job it = new_job();
    options.out = out;
    TD_DO(td_lock(out));
    TD_DO(td_map(td, &options, share, &it, &result));
    TD_CHECK_VALUES(a, 0, 1, 2, 3, 4); /* the tensor that was there, and its dtype */
    TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(5, 2),
                   TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    td_free(result);
    it = new_job();
    it.drop_from = 1;
    TD_DO(
        td_map(td, &options, share, &it, &result)); /* `out` also when there was nothing to write */
    td_free(result);
    td_tensor_free(a);
    td_free(out);
  }
  td_tensordict *short_one = line(4), *poor = td_empty(TD_SIZES(5));
  td_map_options options = cut(TD_MAP_CUT_SIZE, 2, 2);
  job it = new_job();
  options.out = short_one;
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_SHAPE, result);
  options.out = poor;
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_FLAG(td_is_empty, poor, 1);
  td_free(poor);
  TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), TD_ERR_BAD_HANDLE, result);
}

/* The length of piece k is k + 1; element k is a dictionary with k + 1 values. */
static td_status grow(void *user, const td_map_piece *piece, td_tensordict *source,
                      td_tensordict **result) {
  int64_t size = (int64_t)piece->number + 1;
  td_tensor *tensor = NULL;
  int64_t values[16] = {0};
  (void)user;
  (void)source;
  td_status status = td_create(&size, 1, TD_DEVICE_NONE, -1, result);
  if (status == TD_OK)
    status = td_tensor_from_data(values, (size_t)size * 8, &size, 1, TD_DTYPE_INT64, &tensor);
  if (status == TD_OK) status = td_set(*result, TD_KEY("x"), tensor);
  td_tensor_free(tensor);
  return status;
}

TD_TEST(results_of_other_sizes) {
  td_tensordict *td = line(6), *result = NULL;
  td_map_options options = cut(TD_MAP_CUT_SIZE, 2, 3);
  TD_DO(td_map(td, &options, grow, NULL, &result));
  TD_CHECK_BATCH(result, 1 + 2 + 3);
  options = cut(TD_MAP_CUT_ELEMENTS, 0, 3);
  TD_DO(td_map(td, &options, grow, NULL, &result)); /* stacked lazily */
  size_t dims = 0;
  int64_t sizes[4] = {0};
  TD_DO(td_batch_size(result, sizes, 4, &dims));
  TD_CHECK_INT(sizes[0], 6);
}

static td_status tell(void *user, size_t done, size_t total) {
  size_t *seen = user;
  if (seen[0] != done || total != 4) return -30000;
  seen[0]++;
  return done == seen[1] ? -30001 : TD_OK;
}

TD_TEST(progress_is_told_and_can_end_the_work) {
  td_tensordict *td = line(4), *result = NULL;
  for (int32_t workers = 1; workers <= 3; workers++) {
    size_t seen[2] = {0, 99};
    td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, workers);
    job it = new_job();
    options.progress = tell;
    options.progress_user = seen;
    TD_DO(td_map(td, &options, share, &it, &result));
    TD_CHECK_INT((int)seen[0], 5);
    td_free(result);
    seen[0] = 0;
    seen[1] = 1;
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), -30001, result);
    TD_CHECK_INT((int)seen[0], 2);
  }
}

TD_TEST(the_first_failure_in_order_wins) {
  td_tensordict *td = line(64), *result;
  for (int32_t workers = 1; workers <= 4; workers++) {
    const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, workers);
    job it = new_job();
    it.slow_first = 1;
    it.fail_at = 4; /* and all after it */
    it.status = -12345;
    TD_EXPECT_NULL(td_map(td, &options, share, &it, &result), -12345, result);
    TD_CHECK_TEXT(td_last_error_message(), "piece 3 is broken"); /* left on another thread */
    TD_CHECK_SAME_TEXT(td_last_error_function(), "td_map");
    TD_CHECK(it.calls <= 3 + workers); /* no further piece is begun */
  }
}

static td_status fail_in_the_library(void *user, const td_map_piece *piece, td_tensordict *source,
                                     td_tensordict **result) {
  (void)user;
  (void)piece;
  return td_index(source, TD_AT(TD_I_INT(1000)), result);
}

static td_status return_rubbish(void *user, const td_map_piece *piece, td_tensordict *source,
                                td_tensordict **result) {
  (void)user;
  (void)piece;
  (void)source;
  *result = TD_POISON;
  return TD_OK;
}

static td_status free_the_source(void *user, const td_map_piece *piece, td_tensordict *source,
                                 td_tensordict **result) {
  (void)user;
  (void)piece;
  *result = source;
  td_free(source);
  return TD_OK;
}

static td_status return_the_source(void *user, const td_map_piece *piece, td_tensordict *source,
                                   td_tensordict **result) {
  (void)user;
  (void)piece;
  *result = source;
  return TD_OK;
}

static td_status fail_with_a_result(void *user, const td_map_piece *piece, td_tensordict *source,
                                    td_tensordict **result) {
  (void)user;
  (void)piece;
  if (td_dup(source, result) != TD_OK) return TD_ERR_INTERNAL;
  return 5;
}

TD_TEST(callbacks_that_break_the_rules_do_no_harm) {
  static const struct {
    td_map_fn callback;
    td_status status;
  } cases[] = {{fail_in_the_library, TD_ERR_INDEX},
               {return_rubbish, TD_ERR_BAD_HANDLE},
               {free_the_source, TD_ERR_BAD_HANDLE},
               {fail_with_a_result, TD_ERR_CALLBACK}};
  td_tensordict *td = line(6), *result;
  for (int32_t workers = 1; workers <= 3; workers++) {
    const td_map_options options = cut(TD_MAP_CUT_SIZE, 1, workers);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      TD_EXPECT_NULL(td_map(td, &options, cases[i].callback, NULL, &result), cases[i].status,
                     result);
    TD_DO(td_map(td, &options, return_the_source, NULL, &result));
    TD_CHECK_EQUAL(td, result);
  }
}

/* Changes the dictionary that is walked, and its piece; frees the handle that was walked. */
static td_status change_it(void *user, const td_map_piece *piece, td_tensordict *source,
                           td_tensordict **result) {
  job *it = user;
  td_status status = td_remove(source, TD_KEY("n"));
  if (status == TD_OK && piece->number == 0) {
    status = td_remove(it->td, TD_KEY("a"));
    td_free(it->td);
  }
  return status == TD_OK ? td_dup(source, result) : status;
}

TD_TEST(the_dictionary_may_go_meanwhile) {
  for (int32_t workers = 1; workers <= 2; workers++) {
    const td_map_options options = cut(TD_MAP_CUT_SIZE, 1, workers);
    td_tensordict *result = NULL;
    job it = new_job();
    it.td = line(6);
    TD_DO(td_map(it.td, &options, change_it, &it, &result));
    TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(6), TD_VALUES(0, 1, 2, 3, 4, 5));
    td_entry_kind kind = 99;
    TD_DO(td_get_kind(result, TD_KEY("n"), &kind));
    TD_CHECK_INT(kind, TD_ENTRY_NONE);
  }
}

static td_status nested(void *user, const td_map_piece *piece, td_tensordict *source,
                        td_tensordict **result) {
  const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, 2);
  (void)piece;
  return td_map(source, &options, share, user, result);
}

TD_TEST(a_map_in_a_map) {
  td_tensordict *td = line(12), *result = NULL;
  const td_map_options options = cut(TD_MAP_CUT_SIZE, 3, 2);
  job it = new_job();
  TD_DO(td_map(td, &options, nested, &it, &result));
  TD_CHECK_EQUAL(td, result);
  TD_CHECK_INT(it.calls, 12);
  it.fail_at = 2;
  it.status = TD_ERR_IO;
  TD_EXPECT_NULL(td_map(td, &options, nested, &it, &result), TD_ERR_IO, result);
  TD_CHECK_TEXT(td_last_error_message(), "piece 1 is broken");
}

static td_status ask_grad(void *user, const td_map_piece *piece, td_tensordict *source,
                          td_tensordict **result) {
  job *it = user;
  const int32_t before = td_set_grad_enabled(0);
  td_set_grad_enabled(before);
  (void)piece;
  it->calls += before;
  return td_dup(source, result);
}

TD_TEST(workers_have_the_gradient_mode_of_the_caller) {
  td_tensordict *td = line(4), *result = NULL;
  const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, 2);
  for (int32_t mode = 0; mode < 2; mode++) {
    job it = new_job();
    td_set_grad_enabled(mode);
    TD_DO(td_map(td, &options, ask_grad, &it, &result));
    td_set_grad_enabled(0);
    TD_CHECK_INT(it.calls, 4 * mode);
  }
}

TD_TEST(results_one_by_one_in_order) {
  td_tensordict *td = line(9), *one = NULL;
  for (int32_t workers = 1; workers <= 3; workers++) {
    for (size_t ahead = 0; ahead < 3; ahead++) {
      td_map_options options = cut(TD_MAP_CUT_SIZE, 2, workers);
      td_map_iter *iter = NULL;
      job it = new_job();
      it.slow_first = 1;
      options.ahead = ahead;
      options.seed = 100;
      TD_DO(td_map_iter_create(td, &options, share, &it, &iter));
      for (size_t i = 0; i < 5; i++) {
        size_t number = 99;
        TD_DO(td_map_iter_next(iter, &one, &number));
        TD_CHECK_INT((int)number, (int)i);
        td_tensor *a = td_take(one, TD_KEY("a"));
        if (i < 4) {
          TD_CHECK_VALUES(a, 2. * (double)i, 2. * (double)i + 1);
        } else {
          TD_CHECK_VALUES(a, 8);
        }
        td_tensor_free(a);
        td_free(one);
      }
      for (int again = 0; again < 2; again++)
        TD_EXPECT_NULL(td_map_iter_next(iter, &one, NULL), TD_OK, one);
      TD_CHECK_INT(it.calls, 5);
      TD_CHECK_INT((int)it.seeds, 500 + 0 + 1 + 2 + 3 + 4);
      td_map_iter_free(iter);
    }
  }
}

TD_TEST(leaving_early) {
  td_tensordict *td = line(1000), *one = NULL;
  for (int32_t workers = 1; workers <= 3; workers++) {
    td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, workers);
    td_map_iter *iter = NULL;
    job it = new_job();
    options.ahead = 5;
    TD_DO(td_map_iter_create(td, &options, share, &it, &iter));
    for (int i = 0; i < 3; i++) {
      TD_DO(td_map_iter_next(iter, &one, NULL));
    }
    td_map_iter_free(iter);
    const int calls = it.calls;
    TD_CHECK(calls >= 3 && calls <= 3 + 6);
    TD_CHECK_INT(it.running, 0);
    sleep_us(2000);
    TD_CHECK_INT(it.calls, calls);
    TD_DO(td_map_iter_create(td, &options, share, &it, &iter)); /* not even begun */
    td_map_iter_free(iter);
  }
}

TD_TEST(an_iterator_fails_where_its_piece_does) {
  td_tensordict *td = line(9), *one;
  for (int32_t workers = 1; workers <= 3; workers++) {
    const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, workers);
    td_map_iter *iter = NULL;
    job it = new_job();
    it.fail_at = 3;
    it.status = TD_ERR_IO;
    it.slow_first = 1;
    TD_DO(td_map_iter_create(td, &options, share, &it, &iter));
    for (int i = 0; i < 2; i++) {
      TD_DO(td_map_iter_next(iter, &one, NULL));
    }
    for (int i = 0; i < 2; i++) {
      TD_EXPECT_NULL(td_map_iter_next(iter, &one, NULL), TD_ERR_IO, one);
      TD_CHECK_TEXT(td_last_error_message(), "piece 2 is broken");
    }
    td_map_iter_free(iter);
  }
}

TD_TEST(shuffled_elements) {
  td_tensordict *td = line(32), *one = NULL;
  for (int32_t how = TD_MAP_CUT_SIZE; how <= TD_MAP_CUT_ELEMENTS; how += 2) {
    int64_t orders[3][32];
    for (int round = 0; round < 3; round++) {
      td_map_options options = cut(how, 5, 1 + round);
      td_map_iter *iter = NULL;
      job it = new_job();
      size_t seen = 0;
      options.shuffle = 1;
      options.seed = round == 2 ? 8 : 7;
      TD_DO(td_map_iter_create(td, &options, share, &it, &iter));
      TD_DO(td_map_iter_next(iter, &one, NULL));
      while (one != NULL) {
        td_tensor *b = td_take(one, TD_KEY("n", "b"));
        size_t dims = 0;
        int64_t sizes[2] = {0}, rows[10];
        TD_DO(td_tensor_sizes(b, sizes, 2, &dims));
        const size_t count = dims == 1 ? 1 : (size_t)sizes[0];
        TD_DO(td_tensor_copy_to(b, rows, count * 16));
        for (size_t i = 0; i < count; i++) orders[round][seen++] = rows[2 * i] / 2;
        td_tensor_free(b);
        td_free(one);
        TD_DO(td_map_iter_next(iter, &one, NULL));
      }
      TD_CHECK_INT((int)seen, 32);
      td_map_iter_free(iter);
    }
    TD_CHECK(memcmp(orders[0], orders[1], sizeof orders[0]) == 0); /* follows from the seed alone */
    TD_CHECK(memcmp(orders[0], orders[2], sizeof orders[0]) != 0);
    int64_t sum = 0, moved = 0;
    for (int64_t i = 0; i < 32; i++) {
      sum += orders[0][i];
      moved += orders[0][i] != i;
    }
    TD_CHECK_INT(sum, 31 * 32 / 2);
    TD_CHECK(moved > 16);
  }
}

/* Asks its own iterator for a result. */
static td_status ask_itself(void *user, const td_map_piece *piece, td_tensordict *source,
                            td_tensordict **result) {
  job *it = user;
  td_tensordict *more = NULL;
  while (it->iter == NULL) sleep_us(100); /* until the other thread has it */
  const td_status status = td_map_iter_next(it->iter, &more, NULL);
  (void)piece;
  td_free(more);
  if (status != TD_OK) it->answer = status;
  return td_dup(source, result);
}

TD_TEST(an_iterator_that_asks_itself) {
  td_tensordict *td = line(4), *one = NULL;
  for (int32_t workers = 1; workers <= 2; workers++) {
    const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, workers);
    td_map_iter *iter = NULL;
    job it = new_job();
    TD_DO(td_map_iter_create(td, &options, ask_itself, &it, &iter));
    it.iter = iter;
    TD_DO(td_map_iter_next(iter, &one, NULL));
    TD_CHECK_INT(it.answer, TD_ERR_INVALID_ARGUMENT);
    td_free(one);
    td_map_iter_free(iter);
  }
}

/* Frees its own iterator. */
static td_status free_itself(void *user, const td_map_piece *piece, td_tensordict *source,
                             td_tensordict **result) {
  job *it = user;
  (void)piece;
  if (it->iter != NULL) td_map_iter_free(it->iter);
  it->answer = 1;
  return td_dup(source, result);
}

TD_TEST(an_iterator_that_frees_itself) {
  td_tensordict *td = line(1), *one = NULL;
  const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, 1);
  job it = new_job();
  td_map_iter *iter = NULL;
  TD_DO(td_map_iter_create(td, &options, free_itself, &it, &iter));
  it.iter = iter;
  TD_DO(td_map_iter_next(iter, &one, NULL));
  TD_EXPECT_NULL(td_map_iter_next(iter, &one, NULL), TD_ERR_BAD_HANDLE, one);
}

static _Atomic int gate;

static td_status free_itself_later(void *user, const td_map_piece *piece, td_tensordict *source,
                                   td_tensordict **result) {
  while (!gate) sleep_us(100);
  return piece->number == 0 ? free_itself(user, piece, source, result) : td_dup(source, result);
}

TD_TEST(an_iterator_that_its_worker_frees) {
  td_tensordict *td = line(2);
  const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, 2);
  static job it;
  it = new_job();
  gate = 0;
  td_map_iter *iter = NULL;
  TD_DO(td_map_iter_create(td, &options, free_itself_later, &it, &iter));
  it.iter = iter;
  gate = 1;
  while (!it.answer) sleep_us(100);
  for (int i = 0; i < 60000 && td_debug_live_handles() > 1; i++) sleep_us(1000);
  TD_CHECK_INT(td_debug_live_handles(), 1);
}

/* Another thread uses the library while the callback waits for it. */
static void *clone_there(void *user) {
  job *it = user;
  td_tensordict *copy = NULL;
  it->answer = td_clone(it->td, 0, &copy);
  td_free(copy);
  return NULL;
}

static td_status from_elsewhere(void *user, const td_map_piece *piece, td_tensordict *source,
                                td_tensordict **result) {
  pthread_t thread;
  job it = {0};
  (void)user;
  (void)piece;
  it.td = source;
  if (pthread_create(&thread, NULL, clone_there, &it) != 0) return TD_ERR_INTERNAL;
  pthread_join(thread, NULL);
  return it.answer == TD_OK ? td_dup(source, result) : it.answer;
}

TD_TEST(a_callback_with_a_thread_of_its_own) {
  td_tensordict *td = line(8), *result = NULL;
  const td_map_options options = cut(TD_MAP_CUT_SIZE, 2, 2);
  TD_DO(td_map(td, &options, from_elsewhere, NULL, &result));
  TD_CHECK_EQUAL(td, result);
}

/* Waits until two pieces run at once: they do. */
static td_status meet(void *user, const td_map_piece *piece, td_tensordict *source,
                      td_tensordict **result) {
  job *it = user;
  (void)piece;
  enter(it);
  for (int i = 0; i < 60000 && it->most_running < 2; i++) sleep_us(1000);
  it->running--;
  return td_dup(source, result);
}

TD_TEST(workers_run_beside_each_other) {
  td_tensordict *td = line(4), *result = NULL;
  const td_map_options options = cut(TD_MAP_CUT_ELEMENTS, 0, 2);
  job it = new_job();
  TD_DO(td_map(td, &options, meet, &it, &result));
  TD_CHECK_INT(it.most_running, 2);
  TD_CHECK_INT(it.elsewhere, 4);
}
