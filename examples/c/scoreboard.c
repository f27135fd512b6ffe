/* Follows the scores of a game that another process plays, in whatever language: they lie in a Redis server.
 *
 *   scoreboard SOCKET
 */
#include <stdio.h>
#include <time.h>

#include "must.h"
#include "tensordict/td.h"

enum { STEPS = 50 };

/* [open] */
static td_store *opened(const char *socket) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  td_store *store = NULL;
  options.unix_socket = socket;
  options.id = "scoreboard";
  td_status status = td_store_open(&options, &store);
  if (status == TD_ERR_KEY_NOT_FOUND || status == TD_ERR_IO) return NULL; /* no game yet */
  must(status);
  return store;
}
/* [/open] */

static void pause_ms(long ms) {
  const struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
  td_store *store = NULL;
  if (argc != 2) return 2;
  while ((store = opened(argv[1])) == NULL) pause_ms(20);
  /* [read] */
  for (int64_t slowest = -1; slowest < STEPS; pause_ms(5)) {
    td_tensordict *board;
    int64_t step[4];
    float score[4];
    must(td_store_load(store, &board)); /* all of it, as it was at one moment */
    must(td_get_data(board, TD_KEY("step"), TD_DTYPE_INT64, step, sizeof step));
    must(td_get_data(board, TD_KEY("score"), TD_DTYPE_FLOAT32, score, sizeof score));
    td_free(board);
    slowest = step[0];
    for (int i = 0; i < 4; i++) slowest = step[i] < slowest ? step[i] : slowest;
    if (slowest == STEPS)
      printf("after %d steps: %g %g %g %g\n", STEPS, score[0], score[1], score[2], score[3]);
  }
  /* [/read] */
  must(td_store_delete(store));
  td_store_free(store);
  return 0;
}
