/* td_test.h: tests in C99. One file of TD_TEST bodies linked with the support library is a program
 * that prints TAP; names given on its command line choose tests ("=name" that one alone), --list
 * names them. Handles that a test gets are freed when it ends (td_owned.h). It frees them itself where
 * the moment matters: before a check that needs them gone, before memory or a variable of its own that
 * they refer to ends, in a loop that makes very many, and on threads that it starts. */
#ifndef TD_TEST_H
#define TD_TEST_H

#include <stddef.h>
#include <stdint.h>

#include "td_own.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_test_case {
  const char *name;
  void (*body)(void);
  struct td_test_case *next;
} td_test_case;

#if defined(__GNUC__)
#define TD_TEST_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#define TD_TEST_NORETURN __attribute__((noreturn))
#else
#define TD_TEST_PRINTF(text, rest)
#define TD_TEST_NORETURN
#endif

/* Whether malloc and threads are those of a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TD_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TD_TEST_SANITIZED 1
#endif
#endif
#ifndef TD_TEST_SANITIZED
#define TD_TEST_SANITIZED 0
#endif

/* Adds a test; called before main by TD_TEST. */
void td_test_add(td_test_case *test);

/* Runs what the command line chooses. `live` counts what must be back where it was when a test ends;
 * NULL for programs that do not link the library. Returns what main returns. */
int td_test_run(int argc, char **argv, int64_t (*live)(void));

/* Ends the test that is running: failed, or skipped for a reason. */
void td_test_fail(const char *file, int line, const char *format, ...)
    TD_TEST_PRINTF(3, 4) TD_TEST_NORETURN;
void td_test_skip(const char *format, ...) TD_TEST_PRINTF(1, 2) TD_TEST_NORETURN;

/* What stands behind TD_EXPECT: the status, and that a failure left its code and one line of text. */
void td_test_expect(const char *file, int line, const char *call, td_status got, td_status want);

/* A folder of this test's own, removed when it ends. */
const char *td_test_folder(void);

#define TD_TEST(name)                                                 \
  static void td_test_##name(void);                                   \
  __attribute__((constructor)) static void td_test_add_##name(void) { \
    static td_test_case test = {#name, td_test_##name, NULL};         \
    td_test_add(&test);                                               \
  }                                                                   \
  static void td_test_##name(void)

/* The call must give exactly this status. */
#define TD_EXPECT(call, status) td_test_expect(__FILE__, __LINE__, #call, (call), (status))
#define TD_DO(call) td_test_expect(__FILE__, __LINE__, #call, (call), TD_OK)

#define TD_CHECK(condition)                                               \
  do {                                                                    \
    if (!(condition)) td_test_fail(__FILE__, __LINE__, "%s", #condition); \
  } while (0)

#define TD_CHECK_INT(got, want)                                                        \
  do {                                                                                 \
    const long long td_got = (long long)(got), td_want = (long long)(want);            \
    if (td_got != td_want)                                                             \
      td_test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, td_got, td_want); \
  } while (0)

/* The text must contain `part`. */
#define TD_CHECK_TEXT(text, part) td_test_check_text(__FILE__, __LINE__, (text), (part))
void td_test_check_text(const char *file, int line, const char *text, const char *part);

/* The text must be exactly `want`. */
#define TD_CHECK_SAME_TEXT(text, want) td_test_check_same(__FILE__, __LINE__, (text), (want))
void td_test_check_same(const char *file, int line, const char *text, const char *want);

/* A pointer that a call must overwrite. */
#define TD_POISON ((void *)(uintptr_t)0xdeaddeaddeadull)

/* The call must fail so and leave NULL in `result`, a handle variable. */
#define TD_EXPECT_NULL(call, status, result)                                       \
  do {                                                                             \
    (result) = TD_POISON;                                                          \
    td_test_expect(__FILE__, __LINE__, #call, (call), (status));                   \
    if ((result) != NULL)                                                          \
      td_test_fail(__FILE__, __LINE__, "%s is not NULL after a failure", #result); \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif
