#define _GNU_SOURCE
#include "td_malloc.h"

#include <errno.h>
#include <stdlib.h>

#include "td_test.h"

static int is_counting, only_here, only_ours;
static __thread int is_here;
static long allocations, first_failing, last_failing, failed, blocks;

#define ADD(number, by) __atomic_add_fetch(&(number), (by), __ATOMIC_RELAXED)
#define READ(number) __atomic_load_n(&(number), __ATOMIC_RELAXED)

static void begin(long first, long last) {
  allocations = failed = 0;
  is_here = 1;
  first_failing = first;
  last_failing = last;
  __atomic_store_n(&is_counting, 1, __ATOMIC_SEQ_CST);
}

void td_malloc_begin(long fail_at) { begin(fail_at, fail_at); }
void td_malloc_begin_from(long fail_from) { begin(fail_from, fail_from == 0 ? 0 : (long)1 << 60); }

void td_malloc_threads(int all) { only_here = !all; }
void td_malloc_ours(int only) { only_ours = only; }

long td_malloc_end(void) {
  is_here = 0;
  __atomic_store_n(&is_counting, 0, __ATOMIC_SEQ_CST);
  return READ(allocations);
}

long td_malloc_failed(void) { return READ(failed); }
long td_malloc_blocks(void) { return READ(blocks); }

#if defined(__GLIBC__) && !TD_TEST_SANITIZED

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* What a program defines takes the place of the C library's, for operator new too. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

typedef struct range {
  uintptr_t begin, end;
} range;
static range loader, library;
static __thread int is_registering;

static int is_in(const range *in, uintptr_t address) {
  return address >= in->begin && address < in->end;
}

static int find_ranges(struct dl_phdr_info *object, size_t size, void *user) {
  (void)size;
  (void)user;
  const int is_loader = object->dlpi_addr == getauxval(AT_BASE);
  if (!is_loader && strstr(object->dlpi_name, "/libtensordict.so") == NULL) return 0;
  range *found = is_loader ? &loader : &library;
  found->begin = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    const uintptr_t end = found->begin + part->p_vaddr + part->p_memsz;
    if (part->p_type == PT_LOAD && end > found->end) found->end = end;
  }
  return 0;
}

__attribute__((constructor)) static void learn_ranges(void) { dl_iterate_phdr(find_ranges, NULL); }

static int must_fail(const void *caller) {
  if (!READ(is_counting) || is_registering || (only_here && !is_here)) return 0;
  const uintptr_t from = (uintptr_t)caller;
  if (is_in(&loader, from) || (only_ours && !is_in(&library, from))) return 0;
  const long number = ADD(allocations, 1);
  if (number < first_failing || number > last_failing) return 0;
  ADD(failed, 1);
  return 1;
}

/* Of libc: what a thread does with its variables when it ends. */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) {
  static int (*real)(void (*)(void *), void *, void *);
  is_registering = 1;
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
  const int result = real(destroy, object, library);
  is_registering = 0;
  return result;
}

static void *checked(void *memory) {
  if (memory == NULL) {
    errno = ENOMEM;
  } else {
    ADD(blocks, 1);
  }
  return memory;
}

#define MUST_FAIL must_fail(__builtin_return_address(0))

void *malloc(size_t size) { return checked(MUST_FAIL ? NULL : __libc_malloc(size)); }

void *td_malloc_for(size_t size, const void *caller) {
  return checked(must_fail(caller) ? NULL : __libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  return checked(MUST_FAIL ? NULL : __libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  void *fresh = MUST_FAIL ? NULL : __libc_realloc(memory, size);
  if (memory != NULL && (fresh != NULL || size == 0)) ADD(blocks, -1);
  return checked(fresh);
}

void free(void *memory) {
  if (memory != NULL) ADD(blocks, -1);
  __libc_free(memory);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *fresh = checked(MUST_FAIL ? NULL : __libc_memalign(alignment, size));
  if (fresh == NULL) return ENOMEM;
  *memory = fresh;
  return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return checked(MUST_FAIL ? NULL : __libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size) {
  return checked(MUST_FAIL ? NULL : __libc_memalign(alignment, size));
}

void td_malloc_required(void) {}

#else

void td_malloc_required(void) { td_test_skip("malloc cannot be replaced here"); }

#endif
