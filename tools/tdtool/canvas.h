/* A drawing of dots in the terminal: braille where it has UTF-8, else one character for a dot. */
#ifndef TDTOOL_CANVAS_H
#define TDTOOL_CANVAS_H

#include "plain.h"

typedef struct canvas canvas;
canvas *canvas_new(size_t columns, size_t lines);
size_t canvas_width(const canvas *of); /* in dots */
size_t canvas_height(const canvas *of);
void canvas_line(canvas *on, size_t x, size_t from, size_t to); /* upright; y counts from below */
void canvas_text(const canvas *of, size_t line, text *to);      /* line 0 is on top */
void canvas_free(canvas *of);

#endif
