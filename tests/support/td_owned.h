/* td_owned.h: frees what a test made. td_own.h, which gen_owned.py writes, puts a stand-in before
 * each function of the library; the stand-ins tell here which handles came out. */
#ifndef TD_OWNED_H
#define TD_OWNED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A test begins on this thread; what an earlier test left is forgotten. */
void td_owned_begin(void);

/* Frees the handles, the last one first. Those that the test freed are no handles any more, and
 * freeing them does nothing. */
void td_owned_free(void);

/* Around each call of the library. td_owned_leave() returns whether handles that come out are the
 * test's: not on other threads, and not in a callback, which hands its result to the library. */
void td_owned_enter(void);
int td_owned_leave(void);

void td_owned_keep(void **handles, size_t count, void (*free_one)(void *));

#ifdef __cplusplus
}
#endif

#endif
