/* The first append to a folder that is not there yet. */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#include "td_files.h"
#include "td_values.h"

static char folder[1000];

static const char *new_folder(int number) {
  char name[32];
  snprintf(name, sizeof name, "m%d", number);
  snprintf(folder, sizeof folder, "%s", td_path(td_test_folder(), name));
  return folder;
}

/* Rows first, first + 1 … */
static td_tensordict *rows(int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 2 * first, TD_SIZES(n, 2)));
  td_put(td, TD_KEY("n", "step"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  TD_DO(td_set_text(td, TD_KEY("text"), "go"));
  return td;
}

static void check_rows(int64_t n) {
  td_tensordict *loaded = NULL;
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, n);
  TD_CHECK_EQUAL(loaded, rows(0, n));
}

TD_TEST(the_first_append_makes_the_folder) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  size_t damaged = 9;
  for (options.checksums = 0; options.checksums < 2; options.checksums++) {
    new_folder(options.checksums);
    for (int i = 0; i < 3; i++) TD_DO(td_memmap_append(folder, rows(2 * i, 2), &options));
    check_rows(6);
  }
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

TD_TEST(rows_of_a_lazy_stack_and_of_a_part) {
  td_tensordict *parts[2] = {rows(0, 2), rows(2, 2)}, *lazy = NULL, *loaded = NULL, *part = NULL;
  int64_t length = 0;
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &lazy));
  TD_DO(td_memmap_append(new_folder(0), lazy, NULL));
  TD_DO(td_memmap_append(folder, rows(4, 2), NULL)); /* one element more */
  TD_DO(td_memmap_length(folder, &length, NULL, NULL));
  TD_CHECK_INT(length, 3);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, 3, 2);
  TD_DO(td_sub_tensordict(rows(0, 4), TD_AT(TD_I_STEP(0, 2, 1)), &part));
  TD_DO(td_memmap_append(new_folder(1), part, NULL));
  TD_DO(td_memmap_append(folder, rows(2, 1), NULL));
  check_rows(3);
}

/* A folder without a dictionary keeps what else it holds; a file is no folder. */
TD_TEST(what_stands_at_the_place) {
  td_tensordict *td = rows(0, 2);
  TD_CHECK_INT(mkdir(new_folder(0), 0700), 0);
  td_write_text(td_path(folder, "readme"), "mine");
  TD_DO(td_memmap_append(folder, td, NULL));
  check_rows(2);
  TD_CHECK(td_exists(td_path(folder, "readme")));
  td_write_text(new_folder(1), "a file");
  TD_EXPECT(td_memmap_append(folder, td, NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_append(new_folder(2), td_empty(TD_NO_SIZES), NULL), TD_ERR_SHAPE);
  TD_EXPECT(td_memmap_append("", td, NULL), TD_ERR_IO);
  TD_CHECK(!td_exists(folder));
}

typedef struct turn {
  td_tensordict *td;
  td_status status;
} turn;

static void *append_one(void *user) {
  turn *own = user;
  own->status = td_memmap_append(folder, own->td, NULL);
  return NULL;
}

/* Whoever comes second adds to the rows of the first. */
TD_TEST(several_first_appends_at_once) {
  enum { THREADS = 4 };
  for (int round = 0; round < 50; round++) {
    pthread_t threads[THREADS];
    turn turns[THREADS];
    int64_t length = 0, fine = 0;
    new_folder(round);
    for (int i = 0; i < THREADS; i++) turns[i].td = rows(i, 1);
    for (int i = 0; i < THREADS; i++)
      TD_CHECK_INT(pthread_create(&threads[i], NULL, append_one, &turns[i]), 0);
    for (int i = 0; i < THREADS; i++) {
      TD_CHECK_INT(pthread_join(threads[i], NULL), 0);
      TD_CHECK(turns[i].status == TD_OK || turns[i].status == TD_ERR_BUSY);
      fine += turns[i].status == TD_OK;
    }
    TD_CHECK(fine > 0);
    TD_DO(td_memmap_length(folder, &length, NULL, NULL));
    TD_CHECK_INT(length, fine);
  }
}
