/* td_random.h: random numbers that are the same in every run; TD_TEST_SEED gives others. */
#ifndef TD_RANDOM_H
#define TD_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

typedef struct td_random {
  uint64_t state;
} td_random;

static inline td_random td_random_begin(void) {
  const char *seed = getenv("TD_TEST_SEED");
  const td_random random = {0x9e3779b97f4a7c15u ^ (seed == NULL ? 1 : strtoull(seed, NULL, 10))};
  return random;
}

/* xorshift64*, and of it the upper half */
static inline uint32_t td_random_next(td_random *random) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return (uint32_t)((random->state * 0x2545f4914f6cdd1du) >> 32);
}

/* From `first` to `last`, both included. */
static inline int64_t td_random_between(td_random *random, int64_t first, int64_t last) {
  return first + (int64_t)(td_random_next(random) % (uint64_t)(last - first + 1));
}

static inline int td_random_one_in(td_random *random, uint32_t chances) {
  return td_random_next(random) % chances == 0;
}

#endif
