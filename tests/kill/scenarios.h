/* scenarios.h: ways to bring what is stored from one state to the next. States are numbered, and every
 * value follows from the number, so that a mixture of two of them is found. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "td_test.h"

typedef struct scenario {
  const char *name;
  /* From state `state` - 1, or from nothing for 0, to `state`. `source` is what source() gives. */
  td_status (*step)(const char *place, td_tensordict *source, int64_t state);
  td_tensordict *(*source)(int64_t state);
  /* Ends the test unless a whole state is stored; gives its number. */
  int64_t (*look)(const char *place);
  /* A failure may leave the new state: what failed came after the change, or is done at the end. */
  int may_be_done;
  /* The source belongs to the folder afterwards. */
  int takes_source;
  /* look() gives the same again after as many states; 0: never. */
  int repeats;
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;
/* TD_KILL_ONLY names one of them, to try it alone. */
int scenario_is_asked(const scenario *it);

/* The sources of most of them: four rows, and rows of which there are more with each state. */
td_tensordict *kill_state(int64_t state);
td_tensordict *kill_rows(int64_t first, int64_t count);

/* Ends the test unless they are equal, which is to be state `state`. Frees both. */
void kill_must_equal(td_tensordict *found, td_tensordict *want, int64_t state);

/* How many bytes more each state has. */
extern int64_t kill_ballast;

#endif
