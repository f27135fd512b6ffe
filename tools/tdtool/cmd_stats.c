/* tdtool stats: statistics of each tensor. Reads piece by piece, so that a dictionary may be
 * larger than the memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"
#include "summary.h"

enum { BINS = 16, CHUNK = 8192 };

typedef struct walk {
  summary *of;
  void (*each)(summary *of, const double *values, size_t count);
} walk;

static void piece(void *user, const td_tensor *tensor) {
  const walk *through = user;
  double values[CHUNK];
  elements all = elements_of(tensor);
  through->of->dtype = all.dtype;
  for (size_t at = 0; at < all.count; at += CHUNK) {
    size_t count = all.count - at < CHUNK ? all.count - at : CHUNK;
    elements_real(all.dtype, all.data + at * all.item, count, values);
    through->each(through->of, values, count);
    progress_add(count * all.item);
  }
  elements_free(&all);
}

static summary summarize(const td_tensordict *td, key path) {
  summary result;
  walk through = {&result, summary_look};
  summary_begin(&result);
  leaf_pieces(td, path, piece, &through);
  if (stats_asked.fast || !summary_bins(&result, BINS)) return result;
  through.each = summary_sort;
  leaf_pieces(td, path, piece, &through);
  return result;
}

static void add_bars(text *to, const summary *of) {
  static const char *const blocks[2][9] = {{" ", ".", ":", "-", "=", "+", "*", "#", "@"},
                                           {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
  uint64_t most = 1;
  for (size_t i = 0; i < of->bins_len; i++) most = of->bins[i] > most ? of->bins[i] : most;
  for (size_t i = 0; i < of->bins_len; i++) {
    size_t height = of->bins[i] ? (size_t)(8.0 * (double)of->bins[i] / (double)most + 0.5) : 0;
    add(to, blocks[terminal_utf8()][of->bins[i] && !height ? 1 : height]);
  }
}

static void number_cell(table *to, const summary *of, double value, bool whole) {
  char room[40];
  if (of->count == of->nan)
    snprintf(room, sizeof room, "-");
  else if (whole && is_integer(of->dtype) && fabs(value) < 1e15)
    snprintf(room, sizeof room, "%.0f", value);
  else
    snprintf(room, sizeof room, "%.4g", value);
  table_cell(to, PLAIN, room);
}

static void print_summary(table *to, const char *name, const summary *of) {
  char room[40];
  text bars = {NULL, 0, 0};
  table_cell(to, PLAIN, name);
  table_cell(to, CYAN, dtype_name(of->dtype));
  snprintf(room, sizeof room, "%llu", (unsigned long long)of->count);
  table_cell(to, PLAIN, room);
  number_cell(to, of, of->least, true);
  number_cell(to, of, of->greatest, true);
  number_cell(to, of, of->mean, false);
  number_cell(to, of, summary_deviation(of), false);
  snprintf(room, sizeof room, "%llu", (unsigned long long)of->nan);
  table_cell(to, of->nan ? RED : DIM, room);
  add_bars(&bars, of);
  table_cell(to, GREEN, bars.data ? bars.data : "");
  text_free(&bars);
}

static void json_summary(key path, const summary *of) {
  bool any = of->count > of->nan;
  json_begin('{');
  json_path(path.names, path.length);
  json_member(text, "dtype", dtype_name(of->dtype));
  json_member(size, "count", of->count);
  const double numbers[] = {of->least, of->greatest, of->mean, summary_deviation(of)};
  static const char *const names[] = {"min", "max", "mean", "std"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    json_member(real, names[i], any ? numbers[i] : NAN);
  }
  json_member(size, "nan", of->nan);
  json_member(size, "infinite", of->infinite);
  if (of->bins_len) {
    json_member(begin, "histogram", '{');
    json_member(real, "low", of->low);
    json_member(real, "high", of->high);
    json_member(begin, "counts", '[');
    for (size_t i = 0; i < of->bins_len; i++) json_size(of->bins[i]);
    json_end(']');
    json_end('}');
  }
  json_end('}');
}

static uint64_t work(const td_tensordict *td) {
  size_t bytes;
  must(td_nbytes(td, &bytes));
  return (uint64_t)bytes * (stats_asked.fast ? 1 : 2);
}

int run_stats(int count, char **arguments) {
  static const char *const heads[] = {"leaf", "dtype", "count", "min", "max",
                                      "mean", "std",   "NaN",   ""};
  td_tensordict *td = open_rows(arguments[0]);
  leaves chosen = leaves_of(td, false);
  leaves_keep(&chosen, count - 1, arguments + 1);
  table *lines = table_new("Llrrrrrrl");
  for (size_t i = 0; i < COUNT_OF(heads); i++) table_cell(lines, BOLD, heads[i]);
  if (common.json) json_begin('[');
  progress_begin("stats", work(td));
  for (size_t i = 0; i < chosen.length; i++) {
    summary found = summarize(td, chosen.items[i].path);
    text name = {NULL, 0, 0};
    add_key(&name, chosen.items[i].path.names, chosen.items[i].path.length);
    if (common.json)
      json_summary(chosen.items[i].path, &found);
    else
      print_summary(lines, name.data, &found);
    text_free(&name);
  }
  progress_end();
  if (common.json) {
    json_end(']');
    json_finish();
  } else {
    table_print(lines, BLOCKS);
  }
  table_free(lines);
  leaves_free(&chosen);
  td_free(td);
  return TOOL_FINE;
}
