/* What the terminal can do: width, UTF-8, colours. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plain.h"

static bool utf8, colors;

void terminal_begin(void) {
  setlocale(LC_CTYPE, ""); /* not LC_NUMERIC: numbers have a point */
  utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (common.color && strcmp(common.color, "auto") != 0) {
    colors = strcmp(common.color, "always") == 0;
  } else {
    colors =
        isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
  }
}

bool terminal_utf8(void) { return utf8; }

size_t terminal_width(void) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO)) return 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  return width > 0 ? (size_t)width : 80;
}

const char *color_on(color which) {
  static const char *const codes[] = {"",         "\033[1m",  "\033[2m",  "\033[31m", "\033[32m",
                                      "\033[33m", "\033[34m", "\033[35m", "\033[36m"};
  return colors ? codes[which] : "";
}

const char *color_off(color which) { return colors && which != PLAIN ? "\033[0m" : ""; }
