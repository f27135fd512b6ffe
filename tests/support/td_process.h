/* td_process.h: a test that runs another test of its own program in a process of its own. */
#ifndef TD_PROCESS_H
#define TD_PROCESS_H

#include "td_test.h"

/* Starts this program again with one test, the child. `role` is what td_role() gives there. */
int td_spawn(const char *test, const char *role);

/* Waits for the child; 1 when its test has passed. */
int td_join(int process);

/* What the parent has said to the child; the test ends as skipped in a process that is no child. */
const char *td_role(void);

#endif
