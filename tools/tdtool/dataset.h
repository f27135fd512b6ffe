/* dataset.h: data sets of Minari, robomimic and D4RL. */
#ifndef TDTOOL_DATASET_H
#define TDTOOL_DATASET_H

#include "tdtool.h"

/* "tensordict" is TD_DATASET_KIND_DETECT. Ends the program for another name. */
td_dataset_kind dataset_kind_named(const char *command, const char *name);
const char *dataset_kind_name(td_dataset_kind kind);

/* One line, or an object of JSON: the kind, episodes and steps. */
void print_dataset(const td_dataset *set, const char *path);

/* How a set is written, by the options of the command. */
td_dataset_save_options set_saving(const char *as, bool lossy);

/* Opens one with the entries of its videos, whose frames are decoded when rows are read. */
td_status open_set(const char *path, td_dataset **set);
/* Opens one that is written as another kind; TD_DATASET_KIND_DETECT: as its own. LeRobot keeps its videos as they are. */
td_status open_set_as(const char *path, td_dataset_kind kind, td_dataset **set);

/* Whether a path holds a data set by its looks, also a damaged one; a folder of a dictionary is not one. */
bool is_set(const char *path);
/* Whether a folder is a data set, and so nothing else; a file of HDF5 may be a dictionary, too. */
bool is_set_folder(const char *path);

/* set_rows.c: all rows; those of a large set are in temporary files. */
td_tensordict *rows_of_set(const td_dataset *set);
/* The same in OUT, which is not there yet. Few of them are in memory at a time. */
td_tensordict *keep_rows_of_set(const td_dataset *set, const char *out, form as);

/* What show prints of a path that is a data set; false for others. */
bool show_dataset(const char *path, int64_t depth);

#endif
