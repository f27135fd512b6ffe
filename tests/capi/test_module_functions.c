/* Functions as modules, and modules in a row: keys, what is skipped, what is cut, what fails. */
#include <pthread.h>
#include <string.h>

#include "td_modules.h"

/* Adds 1 to "in" under another name; `user` counts the calls. */
static td_status add_one(void *user, td_tensordict *source, td_tensordict **result) {
  const td_operand one = TD_O_INT(1);
  if (user != NULL) ++*(int *)user;
  return td_binary(source, TD_BINARY_ADD, &one, NULL, result);
}

static td_status fails(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user;
  (void)source;
  (void)result;
  td_set_error(-12345, "the function failed for a reason of its own");
  return -12345;
}

static td_status empty_answer(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user;
  (void)source;
  return td_create(NULL, 0, TD_DEVICE_NONE, -1, result);
}

/* Renames an entry in the dictionary that it got, and answers with nothing. */
static td_status copy_a_to(void *user, td_tensordict *source, td_tensordict **result) {
  const char *const to[] = {user};
  td_tensor *tensor = NULL;
  (void)result;
  td_status status = td_get(source, TD_KEY("a"), &tensor);
  if (status == TD_OK) status = td_set(source, to, 1, tensor);
  td_tensor_free(tensor);
  return status;
}

static void count_release(void *user) { ++*(int *)user; }

/* Takes `in` and writes it as `out`: Delta of one entry under another name. */
static td_module *moves_into(const char *in, const char *const *out, size_t out_len) {
  const td_key from = {&in, 1}, to = {out, out_len};
  static const char *const names[] = {"param"};
  td_distribution part = {0};
  td_module *module = NULL;
  part.kind = TD_DISTRIBUTION_DELTA;
  part.in_keys = &from;
  part.in_keys_len = 1;
  part.names = names;
  part.names_len = 1;
  part.out_key = &to;
  TD_DO(td_module_probabilistic(&part, 1, NULL, &module));
  return module;
}

static td_module *moves(const char *in, const char *out) { return moves_into(in, &out, 1); }

static td_module *in_a_row(uint32_t flags, td_module *one, td_module *two, td_module *three) {
  const td_module *const all[] = {one, two, three};
  td_module_sequence_options options = TD_MODULE_SEQUENCE_OPTIONS_INIT;
  td_module *module = NULL;
  options.flags = flags;
  TD_DO(td_module_sequence(all, three == NULL ? 2 : 3, &options, &module));
  td_module_free(one);
  td_module_free(two);
  td_module_free(three);
  return module;
}

static td_tensordict *with_a(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  return td;
}

static int keys_are(const td_module *module, int out, const char *want) {
  td_keys *keys = NULL;
  char text[100] = "";
  if (out) TD_DO(td_module_out_keys(module, &keys));
  if (!out) TD_DO(td_module_in_keys(module, &keys));
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t n = 0;
    TD_DO(td_keys_at(keys, i, &path, &n));
    strcat(text, path[0]);
  }
  td_keys_free(keys);
  TD_CHECK_SAME_TEXT(text, want);
  return 1;
}

TD_TEST(a_function_gets_the_in_keys_and_gives_the_out_keys) {
  const td_key in[] = {{TD_KEY("a")}, {TD_KEY("n", "b")}};
  const td_key out[] = {{TD_KEY("n", "b")}};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_tensordict *td = with_a();
  td_module *module = NULL;
  int calls = 0;
  options.in_keys = in;
  options.in_keys_len = 2;
  options.out_keys = out;
  options.out_keys_len = 1;
  TD_DO(td_module_from_function(&options, add_one, &calls, NULL, &module));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_DO(td_module_call_inplace(td, module, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_INT(calls, 1);
}

TD_TEST(a_function_without_keys_gets_the_whole_dictionary) {
  td_tensordict *td = with_a(), *result = NULL;
  td_module *module = NULL;
  TD_DO(td_module_from_function(NULL, copy_a_to, "b", NULL, &module));
  TD_DO(td_module_call(td, module, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("b"), TD_SIZES(2), TD_VALUES(5, 6));
  td_tensor *tensor = NULL;
  TD_EXPECT_NULL(td_get(result, TD_KEY("a"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_EXPECT_NULL(td_get(td, TD_KEY("b"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
}

TD_TEST(a_function_that_fails_writes_nothing) {
  td_tensordict *td = with_a(), *copy = NULL;
  td_module *module = NULL, *row = NULL;
  TD_DO(td_clone(td, 0, &copy));
  TD_DO(td_module_from_function(NULL, fails, NULL, NULL, &module));
  TD_EXPECT(td_module_call_inplace(td, module, NULL), -12345);
  TD_CHECK_SAME_TEXT(td_last_error_message(), "the function failed for a reason of its own");
  row = in_a_row(0, moves("a", "b"), module, NULL);
  TD_EXPECT(td_module_call_inplace(td, row, NULL), -12345);
  TD_CHECK_EQUAL(td, copy);
}

TD_TEST(outputs_that_a_function_does_not_give) {
  const td_key out[] = {{TD_KEY("b")}};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_tensordict *td = with_a(), *result = NULL;
  td_module *module = NULL;
  options.out_keys = out;
  options.out_keys_len = 1;
  TD_DO(td_module_from_function(&options, empty_answer, NULL, NULL, &module));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"b\"");
  td_module_free(module);
  options.flags = TD_MODULE_FUNCTION_STRICT;
  options.in_keys = out;
  options.in_keys_len = 1;
  TD_DO(td_module_from_function(&options, add_one, NULL, NULL, &module));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
}

TD_TEST(user_is_released_with_the_last_module) {
  td_module *module = NULL, *row = NULL;
  int released = 0;
  TD_DO(td_module_from_function(NULL, add_one, &released, count_release, &module));
  row = in_a_row(0, module, moves("a", "b"), NULL);
  TD_CHECK_INT(released, 0);
  td_module_free(row);
  TD_CHECK_INT(released, 1);
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  options.flags = 8;
  TD_EXPECT_NULL(td_module_from_function(&options, add_one, &released, count_release, &module),
                 TD_ERR_INVALID_ARGUMENT, module);
  TD_CHECK_INT(released, 2);
}

typedef struct reentry {
  td_module *module;
  int depth;
} reentry;

/* Calls its own module, then frees the handle. */
static td_status call_again(void *user, td_tensordict *source, td_tensordict **result) {
  reentry *at = user;
  if (at->depth++ < 3) return td_module_call(source, at->module, NULL, result);
  td_module_free(at->module);
  return td_dup(source, result);
}

TD_TEST(a_function_may_call_its_module_and_free_it) {
  reentry at = {NULL, 0};
  td_tensordict *td = with_a(), *result = NULL;
  TD_DO(td_module_from_function(NULL, call_again, &at, NULL, &at.module));
  TD_DO(td_module_call(td, at.module, NULL, &result));
  TD_CHECK_INT(at.depth, 4);
}

TD_TEST(the_keys_of_a_sequence) {
  td_module *row = in_a_row(0, moves("a", "b"), moves("b", "c"), moves("x", "b"));
  keys_are(row, 0, "ax");
  keys_are(row, 1, "cb"); /* at its last place */
  td_module_free(row);
  row = NULL;
  TD_DO(td_module_sequence(NULL, 0, NULL, &row));
  keys_are(row, 0, "");
  td_called(with_a(), row);
}

TD_TEST(a_sequence_writes_all_that_its_modules_write) {
  td_module *row = in_a_row(0, moves("a", "b"), moves("b", "c"), NULL), *some = NULL;
  td_tensordict *td = with_a(), *result = td_called(td, row);
  TD_CHECK_ENTRY(result, TD_KEY("b"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_ENTRY(result, TD_KEY("c"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_DO(td_module_select_out_keys(row, TD_KEYS({TD_KEY("c")}), &some));
  keys_are(some, 1, "c");
  TD_DO(td_module_call_inplace(td, some, NULL));
  td_tensor *tensor = NULL;
  TD_EXPECT_NULL(td_get(td, TD_KEY("b"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(2), TD_VALUES(5, 6));
  td_module_free(some);
  TD_EXPECT_NULL(td_module_select_out_keys(row, TD_KEYS({TD_KEY("d")}), &some),
                 TD_ERR_KEY_NOT_FOUND, some);
  TD_CHECK_TEXT(td_last_error_message(), "it writes \"b\", \"c\"");
}

TD_TEST(modules_without_inputs_are_tolerated_when_asked) {
  td_module *row = in_a_row(0, moves("a", "b"), moves("x", "y"), NULL);
  td_tensordict *td = with_a(), *other = td_empty(TD_SIZES(2)), *lazy = NULL, *result = NULL;
  TD_EXPECT(td_module_call_inplace(td, row, NULL), TD_ERR_KEY_NOT_FOUND);
  td_module_free(row);
  row = in_a_row(TD_MODULE_SEQUENCE_PARTIAL_TOLERANT, moves("a", "b"), moves("x", "y"), NULL);
  td_put(other, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){td, other}, 2, 0, &lazy));
  result = td_called(lazy, row);
  TD_CHECK_BATCH(result, 2, 2);
  TD_DO(td_module_call_inplace(lazy, row, NULL)); /* in each element what it has inputs for */
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_ENTRY(other, TD_KEY("y"), TD_SIZES(2), TD_VALUES(1, 2));
  td_tensor *tensor = NULL;
  TD_EXPECT_NULL(td_get(td, TD_KEY("y"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
}

TD_TEST(a_part_of_a_sequence) {
  td_module *row = in_a_row(0, moves("a", "b"), moves("b", "c"), moves("a", "d")), *part = NULL;
  TD_DO(td_module_select_subsequence(row, NULL, 0, TD_KEYS({TD_KEY("c")}), &part));
  keys_are(part, 1, "bc");
  td_module_free(part);
  TD_DO(td_module_select_subsequence(row, TD_KEYS({TD_KEY("b")}), NULL, 0, &part));
  keys_are(part, 0, "b");
  keys_are(part, 1, "c");
  td_module_free(part);
  TD_EXPECT_NULL(td_module_select_subsequence(row, TD_KEYS({TD_KEY("z")}), NULL, 0, &part),
                 TD_ERR_INVALID_ARGUMENT, part);
  TD_CHECK_TEXT(td_last_error_message(), "no module is left");
  /* A sequence inside is cut too. */
  td_module *outer = in_a_row(0, row, moves("c", "e"), NULL);
  TD_DO(td_module_select_subsequence(outer, NULL, 0, TD_KEYS({TD_KEY("d")}), &part));
  keys_are(part, 1, "d");
  td_module_free(part);
  td_module_free(outer);
  td_module *one = moves("a", "b");
  TD_EXPECT_NULL(td_module_select_subsequence(one, NULL, 0, NULL, 0, &part), TD_ERR_UNSUPPORTED,
                 part);
}

typedef struct caller {
  const td_module *module;
  td_status status;
} caller;

static void *call_often(void *user) {
  caller *at = user;
  td_tensordict *td = td_observations(3);
  for (int i = 0; i < 200 && at->status == TD_OK; i++)
    at->status = td_module_call_inplace(td, at->module, NULL);
  td_free(td);
  return NULL;
}

TD_TEST(one_module_on_several_threads) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *params = NULL, *copy = NULL;
  enum { THREADS = 3 };
  pthread_t threads[THREADS];
  caller callers[THREADS];
  TD_DO(td_module_params(module, &params));
  TD_DO(td_clone(params, 0, &copy));
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (caller){module, TD_OK};
    TD_CHECK(pthread_create(&threads[i], NULL, call_often, &callers[i]) == 0);
  }
  for (int i = 0; i < 200; i++)
    TD_DO(td_module_set_params(module, NULL, i % 2 == 0 ? copy : params));
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    TD_CHECK_INT(callers[i].status, TD_OK);
  }
}

/* Writes "n" as a dictionary of its own: {"a": 1}. */
static td_status gives_a_dictionary(void *user, td_tensordict *source, td_tensordict **result) {
  td_tensordict *inner = td_empty(TD_SIZES(2));
  (void)user;
  (void)result;
  td_put(inner, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  const td_status status = td_set_dict(source, TD_KEY("n"), inner);
  td_free(inner);
  return status;
}

TD_TEST(keys_that_lead_through_one_another) {
  const td_key n = {TD_KEY("n")};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_module *function = NULL;
  td_tensordict *td = with_a();
  td_tensor *tensor = NULL;
  td_put(td, TD_KEY("n", "old"), td_filled(TD_DTYPE_FLOAT32, 9, TD_SIZES(2)));
  /* A tensor takes the place of a dictionary; nothing goes below a tensor. */
  td_module *row = in_a_row(0, moves("a", "n"), moves_into("a", TD_KEY("n", "b")), NULL);
  TD_EXPECT(td_module_call_inplace(td, row, NULL), TD_ERR_KEY_EXISTS);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\" is a tensor");
  TD_CHECK_ENTRY(td, TD_KEY("n", "old"), TD_SIZES(2), TD_VALUES(9, 9));
  td_module_free(row);
  /* Into the dictionary that an earlier module gave. */
  options.out_keys = &n;
  options.out_keys_len = 1;
  TD_DO(td_module_from_function(&options, gives_a_dictionary, NULL, NULL, &function));
  row = in_a_row(0, function, moves_into("a", TD_KEY("n", "b")), NULL);
  TD_DO(td_module_call_inplace(td, row, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(2), TD_VALUES(1, 1));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_EXPECT_NULL(td_get(td, TD_KEY("n", "old"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  td_module_free(row);
  /* The later one counts. */
  row = in_a_row(0, moves_into("a", TD_KEY("n", "c")), moves("a", "n"), NULL);
  TD_DO(td_module_call_inplace(td, row, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("n"), TD_SIZES(2), TD_VALUES(5, 6));
}

TD_TEST(outputs_beside_one_another_in_new_dictionaries) {
  const char *const paths[][3] = {{"n", "m", "x"}, {"n", "y", NULL}, {"n", "m", "z"}};
  td_module *all = in_a_row(0, moves_into("a", paths[0], 3), moves_into("a", paths[1], 2),
                            moves_into("a", paths[2], 3));
  td_tensordict *td = with_a(), *result = td_called(td, all), *before = NULL, *after = NULL;
  for (int inplace = 0; inplace < 2; inplace++) {
    TD_CHECK_ENTRY(result, TD_KEY("n", "m", "x"), TD_SIZES(2), TD_VALUES(5, 6));
    TD_CHECK_ENTRY(result, TD_KEY("n", "y"), TD_SIZES(2), TD_VALUES(5, 6));
    TD_CHECK_ENTRY(result, TD_KEY("n", "m", "z"), TD_SIZES(2), TD_VALUES(5, 6));
    td_free(result);
    if (inplace != 0) continue;
    /* Into a dictionary that is there, which stays the same one and keeps what it held. */
    TD_DO(td_create_nested(td, TD_KEY("n")));
    TD_DO(td_get_dict(td, TD_KEY("n"), &before));
    td_put(before, TD_KEY("old"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
    TD_DO(td_module_call_inplace(td, all, NULL));
    TD_CHECK_ENTRY(before, TD_KEY("old"), TD_SIZES(2), TD_VALUES(1, 2));
    TD_CHECK_ENTRY(before, TD_KEY("m", "z"), TD_SIZES(2), TD_VALUES(5, 6));
    TD_DO(td_get_dict(td, TD_KEY("n"), &after));
    TD_CHECK_ENTRY(after, TD_KEY("old"), TD_SIZES(2), TD_VALUES(1, 2));
    td_free(before);
    td_free(after);
    TD_DO(td_dup(td, &result));
  }
}

/* Sets an entry in the dictionary that is an input. */
static td_status spoils(void *user, td_tensordict *source, td_tensordict **result) {
  td_tensor *tensor = td_filled(TD_DTYPE_FLOAT32, 3, TD_SIZES(2));
  (void)user;
  (void)result;
  const td_status status = td_set(source, TD_KEY("n", "new"), tensor);
  td_tensor_free(tensor);
  return status;
}

TD_TEST(a_dictionary_among_the_inputs_is_a_copy) {
  const td_key in[] = {{TD_KEY("n", "b")}, {TD_KEY("n")}}, out = {TD_KEY("n", "new")};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_module *module = NULL;
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_tensor *tensor = NULL;
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  options.in_keys = in;
  options.in_keys_len = 2;
  options.out_keys = &out;
  options.out_keys_len = 1;
  TD_DO(td_lock(td));
  TD_DO(td_module_from_function(&options, spoils, NULL, NULL, &module));
  TD_DO(td_module_call(td, module, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "new"), TD_SIZES(2), TD_VALUES(3, 3));
  TD_EXPECT_NULL(td_get(td, TD_KEY("n", "new"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
}
