/* tdtool verify: whether what is stored can be read. */
#include "tdtool.h"

static int run(int count, char **arguments) {
  (void)count;
  die("%s: verify is not there yet", arguments[0]);
  return TOOL_FAILED;
}

const tool_command command_verify = {
    .name = "verify",
    .arguments = "PATH [OPTION...]",
    .summary = "Names each damaged leaf, and what is wrong with it",
    .example = "tdtool verify rollout",
    .least = 1,
    .most = 1,
    .run = run,
};
