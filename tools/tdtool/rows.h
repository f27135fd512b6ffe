/* Rows of dictionaries, and conditions on them. */
#ifndef TDTOOL_ROWS_H
#define TDTOOL_ROWS_H

#include "tdtool.h"

/* blocks.c: a dense dictionary with some rows of a larger one. */
typedef struct block {
  td_tensordict *td;
  int64_t place[64]; /* its element in each lazy stack around it */
  size_t place_len;
  int64_t first; /* along the first dimension of the dictionary that it is cut from */
  int64_t sizes[64];
  size_t dims;
  int64_t rows, row; /* their number; the number of the first one */
} block;
typedef void (*block_user)(void *user, const block *rows);
/* Calls `each` with blocks of some 1 MB in row-major order; gives the number of all rows. */
int64_t each_block(const td_tensordict *td, block_user each, void *user);
/* The position of a row of a block in the batch; returns the number of dimensions, at most 64. */
size_t block_place(const block *of, int64_t row, int64_t *place);

/* A new dictionary with these keys alone; missing ones are left out. */
td_tensordict *only(const td_tensordict *td, const td_key *keys, size_t count);

/* condition.c: a condition on rows, as a tree of operations. */
typedef enum {
  IS_KEY,
  IS_NUMBER,
  IS_ABS,
  IS_NAN,
  IS_ANY,
  IS_ALL,
  IS_NOT,
  IS_AND,
  IS_OR,
  IS_LESS,
  IS_LESS_EQUAL,
  IS_GREATER,
  IS_GREATER_EQUAL,
  IS_EQUAL,
  IS_NOT_EQUAL
} operation;
typedef struct condition {
  operation is;
  bool truth;         /* gives true or false, not numbers */
  long double number; /* of a constant */
  key path;           /* of a key */
  char *typed;        /* of a key, for messages */
  struct condition *left, *right;
} condition;
/* Ends the program if the text is not a condition, with a message that names the place. */
condition *condition_parse(const char *text);
void condition_free(condition *of);

/* save_rows.c: the rows that grep finds, in OUT. */
void save_begin(const char *out);
void save_rows(const block *rows, const unsigned char *met);
void save_end(const char *out);

/* evaluate.c: marks the rows of a block that meet the condition in `met`, and returns their number. */
int64_t condition_rows(const condition *of, const block *rows, unsigned char *met);

#endif
