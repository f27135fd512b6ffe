/* A bar on stderr, on a terminal only unless it is asked for. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tdtool.h"

static struct {
  const char *label;
  uint64_t total, done;
  double begun, drawn;
  bool on, always, visible;
} bar;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void draw(void) {
  char line[200];
  struct winsize size = {0, 80, 0, 0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80;
  double part = bar.total ? (double)bar.done / (double)bar.total : 0;
  if (part > 1) part = 1;
  double seconds = now() - bar.begun;
  text done = {NULL, 0, 0};
  add_size(&done, bar.done);
  add(&done, " of ");
  add_size(&done, bar.total);
  if (seconds > 0.5) {
    add(&done, ", ");
    add_size(&done, (uint64_t)((double)bar.done / seconds));
    add(&done, "/s");
  }
  int width = (int)size.ws_col - (int)strlen(bar.label) - (int)done.length - 12;
  if (width > 30) width = 30;
  if (width < 0) width = 0;
  int full = (int)(part * width);
  int length = snprintf(line, sizeof line, "%s [", bar.label);
  for (int i = 0; i < width && length < (int)sizeof line - 1; i++) {
    line[length++] = i < full ? '#' : '.';
  }
  snprintf(line + length, sizeof line - (size_t)length, "] %3d %% %s", (int)(100 * part),
           done.data);
  size_t limit = size.ws_col < sizeof line ? size.ws_col : sizeof line;
  line[limit - 1] = '\0';
  fprintf(stderr, "\r%s\033[K", line);
  fflush(stderr);
  bar.visible = true;
  bar.drawn = now();
  text_free(&done);
}

void progress_begin(const char *label, uint64_t total) {
  bool never = common.progress && strcmp(common.progress, "never") == 0;
  memset(&bar, 0, sizeof bar);
  bar.always = common.progress && strcmp(common.progress, "always") == 0;
  bar.on = bar.always || (!never && isatty(STDERR_FILENO));
  bar.label = label;
  bar.total = total;
  bar.begun = now();
  if (bar.always) draw();
}

/* Work that ends at once gets no bar. */
static void tick(void) {
  if (!bar.on) return;
  double time = now();
  if (time - bar.begun > 0.4 && time - bar.drawn > 0.1) draw();
}

void progress_add(uint64_t more) {
  bar.done += more;
  tick();
}

void progress_set(uint64_t done, uint64_t total) {
  bar.done = done;
  bar.total = total;
  tick();
}

void progress_end(void) {
  if (bar.always) {
    bar.done = bar.total;
    draw();
  }
  if (bar.visible) {
    fputs(bar.always ? "\n" : "\r\033[K", stderr);
    fflush(stderr);
  }
  memset(&bar, 0, sizeof bar);
}

/* The bytes that this process has written; 0 if the system does not say. */
static uint64_t written(void) {
  unsigned long long count = 0;
  char line[100];
  FILE *file = fopen("/proc/self/io", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "wchar: %llu", &count) == 1) break;
  }
  if (file) fclose(file);
  return count;
}

typedef struct job {
  td_status (*call)(void *user);
  void *user;
  td_status status;
  char *message;
  bool done;
  pthread_mutex_t mutex;
} job;

static void *run_job(void *user) {
  job *of = user;
  td_status status = of->call(of->user);
  pthread_mutex_lock(&of->mutex);
  of->status = status;
  if (status != TD_OK) of->message = xstrdup(td_last_error_message());
  of->done = true;
  pthread_mutex_unlock(&of->mutex);
  return NULL;
}

td_status progress_call(const char *label, uint64_t total, td_status (*call)(void *user),
                        void *user) {
  job of = {call, user, TD_OK, NULL, false, PTHREAD_MUTEX_INITIALIZER};
  pthread_t thread;
  progress_begin(label, total);
  if (!bar.on || pthread_create(&thread, NULL, run_job, &of) != 0) {
    td_status status = call(user);
    progress_end();
    return status;
  }
  uint64_t before = written();
  for (bool done = false; !done;) {
    const struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&of.mutex);
    done = of.done;
    pthread_mutex_unlock(&of.mutex);
    uint64_t count = written() - before;
    bar.done = count < total ? count : total;
    tick();
  }
  pthread_join(thread, NULL);
  progress_end();
  if (of.status != TD_OK) td_set_error(of.status, of.message); /* the text belongs to a thread */
  free(of.message);
  return of.status;
}
