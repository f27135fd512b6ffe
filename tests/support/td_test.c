/* td_test.c: the runner. A test that fails jumps out, and what it had opened stays open: only a test that
 * got to its end must leave as many live handles as there were. */
#define _XOPEN_SOURCE 700
#include "td_test.h"

#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_owned.h"

enum outcome { PASSED, FAILED, SKIPPED };

static td_test_case *first_test;
static td_test_case **last_test = &first_test;
static jmp_buf end_of_test;
static pthread_t runner;
static enum outcome outcome_of_test;
static char explanation[4096];
static char folder[4096];

void td_test_add(td_test_case *test) {
  *last_test = test;
  last_test = &test->next;
}

void td_test_fail(const char *file, int line, const char *format, ...) {
  const int used = snprintf(explanation, sizeof explanation, "%s:%d: ", file, line);
  va_list rest;
  va_start(rest, format);
  if (used > 0 && (size_t)used < sizeof explanation)
    vsnprintf(explanation + used, sizeof explanation - (size_t)used, format, rest);
  va_end(rest);
  if (!pthread_equal(pthread_self(), runner)) { /* no jump leads to another thread */
    fprintf(stderr, "on a thread of a test: %s\n", explanation);
    _exit(1);
  }
  outcome_of_test = FAILED;
  longjmp(end_of_test, 1);
}

void td_test_skip(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vsnprintf(explanation, sizeof explanation, format, rest);
  va_end(rest);
  outcome_of_test = SKIPPED;
  longjmp(end_of_test, 1);
}

void td_test_check_text(const char *file, int line, const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    td_test_fail(file, line, "the text does not contain \"%s\": %s", part, text);
}

void td_test_check_same(const char *file, int line, const char *text, const char *want) {
  if (strcmp(text, want) != 0)
    td_test_fail(file, line, "the text is not as it should be\n--- got\n%s\n--- wanted\n%s", text,
                 want);
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk) {
  (void)walk;
  if (flag == FTW_DNR) chmod(path, status->st_mode | S_IRWXU);
  return remove(path);
}

static void remove_folder(void) {
  if (folder[0] != '\0') nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  folder[0] = '\0';
}

const char *td_test_folder(void) {
  if (folder[0] == '\0') {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0') base = "/tmp";
    snprintf(folder, sizeof folder, "%s/td_test_XXXXXX", base);
    if (mkdtemp(folder) == NULL) {
      folder[0] = '\0';
      td_test_fail(__FILE__, __LINE__, "no folder can be made under %s", base);
    }
  }
  return folder;
}

static enum outcome run_one(const td_test_case *test, int64_t (*live)(void)) {
  const int64_t before = live != NULL ? live() : 0;
  td_owned_begin();
  outcome_of_test = PASSED;
  if (setjmp(end_of_test) == 0) {
    test->body();
    td_owned_free();
    const int64_t left = live != NULL ? live() - before : 0;
    if (left != 0)
      td_test_fail(test->name, 0, "the library left %lld handles open", (long long)left);
  }
  remove_folder();
  return outcome_of_test;
}

static int is_chosen(const td_test_case *test, int argc, char **argv) {
  if (argc < 2) return 1;
  for (int i = 1; i < argc; i++) {
    const char *wanted = argv[i];
    if (wanted[0] == '=' ? strcmp(test->name, wanted + 1) == 0 : strstr(test->name, wanted) != NULL)
      return 1;
  }
  return 0;
}

static void print_explanation(void) {
  for (char *line = strtok(explanation, "\n"); line != NULL; line = strtok(NULL, "\n"))
    printf("# %s\n", line);
}

int td_test_run(int argc, char **argv, int64_t (*live)(void)) {
  int chosen = 0, failed = 0, number = 0;
  runner = pthread_self();
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const td_test_case *test = first_test; test != NULL; test = test->next) puts(test->name);
    return 0;
  }
  for (const td_test_case *test = first_test; test != NULL; test = test->next)
    chosen += is_chosen(test, argc, argv);
  if (chosen == 0) {
    fprintf(stderr, "no test has such a name\n");
    return 2;
  }
  printf("1..%d\n", chosen);
  for (const td_test_case *test = first_test; test != NULL; test = test->next) {
    if (!is_chosen(test, argc, argv)) continue;
    fflush(stdout);
    const enum outcome outcome = run_one(test, live);
    number++;
    if (outcome == FAILED) print_explanation();
    printf("%s %d - %s", outcome == FAILED ? "not ok" : "ok", number, test->name);
    if (outcome == SKIPPED) printf(" # SKIP %s", explanation);
    putchar('\n');
    failed += outcome == FAILED;
  }
  return failed == 0 ? 0 : 1;
}
