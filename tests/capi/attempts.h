/* attempts.h: calls of one function in which the allocations fail, one after the other, for the tests that
 * gen_misuse.py writes.
 *
 *   attempts_begin("td_set", …);
 *   while (attempts_world(&m)) {       a fixture, of each form in turn
 *     while (attempts_next(&m)) {      one more call
 *       attempts_call();               memory runs out from here …
 *       status = td_set(…);
 *       attempts_answer(status);       … to here
 *       attempts_check(&m);            what must hold after it
 *     }
 *     attempts_world_end(&m);
 *   }
 *   attempts_end();
 */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include "misuse.h"
#include "td_malloc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles whose state must be as it was after a failure, beside that of all dictionaries. */
enum {
  WATCH_td_loader = 1,
  WATCH_td_replay = 2,
  WATCH_td_optimizer = 4,
  WATCH_td_generator = 8,
  WATCH_td_writer = 16,
  WATCH_td_module = 32,
  WATCH_td_store = 64,
  WATCH_td_group = 128,
  MAY_LEAK = 256,   /* memory may be left behind */
  OWN_THREAD = 512, /* other threads get all memory: a library ends the process without it */
  VALUES_MAY_DIFFER = 1024, /* of tensors that libtorch was writing */
  SPARE_MAY_STAY = 2048,    /* bytes behind the rows of a folder: no reader looks at them */
  REMOTE_MAY_DIFFER = 4096, /* what a server holds: it keeps what it received before the failure */
  OURS_ONLY = 8192          /* the libraries below get all memory: exhausted memory damages them */
};

/* `forms`: how many forms of dictionaries are tried. `wanted`: what the call gives with the plain form when
 * nothing fails. `also`: what a failure may give beside TD_ERR_OUT_OF_MEMORY, or TD_OK. `known`: why the
 * function is known to break a promise, or NULL. */
void attempts_begin(const char *function, unsigned watched, int forms, td_status wanted,
                    td_status also, const char *known);
int attempts_world(misuse *m);
int attempts_next(misuse *m);
void attempts_call(void);
void attempts_answer(td_status status);
/* A result of a call that failed. */
void attempts_null(const void *result);
void attempts_check(misuse *m);
void attempts_world_end(misuse *m);
/* Fails the test with what was found. */
void attempts_end(void);

/* Gives something back while there is no memory at all. */
#define WITHOUT_MEMORY(call)    \
  do {                          \
    attempts_without_memory(1); \
    call;                       \
    attempts_without_memory(0); \
  } while (0)
void attempts_without_memory(int without);

#ifdef __cplusplus
}
#endif

#endif
