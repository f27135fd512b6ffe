/* The report of one tensor: pictures, charts, numbers, outliers. */
#include <stdlib.h>

#include "report.h"

static void print_outliers(const look *at) {
  if (!at->outliers) return;
  fputs("<details><summary><span class=\"warn\">", stdout);
  html_count(at->outliers);
  printf(
      "</span> far from the median</summary><table><thead><tr><th>Row</th><th "
      "class=\"n\">Value</th><th class=\"n\">"
      "Distance in deviations</th></tr></thead><tbody>");
  for (size_t i = 0; i < at->outliers && i < OUTLIERS; i++) {
    fputs("<tr><td>", stdout);
    for (size_t dim = 0; dim < at->first[i].dims; dim++)
      printf("%s%lld", dim ? ", " : "", (long long)at->first[i].place[dim]);
    fputs("</td><td class=\"n\">", stdout);
    html_real(at->first[i].value);
    fputs("</td><td class=\"n\">", stdout);
    html_real(at->first[i].score);
    fputs("</td></tr>", stdout);
  }
  if (at->outliers > OUTLIERS)
    fputs("<tr><td class=\"dim\" colspan=\"3\">and more</td></tr>", stdout);
  fputs("</tbody></table></details>\n", stdout);
}

static void print_charts(const page *of, size_t i) {
  look *at = of->looks + i;
  curve curves[CURVES];
  const char *label = at->curves_len > 1 ? "Course of each element"
                      : at->width == at->curves_len
                          ? "Course"
                          : "Course: mean of the elements of a row, and their range";
  for (size_t n = 0; n < at->curves_len; n++) curves[n] = (curve){at->curves + n, n};
  if (!(at->about.low < at->about.high)) { /* no range to draw */
    if (at->about.finite > 1) {
      fputs("<p class=\"dim\">Every finite value is ", stdout);
      html_real(at->about.low);
      fputs(".</p>\n", stdout);
    }
    return;
  }
  printf("<div class=\"charts%s\">", at->curves_len ? "" : " one");
  svg_course(curves, at->curves_len, label, "row");
  svg_histogram(&at->about);
  fputs("</div>\n", stdout);
}

void print_report_leaf(const page *of, size_t i) {
  const look *at = of->looks + i;
  const entry *line = of->lines.entries + of->places[i];
  const key *path = &of->chosen.items[i].path;
  text shape = {NULL, 0, 0}, size = {NULL, 0, 0};
  picture as;
  add_shape(&shape, line->sizes, line->dims);
  add_size(&size, line->bytes);
  printf("<section class=\"card\" id=\"leaf-%zu\"><header><h3>", i);
  html_key(path);
  printf("</h3><span class=\"kind\">%s %s, %s", dtype_name(line->dtype), shape.data, size.data);
  if (line->having) printf(", in %zu of %zu elements", line->having, line->of);
  fputs("</span></header>\n", stdout);
  if (of->by_rows && at->about.finite && of->runs.rows &&
      picture_of(line, of->lines.entries->dims, &as))
    print_pictures(of->td, path, &as, &at->about, of->runs.rows);
  print_charts(of, i);
  fputs("<dl class=\"facts\"><div><dt>count</dt><dd>", stdout);
  html_count(at->about.count);
  fputs("</dd></div>", stdout);
  if (at->about.finite) {
    html_fact("min", at->about.least);
    html_fact("median", at->median);
    html_fact("mean", at->about.mean);
    html_fact("max", at->about.greatest);
    html_fact("std", summary_deviation(&at->about));
  }
  html_fact("NaN", (double)at->about.nan);
  html_fact("infinite", (double)at->about.infinite);
  fputs("</dl>\n", stdout);
  print_outliers(at);
  fputs("</section>\n", stdout);
  text_free(&shape);
  text_free(&size);
}
