/* What was typed: the command, its options, its arguments. */
#include <string.h>

#include "asked.h"

const tool_command *const commands[] = {
    &command_show,   &command_head,    &command_stats, &command_plot,   &command_report,
    &command_watch,  &command_grep,    &command_slice, &command_diff,   &command_cat,
    &command_merge,  &command_convert, &command_pack,  &command_unpack, &command_set,
    &command_rename, &command_drop,    &command_split, &command_run,    &command_verify,
    &command_repair,
};
const size_t commands_len = COUNT_OF(commands);
struct common_values common = {.batch_dims = -1};

const tool_command *find_command(const char *name) {
  for (size_t i = 0; i < commands_len; i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  }
  return NULL;
}

char **read_command(const tool_command *command, int argc, char **argv, int *count) {
  char **arguments = read_options(command, argc - 1, argv + 1, count);
  terminal_begin();
  if (common.help) return arguments;
  if (*count < command->least || (command->most >= 0 && *count > command->most)) {
    die_usage("usage: tdtool %s %s", command->name, command->arguments);
  }
  return arguments;
}
