/* views.h: some episodes of data sets, one set behind the other, written as a set. */
#ifndef TDTOOL_VIEWS_H
#define TDTOOL_VIEWS_H

#include "dataset.h"
#include "td_tool.h"

/* Episodes as they are typed, "0:10, -1", of a set that has so many. */
typedef struct numbers {
  int64_t *items;
  size_t length;
} numbers;
numbers numbers_typed(const char *command, const char *typed, int64_t all);
numbers numbers_all(int64_t all);
numbers numbers_others(const numbers *of, int64_t all); /* in their order */

/* Writes a set, of the kind that --as tells or else of the kind of the first, and prints what it holds. */
void save_view(const char *command, const td_dataset *const *sets, size_t sets_len,
               const td_tool_view *view, const char *out);

/* The commands, of data sets. */
/* Opens a set that the command writes as --as says. */
td_dataset *opened_set(const char *command, const char *path);

int slice_set(int count, char **arguments);
int drop_set(int count, char **arguments);
int merge_sets(int count, char **arguments);
int verify_set(const char *path);
int repair_set(const char *path, const char *out);

/* A line about a set: where, what kind of line it is, and the text. */
void add_problem(table *lines, const char *kind, color how, const td_tool_problem *problem);

#endif
