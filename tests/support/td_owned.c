#include "td_owned.h"

enum { MOST = 1 << 20 };

static struct {
  void *handle;
  void (*free_one)(void *);
} owned[MOST]; /* no malloc: tests make it fail */
static size_t owned_len;
static __thread int depth; /* 1 on the thread of the test, and 1 more in each call; 0 elsewhere */

void td_owned_begin(void) {
  depth = 1;
  owned_len = 0;
}

void td_owned_free(void) {
  while (owned_len > 0) {
    owned_len--;
    owned[owned_len].free_one(owned[owned_len].handle);
  }
}

void td_owned_enter(void) { depth += depth > 0; }

int td_owned_leave(void) { return depth > 0 && --depth == 1; }

/* A test that makes more handles than there is room for has to free them itself. */
void td_owned_keep(void **handles, size_t count, void (*free_one)(void *)) {
  for (size_t i = 0; handles != NULL && i < count && owned_len < MOST; i++) {
    if (handles[i] == NULL) continue;
    owned[owned_len].handle = handles[i];
    owned[owned_len++].free_one = free_one;
  }
}
