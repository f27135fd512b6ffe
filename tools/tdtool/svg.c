/* Charts as SVG: the course of values over the rows, and how often they occur. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { WIDTH = 640, HEIGHT = 190, LEFT = 54, BOTTOM = 22, TOP = 6, MOST_POINTS = 560 };
enum { BARS_WIDTH = 260, BARS_HEIGHT = 190 };

typedef struct scale {
  double low, high;
  double top, bottom; /* in the chart */
} scale;

static double place(const scale *of, double value) {
  return of->bottom - part_between(value, of->low, of->high) * (of->bottom - of->top);
}

/* 1, 2 or 5 times a power of ten, so that some four lines fit. */
static double nice_step(double distance) {
  double rough = distance / 4, power = pow(10, floor(log10(rough))), part = rough / power;
  return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void print_tick(const scale *of, double value) {
  double y = place(of, value);
  printf(
      "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
      "text-anchor=\"end\">",
      LEFT, WIDTH, y, y, LEFT - 8, y + 4);
  html_real(fabs(value) < 1e-12 * (of->high - of->low) ? 0 : value);
  fputs("</text>", stdout);
}

static void print_ticks(const scale *of) {
  double distance = of->high - of->low, step = distance > 0 ? nice_step(distance) : 0;
  if (!(step > 0) || !isfinite(step)) {
    print_tick(of, of->low);
    if (of->high > of->low) print_tick(of, of->high);
    return;
  }
  double first = ceil(of->low / step);
  for (int i = 0; i < 12 && (first + i) * step <= of->high + step * 1e-9; i++)
    print_tick(of, (first + i) * step);
}

typedef struct points { /* a series in as many pieces as a chart shows */
  bucket at[MOST_POINTS];
  size_t length;
} points;

static points points_of(const series *from) {
  points result = {.length = 0};
  size_t count = series_length(from), each = (count + MOST_POINTS - 1) / MOST_POINTS;
  for (size_t i = 0; i < count; i += each ? each : 1) {
    bucket sum = from->buckets[i];
    for (size_t more = i + 1; more < i + each && more < count; more++)
      sum = bucket_join(sum, from->buckets[more]);
    result.at[result.length++] = sum;
  }
  return result;
}

static double across(const points *of, size_t i, double left, double right) {
  return of->length > 1 ? left + (right - left) * (double)i / (double)(of->length - 1)
                        : (left + right) / 2;
}

/* Gaps where there are no values. */
static void print_curve(const points *of, const scale *by, double left, double right,
                        size_t color) {
  bool band = false, pen = false;
  for (size_t i = 0; i < of->length; i++) band = band || of->at[i].low < of->at[i].high;
  for (size_t i = 0; band && i < of->length;) {
    size_t end = i;
    while (end < of->length && of->at[end].count) end++;
    if (end > i) {
      printf("<path class=\"band f%zu\" d=\"M", color);
      for (size_t at = i; at < end; at++)
        printf("%.1f %.1f ", across(of, at, left, right), place(by, of->at[at].high));
      for (size_t at = end; at-- > i;)
        printf("%.1f %.1f ", across(of, at, left, right), place(by, of->at[at].low));
      printf("Z\"/>");
    }
    i = end + 1;
  }
  printf("<path class=\"curve s%zu\" d=\"", color);
  for (size_t i = 0; i < of->length; i++) {
    const bucket *at = of->at + i;
    if (at->count) {
      double x = across(of, i, left, right), y = place(by, at->sum / (double)at->count);
      bool alone = !pen && (i + 1 == of->length || !of->at[i + 1].count);
      printf("%s%.1f %.1f", pen ? "L" : "M", x, y);
      if (alone) printf("h.1");
    }
    pen = at->count > 0;
  }
  printf("\"/>");
}

void svg_course(const curve *curves, size_t count, const char *label, const char *rows) {
  scale by = {INFINITY, -INFINITY, TOP, HEIGHT - BOTTOM};
  int64_t length = 0;
  for (size_t i = 0; i < count; i++) {
    by.low = fmin(by.low, curves[i].values->low);
    by.high = fmax(by.high, curves[i].values->high);
    length = curves[i].values->rows > length ? curves[i].values->rows : length;
  }
  if (by.low > by.high) return;
  printf("<figure><figcaption>%s", label);
  for (size_t i = 0; i < count && count > 1; i++)
    printf("<span class=\"mark b%zu\"></span>%zu", curves[i].color, i);
  printf("</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", WIDTH, HEIGHT,
         label);
  print_ticks(&by);
  for (size_t i = 0; i < count; i++) {
    points drawn = points_of(curves[i].values);
    print_curve(&drawn, &by, LEFT, WIDTH, curves[i].color);
  }
  printf("<text x=\"%d\" y=\"%d\">0</text>", LEFT, HEIGHT - 5);
  if (length > 1) {
    printf(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text><text x=\"%d\" y=\"%d\" "
        "text-anchor=\"end\">",
        (LEFT + WIDTH) / 2, HEIGHT - 5, rows, WIDTH, HEIGHT - 5);
    html_count((uint64_t)length - 1);
    printf("</text>");
  }
  printf("</svg></figure>\n");
}

void svg_histogram(const summary *of) {
  uint64_t most = 1;
  double step = (double)BARS_WIDTH / (double)of->bins_len,
         width = step > 4 ? step - 1.5 : step * 0.8;
  const double bottom = BARS_HEIGHT - BOTTOM;
  if (width > 26) width = 26;
  for (size_t i = 0; i < of->bins_len; i++) most = of->bins[i] > most ? of->bins[i] : most;
  printf(
      "<figure><figcaption>Histogram</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" "
      "aria-label=\"Histogram\">",
      BARS_WIDTH, BARS_HEIGHT);
  for (size_t i = 0; i < of->bins_len; i++) {
    double height = (bottom - TOP) * (double)of->bins[i] / (double)most,
           part = (double)i / (double)of->bins_len;
    if (of->bins[i] && height < 1) height = 1;
    printf(
        "<rect class=\"f0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
        "rx=\"1\"><title>from ",
        (double)i * step + (step - width) / 2, bottom - height, width, height);
    html_real(of->low * (1 - part) + of->edge * part);
    fputs(": ", stdout);
    html_count(of->bins[i]);
    fputs("</title></rect>", stdout);
  }
  printf("<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"0\" y=\"%d\">",
         BARS_WIDTH, bottom, bottom, BARS_HEIGHT - 5);
  html_real(of->low);
  if (of->bins_len > 1) {
    printf("</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", BARS_WIDTH, BARS_HEIGHT - 5);
    html_real(of->high);
  }
  printf("</text></svg></figure>\n");
}

void svg_spark(const series *of) {
  scale by = {of->low, of->high, 2, 20};
  if (of->low > of->high) return;
  points all = points_of(of), few = {.length = 0};
  size_t each = all.length / 55 + 1;
  for (size_t i = 0; i < all.length; i++) {
    bucket *at = few.at + i / each;
    bool first = i % each == 0;
    *at = first ? all.at[i] : bucket_join(*at, all.at[i]);
    few.length += first;
  }
  printf("<svg class=\"spark\" viewBox=\"0 0 110 22\" aria-hidden=\"true\">");
  print_curve(&few, &by, 1, 109, 0);
  printf("</svg>");
}
