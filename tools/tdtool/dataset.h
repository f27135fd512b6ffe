/* dataset.h: data sets of Minari, robomimic and D4RL. */
#ifndef TDTOOL_DATASET_H
#define TDTOOL_DATASET_H

#include "tdtool.h"

/* "tensordict" is TD_DATASET_KIND_DETECT. Ends the program for another name. */
td_dataset_kind dataset_kind_named(const char *name);

/* One line, or an object of JSON: the kind, episodes and steps. */
void print_dataset(const td_dataset *set, const char *path);

/* What show prints of a path that is a data set; false for others. */
bool show_dataset(const char *path, int64_t depth);

#endif
