/* tdtool plot: the values of a tensor in the terminal, row by row, or how often they occur. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "runs.h"
#include "series.h"

enum { LABEL = 10, MOST_SIZE = 1000 };

static void add_row(void *user, double value, bool there) {
  if (there)
    series_add(user, value);
  else
    series_skip(user);
}

static size_t height_of(double value, double low, double high, size_t dots) {
  return (size_t)(part_between(value, low, high) * (double)(dots - 1) + 0.5);
}

/* Each column of dots shows all rows that fall on it, and is tied to the one before. */
static void draw(canvas *on, const series *of) {
  size_t width = canvas_width(on), height = canvas_height(on), count = series_length(of),
         before = 0;
  double last = NAN;
  for (size_t i = 0; i < count; i++) {
    const bucket *at = of->buckets + i;
    size_t x = count > 1 ? i * (width - 1) / (count - 1) : 0;
    if (at->low > at->high) {
      last = NAN;
      continue;
    }
    size_t low = height_of(at->low, of->low, of->high, height),
           high = height_of(at->high, of->low, of->high, height);
    canvas_line(on, x, low, high);
    double middle = ((double)low + (double)high) / 2;
    if (isfinite(last) && x <= before + 1) { /* neighbours meet half way */
      size_t half = (size_t)((last + middle) / 2 + 0.5);
      canvas_line(on, before, (size_t)(last + 0.5), half);
      canvas_line(on, x, half, (size_t)(middle + 0.5));
    }
    for (size_t step = before + 1; isfinite(last) && step < x; step++) {
      double part = (double)(step - before) / (double)(x - before);
      size_t y = (size_t)(last + part * (middle - last) + 0.5);
      canvas_line(on, step, y, y);
    }
    last = middle;
    before = x;
  }
}

static void print_label(double value, bool shown) {
  char room[40] = "";
  if (shown) snprintf(room, sizeof room, "%.4g", value);
  printf("%s%*s%s %s ", color_on(DIM), LABEL, room, color_off(DIM), terminal_utf8() ? "│" : "|");
}

static void print_chart(const series *of, size_t columns, size_t lines) {
  canvas *on = canvas_new(columns, lines);
  draw(on, of);
  for (size_t line = 0; line < lines; line++) {
    text dots = {NULL, 0, 0};
    add(&dots, "");
    canvas_text(on, line, &dots);
    bool top = line == 0, bottom = line + 1 == lines, flat = !(of->high > of->low);
    if (flat)
      print_label(of->low, line == lines / 2);
    else
      print_label(top      ? of->high
                  : bottom ? of->low
                           : of->low / 2 + of->high / 2,
                  top || bottom || (line == lines / 2 && lines > 4 && lines % 2 == 1));
    printf("%s%s%s\n", color_on(CYAN), dots.data, color_off(CYAN));
    text_free(&dots);
  }
  char first[40], last[40];
  snprintf(first, sizeof first, "%lld", (long long)plot_asked.from);
  snprintf(last, sizeof last, "%lld", (long long)(plot_asked.from + of->rows - 1));
  int gap = (int)columns - (int)strlen(first) - (int)strlen(last);
  if (of->rows > 1 && gap > 0)
    printf("%*s%s%s%*s%s%s\n", LABEL + 3, "", color_on(DIM), first, gap, "", last, color_off(DIM));
  else
    printf("%*s%s%s%s\n", LABEL + 3, "", color_on(DIM), first, color_off(DIM));
  canvas_free(on);
}

typedef struct bins {
  double low, high;
  uint64_t *counts;
  size_t length;
} bins;

static void add_bin(void *user, double value, bool there) {
  bins *of = user;
  if (!there || !isfinite(value)) return;
  size_t bin = (size_t)(part_between(value, of->low, of->high) * (double)of->length);
  of->counts[bin < of->length ? bin : of->length - 1]++;
}

static void print_bins(const bins *of, size_t columns) {
  uint64_t most = 1;
  for (size_t i = 0; i < of->length; i++) most = of->counts[i] > most ? of->counts[i] : most;
  for (size_t i = of->length; i-- > 0;) {
    double part = (double)i / (double)of->length;
    size_t length = (size_t)((double)of->counts[i] / (double)most * (double)columns + 0.5);
    if (of->counts[i] && !length) length = 1;
    print_label(of->low * (1 - part) + of->high * part, true);
    printf("%s", color_on(GREEN));
    for (size_t at = 0; at < length; at++) fputs(terminal_utf8() ? "█" : "#", stdout);
    printf("%s%s%llu\n", color_off(GREEN), length ? " " : "", (unsigned long long)of->counts[i]);
  }
}

static void json_series(const series *of) {
  json_begin('[');
  for (size_t i = 0; i < series_length(of); i++) {
    int64_t from = plot_asked.from + (int64_t)i * of->span, past = from + of->span;
    int64_t end = plot_asked.from + of->rows;
    json_begin('{');
    json_member(int, "from", from);
    json_member(int, "past", past < end ? past : end);
    json_member(real, "min", of->buckets[i].low > of->buckets[i].high ? NAN : of->buckets[i].low);
    json_member(real, "max", of->buckets[i].low > of->buckets[i].high ? NAN : of->buckets[i].high);
    json_end('}');
  }
  json_end(']');
  json_finish();
}

/* The key must be one tensor with this element. */
static void check_key(const td_tensordict *td, char *typed, column *of) {
  leaves all = leaves_of(td, false);
  leaves_keep(&all, 1, &typed);
  if (all.length != 1) die_usage("plot: %s has %zu tensors; name one of them", typed, all.length);
  of->path = key_copy(all.items[0].path.names, all.items[0].path.length);
  if (all.items[0].kind != TD_ENTRY_TENSOR && all.items[0].kind != TD_ENTRY_NONE)
    die_usage("plot: %s is a nested tensor, whose rows have no fixed elements", typed);
  leaves_free(&all);
  tree lines = tree_of(td, false);
  for (size_t i = 1; i < lines.length; i++) {
    const entry *line = lines.entries + i;
    key path;
    entry_key(&lines, i, &path);
    bool found = path.length == of->path.length && key_within(path.names, path.length, of->path);
    key_free(&path);
    if (!found) continue;
    int64_t elements = 1;
    bool differs = false; /* between the elements of a lazy stack */
    for (size_t dim = lines.entries->dims; dim < line->dims; dim++) {
      differs = differs || line->sizes[dim] < 0;
      elements *= line->sizes[dim];
    }
    if (!differs && of->element >= elements)
      die_usage("plot: no element %lld: a row of %s has %lld", (long long)of->element, typed,
                (long long)elements);
  }
  tree_free(&lines);
}

static size_t limited(int64_t asked, size_t usual, size_t least) {
  size_t size = asked ? (size_t)(asked > MOST_SIZE ? MOST_SIZE : asked) : usual;
  return size < least ? least : size;
}

int run_plot(int count, char **arguments) {
  (void)count;
  td_tensordict *td = open_rows(arguments[0]);
  series *values = xcalloc(1, sizeof *values);
  column of = {.element = plot_asked.element,
               .from = plot_asked.from,
               .rows = plot_asked.rows,
               .each = add_row,
               .user = values};
  check_key(td, arguments[1], &of);
  series_begin(values);
  column_rows(td, &of);
  size_t width = terminal_width() ? terminal_width() : 80;
  size_t columns = limited(plot_asked.width, width, LABEL + 13) - LABEL - 3,
         lines = limited(plot_asked.height, 12, 2);
  if (values->rows == 0) die("no row %lld to draw in %s", (long long)plot_asked.from, arguments[0]);
  if (common.json) {
    json_series(values);
  } else if (values->low > values->high) {
    printf("no finite value in %lld rows\n", (long long)values->rows);
  } else if (plot_asked.hist) {
    bins bars = {values->low, values->high, xcalloc(lines, sizeof(uint64_t)),
                 values->high > values->low ? lines : 1};
    of.each = add_bin;
    of.user = &bars;
    column_rows(td, &of);
    print_bins(&bars, columns > 20 ? columns - 10 : columns);
    free(bars.counts);
  } else {
    print_chart(values, columns, lines);
  }
  if (!common.json && values->not_finite)
    printf("%llu of %lld values %s not finite\n", (unsigned long long)values->not_finite,
           (long long)values->rows, values->not_finite == 1 ? "is" : "are");
  key_free(&of.path);
  free(values);
  td_free(td);
  return TOOL_FINE;
}
