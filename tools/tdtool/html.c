#include <math.h>
#include <string.h>

#include "report.h"
#include "report_css.h"

void html_text(const char *utf8) {
  text clean = {NULL, 0, 0};
  add(&clean, "");
  add_escaped(&clean, utf8); /* control characters, and those that turn the direction of text */
  for (const char *at = clean.data; *at; at++) {
    switch (*at) {
      case '&': fputs("&amp;", stdout); break;
      case '<': fputs("&lt;", stdout); break;
      case '>': fputs("&gt;", stdout); break;
      case '"': fputs("&quot;", stdout); break;
      case '\'': fputs("&#39;", stdout); break;
      default: putchar(*at);
    }
  }
  text_free(&clean);
}

void html_key(const key *path) {
  text name = {NULL, 0, 0};
  add_key(&name, path->names, path->length);
  html_text(name.data);
  text_free(&name);
}

void html_count(uint64_t number) {
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0)
      fputs("\xE2\x80\xAF", stdout); /* a narrow space that does not break */
    putchar(digits[i]);
  }
}

void html_real(double value) {
  if (isnan(value))
    fputs("–", stdout);
  else if (isinf(value))
    fputs(value < 0 ? "−∞" : "∞", stdout);
  else
    printf("%s%.4g", value < 0 ? "−" : "", fabs(value));
}

void html_fact(const char *name, double value) {
  printf("<div><dt>%s</dt><dd>", name);
  html_real(value);
  fputs("</dd></div>", stdout);
}

void html_begin(const char *title) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; "
      "img-src data:\">\n<title>",
      stdout);
  html_text(title);
  printf("</title>\n<style>\n%s</style>\n</head>\n<body>\n<div class=\"page\">\n", report_css);
}

void html_end(void) {
  printf(
      "<footer>Written by tdtool %d.%d.%d. Values that are not finite are counted and not drawn. "
      "Where rows share a "
      "dot, the band spans from the least to the greatest of them and the line is their "
      "mean.</footer>\n"
      "</main>\n</div>\n</body>\n</html>\n",
      TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
}
