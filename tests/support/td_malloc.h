/* td_malloc.h: the malloc of a test program, for the library too: counted, and failing when told. Memory that glibc
 * needs for the variables of a thread never fails: without it, glibc ends the process. With TD_ALL_ALLOCATIONS=1 in the
 * environment, tests let each allocation fail; without it, they leave some out where a call makes many. */
#ifndef TD_MALLOC_H
#define TD_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Skips the test where malloc cannot be replaced. */
void td_malloc_required(void);

/* Counts the allocations of all threads from here. The one of this number fails, counted from 1; 0: none. */
void td_malloc_begin(long fail_at);

/* The same, and all after it fail, too. */
void td_malloc_begin_from(long fail_from);

/* From now on all threads are counted, or only the one that calls td_malloc_begin(). */
void td_malloc_threads(int all);

/* From now on only what the library itself asks for may fail, not what the libraries below it do. Of operator new
 * that is so where a program calls td_malloc_for() in its own. */
void td_malloc_ours(int only);

/* malloc() for somebody else, who is at this address. */
void *td_malloc_for(size_t size, const void *caller);

/* Stops, and gives the number of allocations since the beginning. */
long td_malloc_end(void);

/* How many of them failed. */
long td_malloc_failed(void);

/* How many blocks the program has now. */
long td_malloc_blocks(void);

#ifdef __cplusplus
}
#endif

#endif
