/* tdtool convert: from one form to another. */
#include "tdtool.h"

static struct {
  const char *to;
  bool force;
} given;

static const tool_option options[] = {
    {"to", 't', "FORM", FORM_WORDS, "the form of OUT; else its suffix says it", TAKES_TEXT,
     &given.to},
    {"force", 0, NULL, NULL, "replace OUT if it is there", TAKES_NOTHING, &given.force},
};

static int run(int count, char **arguments) {
  (void)count;
  form as = form_for(arguments[1], given.to);
  if (!given.force) refuse_existing(arguments[1]);
  td_tensordict *td = open_any(arguments[0], false);
  save_any(td, arguments[1], as, "convert");
  print_saved(td, arguments[1], as);
  td_free(td);
  return TOOL_FINE;
}

const tool_command command_convert = {
    .name = "convert",
    .arguments = "PATH OUT [OPTION...]",
    .summary = "Stores a dictionary in another form",
    .text =
        "The form of PATH is found by looking into it. OUT is written beside its place and put "
        "there when it is "
        "whole.",
    .example =
        "tdtool convert rollout rollout.tdz\ntdtool convert weights.safetensors weights\ntdtool "
        "convert "
        "table.csv table.npz",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 2,
    .most = 2,
    .run = run,
};
