/* tdtool stats: what the values of each tensor are like. Reads piece by piece, so that a dictionary may be
 * larger than the memory. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

enum { BINS = 16, CHUNK = 8192 };

static struct { bool fast; } given;

static const tool_option options[] = {
    {"fast", 0, NULL, NULL, "skip the histogram, which reads the values a second time",
     TAKES_NOTHING, &given.fast},
};

typedef struct summary {
  td_dtype dtype;
  uint64_t count, finite, nan, infinite;
  double least, greatest; /* of all but NaN */
  double low, high;       /* of finite ones */
  double mean, squares;   /* of finite ones: squares of the distances from the mean */
  uint64_t bins[BINS];
  size_t bins_len;
} summary;

static void look(summary *of, const double *values, size_t count) {
  double sum = 0, squares = 0;
  size_t finite = 0;
  for (size_t i = 0; i < count; i++) {
    double value = values[i];
    if (isnan(value)) {
      of->nan++;
      continue;
    }
    if (value < of->least) of->least = value;
    if (value > of->greatest) of->greatest = value;
    if (isinf(value)) {
      of->infinite++;
      continue;
    }
    if (value < of->low) of->low = value;
    if (value > of->high) of->high = value;
    sum += value;
    finite++;
  }
  if (finite) { /* the means of two parts, and their squares */
    double mean = sum / (double)finite, apart = mean - of->mean;
    for (size_t i = 0; i < count; i++) {
      if (isfinite(values[i])) squares += (values[i] - mean) * (values[i] - mean);
    }
    double before = (double)of->finite, all = before + (double)finite;
    of->mean += apart * (double)finite / all;
    of->squares += squares + apart * apart * before * (double)finite / all;
    of->finite += finite;
  }
  of->count += count;
}

static void sort_in(summary *of, const double *values, size_t count) {
  double width = of->high - of->low, scale = width > 0 ? (double)of->bins_len / width : 0;
  if (!isfinite(scale) || !isfinite(width)) return;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) continue;
    size_t bin = (size_t)((values[i] - of->low) * scale);
    of->bins[bin < of->bins_len ? bin : of->bins_len - 1]++;
  }
}

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
  summary result = {.least = INFINITY, .greatest = -INFINITY, .low = INFINITY, .high = -INFINITY};
  walk through = {&result, look};
  leaf_pieces(td, path, piece, &through);
  if (given.fast || result.low > result.high) return result;
  result.bins_len = BINS;
  if (result.low == result.high) result.bins_len = 1;
  if (is_integer(result.dtype) && result.high - result.low < BINS) { /* a bar for each number */
    result.bins_len = (size_t)(result.high - result.low) + 1;
    result.high += 1;
  }
  through.each = sort_in;
  if (result.bins_len > 1)
    leaf_pieces(td, path, piece, &through);
  else
    result.bins[0] = result.finite;
  if (is_integer(result.dtype)) result.high = result.greatest;
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

static double deviation(const summary *of) {
  return of->finite > 1 ? sqrt(of->squares / (double)(of->finite - 1)) : 0;
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
  number_cell(to, of, deviation(of), false);
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
  json_name("dtype");
  json_text(dtype_name(of->dtype));
  json_name("count");
  json_size(of->count);
  const double numbers[] = {of->least, of->greatest, of->mean, deviation(of)};
  static const char *const names[] = {"min", "max", "mean", "std"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    json_name(names[i]);
    json_real(any ? numbers[i] : NAN);
  }
  json_name("nan");
  json_size(of->nan);
  json_name("infinite");
  json_size(of->infinite);
  if (of->bins_len) {
    json_name("histogram");
    json_begin('{');
    json_name("low");
    json_real(of->low);
    json_name("high");
    json_real(of->high);
    json_name("counts");
    json_begin('[');
    for (size_t i = 0; i < of->bins_len; i++) json_size(of->bins[i]);
    json_end(']');
    json_end('}');
  }
  json_end('}');
}

static uint64_t work(const td_tensordict *td) {
  size_t bytes;
  must(td_nbytes(td, &bytes));
  return (uint64_t)bytes * (given.fast ? 1 : 2);
}

static int run(int count, char **arguments) {
  static const char *const heads[] = {"leaf", "dtype", "count", "min", "max",
                                      "mean", "std",   "NaN",   ""};
  td_tensordict *td = open_any(arguments[0], false);
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

const tool_command command_stats = {
    .name = "stats",
    .arguments = "PATH [KEY...] [OPTION...]",
    .summary = "Minimum, maximum, mean and NaN count of each tensor, and a histogram",
    .text =
        "tdtool reads the values piece by piece, so the data may be larger than the "
        "memory. Mean and standard deviation are those of the finite values. For complex "
        "numbers they are those of the magnitude.",
    .example =
        "tdtool stats rollout\ntdtool stats rollout next/reward\ntdtool stats rollout --fast "
        "--json",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 1,
    .most = -1,
    .run = run,
};
