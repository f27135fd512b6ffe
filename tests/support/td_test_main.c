/* td_test_main.c: main of the test programs that link the library, and the check of a status. */
#include <string.h>

#include "td_test.h"

void td_test_expect(const char *file, int line, const char *call, td_status got, td_status want) {
  if (got != want)
    td_test_fail(file, line, "%s\ngave %s (%d), not %s (%d): %s", call, td_status_name(got),
                 (int)got, td_status_name(want), (int)want,
                 got == TD_OK ? "no failure" : td_last_error_message());
  if (want == TD_OK) return;
  if (td_last_error_code() != want)
    td_test_fail(file, line, "%s\nreturned %s but left the code %s", call, td_status_name(want),
                 td_status_name(td_last_error_code()));
  if (td_last_error_message()[0] == '\0')
    td_test_fail(file, line, "%s\nfailed without a message", call);
  if (strchr(td_last_error_message(), '\n') != NULL)
    td_test_fail(file, line, "%s\nleft a message of more than one line: %s", call,
                 td_last_error_message());
}

int main(int argc, char **argv) { return td_test_run(argc, argv, td_debug_live_handles); }
