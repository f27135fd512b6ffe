/* tdtool watch: a folder that another program writes. It is read again only when its meta.json, or the count of its
 * rows, is another one. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runs.h"

enum { KEYS = 4, ELEMENTS = 3, COUNTED = 128 };

static volatile sig_atomic_t stopped;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static double seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct look {
  double begun, time; /* of the first look, and of this one */
  double before;      /* of the look before; less than 0 at the first look */
  int64_t rows, rows_before;
  struct stat meta;
  char counted[COUNTED];
  td_tensordict *td;
} look;

/* The file in which a writer counts rows between two meta.json files; all 0 if there is no such file. */
static void read_counted(const char *path, char *counted) {
  memset(counted, 0, COUNTED);
  FILE *file = fopen(path, "rbe");
  if (!file) return;
  if (fread(counted, 1, COUNTED, file) == 0) memset(counted, 0, COUNTED);
  fclose(file);
}

/* Whether there is something new to read. A folder that is being replaced is looked at again later. */
static void refresh(look *at, const char *path, const char *meta, const char *rows) {
  struct stat now;
  char counted[COUNTED];
  bool seen = stat(meta, &now) == 0;
  read_counted(rows, counted);
  if (at->td && (!seen || (now.st_ino == at->meta.st_ino && now.st_size == at->meta.st_size &&
                           now.st_mtim.tv_sec == at->meta.st_mtim.tv_sec &&
                           now.st_mtim.tv_nsec == at->meta.st_mtim.tv_nsec &&
                           memcmp(counted, at->counted, COUNTED) == 0)))
    return;
  td_tensordict *td;
  if (try_open(path, FORM_FOLDER, &td) != TD_OK) {
    if (!at->td) die("%s", td_last_error_message());
    return;
  }
  td_free(at->td);
  at->td = td;
  at->meta = now;
  memcpy(at->counted, counted, COUNTED);
}

/* The last row, or NULL if there are no rows. */
static td_tensordict *last_row(const td_tensordict *td) {
  td_tensordict *row, *inner;
  must(td_dup(td, &row));
  for (;;) {
    int64_t sizes[64];
    size_t dims;
    must(td_batch_size(row, sizes, COUNT_OF(sizes), &dims));
    if (dims == 0) return row;
    td_index_item item = TD_I_INT(-1);
    if (sizes[0] == 0 || td_index(row, &item, 1, &inner) != TD_OK) {
      td_free(row);
      return NULL;
    }
    td_free(row);
    row = inner;
  }
}

static void print_values(const td_tensordict *td, int count, char **typed) {
  leaves chosen = leaves_of(td, false);
  leaves_keep(&chosen, count, typed);
  td_tensordict *row = last_row(td);
  size_t length = count || chosen.length < KEYS ? chosen.length : KEYS;
  if (common.json) {
    json_member(begin, "last", '{');
  }
  for (size_t i = 0; row && i < length; i++) {
    const key *path = &chosen.items[i].path;
    elements values;
    if (!elements_at(row, path, &values)) continue;
    text name = {NULL, 0, 0}, shown = {NULL, 0, 0};
    add_key(&name, path->names, path->length);
    if (common.json) {
      json_member(elements, name.data, &values);
    } else {
      add_elements(&shown, &values, ELEMENTS);
      printf("  %s%s%s %s", color_on(DIM), name.data, color_off(DIM), shown.data);
    }
    text_free(&name);
    text_free(&shown);
    elements_free(&values);
  }
  if (common.json) json_end('}');
  td_free(row);
  leaves_free(&chosen);
}

static void print_look(const look *at, int count, char **typed) {
  double passed = at->time - at->before;
  bool known = at->before >= 0 && passed > 0;
  double rate = known ? (double)(at->rows - at->rows_before) / passed : NAN;
  if (common.json) {
    json_begin('{');
    json_member(real, "seconds", at->time - at->begun);
    json_member(int, "rows", at->rows);
    json_member(real, "rows_per_second", rate);
    print_values(at->td, count, typed);
    json_end('}');
    json_finish();
  } else {
    printf("%7.1f s  %s%lld rows%s", at->time - at->begun, color_on(BOLD), (long long)at->rows,
           color_off(BOLD));
    if (known) printf("  %s%.4g rows/s%s", color_on(GREEN), rate, color_off(GREEN));
    print_values(at->td, count, typed);
    putchar('\n');
  }
  if (fflush(stdout) != 0) stopped = 1; /* the reader of the pipe has gone */
}

static void rest(double seconds) {
  if (seconds < 0.01) seconds = 0.01;
  if (seconds > 1e6) seconds = 1e6;
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
  nanosleep(&time, NULL);
}

int run_watch(int count, char **arguments) {
  struct sigaction action = {0};
  look at = {.before = -1};
  text meta = {NULL, 0, 0}, rows = {NULL, 0, 0};
  const char *path = arguments[0];
  if (form_of_file(path) != FORM_FOLDER) die("%s is not a folder; only folders grow", path);
  addf(&meta, "%s/meta.json", path);
  addf(&rows, "%s/.%%rows", path);
  action.sa_handler = stop;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  int64_t most = watch_asked.once ? 1 : watch_asked.count;
  for (int64_t done = 0; !stopped && (!most || done < most); done++) {
    if (done) rest(watch_asked.interval);
    if (stopped) break;
    refresh(&at, path, meta.data, rows.data);
    int64_t sizes[64];
    size_t dims;
    must(td_batch_size(at.td, sizes, COUNT_OF(sizes), &dims));
    if (dims == 0) die("%s has no batch dimension, so it has no rows", path);
    at.time = seconds_now();
    if (!done) {
      at.begun = at.time;
      leaves known = leaves_of(at.td, false);
      leaves_keep(&known, count - 1, arguments + 1); /* the error lists the keys */
      leaves_free(&known);
    }
    at.rows = sizes[0];
    print_look(&at, count - 1, arguments + 1);
    at.before = at.time;
    at.rows_before = at.rows;
  }
  td_free(at.td);
  text_free(&rows);
  text_free(&meta);
  return TOOL_FINE;
}
