/* td_arrow_tables.h: tables of Arrow as another library would make them, with counts of what is not yet
 * released. The buffers are the test's own. */
#ifndef TD_ARROW_TABLES_H
#define TD_ARROW_TABLES_H

#include <stdlib.h>
#include <string.h>

#include "td_values.h"

typedef struct table_column {
  struct ArrowSchema schema;
  struct ArrowArray array;
} table_column;

enum { TABLE_MOST = 8 };

typedef struct table_block {
  const void *buffers[TABLE_MOST];
  table_column children[TABLE_MOST], dictionary;
  struct ArrowSchema *schemas[TABLE_MOST];
  struct ArrowArray *arrays[TABLE_MOST];
  int parts; /* schema and array, until both are released */
} table_block;

static int table_schemas, table_arrays; /* not yet released */

static inline void table_part_gone(table_block *block) {
  if (--block->parts == 0) free(block);
}

static inline void table_release_schema(struct ArrowSchema *self) {
  table_block *block = self->private_data;
  for (int64_t i = 0; i < self->n_children; i++) {
    if (block->schemas[i]->release != NULL) block->schemas[i]->release(block->schemas[i]);
  }
  if (block->dictionary.schema.release != NULL)
    block->dictionary.schema.release(&block->dictionary.schema);
  self->release = NULL;
  table_schemas--;
  table_part_gone(block);
}

static inline void table_release_array(struct ArrowArray *self) {
  table_block *block = self->private_data;
  for (int64_t i = 0; i < self->n_children; i++) {
    if (block->arrays[i]->release != NULL) block->arrays[i]->release(block->arrays[i]);
  }
  if (block->dictionary.array.release != NULL)
    block->dictionary.array.release(&block->dictionary.array);
  self->release = NULL;
  table_arrays--;
  table_part_gone(block);
}

/* Children are moved in. */
static inline table_column table_make(const char *name, const char *format, int64_t length,
                                      const void *const *buffers, int64_t buffers_len,
                                      const table_column *children, int64_t children_len) {
  table_block *block = calloc(1, sizeof *block);
  table_column column;
  memset(&column, 0, sizeof column);
  for (int64_t i = 0; i < buffers_len; i++) block->buffers[i] = buffers[i];
  for (int64_t i = 0; i < children_len; i++) {
    block->children[i] = children[i];
    block->schemas[i] = &block->children[i].schema;
    block->arrays[i] = &block->children[i].array;
  }
  block->parts = 2;
  column.schema.format = format;
  column.schema.name = name;
  column.schema.flags = ARROW_FLAG_NULLABLE;
  column.schema.n_children = children_len;
  column.schema.children = block->schemas;
  column.schema.release = table_release_schema;
  column.schema.private_data = block;
  column.array.length = length;
  column.array.null_count = buffers_len > 0 && buffers[0] != NULL ? -1 : 0;
  column.array.n_buffers = buffers_len;
  column.array.n_children = children_len;
  column.array.buffers = block->buffers;
  column.array.children = block->arrays;
  column.array.release = table_release_array;
  column.array.private_data = block;
  table_schemas++;
  table_arrays++;
  return column;
}

static inline table_column table_leaf(const char *name, const char *format, int64_t length,
                                      const void *valid, const void *values) {
  const void *const buffers[] = {valid, values};
  return table_make(name, format, length, buffers, 2, NULL, 0);
}

static inline table_column table_text(const char *name, const char *format, int64_t length,
                                      const void *valid, const void *offsets, const void *bytes) {
  const void *const buffers[] = {valid, offsets, bytes};
  return table_make(name, format, length, buffers, 3, NULL, 0);
}

/* A struct, or lists around one child. */
static inline table_column table_around(const char *name, const char *format, int64_t length,
                                        const void *valid, const table_column *children,
                                        int64_t children_len) {
  return table_make(name, format, length, &valid, 1, children, children_len);
}

static inline table_column table_of(int64_t length, const table_column *children,
                                    int64_t children_len) {
  return table_around("", "+s", length, NULL, children, children_len);
}

static inline void table_encode(table_column *codes, table_column dictionary) {
  table_block *block = codes->array.private_data;
  block->dictionary = dictionary;
  codes->schema.dictionary = &block->dictionary.schema;
  codes->array.dictionary = &block->dictionary.array;
}

static inline void table_drop(table_column *column) {
  if (column->schema.release != NULL) column->schema.release(&column->schema);
  if (column->array.release != NULL) column->array.release(&column->array);
}

#define TABLE_COLUMNS(...)               \
  ((const table_column[]){__VA_ARGS__}), \
      (int64_t)(sizeof((const table_column[]){__VA_ARGS__}) / sizeof(table_column))

/* Moves a table in, and expects that to work. */
static inline td_tensordict *table_take(table_column *table, const td_from_arrow_options *options) {
  td_tensordict *td = NULL;
  TD_DO(td_from_arrow(&table->schema, &table->array, options, &td));
  TD_CHECK(table->schema.release == NULL && table->array.release == NULL);
  return td;
}

/* Expects that a table is refused and stays as it is; drops it then. */
static inline void table_refused(table_column *table, const td_from_arrow_options *options,
                                 td_status status, const char *text) {
  const table_column before = *table;
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_from_arrow(&table->schema, &table->array, options, &td), status, td);
  TD_CHECK_TEXT(td_last_error_message(), text);
  TD_CHECK(memcmp(&before, table, sizeof before) == 0);
  table_drop(table);
}

#define TABLE_ALL_RELEASED()        \
  do {                              \
    TD_CHECK_INT(table_schemas, 0); \
    TD_CHECK_INT(table_arrays, 0);  \
  } while (0)

#endif
