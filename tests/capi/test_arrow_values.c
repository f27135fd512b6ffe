/* Tables of Arrow taken over: slices, nulls, texts, types, streams. */
#include <errno.h>
#include <pthread.h>

#include "td_arrow_tables.h"

static const int64_t numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};

static td_from_arrow_options with_nulls(td_arrow_nulls_kind nulls) {
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  options.nulls = nulls;
  return options;
}

static void check_texts(const td_tensordict *td, const char *name, const char *want) {
  char text[256] = "";
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(td, TD_KEY(name), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

static void *free_there(void *tensor) {
  td_tensor_free(tensor);
  return NULL;
}

TD_TEST(numbers_are_not_copied_and_released_once) {
  table_column table = table_of(4, TABLE_COLUMNS(table_leaf("a", "l", 4, NULL, numbers),
                                                 table_leaf("b", "l", 4, NULL, numbers + 4)));
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_INT(table_schemas, 0);
  TD_CHECK_INT(table_arrays, 3);
  td_tensor *a = td_take(td, TD_KEY("a")), *b = td_take(td, TD_KEY("b"));
  void *data = NULL;
  TD_DO(td_tensor_data(a, &data));
  TD_CHECK(data == numbers);
  TD_CHECK_VALUES(b, 14, 15, 16, 17);
  td_free(td);
  td_tensor_free(a);
  TD_CHECK_INT(table_arrays, 3);
  pthread_t thread;
  TD_CHECK(pthread_create(&thread, NULL, free_there, b) == 0);
  pthread_join(thread, NULL);
  TABLE_ALL_RELEASED();
}

TD_TEST(copies_may_be_written) {
  table_column table = table_of(4, TABLE_COLUMNS(table_leaf("a", "l", 4, NULL, numbers)));
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  options.flags = TD_FROM_ARROW_COPY;
  td_tensordict *td = table_take(&table, &options);
  TABLE_ALL_RELEASED();
  TD_DO(td_zero(td));
  TD_CHECK_INT(numbers[1], 11);
}

TD_TEST(slices_at_every_level) {
  static const uint8_t bits[2] = {0xA5, 0x01}; /* 1 0 1 0 0 1 0 1 1 */
  table_column items = table_leaf("item", "l", 7, NULL, numbers);
  items.array.offset = 1; /* 11 … 17 */
  table_column list = table_around("list", "+w:2", 2, NULL, &items, 1);
  list.array.offset = 1; /* [13, 14] [15, 16] */
  table_column bit = table_leaf("bit", "b", 5, NULL, bits);
  bit.array.offset = 3; /* 0 0 1 0 1 */
  table_column inner = table_around("inner", "+s", 4, NULL, &bit, 1);
  inner.array.offset = 1;
  table_column table = table_of(1, TABLE_COLUMNS(list, inner));
  table.array.offset = 1;
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_BATCH(td, 1);
  TD_CHECK_ENTRY(td, TD_KEY("list"), TD_SIZES(1, 2), TD_VALUES(15, 16));
  TD_CHECK_ENTRY(td, TD_KEY("inner", "bit"), TD_SIZES(1), TD_VALUES(1));
  td_tensor *tensor = td_take(td, TD_KEY("list"));
  void *data = NULL;
  TD_DO(td_tensor_data(tensor, &data));
  TD_CHECK(data == numbers + 5);
  td_tensor_free(tensor);
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(a_struct_in_lists_is_a_dictionary) {
  table_column fields = table_around("item", "+s", 4, NULL,
                                     TABLE_COLUMNS(table_leaf("x", "l", 4, NULL, numbers),
                                                   table_leaf("y", "l", 4, NULL, numbers + 4)));
  table_column list = table_around("p", "+w:2", 2, NULL, &fields, 1);
  table_column table = table_of(2, &list, 1);
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_ENTRY(td, TD_KEY("p", "y"), TD_SIZES(2, 2), TD_VALUES(14, 15, 16, 17));
  td_free(td);
  TABLE_ALL_RELEASED();
}

static table_column floats_with_nulls(void) {
  static const float values[5] = {9, 1, 2, 3, 4};
  static const uint8_t valid[1] = {0x1A}; /* 0 1 0 1 1 */
  table_column leaf = table_leaf("f", "f", 4, valid, values);
  leaf.array.offset = 1; /* 1, null, 3, 4 */
  return table_of(4, &leaf, 1);
}

TD_TEST(nulls_of_numbers) {
  td_from_arrow_options nan = with_nulls(TD_ARROW_NULLS_NAN),
                        mask = with_nulls(TD_ARROW_NULLS_MASK);
  table_column table = floats_with_nulls();
  table_refused(&table, NULL, TD_ERR_UNSUPPORTED,
                "column \"f\" has 1 nulls: ask for NaN or a mask");
  table = floats_with_nulls();
  td_tensordict *td = table_take(&table, &nan);
  td_tensor *f = td_take(td, TD_KEY("f"));
  void *data = NULL;
  TD_DO(td_tensor_data(f, &data));
  const float *got = data;
  TD_CHECK(got[0] == 1 && got[1] != got[1] && got[2] == 3 && got[3] == 4);
  td_tensor_free(f);
  td_free(td);
  TABLE_ALL_RELEASED();

  table = floats_with_nulls();
  td = table_take(&table, &mask);
  TD_CHECK_ENTRY(td, TD_KEY("f"), TD_SIZES(4), TD_VALUES(1, 2, 3, 4));
  TD_CHECK_ENTRY(td, TD_KEY("f.valid"), TD_SIZES(4), TD_VALUES(1, 0, 1, 1));
  TD_CHECK_DTYPE(td, TD_KEY("f.valid"), TD_DTYPE_BOOL);
  td_free(td);

  static const uint8_t first = 1;
  table_column whole = table_leaf("i", "l", 2, &first, numbers);
  table = table_of(2, &whole, 1);
  table_refused(&table, &nan, TD_ERR_UNSUPPORTED, "column \"i\" has 1 nulls: ask for a mask");
  whole = table_leaf("i", "l", 2, &first, numbers);
  whole.array.null_count = 0; /* the producer says that all are there */
  table = table_of(2, &whole, 1);
  td = table_take(&table, NULL);
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(nulls_of_structs_and_lists_are_nulls_of_their_values) {
  static const uint8_t rows = 0x6 /* 0 1 1 */, lists = 0x5 /* 1 0 1 */, items = 0x1F;
  td_from_arrow_options mask = with_nulls(TD_ARROW_NULLS_MASK);
  table_column leaf = table_leaf("item", "l", 6, NULL, numbers);
  table_column list = table_around("l", "+w:2", 3, &lists, &leaf, 1);
  table_column inner = table_around("s", "+s", 3, &rows, &list, 1);
  table_column table = table_of(3, &inner, 1);
  td_tensordict *td = table_take(&table, &mask);
  TD_CHECK_ENTRY(td, TD_KEY("s", "l.valid"), TD_SIZES(3), TD_VALUES(0, 0, 1));
  td_free(td);
  leaf = table_leaf("item", "l", 6, &items, numbers);
  list = table_around("l", "+w:2", 3, &lists, &leaf, 1);
  table = table_of(3, &list, 1);
  td = table_take(&table, &mask);
  TD_CHECK_ENTRY(td, TD_KEY("l.valid"), TD_SIZES(3, 2), TD_VALUES(1, 1, 0, 0, 1, 0));
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(texts_of_all_kinds) {
  static const int32_t small[4] = {0, 1, 3, 3};
  static const int64_t large[4] = {0, 1, 3, 3};
  static const uint8_t valid = 0x5; /* 1 0 1 */
  struct view {
    int32_t length;
    char text[12];
  } views[2] = {{3, "abc"}, {14, ""}};
  const int64_t lengths[1] = {20};
  const int32_t place[3] = {0, 0, 5}; /* prefix, buffer, offset */
  memcpy(views[1].text, place, sizeof place);
  const void *const buffers[] = {NULL, views,
                                 "....."
                                 "fourteen bytes!",
                                 lengths};
  table_column table =
      table_of(2, TABLE_COLUMNS(table_text("u", "u", 3, NULL, small, "a\xc3\xbc"),
                                table_text("U", "U", 3, &valid, large, "a\xff\xff"),
                                table_text("z", "z", 3, NULL, small, "a\xff\xff"),
                                table_make("v", "vu", 2, buffers, 4, NULL, 0),
                                table_make("n", "n", 2, NULL, 0, NULL, 0)));
  td_tensordict *td = table_take(&table, NULL);
  TABLE_ALL_RELEASED(); /* texts are copies */
  check_texts(td, "u", "[\"a\", \"\xc3\xbc\"]");
  check_texts(td, "U", "[\"a\", null]");
  check_texts(td, "z", "[{\"$bytes\":\"YQ==\"}, {\"$bytes\":\"//8=\"}]");
  check_texts(td, "v", "[\"abc\", \"fourteen bytes\"]");
  TD_CHECK_JSON(td, TD_KEY("n"), "null");
}

TD_TEST(what_is_encoded_with_a_dictionary_is_decoded) {
  static const int32_t offsets[3] = {0, 3, 8};
  static const int8_t codes[4] = {1, 0, 77, 1};
  static const uint8_t valid = 0xB; /* 1 1 0 1 */
  table_column text = table_leaf("text", "c", 4, &valid, codes);
  table_encode(&text, table_text("", "u", 2, NULL, offsets, "redgreen"));
  table_column number = table_leaf("number", "c", 2, NULL, codes);
  table_encode(&number, table_leaf("", "l", 2, NULL, numbers));
  table_column table = table_of(2, TABLE_COLUMNS(text, number));
  td_tensordict *td = table_take(&table, NULL);
  check_texts(td, "text", "[\"green\", \"red\"]");
  TD_CHECK_ENTRY(td, TD_KEY("number"), TD_SIZES(2), TD_VALUES(11, 10));
  td_free(td);
  text = table_leaf("text", "c", 4, &valid, codes);
  table_encode(&text, table_text("", "u", 2, NULL, offsets, "redgreen"));
  table = table_of(4, &text, 1);
  td = table_take(&table, NULL);
  check_texts(td, "text", "[\"green\", \"red\", null, \"green\"]");
  td_free(td);
  text = table_leaf("text", "c", 4, NULL, codes);
  table_encode(&text, table_text("", "u", 2, NULL, offsets, "redgreen"));
  table = table_of(4, &text, 1);
  table_refused(&table, NULL, TD_ERR_FORMAT, "position 77 in a dictionary of 2 values");
  TABLE_ALL_RELEASED();
}

TD_TEST(times_unsigned_numbers_and_bytes) {
  static const uint16_t shorts[2] = {65535, 1};
  static const uint64_t longs[2] = {5, UINT64_MAX};
  static const int32_t days[2] = {-1, 20000};
  table_column table = table_of(2, TABLE_COLUMNS(table_leaf("S", "S", 2, NULL, shorts),
                                                 table_leaf("day", "tdD", 2, NULL, days),
                                                 table_leaf("stamp", "tsu:UTC", 2, NULL, numbers),
                                                 table_leaf("span", "tDn", 2, NULL, numbers),
                                                 table_leaf("id", "w:3", 2, NULL, "abcdef")));
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_ENTRY(td, TD_KEY("S"), TD_SIZES(2), TD_VALUES(65535, 1));
  TD_CHECK_ENTRY(td, TD_KEY("day"), TD_SIZES(2), TD_VALUES(-1, 20000));
  TD_CHECK_DTYPE(td, TD_KEY("day"), TD_DTYPE_INT32);
  TD_CHECK_DTYPE(td, TD_KEY("stamp"), TD_DTYPE_INT64);
  TD_CHECK_ENTRY(td, TD_KEY("id"), TD_SIZES(2, 3), TD_VALUES('a', 'b', 'c', 'd', 'e', 'f'));
  td_free(td);
  table_column wide = table_leaf("L", "L", 1, NULL, longs);
  table = table_of(1, &wide, 1);
  td = table_take(&table, NULL);
  TD_CHECK_ENTRY(td, TD_KEY("L"), TD_SIZES(1), TD_VALUES(5));
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(memory_that_is_not_aligned_is_copied) {
  char bytes[20];
  const float values[4] = {1, 2, 3, 4};
  memcpy(bytes + 1, values, sizeof values);
  table_column leaf = table_leaf("f", "f", 4, NULL, bytes + 1), table = table_of(4, &leaf, 1);
  td_tensordict *td = table_take(&table, NULL);
  TABLE_ALL_RELEASED();
  TD_CHECK_ENTRY(td, TD_KEY("f"), TD_SIZES(4), TD_VALUES(1, 2, 3, 4));
}

TD_TEST(names_of_columns) {
  td_from_arrow_options split = TD_FROM_ARROW_OPTIONS_INIT;
  split.separator = ".";
  table_column table = table_of(1, TABLE_COLUMNS(table_leaf("a.b", "l", 1, NULL, numbers),
                                                 table_leaf(NULL, "l", 1, NULL, numbers)));
  td_tensordict *td = table_take(&table, NULL);
  TD_CHECK_ENTRY(td, TD_KEY("a.b"), TD_SIZES(1), TD_VALUES(10));
  TD_CHECK_ENTRY(td, TD_KEY(""), TD_SIZES(1), TD_VALUES(10));
  td_free(td);
  table = table_of(1, TABLE_COLUMNS(table_leaf("a.b", "l", 1, NULL, numbers),
                                    table_leaf("a.c", "l", 1, NULL, numbers + 1)));
  td = table_take(&table, &split);
  TD_CHECK_ENTRY(td, TD_KEY("a", "c"), TD_SIZES(1), TD_VALUES(11));
  td_free(td);
  table = table_of(1, TABLE_COLUMNS(table_leaf("a", "l", 1, NULL, numbers),
                                    table_leaf("a.c", "l", 1, NULL, numbers)));
  table_refused(&table, &split, TD_ERR_KEY_EXISTS, "\"a\" is another column");
  table = table_of(1, TABLE_COLUMNS(table_leaf("a", "l", 1, NULL, numbers),
                                    table_leaf("a", "l", 1, NULL, numbers)));
  table_refused(&table, NULL, TD_ERR_KEY_EXISTS, "column \"a\" has the name of another");
  table = table_of(1, TABLE_COLUMNS(table_leaf("\xff", "l", 1, NULL, numbers)));
  table_refused(&table, NULL, TD_ERR_KEY_INVALID, "");
  TABLE_ALL_RELEASED();
}

/* A stream of record batches; the last call fails with `code`. */
typedef struct batches {
  struct ArrowArrayStream stream;
  table_column tables[3];
  int next, count, code, open;
} batches;

static int give_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  batches *all = self->private_data;
  *out = all->tables[0].schema;
  all->tables[0].schema.release = NULL;
  return 0;
}

static int give_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  batches *all = self->private_data;
  memset(out, 0, sizeof *out);
  if (all->next == all->count) return all->code;
  *out = all->tables[all->next].array;
  all->tables[all->next++].array.release = NULL;
  return 0;
}

static const char *give_reason(struct ArrowArrayStream *self) {
  (void)self;
  return "the disk is gone";
}

static void close_stream(struct ArrowArrayStream *self) {
  batches *all = self->private_data;
  for (int i = 0; i < 3; i++) table_drop(&all->tables[i]);
  all->open--;
  self->release = NULL;
}

static batches *stream_of(batches *all, int count, int code) {
  static const int32_t offsets[4] = {0, 1, 2, 3};
  static const uint8_t valid = 0x2;
  memset(all, 0, sizeof *all);
  for (int i = 0; i < 3; i++) {
    all->tables[i] = table_of(
        i + 1, TABLE_COLUMNS(table_leaf("x", "l", i + 1, NULL, numbers + 2 * i),
                             table_text("t", "u", i + 1, i == 1 ? &valid : NULL, offsets, "abc")));
  }
  all->stream.get_schema = give_schema;
  all->stream.get_next = give_next;
  all->stream.get_last_error = give_reason;
  all->stream.release = close_stream;
  all->stream.private_data = all;
  all->count = count;
  all->code = code;
  all->open = 1;
  return all;
}

TD_TEST(streams_of_record_batches) {
  batches all;
  td_tensordict *td = NULL;
  TD_DO(td_from_arrow_stream(&stream_of(&all, 3, 0)->stream, NULL, &td));
  TD_CHECK(all.stream.release == NULL);
  TD_CHECK_INT(all.open, 0);
  TABLE_ALL_RELEASED(); /* put together, so copied */
  TD_CHECK_BATCH(td, 6);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(6), TD_VALUES(10, 12, 13, 14, 15, 16));
  check_texts(td, "t", "[\"a\", null, \"b\", \"a\", \"b\", \"c\"]");
  td_free(td);

  TD_DO(td_from_arrow_stream(&stream_of(&all, 1, 0)->stream, NULL, &td));
  TD_CHECK_INT(table_arrays, 3);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(1), TD_VALUES(10));
  td_free(td);
  TABLE_ALL_RELEASED();

  TD_DO(td_from_arrow_stream(&stream_of(&all, 0, 0)->stream, NULL, &td));
  TD_CHECK_BATCH(td, 0);
  TD_CHECK_DTYPE(td, TD_KEY("x"), TD_DTYPE_INT64);
  check_texts(td, "t", "[]");
  td_free(td);
  TABLE_ALL_RELEASED();
}

TD_TEST(streams_that_fail) {
  batches all;
  td_tensordict *td;
  TD_EXPECT_NULL(td_from_arrow_stream(&stream_of(&all, 2, EIO)->stream, NULL, &td), TD_ERR_IO, td);
  TD_CHECK_TEXT(td_last_error_message(), "gave no record batch: the disk is gone (error 5)");
  TD_CHECK_INT(all.open, 0);
  TABLE_ALL_RELEASED();
  td_from_arrow_options options = TD_FROM_ARROW_OPTIONS_INIT;
  options.nulls = 7;
  TD_EXPECT_NULL(td_from_arrow_stream(&stream_of(&all, 2, 0)->stream, &options, &td),
                 TD_ERR_INVALID_ARGUMENT, td);
  TD_CHECK_INT(all.open, 0);
  TD_EXPECT_NULL(td_from_arrow_stream(&all.stream, NULL, &td), TD_ERR_FORMAT, td);
  TD_CHECK_TEXT(td_last_error_message(), "was released");
  stream_of(&all, 2, 0)->stream.get_next = NULL;
  TD_EXPECT_NULL(td_from_arrow_stream(&all.stream, NULL, &td), TD_ERR_FORMAT, td);
  TD_CHECK_INT(all.open, 0);
  stream_of(&all, 3, 0)->tables[1].array.null_count = -5;
  TD_EXPECT_NULL(td_from_arrow_stream(&all.stream, NULL, &td), TD_ERR_FORMAT, td);
  TD_CHECK_INT(all.open, 0);
}
