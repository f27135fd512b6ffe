/* Calls that promise to allocate nothing. Calls for which there is no memory are in allocation_calls (attempts.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_malloc.h"
#include "td_values.h"

/* The second run counts: the first may fill what is kept for later. */
#define CHECK_ALLOCATES_NOTHING(statement) \
  do {                                     \
    statement;                             \
    td_malloc_begin(0);                    \
    statement;                             \
    TD_CHECK_INT(td_malloc_end(), 0);      \
  } while (0)

TD_TEST(counting_counts) {
  td_malloc_required();
  td_malloc_begin(0);
  td_sample();
  TD_CHECK(td_malloc_end() > 0);
}

static void write_rows(td_writer *writer, int64_t rows) {
  const float position[2] = {1, 2};
  const int64_t step = 7;
  for (int64_t row = 0; row < rows; row++) {
    TD_DO(td_writer_put(writer, 0, position, sizeof position));
    TD_DO(td_writer_put(writer, 1, &step, sizeof step));
    TD_DO(td_writer_next(writer));
  }
}

TD_TEST(the_writer_allocates_nothing_after_binding) {
  td_malloc_required();
  for (int mapped = 0; mapped < 2; mapped++) {
    td_tensordict *td = td_empty(TD_SIZES(200)), *target = NULL;
    td_writer *writer = NULL;
    int32_t field = -1;
    td_put(td, TD_KEY("pos"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(200, 2)));
    td_put(td, TD_KEY("n", "step"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(200)));
    if (mapped)
      TD_DO(td_memmap_like(td, td_path(td_test_folder(), "m"), NULL, &target));
    else
      TD_DO(td_dup(td, &target));
    TD_DO(td_writer_open(target, NULL, &writer));
    TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
    TD_DO(td_writer_bind(writer, TD_KEY("n", "step"), &field));
    CHECK_ALLOCATES_NOTHING(write_rows(writer, 100));
    td_writer_free(writer);
    td_free(target);
    td_free(td);
  }
}

static void read_batches(td_loader *loader, int batches) {
  for (int i = 0; i < batches; i++) {
    td_tensordict *batch = NULL;
    TD_DO(td_loader_next(loader, &batch));
    td_free(batch);
  }
}

TD_TEST(a_loop_over_batches_allocates_nothing) {
  td_malloc_required();
  td_tensordict *td = td_empty(TD_SIZES(200));
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_put(td, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(200, 2)));
  td_put(td, TD_KEY("n", "step"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(200)));
  options.rows = 8;
  options.flags = TD_LOADER_SHUFFLE;
  for (int slices = 0; slices < 2; slices++) {
    td_loader *loader = NULL;
    options.slice_len = slices ? 2 : 0;
    TD_DO(td_loader_create(td, &options, &loader));
    CHECK_ALLOCATES_NOTHING(read_batches(loader, 6));
    td_loader_free(loader);
  }
}

TD_TEST(looking_a_key_up_allocates_nothing) {
  td_malloc_required();
  td_tensordict *td = td_sample();
  td_entry_kind kind = 99;
  int32_t flag = 0;
  int64_t sizes[2];
  size_t dims = 0;
  CHECK_ALLOCATES_NOTHING(TD_DO(td_get_kind(td, TD_KEY("n", "b"), &kind)));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  CHECK_ALLOCATES_NOTHING(TD_DO(td_get_kind(td, TD_KEY("n", "nope"), &kind)));
  CHECK_ALLOCATES_NOTHING(TD_DO(td_is_locked(td, &flag)));
  CHECK_ALLOCATES_NOTHING(TD_DO(td_batch_size(td, sizes, 2, &dims)));
}

/* Opens handles until the next one needs memory. */
static td_tensor *held[1 << 15];
static size_t held_len;

static void take_all_slots(td_tensor *tensor) {
  for (td_status status = TD_OK; status == TD_OK && held_len < sizeof held / sizeof *held;) {
    td_malloc_begin(1);
    status = td_tensor_dup(tensor, &held[held_len]);
    td_malloc_end();
    if (status == TD_OK) held_len++;
  }
  TD_CHECK(held_len < sizeof held / sizeof *held);
}

typedef struct change {
  td_tensordict *td;
  td_tensor *value, *tensor;
  td_tensordict *dicts[2];
  td_keys *key;
} change;

static td_status set_new(change *c) {
  return td_get_or_set(c->td, TD_KEY("x"), c->value, &c->tensor);
}

static td_status make_new(change *c) {
  return td_memmap_make(c->td, TD_KEY("x"), TD_SIZES(4), TD_DTYPE_INT64, NULL, &c->tensor);
}

static td_status split(change *c) {
  static const char *const names[] = {"a"};
  const td_key keys[] = {{names, 1}};
  const td_key_set sets[] = {{.keys = keys, .keys_len = 1}};
  size_t count = 0;
  return td_split_keys_inplace(c->td, sets, 1, NULL, c->dicts, 2, &count);
}

static td_status pop_last(change *c) {
  return td_pop_last(c->td, &c->key, &c->tensor, &c->dicts[0]);
}

static td_entry_kind kind_of(const td_tensordict *td, const char *name) {
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, (const char *const[]){name}, 1, &kind));
  return kind;
}

TD_TEST(a_result_has_its_handle_before_anything_changes) {
  static td_status (*const calls[])(change *) = {set_new, make_new, split, pop_last};
  td_malloc_required();
  for (int i = 0; i < 4; i++) {
    change c = {0};
    td_tensordict *plain = td_empty(TD_SIZES(4));
    td_put(plain, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
    td_put(plain, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
    TD_DO(i == 1 ? td_memmap(plain, NULL, NULL, &c.td) : td_dup(plain, &c.td));
    c.value = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(4));
    take_all_slots(c.value);
    td_status status = TD_ERR_OUT_OF_MEMORY;
    for (long n = 1; status != TD_OK; n++) {
      td_malloc_begin(n);
      status = calls[i](&c);
      td_malloc_end();
      const int changed = status == TD_OK;
      TD_CHECK_INT(status, changed ? TD_OK : TD_ERR_OUT_OF_MEMORY);
      TD_CHECK_INT(kind_of(c.td, "x"), changed && i < 2 ? TD_ENTRY_TENSOR : TD_ENTRY_NONE);
      TD_CHECK_INT(kind_of(c.td, "a"), changed && i >= 2 ? TD_ENTRY_NONE : TD_ENTRY_TENSOR);
    }
    td_keys_free(c.key);
    td_tensor_free(c.tensor);
    td_tensor_free(c.value);
    for (int k = 0; k < 2; k++) td_free(c.dicts[k]);
    td_free(c.td);
    td_free(plain);
  }
  while (held_len > 0) td_tensor_free(held[--held_len]);
}
