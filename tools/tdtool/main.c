/* tdtool-main: finds the command and runs it. */
#include <stdlib.h>
#include <string.h>

#include "runs.h"

static const struct {
  const tool_command *command;
  int (*run)(int count, char **arguments);
} runs[] = {
    {&command_cat, run_cat},       {&command_convert, run_convert}, {&command_diff, run_diff},
    {&command_drop, run_drop},     {&command_grep, run_grep},       {&command_head, run_head},
    {&command_merge, run_merge},   {&command_pack, run_pack},       {&command_plot, run_plot},
    {&command_rename, run_rename}, {&command_repair, run_repair},   {&command_report, run_report},
    {&command_run, run_run},       {&command_set, run_set},         {&command_show, run_show},
    {&command_slice, run_slice},   {&command_split, run_split},     {&command_stats, run_stats},
    {&command_unpack, run_unpack}, {&command_verify, run_verify},   {&command_watch, run_watch},
};

static const char only_a_part[] = "this is a part of tdtool, which starts it for a command";

void must(td_status status) {
  if (status != TD_OK) die("%s", td_last_error_message());
}

int main(int argc, char **argv) {
  before_message = progress_end;
  if (!td_supports_abi(TD_ABI_VERSION)) {
    die("made for ABI %d of the library; this one is %s", TD_ABI_VERSION, td_version());
  }
  const tool_command *command = argc > 1 ? find_command(argv[1]) : NULL;
  if (!command) die_usage(only_a_part);
  int count = 0;
  char **arguments = read_command(command, argc, argv, &count);
  if (common.help) die_usage(only_a_part);
  for (size_t i = 0; i < COUNT_OF(runs); i++) {
    if (runs[i].command == command) return finish(runs[i].run(count, arguments));
  }
  die("tdtool-main does not know the command %s", command->name);
  return TOOL_FAILED;
}
