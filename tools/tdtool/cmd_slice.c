/* tdtool slice: a part of a dictionary, printed or saved. */
#include <stdlib.h>

#include "tdtool.h"

static struct { int64_t rows; } given = {10};

static const tool_option options[] = {
    SAVING_OPTIONS,
    {"rows", 'n', "N", NULL, "without OUT: how many rows to print; 10 by default", TAKES_COUNT,
     &given.rows},
};

static int run(int count, char **arguments) {
  td_index_item items[64];
  size_t items_len;
  if (td_index_parse(arguments[1], items, COUNT_OF(items), &items_len) != TD_OK) {
    die_usage("%s", td_last_error_message());
  }
  const char *out = count > 2 ? arguments[2] : NULL;
  form as = out ? form_for(out) : FORM_UNKNOWN;
  if (out) refuse_existing(out);
  td_tensordict *all = open_any(arguments[0], false), *part;
  must(td_index(all, items, items_len, &part));
  if (out) {
    save_any(part, out, as, "slice");
    print_saved(part, out, as);
  } else {
    leaves chosen = leaves_of(part, true);
    print_rows(part, &chosen, 0, given.rows);
    leaves_free(&chosen);
  }
  td_free(part);
  td_free(all);
  return TOOL_FINE;
}

const tool_command command_slice = {
    .name = "slice",
    .arguments = "PATH INDEX [OUT] [OPTION...]",
    .summary = "Indexes the batch dimensions as in Python, and prints or saves the result",
    .text =
        "INDEX consists of integers, slices, ... and None, separated by commas. It "
        "applies to the batch dimensions of every entry. Without OUT, tdtool prints the "
        "rows.",
    .example =
        "tdtool slice rollout -1\ntdtool slice rollout \"0:100, ..., ::2\" part\ntdtool slice "
        "rollout "
        "\"0, :, None\" first.tdz",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 2,
    .most = 3,
    .run = run,
};
