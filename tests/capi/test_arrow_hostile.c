/* Tables of Arrow that are not what they say: each is refused and stays as it was. */
#include "td_arrow_tables.h"

static const int64_t numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};
static const int32_t offsets[5] = {0, 1, 2, 3, 4};

/* "x" of int64, "t" of texts, "l" of lists, "s" with "y". */
static table_column table_good(void) {
  table_column item = table_leaf("item", "l", 8, NULL, numbers),
               y = table_leaf("y", "l", 4, NULL, numbers);
  return table_of(4, TABLE_COLUMNS(table_leaf("x", "l", 4, NULL, numbers),
                                   table_text("t", "u", 4, NULL, offsets, "abcd"),
                                   table_around("l", "+w:2", 4, NULL, &item, 1),
                                   table_around("s", "+s", 4, NULL, &y, 1)));
}

enum { X, T, L, S };

/* Changes one thing, expects a refusal, and puts it back so that all can be released. */
#define WRONG(place, value, status, text)                                \
  do {                                                                   \
    table_column table = table_good();                                   \
    struct ArrowSchema *schema = &table.schema;                          \
    struct ArrowArray *array = &table.array;                             \
    (void)schema;                                                        \
    const table_column before = table;                                   \
    td_tensordict *td = NULL;                                            \
    __typeof__(place) kept = place;                                      \
    place = value;                                                       \
    const table_column wrong = table;                                    \
    TD_EXPECT_NULL(td_from_arrow(schema, array, NULL, &td), status, td); \
    TD_CHECK_TEXT(td_last_error_message(), text);                        \
    TD_CHECK(memcmp(&wrong, &table, sizeof table) == 0);                 \
    place = kept;                                                        \
    TD_CHECK(memcmp(&before, &table, sizeof table) == 0);                \
    td = table_take(&table, NULL);                                       \
    td_free(td);                                                         \
    TABLE_ALL_RELEASED();                                                \
  } while (0)

TD_TEST(lengths_and_offsets) {
  WRONG(array->length, -1, TD_ERR_FORMAT, "the record batch: the Arrow array has length -1");
  WRONG(array->length, 5, TD_ERR_FORMAT, "has length 4, 0 + 5 elements are needed");
  WRONG(array->length, INT64_MAX, TD_ERR_FORMAT, "");
  WRONG(array->offset, -1, TD_ERR_FORMAT, "has offset -1");
  WRONG(array->offset, 1, TD_ERR_FORMAT, "1 + 4 elements are needed");
  WRONG(array->offset, INT64_MAX, TD_ERR_FORMAT, "has offset");
  WRONG(array->children[X]->offset, -1, TD_ERR_FORMAT, "column \"x\"");
  WRONG(array->children[X]->offset, INT64_MAX, TD_ERR_FORMAT, "has offset");
  WRONG(array->children[X]->offset, INT64_MAX - 4, TD_ERR_FORMAT, "more than can be addressed");
  WRONG(array->children[X]->length, INT64_MIN, TD_ERR_FORMAT, "has length");
  WRONG(array->children[L]->children[0]->length, 7, TD_ERR_FORMAT, "0 + 8 elements are needed");
  WRONG(array->children[L]->offset, 1, TD_ERR_FORMAT, "2 + 8 elements are needed");
  WRONG(array->children[L]->offset, INT64_MAX - 4, TD_ERR_FORMAT, "more than can be counted");
  WRONG(array->children[S]->children[0]->length, 3, TD_ERR_FORMAT, "column \"s\"/\"y\"");
  WRONG(array->null_count, -2, TD_ERR_FORMAT, "null count of -2");
  WRONG(array->children[X]->null_count, 5, TD_ERR_FORMAT, "null count of 5");
  WRONG(array->children[X]->null_count, 1, TD_ERR_FORMAT, "does not say where");
}

TD_TEST(buffers_and_children) {
  WRONG(array->n_buffers, 0, TD_ERR_FORMAT, "number of buffers");
  WRONG(array->n_buffers, -1, TD_ERR_FORMAT, "number of buffers");
  WRONG(array->buffers, NULL, TD_ERR_FORMAT, "no list of buffers");
  WRONG(array->n_children, 3, TD_ERR_FORMAT, "has 3 children, its schema 4");
  WRONG(array->n_children, -1, TD_ERR_FORMAT, "has -1 children");
  WRONG(array->children, NULL, TD_ERR_FORMAT, "has 4 children");
  WRONG(array->children[X], NULL, TD_ERR_FORMAT, "column \"x\": an array is NULL");
  WRONG(array->children[X]->n_buffers, 3, TD_ERR_FORMAT,
        "number of buffers that its type has not: 3");
  WRONG(array->children[X]->buffers, NULL, TD_ERR_FORMAT, "no list of buffers");
  WRONG(array->children[X]->buffers[1], NULL, TD_ERR_FORMAT, "no values");
  WRONG(array->children[T]->buffers[1], NULL, TD_ERR_FORMAT, "no offsets");
  WRONG(array->children[T]->buffers[2], NULL, TD_ERR_FORMAT, "of no text");
  WRONG(array->children[X]->release, NULL, TD_ERR_FORMAT, "was released");
  WRONG(array->release, NULL, TD_ERR_FORMAT, "was released");
  WRONG(schema->release, NULL, TD_ERR_FORMAT, "was released");
  WRONG(schema->format, NULL, TD_ERR_FORMAT, "has no format");
  WRONG(schema->n_children, -1, TD_ERR_FORMAT, "");
  WRONG(schema->n_children, INT64_MAX, TD_ERR_FORMAT, "");
  WRONG(schema->children, NULL, TD_ERR_FORMAT, "no list of children");
  WRONG(schema->children[X], NULL, TD_ERR_FORMAT, "a schema is NULL");
  WRONG(schema->children[X]->format, NULL, TD_ERR_FORMAT, "has no format");
  WRONG(schema->children[X]->dictionary, schema->children[T], TD_ERR_FORMAT, "has no dictionary");
  WRONG(schema->children[T]->dictionary, schema->children[T], TD_ERR_FORMAT,
        "positions in a dictionary");
  WRONG(schema->children[L]->children[0]->release, NULL, TD_ERR_FORMAT, "was released");
}

TD_TEST(formats) {
  static const char *const unknown[] = {
      "",   "?",    "+",   "+w", "+w:",     "+w:-1", "+w:2x", "+w:99999999999",
      "w:", "w:+1", "t",   "ts", "tss",     "td",    "tiD",   "tin",
      "+l", "+L",   "+vl", "+m", "+ud:0,1", "+us:",  "+r",    "d:10,2",
      "d:", "vz",   "ll",  "ss", "\xff",    "+sx",   "+s ",   "x"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    WRONG(schema->children[X]->format, unknown[i], TD_ERR_UNSUPPORTED,
          "column \"x\" is of Arrow format");
  }
  WRONG(schema->children[X]->format, "+l", TD_ERR_UNSUPPORTED, "cast it to a fixed-size list");
  WRONG(schema->format, "l", TD_ERR_WRONG_ENTRY, "only a struct can be a dictionary");
  WRONG(schema->format, "+w:2", TD_ERR_WRONG_ENTRY, "only a struct");
  WRONG(schema->children[X]->format, "+w:2", TD_ERR_FORMAT, "");
  WRONG(schema->children[X]->format, "u", TD_ERR_FORMAT, "number of buffers");
  WRONG(schema->children[S]->format, "+w:2", TD_ERR_FORMAT, "0 + 8 elements are needed");
  WRONG(schema->children[L]->format, "+w:3", TD_ERR_FORMAT, "0 + 12 elements are needed");
  WRONG(schema->children[L]->format, "+w:2147483647", TD_ERR_FORMAT, "elements are needed");
}

TD_TEST(texts_that_lie) {
  static const int32_t back[5] = {0, 3, 2, 3, 4}, below[5] = {-1, 1, 2, 3, 4};
  WRONG(array->children[T]->buffers[1], back, TD_ERR_FORMAT, "element 1 lies from byte 3 to 2");
  WRONG(array->children[T]->buffers[1], below, TD_ERR_FORMAT, "element 0 lies from byte -1");
  WRONG(array->children[T]->buffers[2],
        "ab\xff"
        "d",
        TD_ERR_FORMAT, "element 2 is not UTF-8");

  struct {
    int32_t length, rest[3];
  } views[3] = {{-1, {0, 0, 0}}, {20, {0, 1, 0}}, {20, {0, 0, 1}}};
  const int64_t lengths[1] = {20};
  for (int i = 0; i < 3; i++) {
    const void *const buffers[] = {NULL, &views[i], "01234567890123456789", lengths};
    table_column view = table_make("v", "vu", 1, buffers, 4, NULL, 0),
                 table = table_of(1, &view, 1);
    table_refused(&table, NULL, TD_ERR_FORMAT, i == 0 ? "has length -1" : "of buffer");
  }
  TABLE_ALL_RELEASED();
}

/* A number before each text. */
static const char *metadata_of(const char *key, const char *value) {
  static char text[256];
  int32_t count = 1, length = (int32_t)strlen(key);
  memcpy(text, &count, 4);
  memcpy(text + 4, &length, 4);
  memcpy(text + 8, key, (size_t)length);
  count = (int32_t)strlen(value);
  memcpy(text + 8 + length, &count, 4);
  memcpy(text + 12 + length, value, strlen(value));
  return text;
}

TD_TEST(metadata) {
  static const int32_t negative[2] = {-1, 0}, long_key[2] = {1, -5};
  WRONG(schema->metadata, (const char *)negative, TD_ERR_FORMAT, "a length of -1");
  WRONG(schema->metadata, (const char *)long_key, TD_ERR_FORMAT, "a length of -5");
  WRONG(schema->metadata, metadata_of("tensordict.non_tensor", "{"), TD_ERR_FORMAT, "");
  WRONG(schema->metadata, metadata_of("tensordict.non_tensor", "[1]"), TD_ERR_FORMAT,
        "are no object");
  WRONG(schema->metadata, metadata_of("tensordict.non_tensor", "{\"x\":1}"), TD_ERR_KEY_EXISTS,
        "\"x\"");
  WRONG(schema->children[T]->metadata, metadata_of("ARROW:extension:name", "arrow.json"),
        TD_ERR_FORMAT, "");
}

TD_TEST(limits) {
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  options.max_entries = 4;
  table_column table = table_good();
  table_refused(&table, &options, TD_ERR_FORMAT, "more than 4 columns");
  options.max_entries = 5;
  options.max_depth = 1;
  table = table_good();
  table_refused(&table, &options, TD_ERR_FORMAT, "nested deeper than 1 levels");
  options.max_depth = 2;
  table = table_good();
  td_free(table_take(&table, &options));
  options.max_entries = 3;
  options.max_depth = 0;
  options.separator = ".";
  table = table_of(4, TABLE_COLUMNS(table_leaf("a.b.c.d", "l", 4, NULL, numbers)));
  table_refused(&table, &options, TD_ERR_FORMAT, "more than 3 columns");
  options.max_entries = 4;
  options.max_depth = 3;
  table = table_of(4, TABLE_COLUMNS(table_leaf("a.b.c.d", "l", 4, NULL, numbers)));
  table_refused(&table, &options, TD_ERR_FORMAT, "nested deeper than 3");

  table = table_leaf("deep", "l", 1, NULL, numbers);
  for (int i = 0; i < 70; i++) table = table_around("deep", "+w:1", 1, NULL, &table, 1);
  table = table_of(1, &table, 1);
  table_refused(&table, NULL, TD_ERR_UNSUPPORTED, "has more than 64 dimensions");
  table = table_leaf("deep", "l", 1, NULL, numbers);
  for (int i = 0; i < 1001; i++) table = table_around("deep", "+s", 1, NULL, &table, 1);
  table_refused(&table, NULL, TD_ERR_FORMAT, "nested deeper than 1000 levels");
  TABLE_ALL_RELEASED();
}

TD_TEST(lists_of_nothing) {
  table_column item = table_text("item", "u", 0, NULL, NULL, NULL);
  table_column list = table_around("l", "+w:0", INT64_MAX / 2, NULL, &item, 1);
  table_column table = table_of(INT64_MAX / 2, &list, 1);
  table_refused(&table, NULL, TD_ERR_UNSUPPORTED, "lists of length 0");
  table = table_of(INT64_MAX, TABLE_COLUMNS(table_make("n", "n", INT64_MAX, NULL, 0, NULL, 0)));
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_BATCH(td, INT64_MAX);
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(structs_that_are_not_there) {
  table_column table = table_good();
  td_tensordict *td = NULL, *small = td_empty(TD_SIZES(2));
  TD_EXPECT_NULL(td_from_arrow(NULL, &table.array, NULL, &td), TD_ERR_NULL_ARGUMENT, td);
  TD_EXPECT_NULL(td_from_arrow(&table.schema, NULL, NULL, &td), TD_ERR_NULL_ARGUMENT, td);
  TD_EXPECT(td_from_arrow(&table.schema, &table.array, NULL, NULL), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT_NULL(td_from_arrow_stream(NULL, NULL, &td), TD_ERR_NULL_ARGUMENT, td);
  TD_EXPECT(td_to_arrow(small, NULL, NULL, &table.array), TD_ERR_NULL_ARGUMENT);
  td_free(small);
  table_drop(&table);
  TABLE_ALL_RELEASED();
}
