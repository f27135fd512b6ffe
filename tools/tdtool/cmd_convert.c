/* tdtool convert: from one form to another. */
#include "tdtool.h"

static const tool_option options[] = {
    SAVING_OPTIONS,
};

static int run(int count, char **arguments) {
  (void)count;
  form as = form_for(arguments[1]);
  refuse_existing(arguments[1]);
  td_tensordict *td = open_any(arguments[0], false);
  save_any(td, arguments[1], as, "convert");
  print_saved(td, arguments[1], as);
  td_free(td);
  return TOOL_FINE;
}

const tool_command command_convert = {
    .name = "convert",
    .arguments = "PATH OUT [OPTION...]",
    .summary = "Converts a dictionary to another format",
    .text =
        "tdtool recognises the format of PATH by its content. OUT appears under its name "
        "only when it is complete.",
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
