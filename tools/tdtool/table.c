/* Columns that are aligned and fit the terminal. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

typedef struct cell {
  char *utf8;
  color which;
} cell;

struct table {
  char *alignment;
  size_t columns;
  cell *cells;
  size_t count, capacity;
};

enum { GAP = 2, LEAST = 16 };

table *table_new(const char *alignment) {
  table *made = xcalloc(1, sizeof *made);
  made->columns = strlen(alignment);
  made->alignment = xstrdup(alignment);
  return made;
}

void table_cell(table *to, color which, const char *utf8) {
  if (to->count == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 64;
    to->cells = xrealloc(to->cells, to->capacity * sizeof *to->cells);
  }
  to->cells[to->count++] = (cell){xstrdup(utf8), which};
}

size_t table_rows(const table *of) { return of->count / of->columns; }

void table_free(table *of) {
  for (size_t i = 0; i < of->count; i++) free(of->cells[i].utf8);
  free(of->cells);
  free(of->alignment);
  free(of);
}

/* A cell, filled with blanks to the width of its column unless it is the last one of a line. */
static void print_cell(const cell *of, char alignment, size_t width, bool fill) {
  size_t columns = text_columns(of->utf8);
  const char *more = "";
  size_t bytes = strlen(of->utf8);
  if (columns > width) { /* a number is never shortened */
    more = terminal_utf8() ? "…" : "~";
    bytes = alignment == 'r' ? 0 : text_fit(of->utf8, width ? width - 1 : 0);
    columns = alignment == 'r' ? 1 : width;
  }
  size_t blanks = width - columns;
  if (alignment == 'r') printf("%*s", (int)blanks, "");
  if (bytes || *more) {
    printf("%s%.*s%s%s", color_on(of->which), (int)bytes, of->utf8, more, color_off(of->which));
  }
  if (alignment != 'r' && fill) printf("%*s", (int)blanks, "");
}

/* The lines of some columns; what goes beyond the limit is cut. */
static void print_columns(const table *of, const size_t *widths, const size_t *chosen, size_t count,
                          size_t limit) {
  for (size_t row = 0; row < table_rows(of); row++) {
    const cell *line = of->cells + row * of->columns;
    size_t end = count; /* behind the last cell that is not empty */
    while (end > 0 && !*line[chosen[end - 1]].utf8) end--;
    size_t used = 0;
    for (size_t i = 0; i < end && !(limit && used >= limit); i++) {
      size_t width = widths[chosen[i]];
      if (limit && used + width > limit) width = limit - used;
      print_cell(line + chosen[i], of->alignment[chosen[i]], width, i + 1 < end);
      used += width + GAP;
      if (i + 1 < end && !(limit && used >= limit)) printf("%*s", GAP, "");
    }
    putchar('\n');
  }
}

void table_print(const table *of, table_fit fit) {
  size_t limit = fit == WHOLE_LINES ? 0 : terminal_width(), total = 0;
  bool blocks = fit == BLOCKS;
  size_t *widths = xcalloc(of->columns, sizeof *widths),
         *chosen = xcalloc(of->columns, sizeof *chosen);
  for (size_t i = 0; i < of->count; i++) {
    size_t columns = text_columns(of->cells[i].utf8), column = i % of->columns;
    if (columns > widths[column]) widths[column] = columns;
  }
  for (size_t column = 0; column < of->columns; column++) {
    total += widths[column] + (column ? GAP : 0);
  }
  for (size_t column = 0; limit && total > limit && column < of->columns; column++) {
    if (of->alignment[column] != 'L') continue;
    size_t least = widths[column] < LEAST ? widths[column] : LEAST;
    size_t less = total - limit < widths[column] - least ? total - limit : widths[column] - least;
    widths[column] -= less;
    total -= less;
  }
  for (size_t next = 1, count; count = 0, next <= of->columns;) {
    size_t used = widths[0];
    chosen[count++] = 0;
    while (next < of->columns &&
           !(blocks && limit && count > 1 && used + GAP + widths[next] > limit)) {
      used += GAP + widths[next];
      chosen[count++] = next++;
    }
    print_columns(of, widths, chosen, count, limit);
    if (next >= of->columns) break;
    putchar('\n');
  }
  free(widths);
  free(chosen);
}
