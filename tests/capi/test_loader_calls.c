/* Functions and modules over batches, their failures, threads, and what td_loader_create() refuses. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "td_loader_test.h"

typedef struct job {
  _Atomic int calls, running, most;
  _Atomic int64_t fail_at; /* the batch that fails; -1: none */
  _Atomic int other_at;    /* the batch with other entries; -1: none */
  _Atomic uint64_t seeds[64];
  td_loader *_Atomic loader; /* to be misused */
  _Atomic td_status answer;
  int replace;
} job;

static td_status change(void *user, const td_map_piece *piece, td_tensordict *batch,
                        td_tensordict **result) {
  job *it = user;
  const int running = ++it->running;
  if (running > it->most) it->most = running;
  it->calls++;
  it->seeds[piece->number % 64] = piece->seed;
  td_status status = TD_OK;
  if ((int64_t)piece->number == it->fail_at) {
    td_set_error(-12345, "this batch is broken");
    status = -12345;
  } else if (it->loader != NULL) {
    td_tensordict *next = NULL;
    it->answer = td_loader_next(it->loader, &next);
  } else {
    td_tensordict *target = batch;
    if (status == TD_OK && it->replace) status = td_clone(batch, 0, result), target = *result;
    td_tensor *old = NULL, *wide = NULL;
    if (status == TD_OK) status = td_get(target, TD_KEY("a"), &old);
    if (status == TD_OK) status = td_tensor_clone(old, &wide);
    if (status == TD_OK)
      status = td_set(target,
                      (int64_t)piece->number == it->other_at ? (const char *[]){"else"}
                                                             : (const char *[]){"copy"},
                      1, wide);
    td_tensor_free(old);
    td_tensor_free(wide);
  }
  it->running--;
  return status;
}

static td_loader_options with(job *it, int64_t rows, int workers) {
  td_loader_options options = loader_options(rows, 0);
  memset(it, 0, sizeof *it);
  it->fail_at = -1;
  it->other_at = -1;
  options.num_workers = workers;
  options.transform = change;
  options.transform_user = it;
  return options;
}

TD_TEST(a_function_changes_batches_or_makes_others) {
  td_tensordict *td = loader_line(20), *batch = NULL;
  uint64_t seeds[3][5];
  for (int workers = 0; workers < 3; workers++) {
    for (int replace = 0; replace < 2; replace++) {
      job it;
      td_loader_options options = with(&it, 4, workers);
      options.seed = 11;
      it.replace = replace;
      td_loader *loader = loader_of(td, &options);
      for (int i = 0; i < 5; i++) {
        TD_DO(td_loader_next(loader, &batch));
        TD_CHECK_ENTRY(batch, TD_KEY("copy"), TD_SIZES(4),
                       TD_VALUES(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3));
        TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(4),
                       TD_VALUES(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3));
        td_free(batch);
        seeds[workers][i] = it.seeds[i];
        TD_CHECK(i == 0 || seeds[workers][i] != seeds[workers][i - 1]);
      }
      td_loader_free(loader);
    }
    TD_CHECK(memcmp(seeds[0], seeds[workers], sizeof seeds[0]) == 0);
  }
}

TD_TEST(a_failure_comes_back_at_its_batch_and_can_be_tried_again) {
  td_tensordict *td = loader_line(20), *batch = NULL;
  for (int workers = 0; workers < 3; workers++) {
    job it;
    td_loader_options options = with(&it, 4, workers);
    it.fail_at = 2;
    td_loader *loader = loader_of(td, &options);
    int64_t rows[4];
    TD_CHECK_INT(loader_some(loader, rows, 4), 4);
    TD_CHECK_INT(loader_some(loader, rows, 4), 4);
    for (int i = 0; i < 3; i++) {
      TD_EXPECT_NULL(td_loader_next(loader, &batch), -12345, batch);
      TD_CHECK_TEXT(td_last_error_message(), "this batch is broken");
      int64_t at = -1;
      TD_DO(td_loader_where(loader, NULL, &at, NULL));
      TD_CHECK_INT(at, 2);
    }
    it.fail_at = -1;
    for (int64_t first = 8; first < 20; first += 4) {
      TD_CHECK_INT(loader_some(loader, rows, 4), 4);
      TD_CHECK_INT(rows[0], first);
    }
    TD_CHECK_INT(loader_some(loader, rows, 4), 0);
    td_loader_free(loader);
  }
}

static td_status fails(void *user, td_tensordict *source, td_tensordict **result) {
  (void)source;
  (void)result;
  if (*(const char *)user == '\0') return TD_ERR_CALLBACK; /* says nothing */
  td_set_error(TD_ERR_CALLBACK, user);
  return TD_ERR_CALLBACK;
}

/* A failure is told once, with its own words, and by the call that it belongs to. */
TD_TEST(failures_of_modules_belong_to_their_batch) {
  td_tensordict *td = loader_line(8), *batch = NULL;
  td_module *loud = NULL, *silent = NULL;
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  TD_DO(td_module_from_function(&options, fails, (void *)"in my own words", NULL, &loud));
  TD_DO(td_module_from_function(&options, fails, (void *)"", NULL, &silent));
  for (int workers = 0; workers < 3; workers++) {
    td_loader_options given = loader_options(4, 0);
    given.num_workers = workers;
    given.module = loud;
    td_loader *loader = loader_of(td, &given);
    for (int i = 0; i < 2; i++) {
      TD_EXPECT_NULL(td_loader_next(loader, &batch), TD_ERR_CALLBACK, batch);
      TD_CHECK_TEXT(td_last_error_message(), "in my own words");
      TD_EXPECT_NULL(td_module_call(td, silent, NULL, &batch), TD_ERR_CALLBACK, batch);
      TD_CHECK(strstr(td_last_error_message(), "my own words") == NULL);
      td_tensor *none = NULL;
      TD_EXPECT_NULL(td_get(td, TD_KEY("none"), &none), TD_ERR_KEY_NOT_FOUND, none);
      TD_CHECK_TEXT(td_last_error_message(), "none");
    }
    td_loader_free(loader);
  }
  td_module_free(loud);
  td_module_free(silent);
  td_free(td);
}

TD_TEST(another_structure_is_refused) {
  td_tensordict *td = loader_line(20), *batch = NULL;
  for (int workers = 0; workers < 2; workers++) {
    job it;
    td_loader_options options = with(&it, 4, workers);
    it.other_at = 3;
    td_loader *loader = loader_of(td, &options);
    int64_t rows[4];
    for (int i = 0; i < 3; i++) TD_CHECK_INT(loader_some(loader, rows, 4), 4);
    TD_EXPECT_NULL(td_loader_next(loader, &batch), TD_ERR_SHAPE, batch);
    TD_CHECK_TEXT(td_last_error_message(), "\"else\"");
    TD_CHECK_TEXT(td_last_error_message(), "\"copy\"");
    it.other_at = -1;
    TD_CHECK_INT(loader_some(loader, rows, 4), 4);
    TD_CHECK_INT(rows[0], 12);
    td_loader_free(loader);
  }
}

/* A function that asks its own loader for a batch is answered; one that frees it does not wait for itself. */
TD_TEST(a_function_may_misuse_its_loader) {
  td_tensordict *td = loader_line(20), *batch = NULL;
  for (int workers = 0; workers < 3; workers++) {
    job it;
    td_loader_options options = with(&it, 4, workers);
    options.ahead = 1;
    td_loader *loader = loader_of(td, &options);
    int64_t rows[4];
    it.loader = loader;
    TD_DO(td_loader_next(loader, &batch)); /* perhaps from before it was told */
    td_free(batch);
    td_status status = TD_OK;
    for (int i = 0; i < 3 && status == TD_OK; i++) {
      status = td_loader_next(loader, &batch);
      if (status == TD_OK) td_free(batch);
    }
    TD_CHECK_INT(it.answer, TD_ERR_INVALID_ARGUMENT);
    it.loader = NULL;
    (void)rows;
    td_loader_free(loader);
  }
}

static td_status free_it(void *user, const td_map_piece *piece, td_tensordict *batch,
                         td_tensordict **result) {
  td_loader *_Atomic *loader = user;
  (void)batch, (void)result;
  if (piece->number == 3) td_loader_free(atomic_exchange(loader, NULL));
  return TD_OK;
}

TD_TEST(a_function_may_free_its_loader) {
  td_tensordict *td = loader_line(20), *batch = NULL;
  const int64_t live = td_debug_live_handles();
  for (int workers = 0; workers < 3; workers++) {
    td_loader *_Atomic kept = NULL;
    td_loader_options options = loader_options(4, 0);
    options.num_workers = workers;
    options.ahead = 1;
    options.transform = free_it;
    options.transform_user = (void *)&kept;
    td_loader *loader = loader_of(td, &options);
    kept = loader;
    td_status status = TD_OK;
    for (int i = 0; i < 5 && status == TD_OK; i++) {
      status = td_loader_next(loader, &batch);
      td_free(batch);
    }
    TD_CHECK(status == TD_ERR_BAD_HANDLE);
    while (td_debug_live_handles() != live) sched_yield(); /* its thread ends by itself */
  }
  td_free(td);
}

static td_status double_it(void *user, td_tensordict *source, td_tensordict **result) {
  td_tensordict *sum = NULL;
  td_tensor *y = NULL;
  (void)user, (void)result;
  td_status status = td_binary(source, TD_BINARY_ADD, TD_BY(TD_O_DICT(source)), NULL, &sum);
  if (status == TD_OK) status = td_get(sum, TD_KEY("x"), &y);
  if (status == TD_OK) status = td_set(source, TD_KEY("y"), y);
  td_tensor_free(y);
  td_free(sum);
  return status;
}

TD_TEST(a_module_writes_into_each_batch) {
  td_tensordict *td = td_empty(TD_SIZES(6)), *batch = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(6, 1)));
  const td_key x = {TD_KEY("x")}, y = {TD_KEY("y")};
  td_module_function_options keys = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_module *module = NULL;
  keys.in_keys = &x;
  keys.out_keys = &y;
  keys.in_keys_len = keys.out_keys_len = 1;
  TD_DO(td_module_from_function(&keys, double_it, NULL, NULL, &module));
  td_loader_options options = loader_options(4, 0);
  options.num_workers = 2;
  options.module = module;
  td_loader *loader = loader_of(td, &options);
  td_module_free(module); /* the loader has it */
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_ENTRY(batch, TD_KEY("x"), TD_SIZES(4, 1), TD_VALUES(0, 1, 2, 3));
  TD_CHECK_ENTRY(batch, TD_KEY("y"), TD_SIZES(4, 1), TD_VALUES(0, 2, 4, 6));
  td_free(batch);
  td_loader_free(loader);
  td_free(td);
}

/* Two loaders of one dictionary on two threads, with workers each, while batches are held and freed. */
static void *consume(void *user) {
  td_loader *loader = user;
  td_tensordict *held[4] = {NULL}, *batch = NULL;
  for (int i = 0; i < 200; i++) {
    if (td_loader_next(loader, &batch) != TD_OK) return user;
    td_free(held[i % 4]);
    held[i % 4] = batch;
  }
  for (int i = 0; i < 4; i++) td_free(held[i]);
  return NULL;
}

TD_TEST(loaders_side_by_side) {
  td_tensordict *td = loader_line(1000);
  td_loader *loaders[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    td_loader_options options = loader_options(32, TD_LOADER_SHUFFLE);
    options.num_workers = 3;
    options.seed = 5;
    loaders[i] = loader_of(td, &options);
    TD_CHECK_INT(pthread_create(&threads[i], NULL, consume, loaders[i]), 0);
  }
  int64_t at[2][2];
  for (int i = 0; i < 2; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    TD_CHECK(failed == NULL);
    TD_DO(td_loader_where(loaders[i], &at[i][0], &at[i][1], NULL));
    td_loader_free(loaders[i]);
  }
  TD_CHECK(at[0][0] == at[1][0] && at[0][1] == at[1][1]);
  TD_CHECK_INT(at[0][0] * 33 + at[0][1], 200); /* 32 batches and an end in each epoch */
}

TD_TEST(options_that_make_no_sense) {
  td_tensordict *td = loader_line(10), *scalar = td_empty(TD_NO_SIZES),
                *empty = td_empty(TD_SIZES(4)), *rowless = loader_line(0);
  td_loader *loader = NULL;
  td_tensor *few = td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(9)),
            *negative = td_filled(TD_DTYPE_FLOAT32, -1, TD_SIZES(10)), *complex = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(10), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &complex));
  const td_key missing = {TD_KEY("nope")};
  td_loader_options good = loader_options(4, 0), bad;
#define REFUSE(dict, field, value, status, text)                           \
  do {                                                                     \
    bad = good;                                                            \
    bad.field = value;                                                     \
    TD_EXPECT_NULL(td_loader_create(dict, &bad, &loader), status, loader); \
    TD_CHECK_TEXT(td_last_error_message(), text);                          \
  } while (0)
  REFUSE(td, rows, 0, TD_ERR_INVALID_ARGUMENT, "rows is 0");
  REFUSE(td, rows, -3, TD_ERR_INVALID_ARGUMENT, "rows is -3");
  REFUSE(td, epochs, -1, TD_ERR_INVALID_ARGUMENT, "epochs is -1");
  REFUSE(td, draws, -1, TD_ERR_INVALID_ARGUMENT, "draws is -1");
  REFUSE(td, draws, 5, TD_ERR_INVALID_ARGUMENT, "draws is for");
  REFUSE(td, num_workers, -1, TD_ERR_INVALID_ARGUMENT, "num_workers is -1");
  REFUSE(td, num_workers, 1025, TD_ERR_INVALID_ARGUMENT, "1025");
  REFUSE(td, ahead, 1u << 20, TD_ERR_INVALID_ARGUMENT, "ahead is");
  REFUSE(td, rank, 1, TD_ERR_INVALID_ARGUMENT, "rank is 1 of world_size 1");
  REFUSE(td, rank, -1, TD_ERR_INVALID_ARGUMENT, "rank is -1");
  REFUSE(td, world_size, -1, TD_ERR_INVALID_ARGUMENT, "world_size -1");
  REFUSE(td, flags, 256, TD_ERR_INVALID_ARGUMENT, "256");
  REFUSE(td, flags, TD_LOADER_SHUFFLE | TD_LOADER_REPLACEMENT, TD_ERR_INVALID_ARGUMENT, "shuffle");
  REFUSE(td, flags, TD_LOADER_CONCATENATE, TD_ERR_INVALID_ARGUMENT, "slice_len");
  REFUSE(td, slice_step, 2, TD_ERR_INVALID_ARGUMENT, "slice_len");
  REFUSE(td, weights, few, TD_ERR_SHAPE, "shape [9] for 10 rows");
  REFUSE(td, weights, negative, TD_ERR_INVALID_ARGUMENT, "weight 0 is -1");
  REFUSE(td, weights, complex, TD_ERR_DTYPE, "complex64");
  REFUSE(td, keys_len, 1, TD_ERR_NULL_ARGUMENT, "keys");
  REFUSE(td, device_type, 77, TD_ERR_DEVICE, "77");
  REFUSE(td, struct_size, 8, TD_ERR_INVALID_ARGUMENT, "struct_size");
  good.rows = 11;
  REFUSE(td, flags, TD_LOADER_DROP_LAST, TD_ERR_INVALID_ARGUMENT, "no batch of 11");
  good.rows = 4;
  good.keys_len = 1;
  REFUSE(td, keys, &missing, TD_ERR_KEY_NOT_FOUND, "nope");
  good.keys_len = 0;
  REFUSE(scalar, rows, 4, TD_ERR_SHAPE, "no rows");
  REFUSE(empty, rows, 4, TD_ERR_INVALID_ARGUMENT, "no entries");
  REFUSE(rowless, rows, 4, TD_ERR_SHAPE, "0 rows");
  TD_EXPECT_NULL(td_loader_create(td, NULL, &loader), TD_ERR_NULL_ARGUMENT, loader);
  if (!td_device_available(TD_DEVICE_CUDA))
    REFUSE(td, flags, TD_LOADER_PIN_MEMORY, TD_ERR_DEVICE, "pinned");
}
