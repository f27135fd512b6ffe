/* Times each library and prints a line of JSON for each figure:
 *
 *   td_peers FOLDER [STEPS]
 *
 * FOLDER is made, and removed at the end. A figure is the smallest of three runs. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "peers.h"

const field fields[FIELDS] = {{"position", offsetof(step, position), 3, 'f'},
                              {"velocity", offsetof(step, velocity), 3, 'f'},
                              {"action", offsetof(step, action), 4, 'f'},
                              {"reward", offsetof(step, reward), 1, 'f'},
                              {"done", offsetof(step, done), 1, 'i'}};

static char folder[1000];

step step_of(int64_t row) {
  const float x = (float)(row % 1000);
  return (step){{x, x + 1, x + 2}, {-x, 0, x}, {1, 2, 3, x}, x / 2, row % 200 == 199};
}

double sum_of(const step* steps, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += steps[i].position[0] + steps[i].velocity[2] + steps[i].action[3] + steps[i].reward +
           steps[i].done;
  return sum;
}

void give_up(const char* what, const char* why) {
  fprintf(stderr, "td_peers: %s: %s\n", what, why);
  exit(1);
}

const char* file_named(const char* name) {
  static char path[1200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void clear(void) {
  char command[1100];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command) != 0 || (mkdir(folder, 0700) != 0 && errno != EEXIST))
    give_up(folder, strerror(errno));
}

static void print(const char* what, const peer* one, double ns) {
  printf("{\"what\": \"%s\", \"who\": \"%s\", \"version\": \"%s\", \"ns\": %.1f}\n", what,
         one->name, one->version, ns);
  fflush(stdout);
}

enum { RUNS = 3, MINIBATCHES = 200 };

static void time_one(const peer* one, int64_t steps) {
  double best_write = 1e300, best_read = 1e300;
  int64_t* rows = malloc(sizeof *rows * MINIBATCH * MINIBATCHES);
  uint64_t state = 1;
  double want = 0;
  if (rows == NULL) give_up(one->name, "no memory");
  for (int64_t i = 0; i < MINIBATCH * MINIBATCHES; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    rows[i] = (int64_t)((state >> 33) % (uint64_t)steps);
    const step here = step_of(rows[i]);
    want += sum_of(&here, 1);
  }
  for (int run = 0; run < RUNS; run++) {
    clear();
    double begin = now();
    one->write(steps);
    const double written = (now() - begin) / (double)steps;
    best_write = written < best_write ? written : best_write;
    if (one->read == NULL) continue;
    begin = now();
    const double got = one->read(rows, MINIBATCHES);
    const double read = (now() - begin) / MINIBATCHES;
    best_read = read < best_read ? read : best_read;
    if (got != want) give_up(one->name, "read other values than were written");
  }
  print("write a step", one, best_write);
  if (one->read != NULL) print("read 256 rows", one, best_read);
  free(rows);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: td_peers FOLDER [STEPS]\n");
    return 2;
  }
  const int64_t steps = argc > 2 ? atoll(argv[2]) : 1000000;
  if (steps < 1) give_up(argv[2], "no number of steps");
  snprintf(folder, sizeof folder, "%s/td_peers", argv[1]);
  time_one(&tensordict_peer, steps);
  time_one(&stdio_peer, steps);
  time_one(&libtorch_peer, steps);
#ifdef PEERS_HDF5
  time_one(&hdf5_peer, steps);
  time_one(&hdf5_row_peer, steps < 100000 ? steps : 100000);
#endif
#ifdef PEERS_SQLITE
  time_one(&sqlite_peer, steps);
#endif
  clear();
  return 0;
}
