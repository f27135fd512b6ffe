/* tdtool report: a page of HTML about a dictionary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "runs.h"

static void figure(const char *what, uint64_t number) {
  fputs("<div><b>", stdout);
  html_count(number);
  printf("</b><span>%s</span></div>", what);
}

static void print_head(const page *of) {
  const entry *root = of->lines.entries;
  text batch = {NULL, 0, 0}, size = {NULL, 0, 0};
  uint64_t missing = 0;
  add_shape(&batch, root->sizes, root->dims);
  add_size(&size, root->bytes);
  for (size_t i = 0; i < of->chosen.length; i++)
    missing += of->looks[i].about.nan + of->looks[i].about.infinite;
  printf("<main>\n<h1 id=\"top\">");
  html_text(of->title);
  printf("</h1>\n<p class=\"sub\">%s, batch size %s</p>\n<div class=\"figures\">",
         form_title(of->which), batch.data);
  if (of->by_rows) figure(of->runs.rows == 1 ? "row" : "rows", (uint64_t)of->runs.rows);
  if (of->runs.count) figure(of->runs.count == 1 ? "episode" : "episodes", of->runs.count);
  figure(root->tensors == 1 ? "tensor" : "tensors", root->tensors);
  if (root->values) figure(root->values == 1 ? "value" : "values", root->values);
  printf("<div><b>%s</b><span>in all</span></div>", size.data);
  figure("values not finite", missing);
  fputs("</div>\n", stdout);
  text_free(&batch);
  text_free(&size);
}

static void print_contents(const page *of, bool notes) {
  fputs("<nav aria-label=\"Contents\"><ol><li><a href=\"#top\">Overview</a></li>", stdout);
  if (notes) fputs("<li><a href=\"#notes\">Worth a look</a></li>", stdout);
  fputs("<li><a href=\"#structure\">Structure</a></li>", stdout);
  if (of->runs.count) fputs("<li><a href=\"#episodes\">Episodes</a></li>", stdout);
  if (of->chosen.length) fputs("<li class=\"head\">Tensors</li>", stdout);
  for (size_t i = 0; i < of->chosen.length; i++) {
    printf("<li><a href=\"#leaf-%zu\">", i);
    html_key(&of->chosen.items[i].path);
    fputs("</a></li>", stdout);
  }
  fputs("</ol></nav>\n", stdout);
}

/* Findings about a tensor: NaN, outliers, constants. Prints them if `print`. */
static bool print_note(const page *of, size_t i, bool print) {
  const look *at = of->looks + i;
  uint64_t bad = at->about.nan + at->about.infinite;
  bool constant = at->about.finite > 1 && at->about.low == at->about.high && !bad;
  if (!bad && !constant && !at->outliers && at->about.count) return false;
  if (!print) return true;
  printf("<li><a class=\"key\" href=\"#leaf-%zu\">", i);
  html_key(&of->chosen.items[i].path);
  fputs("</a> ", stdout);
  if (!at->about.count) fputs("has no elements", stdout);
  if (at->about.nan) {
    fputs("has ", stdout);
    html_count(at->about.nan);
    fputs(" NaN", stdout);
  }
  if (at->about.infinite) {
    fputs(at->about.nan ? " and " : "has ", stdout);
    html_count(at->about.infinite);
    fputs(at->about.infinite == 1 ? " infinite value" : " infinite values", stdout);
  }
  if (constant) {
    fputs("is always ", stdout);
    html_real(at->about.low);
  }
  if (at->outliers) {
    fputs(bad ? ", and " : "has ", stdout);
    html_count(at->outliers);
    fputs(at->outliers == 1 ? " outlier" : " outliers", stdout);
  }
  fputs("</li>\n", stdout);
  return true;
}

static bool print_notes(const page *of, bool print) {
  bool any = false;
  for (size_t i = 0; i < of->chosen.length; i++) any = print_note(of, i, false) || any;
  if (!any || !print) return any;
  fputs("<h2 id=\"notes\">Worth a look</h2>\n<div class=\"card\"><ul class=\"notes\">\n", stdout);
  for (size_t i = 0; i < of->chosen.length; i++) print_note(of, i, true);
  fputs("</ul></div>\n", stdout);
  return any;
}

static void print_cells(const page *of, size_t i) {
  const look *at = of->looks + i;
  bool any = at->about.finite > 0;
  const double numbers[] = {at->about.least, at->about.greatest, at->about.mean,
                            summary_deviation(&at->about)};
  for (size_t n = 0; n < COUNT_OF(numbers); n++) {
    fputs("<td class=\"n\">", stdout);
    html_real(any ? numbers[n] : NAN);
    fputs("</td>", stdout);
  }
  uint64_t bad = at->about.nan + at->about.infinite;
  printf("<td class=\"n%s\">", bad ? " warn" : " dim");
  html_count(bad);
  fputs("</td><td>", stdout);
  if (at->curves_len) svg_spark(at->curves);
  fputs("</td>", stdout);
}

static void print_structure(const page *of) {
  fputs(
      "<h2 id=\"structure\">Structure</h2>\n<div "
      "class=\"card\"><table>\n<thead><tr><th>Key</th><th>Type</th>"
      "<th>Shape</th><th class=\"n\">Size</th><th class=\"n\">Min</th><th class=\"n\">Max</th><th "
      "class=\"n\">Mean</th>"
      "<th class=\"n\">Std</th><th class=\"n\">Not finite</th><th></th></tr></thead>\n<tbody>\n",
      stdout);
  size_t next = 0;
  for (size_t i = 1; i < of->lines.length; i++) {
    const entry *line = of->lines.entries + i;
    bool dict = line->kind == TD_ENTRY_DICT, value = line->kind == TD_ENTRY_NON_TENSOR;
    bool chosen = next < of->chosen.length && of->places[next] == i;
    text shape = {NULL, 0, 0}, size = {NULL, 0, 0}, note = {NULL, 0, 0};
    if (!value) add_shape(&shape, line->sizes, line->dims);
    if (!value) add_size(&size, line->bytes);
    add_note(&note, line);
    printf("<tr><td class=\"%s\" style=\"padding-left:%zupx\">", dict ? "dim" : "key",
           18 * (line->depth < 12 ? line->depth - 1 : 11));
    if (chosen) printf("<a href=\"#leaf-%zu\">", next);
    html_text(*line->name ? line->name : "\"\"");
    if (chosen) fputs("</a>", stdout);
    printf("</td><td class=\"dim\">%s</td><td class=\"dim\">%s</td><td class=\"n dim\">%s</td>",
           dict    ? ""
           : value ? "value"
                   : dtype_name(line->dtype),
           dict && line->same_batch ? ""
           : shape.data             ? shape.data
                                    : "",
           dict        ? ""
           : size.data ? size.data
                       : "");
    if (chosen) {
      print_cells(of, next++);
    } else {
      fputs("<td colspan=\"6\" class=\"dim\">", stdout);
      html_text(note.data ? note.data : "");
      fputs("</td>", stdout);
    }
    fputs("</tr>\n", stdout);
    text_free(&shape);
    text_free(&size);
    text_free(&note);
  }
  fputs("</tbody></table></div>\n", stdout);
}

/* One number for each episode. */
static void print_each(const double *values, size_t count, const char *label) {
  summary about;
  series *course = xcalloc(1, sizeof *course);
  curve one = {course, 0};
  summary_begin(&about);
  series_begin(course);
  about.dtype = TD_DTYPE_FLOAT64;
  summary_look(&about, values, count);
  for (size_t i = 0; i < count; i++) series_add(course, values[i]);
  if (summary_bins(&about, 24)) summary_sort(&about, values, count);
  if (about.low < about.high) {
    fputs("<div class=\"charts\">", stdout);
    svg_course(&one, 1, label, "episode");
    svg_histogram(&about);
    fputs("</div>", stdout);
  }
  fputs("<dl class=\"facts\">", stdout);
  html_fact("least", about.least);
  html_fact("mean", about.mean);
  html_fact("greatest", about.greatest);
  html_fact("std", summary_deviation(&about));
  fputs("</dl>\n", stdout);
  free(course);
}

static void print_episodes(const page *of) {
  if (!of->runs.count) return;
  fputs(
      "<h2 id=\"episodes\">Episodes</h2>\n<div class=\"card\"><header><h3>Length</h3><span "
      "class=\"kind\">ends at ",
      stdout);
  html_text(of->runs.how);
  fputs("</span></header>\n", stdout);
  print_each(of->runs.lengths, of->runs.count, "Rows of each episode");
  fputs("</div>\n", stdout);
  if (!of->runs.returns) return;
  fputs("<div class=\"card\"><header><h3>Return</h3><span class=\"kind\">sum of ", stdout);
  html_text(of->runs.reward);
  fputs("</span></header>\n", stdout);
  print_each(of->runs.returns, of->runs.count, "Return of each episode");
  fputs("</div>\n", stdout);
}

/* The line of each chosen leaf; both have the same order. */
static void find_places(page *of) {
  size_t next = 0;
  of->places = xcalloc(of->chosen.length, sizeof *of->places);
  for (size_t i = 1; i < of->lines.length && next < of->chosen.length; i++) {
    key path;
    const key *wanted = &of->chosen.items[next].path;
    if (of->lines.entries[i].depth != wanted->length) continue;
    entry_key(&of->lines, i, &path);
    if (key_within(path.names, path.length, *wanted)) of->places[next++] = i;
    key_free(&path);
  }
  if (next < of->chosen.length) die("an entry has vanished");
}

static void read_all(page *of) {
  of->lines = tree_of(of->td, false);
  of->by_rows = of->lines.entries->dims > 0;
  find_places(of);
  if (of->by_rows) of->runs = episodes_of(of->td, &of->lines);
  of->looks = xcalloc(of->chosen.length, sizeof *of->looks);
  progress_begin("report", 2 * of->lines.entries->bytes);
  for (size_t i = 0; i < of->chosen.length; i++)
    of->looks[i] = look_at(of->td, of->chosen.items + i, of->by_rows);
  progress_end();
}

int run_report(int count, char **arguments) {
  page of = {.path = arguments[0], .title = report_asked.title ? report_asked.title : arguments[0]};
  if (common.json) die_usage("report writes HTML; stats --json has the numbers");
  of.which = form_of_file(of.path);
  of.td = open_rows(of.path);
  of.chosen = leaves_of(of.td, false);
  leaves_keep(&of.chosen, count - 1, arguments + 1);
  read_all(&of);
  html_begin(of.title);
  print_contents(&of, print_notes(&of, false));
  print_head(&of);
  print_notes(&of, true);
  print_structure(&of);
  print_episodes(&of);
  if (of.chosen.length) fputs("<h2>Tensors</h2>\n", stdout);
  for (size_t i = 0; i < of.chosen.length; i++) print_report_leaf(&of, i);
  html_end();
  for (size_t i = 0; i < of.chosen.length; i++) look_free(of.looks + i);
  free(of.looks);
  free(of.places);
  episodes_free(&of.runs);
  leaves_free(&of.chosen);
  tree_free(&of.lines);
  td_free(of.td);
  return TOOL_FINE;
}
