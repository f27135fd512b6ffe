#include "canvas.h"

#include <stdlib.h>
#include <string.h>

struct canvas {
  size_t columns, lines, across, up; /* across, up: dots of a character */
  unsigned char *dots;               /* a bit for each dot of a character */
};

canvas *canvas_new(size_t columns, size_t lines) {
  canvas *made = xcalloc(1, sizeof *made);
  bool braille = terminal_utf8();
  *made = (canvas){columns, lines, braille ? 2 : 1, braille ? 4 : 1, xcalloc(columns * lines, 1)};
  return made;
}

size_t canvas_width(const canvas *of) { return of->columns * of->across; }
size_t canvas_height(const canvas *of) { return of->lines * of->up; }

void canvas_line(canvas *on, size_t x, size_t from, size_t to) {
  static const unsigned char bits[4][2] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
  if (from > to) {
    size_t other = from;
    from = to;
    to = other;
  }
  for (size_t y = from; y <= to && y < canvas_height(on) && x < canvas_width(on); y++) {
    size_t line = on->lines - 1 - y / on->up;
    on->dots[line * on->columns + x / on->across] |= bits[y % on->up][x % on->across];
  }
}

void canvas_text(const canvas *of, size_t line, text *to) {
  const unsigned char *dots = of->dots + line * of->columns;
  size_t end = of->columns;
  while (end > 0 && !dots[end - 1]) end--;
  for (size_t i = 0; i < end; i++) {
    if (!terminal_utf8() || !dots[i]) {
      add(to, dots[i] ? "*" : " ");
      continue;
    }
    const char code[] = {(char)0xE2, (char)(0xA0 | dots[i] >> 6), (char)(0x80 | (dots[i] & 0x3F)),
                         '\0'};
    add(to, code);
  }
}

void canvas_free(canvas *of) {
  free(of->dots);
  free(of);
}
