/* answer.h: what a peer that is told what to do answers on a line of its own: "ok", or why not. */
#include <stdio.h>

#include "tensordict/td.h"

static void answer(td_status status) {
  if (status == TD_OK)
    puts("ok");
  else
    printf("%s: %s\n", td_status_name(status), td_last_error_message());
  fflush(stdout);
}
