/* The options of the commands: each command has a table in ask_*.c, which fills these variables. */
#ifndef TDTOOL_ASKED_H
#define TDTOOL_ASKED_H

#include "plain.h"

extern const tool_command command_cat, command_convert, command_diff, command_head, command_repair,
    command_run, command_show, command_slice, command_stats, command_verify, command_set,
    command_rename, command_drop, command_merge, command_pack, command_unpack, command_grep,
    command_plot, command_watch, command_report, command_split;

extern struct show_values {
  int64_t depth;
  bool elements;
} show_asked;
extern struct head_values { int64_t rows, from; } head_asked;
extern struct stats_values { bool fast; } stats_asked;
extern struct slice_values { int64_t rows; } slice_asked;
extern struct diff_values {
  double relative, absolute;
  bool content, brief;
} diff_asked;
extern struct convert_values {
  const char *as; /* a kind of data sets */
  bool lossy;
  const char *video;
  int64_t video_quality; /* -1: not asked for */
  double fps;            /* 0: not asked for */
} convert_asked;
extern struct run_values {
  int64_t batch;
  bool only_outputs;
} run_asked;
extern struct verify_values { bool add; } verify_asked;
extern struct repair_values { bool dry, force; } repair_asked;

/* Of the commands that write a part of a data set. */
extern struct view_values {
  const char *episodes, *as;
  texts keys;
  bool lossy;
} view_asked;
#define EPISODES_OPTION(what) \
  { "episodes", 0, "EPISODES", NULL, what, TAKES_TEXT, &view_asked.episodes }
#define SET_OPTIONS                                                                             \
  {"as",                                                                                        \
   0,                                                                                           \
   "KIND",                                                                                      \
   NULL,                                                                                        \
   "write another kind of data set: minari, lerobot, lerobot-v2.1, robomimic, d4rl or torchrl", \
   TAKES_TEXT,                                                                                  \
   &view_asked.as},                                                                             \
  {                                                                                             \
    "lossy", 0, NULL, NULL, "leave out, or fill in, what a data set of that kind cannot hold",  \
        TAKES_NOTHING, &view_asked.lossy                                                        \
  }
extern struct split_values {
  double share;
  int64_t seed;
  bool by_task;
} split_asked;

extern struct edit_values { const char *out; } edit_asked;
extern struct merge_values { const char *prefer; } merge_asked;
extern struct pack_values { bool force, compress, durable; } pack_asked;
extern struct unpack_values { bool durable; } unpack_asked;
extern struct grep_values {
  int64_t rows;
  bool count;
} grep_asked;
extern struct plot_values {
  bool hist;
  int64_t rows, from, element, height, width;
} plot_asked;
extern struct watch_values {
  double interval;
  int64_t count;
  bool once;
} watch_asked;
extern struct report_values { const char *title; } report_asked;

/* Of every command that writes. */
extern struct saving_values {
  form to;
  bool force, compress, checksums, durable, tensors, pad;
  char *metadata; /* goes into a file that keeps some; no option */
} saving;
#define SAVING_OPTIONS                                                                              \
  {"to",       't',       "FORMAT", NULL, "the format of OUT; by default its suffix decides",       \
   TAKES_FORM, &saving.to},                                                                         \
      {"force", 0, NULL, NULL, "replace an existing OUT", TAKES_NOTHING, &saving.force},            \
      {"compress",                                                                                  \
       'z',                                                                                         \
       NULL,                                                                                        \
       NULL,                                                                                        \
       "compress the tensors, in a format that can",                                                \
       TAKES_NOTHING,                                                                               \
       &saving.compress},                                                                           \
      {"checksums",      0, NULL, NULL, "write checksums into a folder, for verify", TAKES_NOTHING, \
       &saving.checksums},                                                                          \
      {"durable",      0, NULL, NULL, "wait until all data is on the disk", TAKES_NOTHING,          \
       &saving.durable},                                                                            \
      {"tensors", 0, NULL, NULL, "leave out non-tensor data", TAKES_NOTHING, &saving.tensors}, {    \
    "pad", 0, NULL, NULL, "pad the tensors of a lazy stack with zeros to one tensor",               \
        TAKES_NOTHING, &saving.pad                                                                  \
  }

/* Of every command that loads a TorchScript archive. */
extern struct module_values {
  texts in, out;
  const char *sha256, *device;
  bool freeze;
} loading;
#define SHA256_OPTION \
  { "sha256", 0, "HEX", NULL, "refuse a module with another checksum", TAKES_TEXT, &loading.sha256 }

#endif
