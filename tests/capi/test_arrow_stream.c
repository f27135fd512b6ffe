/* Dictionaries as streams of record batches, which share the memory of the whole. */
#include "td_values.h"

/* {"x": float32 [7, 2], "b": bool [7], "n": {"y": int64 [7], "z": int16 [7, 3]}, "each": texts, "all": a value} */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(7)), *n = td_empty(TD_SIZES(7));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(7, 2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(7)));
  td_put(n, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 10, TD_SIZES(7)));
  td_put(n, TD_KEY("z"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(7, 3)));
  td_put_dict(td, TD_KEY("n"), n);
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("each"),
                                     "[\"a\", null, \"ccc\", \"\", \"e\", \"f\", null]"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("all"), "[1,2]"));
  return td;
}

static struct ArrowArrayStream stream_of(const td_tensordict *td, int64_t rows) {
  struct ArrowArrayStream stream;
  TD_DO(td_to_arrow_stream(td, rows, NULL, &stream));
  TD_CHECK(stream.release != NULL);
  return stream;
}

static struct ArrowArray next_of(struct ArrowArrayStream *stream) {
  struct ArrowArray batch;
  TD_CHECK_INT(stream->get_next(stream, &batch), 0);
  return batch;
}

TD_TEST(a_stream_is_read_back_whatever_its_batches) {
  td_tensordict *td = sample();
  static const int64_t rows[] = {1, 2, 3, 6, 7, 100, INT64_MAX};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ArrowArrayStream stream = stream_of(td, rows[i]);
    td_tensordict *again = NULL;
    TD_DO(td_from_arrow_stream(&stream, NULL, &again));
    TD_CHECK(stream.release == NULL);
    TD_CHECK_BATCH(again, 7);
    TD_CHECK_EQUAL(again, td);
  }
}

TD_TEST(batches_are_parts_of_the_columns) {
  td_tensordict *td = sample();
  td_tensor *x = td_take(td, TD_KEY("x")), *y = td_take(td, TD_KEY("n", "y"));
  void *x_data = NULL, *y_data = NULL;
  TD_DO(td_tensor_data(x, &x_data));
  TD_DO(td_tensor_data(y, &y_data));
  struct ArrowArrayStream stream = stream_of(td, 3);
  struct ArrowSchema schema;
  TD_CHECK_INT(stream.get_schema(&stream, &schema), 0);
  TD_CHECK_SAME_TEXT(schema.format, "+s");
  TD_CHECK_INT(schema.n_children, 4);
  TD_CHECK_SAME_TEXT(schema.children[0]->name, "x");
  TD_CHECK_SAME_TEXT(schema.children[0]->format, "+w:2");
  TD_CHECK_SAME_TEXT(schema.children[3]->format, "u");
  static const int64_t lengths[] = {3, 3, 1};
  for (int64_t i = 0; i < 3; i++) {
    struct ArrowArray batch = next_of(&stream);
    TD_CHECK_INT(batch.length, lengths[i]);
    TD_CHECK_INT(batch.offset, 0);
    for (int64_t k = 0; k < batch.n_children; k++) {
      TD_CHECK_INT(batch.children[k]->length, lengths[i]);
      TD_CHECK_INT(batch.children[k]->offset, 3 * i);
    }
    /* No copy, also of what is nested. */
    TD_CHECK(batch.children[0]->children[0]->buffers[1] == x_data);
    TD_CHECK(batch.children[2]->children[0]->buffers[1] == y_data);
    TD_CHECK_INT(batch.children[0]->null_count, 0);
    TD_CHECK_INT(batch.children[3]->null_count, -1);
    batch.release(&batch);
    TD_CHECK(batch.release == NULL);
  }
  struct ArrowArray none = next_of(&stream);
  TD_CHECK(none.release == NULL);
  none = next_of(&stream);
  TD_CHECK(none.release == NULL);
  TD_CHECK(stream.get_last_error(&stream) == NULL);
  stream.release(&stream);
  schema.release(&schema);
}

TD_TEST(batches_and_their_columns_outlive_the_stream) {
  td_tensordict *td = sample(), *again = NULL;
  struct ArrowArrayStream stream = stream_of(td, 4);
  td_free(td);
  struct ArrowSchema schema;
  TD_CHECK_INT(stream.get_schema(&stream, &schema), 0);
  struct ArrowArray first = next_of(&stream), second = next_of(&stream);
  stream.release(&stream);
  TD_CHECK(stream.release == NULL);
  /* A column is moved out of its batch. */
  struct ArrowArray column = *first.children[2]->children[0];
  first.children[2]->children[0]->release = NULL;
  first.release(&first);
  TD_DO(td_from_arrow(&schema, &second, NULL, &again));
  TD_CHECK_ENTRY(again, TD_KEY("n", "y"), TD_SIZES(3), TD_VALUES(14, 15, 16));
  TD_CHECK_ENTRY(again, TD_KEY("x"), TD_SIZES(3, 2), TD_VALUES(8, 9, 10, 11, 12, 13));
  TD_CHECK_ENTRY(again, TD_KEY("b"), TD_SIZES(3), TD_VALUES(0, 0, 1));
  TD_CHECK_JSON(again, TD_KEY("all"), "[1,2]");
  td_free(again);
  TD_CHECK_INT(((const int64_t *)column.buffers[1])[0], 10);
  column.release(&column);
}

TD_TEST(a_dictionary_without_rows_has_no_batch) {
  td_tensordict *td = td_empty(TD_SIZES(0)), *again = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT32, 0, TD_SIZES(0, 2)));
  struct ArrowArrayStream stream = stream_of(td, 3);
  struct ArrowArray none = next_of(&stream);
  TD_CHECK(none.release == NULL);
  TD_DO(td_from_arrow_stream(&stream, NULL, &again));
  TD_CHECK_BATCH(again, 0);
  TD_CHECK_DTYPE(again, TD_KEY("x"), TD_DTYPE_INT32);
}

TD_TEST(what_cannot_be_a_stream_is_refused_at_once) {
  td_tensordict *td = sample(), *single = td_empty(TD_NO_SIZES);
  struct ArrowArrayStream stream;
  static const int64_t rows[] = {0, -1, INT64_MIN};
  for (size_t i = 0; i < 3; i++) {
    TD_EXPECT(td_to_arrow_stream(td, rows[i], NULL, &stream), TD_ERR_INVALID_ARGUMENT);
    TD_CHECK_TEXT(td_last_error_message(), "1 row or more");
    TD_CHECK(stream.release == NULL);
  }
  TD_EXPECT(td_to_arrow_stream(single, 2, NULL, &stream), TD_ERR_SHAPE);
  TD_CHECK(stream.release == NULL);
  td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(7)), *half = NULL;
  TD_DO(td_tensor_to(numbers, TD_DTYPE_BFLOAT16, TD_DEVICE_NONE, -1, &half));
  TD_DO(td_set(td, TD_KEY("n", "half"), half));
  TD_EXPECT(td_to_arrow_stream(td, 2, NULL, &stream), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), "half");
  TD_CHECK(stream.release == NULL);
  TD_EXPECT(td_to_arrow_stream(td, 2, NULL, NULL), TD_ERR_NULL_ARGUMENT);
}
