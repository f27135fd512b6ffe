// Times calls of the library in loops of C, for the process of tests/python/speed: nanoseconds for a call, by the names that
// it uses. The dictionary is the same there: ten tensors of float32 [64, 8], half of them nested.
#include "tensordict/td.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAVES = 10, ROWS = 64, WIDTH = 8, PARTS = 8 };

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "%s\n", td_last_error_message());
  exit(1);
}

static td_tensordict *made(const int64_t *batch, size_t dims) {
  td_tensordict *td = NULL;
  must(td_create(batch, dims, TD_DEVICE_NONE, -1, &td));
  const int64_t sizes[] = {ROWS, WIDTH};
  for (int i = 0; i < LEAVES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "leaf_%d", i);
    const char *path[] = {"nested", name};
    td_tensor *tensor = NULL;
    must(td_tensor_zeros(sizes + 1 - dims, dims + 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor));
    must(i % 2 == 0 ? td_set(td, path + 1, 1, tensor) : td_set(td, path, 2, tensor));
    td_tensor_free(tensor);
  }
  return td;
}

static td_tensordict *source, *row, *parts[PARTS];
static td_tensor *leaf, *positions;

static void index_by(td_index_item item) {
  td_tensordict *result = NULL;
  must(td_index(source, &item, 1, &result));
  td_free(result);
}
static void by_int(void) { index_by((td_index_item)TD_I_INT(7)); }
static void by_slice(void) { index_by((td_index_item)TD_I_SLICE(8, 24)); }
static void by_tensor(void) {
  index_by((td_index_item){TD_INDEX_TENSOR, 0, 0, 0, 0, positions, {0, 0, 0}});
}
static void write_row(void) {
  const td_index_item item = TD_I_INT(9);
  must(td_set_at(source, &item, 1, row));
}
static void view(void) {
  const int64_t sizes[] = {8, 8};
  td_tensordict *result = NULL;
  must(td_view(source, sizes, 2, &result));
  td_free(result);
}
static void unsqueeze(void) {
  td_tensordict *result = NULL;
  must(td_unsqueeze(source, 0, &result));
  td_free(result);
}
static void unbind(void) {
  td_tensordict *results[ROWS];
  size_t count = 0;
  must(td_unbind(source, 0, results, ROWS, &count));
  for (size_t i = 0; i < count; ++i) td_free(results[i]);
}
static void clone(void) {
  td_tensordict *result = NULL;
  must(td_clone(source, 0, &result));
  td_free(result);
}
static void stack(void) {
  td_tensordict *result = NULL;
  must(td_stack((const td_tensordict *const *)parts, PARTS, 0, &result));
  td_free(result);
}
static void cat(void) {
  td_tensordict *result = NULL;
  must(td_cat((const td_tensordict *const *)parts, PARTS, 0, &result));
  td_free(result);
}
static td_operand one(void) {
  td_operand operand = {0};
  operand.kind = TD_OPERAND_INT;
  operand.integer = 1;
  return operand;
}
static void add(void) {
  const td_operand operand = one();
  td_tensordict *result = NULL;
  must(td_binary(source, TD_BINARY_ADD, &operand, NULL, &result));
  td_free(result);
}
static void add_in_place(void) {
  const td_operand operand = one();
  must(td_binary_inplace(source, TD_BINARY_ADD, &operand, NULL));
}
static void get(void) {
  const char *const path = "leaf_4";
  td_tensor *tensor = NULL;
  must(td_get(source, &path, 1, &tensor));
  td_tensor_free(tensor);
}
static void get_nested(void) {
  const char *const path[] = {"nested", "leaf_5"};
  td_tensor *tensor = NULL;
  must(td_get(source, path, 2, &tensor));
  td_tensor_free(tensor);
}
static void set(void) {
  const char *const path = "leaf_4";
  must(td_set(source, &path, 1, leaf));
}
static void select_two(void) {
  const char *const names[] = {"leaf_0", "leaf_4"};
  const td_key keys[] = {{names, 1}, {names + 1, 1}};
  td_tensordict *result = NULL;
  must(td_select(source, keys, 2, NULL, &result));
  td_free(result);
}
static void flatten_keys(void) {
  td_tensordict *result = NULL;
  must(td_flatten_keys(source, ".", NULL, &result));
  td_free(result);
}

static const struct {
  const char *name;
  void (*call)(void);
} works[] = {
    {"index", by_int},
    {"slice", by_slice},
    {"pick", by_tensor},
    {"row", write_row},
    {"view", view},
    {"unsqueeze", unsqueeze},
    {"unbind", unbind},
    {"clone", clone},
    {"stack", stack},
    {"cat", cat},
    {"add", add},
    {"add_", add_in_place},
    {"get", get},
    {"get nested", get_nested},
    {"set", set},
    {"select", select_two},
    {"flatten", flatten_keys},
};

// Called once, before speed().
void speed_begin(void) {
  const int64_t batch = ROWS;
  source = made(&batch, 1);
  row = made(NULL, 0);
  for (int i = 0; i < PARTS; ++i) parts[i] = made(&batch, 1);
  const int64_t sizes[] = {ROWS, WIDTH}, sixteen = 16;
  must(td_tensor_zeros(sizes, 2, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &leaf));
  int64_t at[16];
  for (int i = 0; i < 16; ++i) at[i] = i * 4;
  must(td_tensor_from_data(at, sizeof at, &sixteen, 1, TD_DTYPE_INT64, &positions));
}

// Nanoseconds for a call in a loop; below 0 for a name that is not known.
double speed(const char *name, long rounds) {
  for (size_t i = 0; i < sizeof works / sizeof *works; ++i) {
    if (strcmp(works[i].name, name) != 0) continue;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (long round = 0; round < rounds; ++round) works[i].call();
    clock_gettime(CLOCK_MONOTONIC, &after);
    return ((double)(after.tv_sec - before.tv_sec) * 1e9 +
            (double)(after.tv_nsec - before.tv_nsec)) /
           (double)rounds;
  }
  return -1;
}
