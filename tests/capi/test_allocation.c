/* Calls that promise to allocate nothing, and calls for which there is no memory. */
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
  td_tensordict *td = td_sample();
  TD_CHECK(td_malloc_end() > 0);
  td_free(td);
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
  td_free(td);
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
  td_free(td);
}

/* What the operations below work on. `other` has a key that `td` lacks, `newer` has two. */
typedef struct subjects {
  td_tensordict *td, *copy, *other, *newer;
  td_tensor *tensor, *some;
  td_tensordict *result;
  td_tensor *tensor_result;
  td_keys *keys;
} subjects;

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

static td_status do_create(subjects *it) {
  return td_create(TD_SIZES(4, 3), TD_DEVICE_NONE, -1, &it->result);
}
static td_status do_set(subjects *it) { return td_set(it->td, TD_KEY("x", "y"), it->tensor); }
static td_status do_set_dict(subjects *it) { return td_set_dict(it->td, TD_KEY("x"), it->other); }
static td_status do_index(subjects *it) {
  return td_index(it->td, TD_AT(TD_I_INT(1)), &it->result);
}
static td_status do_gather(subjects *it) {
  return td_index(it->td, TD_AT(TD_I_TENSOR(it->some)), &it->result);
}
static td_status do_set_at(subjects *it) {
  return td_set_at(it->td, TD_AT(TD_I_ELLIPSIS), it->other);
}
static td_status do_clone(subjects *it) { return td_clone(it->td, 0, &it->result); }
static td_status do_view(subjects *it) { return td_view(it->td, TD_SIZES(12), &it->result); }
static td_status do_stack(subjects *it) {
  return td_stack((const td_tensordict *const[]){it->td, it->copy}, 2, 0, &it->result);
}
static td_status do_cat(subjects *it) {
  return td_cat((const td_tensordict *const[]){it->td, it->copy}, 2, 0, &it->result);
}
static td_status do_apply(subjects *it) { return td_apply(it->td, NULL, share, NULL, &it->result); }
static td_status do_lock(subjects *it) {
  const td_status status = td_lock(it->td);
  return status == TD_OK ? td_unlock(it->td) : status;
}
static td_status do_keys(subjects *it) { return td_keys_of(it->td, NULL, &it->keys); }
static td_status do_print(subjects *it) {
  size_t length = 0;
  return td_to_string(it->td, NULL, 0, &length);
}
static td_status do_tensor(subjects *it) { return td_tensor_clone(it->tensor, &it->tensor_result); }
static td_status do_save(subjects *it) {
  return td_memmap(it->td, td_path(td_test_folder(), "m"), NULL, &it->result);
}
static td_status do_load(subjects *it) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  return td_memmap_load(td_golden("basic"), &options, &it->result);
}

static td_status do_update(subjects *it) { return td_update(it->td, it->newer, NULL); }
static td_status do_write(subjects *it) {
  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  return td_update(it->td, it->copy, &strict);
}
static td_status do_rename(subjects *it) {
  return td_rename_key(it->td, TD_KEY("n", "b"), TD_KEY("x", "y"), 0);
}
static td_status do_pop(subjects *it) {
  td_entry_kind kind;
  return td_pop(it->td, TD_KEY("n", "b"), &kind, &it->tensor_result, &it->result);
}
static td_status do_pop_last(subjects *it) {
  return td_pop_last(it->td, &it->keys, &it->tensor_result, &it->result);
}
static td_status do_select(subjects *it) {
  return td_select_inplace(it->td, (const td_key[]){{TD_KEY("n", "b")}}, 1, NULL);
}
static td_status do_exclude(subjects *it) {
  return td_exclude_inplace(it->td, (const td_key[]){{TD_KEY("n", "b")}}, 1, NULL);
}
static td_status do_flatten_keys(subjects *it) {
  return td_flatten_keys_inplace(it->td, ".", NULL);
}
static td_status do_unflatten_keys(subjects *it) { return td_unflatten_keys_inplace(it->td, "a"); }
static td_status do_merge(subjects *it) {
  return td_merge((const td_tensordict *const[]){it->td, it->other}, 2, NULL, NULL, &it->result);
}
static td_status do_clear(subjects *it) { return td_clear(it->td); }
static td_status do_create_nested(subjects *it) {
  return td_create_nested(it->td, TD_KEY("x", "y"));
}
static td_status do_auto_batch_size(subjects *it) { return td_auto_batch_size(it->td, -1, 0); }
static td_status do_remove_empty(subjects *it) { return td_remove_empty(it->td); }

static const struct {
  const char *name;
  td_status (*function)(subjects *it);
} operations[] = {{"create", do_create},
                  {"set", do_set},
                  {"set_dict", do_set_dict},
                  {"index", do_index},
                  {"gather", do_gather},
                  {"set_at", do_set_at},
                  {"clone", do_clone},
                  {"view", do_view},
                  {"stack", do_stack},
                  {"cat", do_cat},
                  {"apply", do_apply},
                  {"lock", do_lock},
                  {"keys", do_keys},
                  {"print", do_print},
                  {"tensor_clone", do_tensor},
                  {"memmap", do_save},
                  {"load_memmap", do_load},
                  {"update", do_update},
                  {"update strictly", do_write},
                  {"rename", do_rename},
                  {"pop", do_pop},
                  {"pop_last", do_pop_last},
                  {"select", do_select},
                  {"exclude", do_exclude},
                  {"flatten_keys", do_flatten_keys},
                  {"unflatten_keys", do_unflatten_keys},
                  {"merge", do_merge},
                  {"clear", do_clear},
                  {"create_nested", do_create_nested},
                  {"auto_batch_size", do_auto_batch_size},
                  {"remove_empty", do_remove_empty}};

static void begin(subjects *it) {
  memset(it, 0, sizeof *it);
  it->td = td_sample();
  it->tensor = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 3));
  it->some = td_positions((const int64_t[]){2, 0}, 2);
  TD_DO(td_clone(it->td, 0, &it->copy));
  TD_DO(td_clone(it->td, 0, &it->other));
  TD_DO(td_set(it->other, TD_KEY("n", "more"), it->tensor));
  TD_DO(td_clone(it->other, 0, &it->newer));
  TD_DO(td_set(it->newer, TD_KEY("new"), it->tensor));
}

static void end(subjects *it) {
  td_free(it->td);
  td_free(it->copy);
  td_free(it->other);
  td_free(it->newer);
  td_tensor_free(it->tensor);
  td_tensor_free(it->some);
  td_free(it->result);
  td_tensor_free(it->tensor_result);
  td_keys_free(it->keys);
}

/* The operation with one of its allocations failing; 0: none. */
static td_status attempt(size_t number, long fail_at) {
  subjects it;
  int32_t equal = 0;
  begin(&it);
  if (operations[number].function == do_remove_empty) {
    TD_DO(td_create_nested(it.td, TD_KEY("empty")));
    TD_DO(td_create_nested(it.copy, TD_KEY("empty")));
  }
  td_malloc_begin(fail_at);
  const td_status status = operations[number].function(&it);
  td_malloc_end();
  if (status != TD_OK && status != TD_ERR_OUT_OF_MEMORY)
    td_test_fail(__FILE__, __LINE__, "%s without allocation %ld gave %s: %s",
                 operations[number].name, fail_at, td_status_name(status), td_last_error_message());
  if (status != TD_OK) {
    TD_DO(td_equal(it.td, it.copy, &equal));
    if (!equal)
      td_test_fail(__FILE__, __LINE__, "%s without allocation %ld changed the dictionary",
                   operations[number].name, fail_at);
    TD_CHECK(it.result == NULL && it.tensor_result == NULL && it.keys == NULL);
  }
  end(&it);
  return status;
}

TD_TEST(without_memory_nothing_changes) {
  td_malloc_required();
  for (size_t number = 0; number < sizeof operations / sizeof *operations; number++) {
    /* Once before, for what libtorch makes once a thread: glibc ends the process without it. */
    TD_CHECK_INT(attempt(number, 0), TD_OK);
    for (long fail_at = 1; attempt(number, fail_at) != TD_OK; fail_at++) continue;
  }
}
