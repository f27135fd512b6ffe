/* Dictionaries lent to Arrow, and what comes back: values, memory, owners. */
#include <pthread.h>

#include "td_arrow_tables.h"

typedef struct lent {
  struct ArrowSchema schema;
  struct ArrowArray array;
} lent;

static lent lend(const td_tensordict *td, const td_to_arrow_options *options) {
  lent table;
  memset(&table, 0x55, sizeof table);
  TD_DO(td_to_arrow(td, options, &table.schema, &table.array));
  return table;
}

static void give_back(lent *table) {
  table->schema.release(&table->schema);
  table->array.release(&table->array);
  TD_CHECK(table->schema.release == NULL && table->array.release == NULL);
}

static td_tensordict *take_back(lent *table) {
  td_tensordict *td = NULL;
  TD_DO(td_from_arrow(&table->schema, &table->array, NULL, &td));
  TD_CHECK(table->schema.release == NULL && table->array.release == NULL);
  return td;
}

static const void *data_of(const td_tensor *tensor) {
  void *data = NULL;
  TD_DO(td_tensor_data(tensor, &data));
  return data;
}

static int owned_alone(const td_tensor *tensor) {
  int32_t alone = 0;
  TD_DO(td_tensor_is_uniquely_owned(tensor, &alone));
  return alone;
}

TD_TEST(a_column_is_the_memory_of_the_tensor) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *again;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  td_tensor *x = td_take(td, TD_KEY("x")), *y;
  lent table = lend(td, NULL);
  TD_CHECK_SAME_TEXT(table.schema.format, "+s");
  TD_CHECK_INT(table.schema.n_children, 1);
  TD_CHECK_INT(table.array.n_children, 1);
  TD_CHECK_INT(table.array.length, 3);
  TD_CHECK_INT(table.array.n_buffers, 1);
  TD_CHECK(table.array.buffers[0] == NULL);
  TD_CHECK_SAME_TEXT(table.schema.children[0]->format, "f");
  TD_CHECK_SAME_TEXT(table.schema.children[0]->name, "x");
  TD_CHECK_INT(table.schema.children[0]->flags, 0);
  TD_CHECK_INT(table.array.children[0]->null_count, 0);
  TD_CHECK_INT(table.array.children[0]->n_buffers, 2);
  TD_CHECK(table.array.children[0]->buffers[1] == data_of(x));
  td_free(td);
  again = take_back(&table);
  TD_CHECK_BATCH(again, 3);
  y = td_take(again, TD_KEY("x"));
  TD_CHECK(data_of(x) == data_of(y));
  TD_CHECK_VALUES(y, 0, 1, 2);
  td_free(again);
  TD_CHECK(!owned_alone(x));
  td_tensor_free(y);
  TD_CHECK(owned_alone(x));
}

TD_TEST(dtypes_there_and_back) {
  static const td_dtype dtypes[] = {TD_DTYPE_BOOL,    TD_DTYPE_UINT8,   TD_DTYPE_INT8,
                                    TD_DTYPE_INT16,   TD_DTYPE_INT32,   TD_DTYPE_INT64,
                                    TD_DTYPE_FLOAT16, TD_DTYPE_FLOAT32, TD_DTYPE_FLOAT64};
  static const char *const formats = "bCcsilefg";
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *again;
    td_put(td, TD_KEY("t"), td_converted(dtypes[i], TD_SIZES(2, 5)));
    td_put(td, TD_KEY("flat"), td_converted(dtypes[i], TD_SIZES(2)));
    td_put(td, TD_KEY("none"), td_converted(dtypes[i], TD_SIZES(2, 0)));
    lent table = lend(td, NULL);
    TD_CHECK_INT(table.schema.children[1]->format[0], formats[i]);
    TD_CHECK_SAME_TEXT(table.schema.children[0]->format, "+w:5");
    TD_CHECK_SAME_TEXT(table.schema.children[2]->format, "+w:0");
    TD_CHECK_INT(table.array.children[0]->children[0]->length, 10);
    again = take_back(&table);
    TD_CHECK_DTYPE(again, TD_KEY("t"), dtypes[i]);
    TD_CHECK_EQUAL(td, again);
  }
}

TD_TEST(dimensions_are_lists_and_dictionaries_structs) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *inner = td_empty(TD_SIZES(2)), *again;
  td_put(inner, TD_KEY("image"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2, 3, 4)));
  td_put_dict(inner, TD_KEY("empty"), td_empty(TD_SIZES(2)));
  td_put_dict(td, TD_KEY("obs"), inner);
  td_put(td, TD_KEY("done"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2)));
  lent table = lend(td, NULL);
  const struct ArrowSchema *image = table.schema.children[0]->children[0];
  TD_CHECK_SAME_TEXT(table.schema.children[0]->format, "+s");
  TD_CHECK_SAME_TEXT(table.schema.children[0]->name, "obs");
  TD_CHECK_SAME_TEXT(image->name, "image");
  TD_CHECK_SAME_TEXT(image->format, "+w:3");
  TD_CHECK_SAME_TEXT(image->children[0]->format, "+w:4");
  TD_CHECK_SAME_TEXT(image->children[0]->name, "item");
  TD_CHECK_SAME_TEXT(image->children[0]->children[0]->format, "C");
  TD_CHECK_SAME_TEXT(table.schema.children[1]->name, "done");
  again = take_back(&table);
  TD_CHECK_EQUAL(td, again);

  td_to_arrow_options options = TD_TO_ARROW_OPTIONS_INIT;
  td_from_arrow_options split = TD_FROM_ARROW_OPTIONS_INIT;
  options.separator = split.separator = "::";
  table = lend(td, &options);
  TD_CHECK_INT(table.schema.n_children, 2);
  TD_CHECK_SAME_TEXT(table.schema.children[0]->name, "obs::image");
  TD_DO(td_from_arrow(&table.schema, &table.array, &split, &again));
  TD_CHECK_DTYPE(again, TD_KEY("obs", "image"), TD_DTYPE_UINT8);
}

TD_TEST(joined_names_must_differ) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a", "b"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("a.b"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2)));
  td_to_arrow_options options = TD_TO_ARROW_OPTIONS_INIT;
  lent table;
  options.separator = ".";
  TD_EXPECT(td_to_arrow(td, &options, &table.schema, &table.array), TD_ERR_KEY_EXISTS);
  TD_CHECK(table.schema.release == NULL && table.array.release == NULL);
  table = lend(td, NULL);
  give_back(&table);
}

TD_TEST(batches_of_several_dimensions_and_of_other_layouts) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *turned = NULL, *again;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  TD_DO(td_transpose(td, 0, 1, &turned));
  lent table = lend(turned, NULL);
  TD_CHECK_INT(table.array.length, 3);
  again = take_back(&table);
  TD_CHECK_BATCH(again, 3);
  TD_CHECK_ENTRY(again, TD_KEY("x"), TD_SIZES(3, 2), TD_VALUES(0, 3, 1, 4, 2, 5));
  TD_DO(td_set_batch_size(again, TD_SIZES(3, 2)));
  TD_CHECK_EQUAL(turned, again);
}

TD_TEST(non_tensor_data_is_text_json_or_metadata) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *again;
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("name"), "[\"a\", \"\\u00fc\\\"\", \"\"]"));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("maybe"), "[null, \"b\", null]"));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("any"), "[1, \"b\", {\"c\": [null]}]"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("all"), "{\"version\": 2.5}"));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  lent table = lend(td, NULL);
  TD_CHECK_INT(table.schema.n_children, 4);
  TD_CHECK_SAME_TEXT(table.schema.children[0]->format, "u");
  TD_CHECK(table.schema.children[0]->metadata == NULL);
  const struct ArrowArray *name = table.array.children[0], *maybe = table.array.children[1];
  TD_CHECK_INT(name->n_buffers, 3);
  TD_CHECK(memcmp(name->buffers[1], (const int32_t[]){0, 1, 4, 4}, 16) == 0);
  TD_CHECK(memcmp(name->buffers[2], "a\xc3\xbc\"", 4) == 0);
  TD_CHECK_INT(maybe->null_count, 2);
  TD_CHECK_INT(*(const uint8_t *)maybe->buffers[0], 2);
  TD_CHECK_INT(table.schema.children[1]->flags, ARROW_FLAG_NULLABLE);
  TD_CHECK(memcmp(table.schema.children[2]->metadata + 8, "ARROW:extension:name", 20) == 0);
  TD_CHECK(memcmp(table.schema.metadata + 8, "tensordict.non_tensor", 21) == 0);
  again = take_back(&table);
  TD_CHECK_EQUAL(td, again);
  TD_CHECK_JSON(again, TD_KEY("all"), "{\"version\":2.5}");
}

TD_TEST(texts_of_several_batch_dimensions) {
  td_tensordict *td = td_empty(TD_SIZES(2, 2)), *again;
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("t"), "[[\"a\", \"b\"], [\"c\", null]]"));
  lent table = lend(td, NULL);
  TD_CHECK_SAME_TEXT(table.schema.children[0]->format, "+w:2");
  TD_CHECK_SAME_TEXT(table.schema.children[0]->children[0]->format, "u");
  again = take_back(&table);
  TD_DO(td_set_batch_size(again, TD_SIZES(2, 2)));
  TD_CHECK_EQUAL(td, again);
}

TD_TEST(children_may_be_moved_out) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2, 2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2)));
  td_tensor *a = td_take(td, TD_KEY("a")), *b = td_take(td, TD_KEY("b"));
  lent table = lend(td, NULL), moved;
  td_free(td);
  moved.array = *table.array.children[0];
  table.array.children[0]->release = NULL;
  moved.schema = *table.schema.children[0];
  table.schema.children[0]->release = NULL;
  give_back(&table);
  TD_CHECK(owned_alone(b));
  TD_CHECK(!owned_alone(a));
  TD_CHECK_SAME_TEXT(moved.schema.children[0]->format, "g");
  TD_CHECK(moved.array.children[0]->buffers[1] == data_of(a));
  give_back(&moved);
  TD_CHECK(owned_alone(a));
}

static void *release_there(void *table) {
  give_back(table);
  return NULL;
}

TD_TEST(any_thread_may_release) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2)));
  td_tensor *a = td_take(td, TD_KEY("a"));
  lent table = lend(td, NULL);
  pthread_t thread;
  td_free(td);
  TD_CHECK(pthread_create(&thread, NULL, release_there, &table) == 0);
  pthread_join(thread, NULL);
  TD_CHECK(owned_alone(a));
}

TD_TEST(empty_tables) {
  td_tensordict *td = td_empty(TD_SIZES(0)), *again;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(0, 2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(0)));
  lent table = lend(td, NULL);
  TD_CHECK(table.array.children[1]->buffers[1] != NULL);
  again = take_back(&table);
  TD_CHECK_EQUAL(td, again);
  td_free(td);
  td = td_empty(TD_SIZES(5));
  table = lend(td, NULL);
  TD_CHECK_INT(table.array.length, 5);
  again = take_back(&table);
  TD_CHECK_BATCH(again, 5);
}

static void not_lent(td_tensordict *td, td_status status, const char *text) {
  lent table;
  TD_EXPECT(td_to_arrow(td, NULL, &table.schema, &table.array), status);
  TD_CHECK_TEXT(td_last_error_message(), text);
  TD_CHECK(table.schema.release == NULL && table.array.release == NULL);
}

static td_tensordict *with_dtype(td_dtype dtype) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_to_dtype(td, dtype, &result));
  return result;
}

TD_TEST(what_arrow_lacks_is_refused_by_name) {
  not_lent(td_empty(TD_NO_SIZES), TD_ERR_SHAPE, "a batch dimension");
  not_lent(with_dtype(TD_DTYPE_BFLOAT16), TD_ERR_DTYPE, "\"n\"/\"x\" is of torch.bfloat16");
  not_lent(with_dtype(TD_DTYPE_COMPLEX64), TD_ERR_DTYPE, "ask for pairs");
  td_tensordict *td = with_dtype(TD_DTYPE_COMPLEX64), *again;
  td_to_arrow_options options = TD_TO_ARROW_OPTIONS_INIT;
  options.flags = TD_TO_ARROW_COMPLEX_PAIRS;
  lent table = lend(td, &options);
  again = take_back(&table);
  TD_CHECK_ENTRY(again, TD_KEY("n", "x"), TD_SIZES(2, 2), TD_VALUES(0, 0, 1, 0));
}

TD_TEST(lazy_stacks_are_lent_as_dense) {
  td_tensordict *parts[2], *stack = NULL, *again;
  for (int i = 0; i < 2; i++) {
    parts[i] = td_empty(TD_SIZES(3));
    td_put(parts[i], TD_KEY("x"), td_arange(TD_DTYPE_INT32, i, TD_SIZES(3)));
  }
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &stack));
  lent table = lend(stack, NULL);
  again = take_back(&table);
  TD_CHECK_ENTRY(again, TD_KEY("x"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 1, 2, 3));
}
