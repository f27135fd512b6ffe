/* The commands: main.c finds them here, by their tables. */
#ifndef TDTOOL_RUNS_H
#define TDTOOL_RUNS_H

#include "tdtool.h"

int run_cat(int count, char **arguments);
int run_convert(int count, char **arguments);
int run_diff(int count, char **arguments);
int run_drop(int count, char **arguments);
int run_grep(int count, char **arguments);
int run_head(int count, char **arguments);
int run_merge(int count, char **arguments);
int run_pack(int count, char **arguments);
int run_plot(int count, char **arguments);
int run_rename(int count, char **arguments);
int run_repair(int count, char **arguments);
int run_report(int count, char **arguments);
int run_run(int count, char **arguments);
int run_set(int count, char **arguments);
int run_show(int count, char **arguments);
int run_slice(int count, char **arguments);
int run_split(int count, char **arguments);
int run_stats(int count, char **arguments);
int run_unpack(int count, char **arguments);
int run_verify(int count, char **arguments);
int run_watch(int count, char **arguments);

#endif
