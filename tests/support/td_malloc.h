/* td_malloc.h: the malloc of a test program, for the library too: counted, and failing when told. */
#ifndef TD_MALLOC_H
#define TD_MALLOC_H

/* Skips the test where malloc cannot be replaced. */
void td_malloc_required(void);

/* Counts from here; the allocation of this number fails, counted from 1; 0: none. */
void td_malloc_begin(long fail_at);

/* Stops, and gives the number of allocations since td_malloc_begin(). */
long td_malloc_end(void);

#endif
