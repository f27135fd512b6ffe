/* Calls that promise to allocate nothing. malloc is counted while they run. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "td_files.h"
#include "td_values.h"

#if defined(__GLIBC__) && !TD_TEST_SANITIZED
#define COUNTS 1

/* The program's own malloc takes the place of the C library's, for operator new too. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int is_counting;
static long allocations;

void *malloc(size_t size) {
  allocations += is_counting;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  allocations += is_counting;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  allocations += is_counting;
  return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  allocations += is_counting;
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL ? 12 : 0;
}
#else
#define COUNTS 0
static int is_counting;
static long allocations;
#endif

/* The second run counts: the first may fill what is kept for later. */
#define CHECK_ALLOCATES_NOTHING(statement) \
  do {                                     \
    statement;                             \
    allocations = 0;                       \
    is_counting = 1;                       \
    statement;                             \
    is_counting = 0;                       \
    TD_CHECK_INT(allocations, 0);          \
  } while (0)

static void skip_without_counts(void) {
  if (!COUNTS) td_test_skip("malloc cannot be counted here");
}

TD_TEST(counting_counts) {
  skip_without_counts();
  is_counting = 1;
  allocations = 0;
  td_tensordict *td = td_empty(TD_SIZES(2));
  is_counting = 0;
  TD_CHECK(allocations > 0);
  td_free(td);
}

static void write_rows(td_writer *writer, int64_t rows) {
  const float position[2] = {1, 2};
  const int64_t step = 7;
  for (int64_t row = 0; row < rows; row++) {
    TD_DO(td_writer_put(writer, 0, position, sizeof position));
    TD_DO(td_writer_put(writer, 1, &step, sizeof step));
    TD_DO(td_writer_next(writer));
  }
}

TD_TEST(the_writer_allocates_nothing_after_binding) {
  skip_without_counts();
  for (int mapped = 0; mapped < 2; mapped++) {
    td_tensordict *td = td_empty(TD_SIZES(200)), *target = NULL;
    td_writer *writer = NULL;
    int32_t field = -1;
    td_put(td, TD_KEY("pos"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(200, 2)));
    td_put(td, TD_KEY("n", "step"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(200)));
    if (mapped)
      TD_DO(td_memmap_like(td, td_path(td_test_folder(), "m"), NULL, &target));
    else
      TD_DO(td_share(td, &target));
    TD_DO(td_writer_open(target, NULL, &writer));
    TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
    TD_DO(td_writer_bind(writer, TD_KEY("n", "step"), &field));
    CHECK_ALLOCATES_NOTHING(write_rows(writer, 100));
    td_writer_free(writer);
    td_free(target);
    td_free(td);
  }
}

TD_TEST(looking_a_key_up_allocates_nothing) {
  skip_without_counts();
  td_tensordict *td = td_sample();
  td_entry_kind kind = 99;
  int32_t flag = 0;
  int64_t sizes[2];
  size_t dims = 0;
  CHECK_ALLOCATES_NOTHING(TD_DO(td_kind_of(td, TD_KEY("n", "b"), &kind)));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  CHECK_ALLOCATES_NOTHING(TD_DO(td_kind_of(td, TD_KEY("n", "nope"), &kind)));
  CHECK_ALLOCATES_NOTHING(TD_DO(td_is_locked(td, &flag)));
  CHECK_ALLOCATES_NOTHING(TD_DO(td_batch_size(td, sizes, 2, &dims)));
  td_free(td);
}
