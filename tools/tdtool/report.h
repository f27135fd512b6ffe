/* The page of tdtool report, in parts, each printed as soon as it is known. */
#ifndef TDTOOL_REPORT_H
#define TDTOOL_REPORT_H

#include "series.h"
#include "summary.h"

/* html.c: text and the frame of the page. */
void html_text(const char *utf8); /* escaped */
void html_key(const key *path);
void html_count(uint64_t number); /* 1 234 567 */
void html_real(double value);     /* as stats prints it */
void html_fact(const char *name, double value);
void html_begin(const char *title);
void html_end(void);

/* svg.c: charts. */
typedef struct curve {
  const series *values;
  size_t color; /* 0 to 3 */
} curve;
void svg_course(const curve *curves, size_t count, const char *label, const char *rows);
void svg_histogram(const summary *of);
void svg_spark(const series *of); /* as small as a word */

/* png.c: a picture of 1, 3 or 4 bytes for each dot, as the address of an image. False: out of memory. */
bool png_address(const unsigned char *dots, size_t width, size_t height, size_t channels);

/* episodes.c: lengths and returns of episodes. */
typedef struct episodes {
  int64_t rows;    /* of the dictionary */
  size_t count;    /* 0: no sign of episodes */
  double *lengths; /* one for each */
  double *returns; /* NULL: there is no reward */
  char *how;       /* the sign that ends an episode, for people */
  char *reward;    /* the key of the reward */
} episodes;
episodes episodes_of(const td_tensordict *td, const tree *lines);
void episodes_free(episodes *of);

/* look.c: the values of one tensor. */
enum { CURVES = 4, SAMPLE = 4096, OUTLIERS = 5, PICTURES = 8 };
typedef struct outlier {
  int64_t place[64];
  size_t dims;
  double value, score;
} outlier;
typedef struct look {
  summary about;
  size_t width;   /* elements of a row; 0: they differ */
  series *curves; /* CURVES of them; one for all elements of wide rows */
  size_t curves_len;
  double median, spread; /* spread: the median distance from the median, as a standard deviation */
  uint64_t outliers;
  outlier first[OUTLIERS];
} look;
/* by_rows: the dictionary has batch dimensions, and so a course. */
look look_at(const td_tensordict *td, const leaf *of, bool by_rows);
void look_free(look *of);

/* pictures.c: tensors that look like pictures. */
typedef struct picture {
  size_t height, width, channels;
  bool channels_first, depth; /* depth: one number for each dot */
} picture;
bool picture_of(const entry *line, size_t batch_dims, picture *result);
void print_pictures(const td_tensordict *td, const key *path, const picture *as,
                    const summary *about, int64_t rows);

/* report_leaf.c, for cmd_report.c */
typedef struct page {
  const char *path, *title;
  form which;
  td_tensordict *td;
  tree lines;
  leaves chosen;
  look *looks;    /* one for each chosen leaf */
  size_t *places; /* of the leaves among the lines */
  episodes runs;
  bool by_rows;
} page;
void print_report_leaf(const page *of, size_t i);

#endif
