/* What the examples do about errors: say what failed, and end. A game would carry on instead. */
#ifndef EXAMPLES_MUST_H
#define EXAMPLES_MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <tensordict/td.h>

/* [must] */
static inline void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "%s: %s: %s\n", td_last_error_function(), td_status_name(status),
          td_last_error_message());
  exit(EXIT_FAILURE);
}
/* [/must] */

#endif
