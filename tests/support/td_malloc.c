#define _GNU_SOURCE
#include "td_malloc.h"

#include <errno.h>
#include <stdlib.h>

#include "td_test.h"

static int is_counting;
static long allocations, failing;

void td_malloc_begin(long fail_at) {
  allocations = 0;
  failing = fail_at;
  is_counting = 1;
}

long td_malloc_end(void) {
  is_counting = 0;
  return allocations;
}

#if defined(__GLIBC__) && !TD_TEST_SANITIZED

/* What a program defines takes the place of the C library's, for operator new too. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int must_fail(void) { return is_counting && ++allocations == failing; }

static void *checked(void *memory) {
  if (memory == NULL) errno = ENOMEM;
  return memory;
}

void *malloc(size_t size) { return checked(must_fail() ? NULL : __libc_malloc(size)); }

void *calloc(size_t count, size_t size) {
  return checked(must_fail() ? NULL : __libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  return checked(must_fail() ? NULL : __libc_realloc(memory, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *fresh = must_fail() ? NULL : __libc_memalign(alignment, size);
  if (fresh == NULL) return ENOMEM;
  *memory = fresh;
  return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return checked(must_fail() ? NULL : __libc_memalign(alignment, size));
}

void td_malloc_required(void) {}

#else

void td_malloc_required(void) { td_test_skip("malloc cannot be replaced here"); }

#endif
