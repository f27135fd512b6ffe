/* tdtool: finds the command and runs it. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

const tool_command *const commands[] = {
    &command_show, &command_head,    &command_stats, &command_slice,  &command_diff,
    &command_cat,  &command_convert, &command_run,   &command_verify, &command_repair,
};
const size_t commands_len = COUNT_OF(commands);
struct common_values common;

static void say(const char *format, va_list arguments) {
  char message[2000];
  vsnprintf(message, sizeof message, format, arguments);
  message[strcspn(message, "\n")] = '\0'; /* one line */
  text clean = {NULL, 0, 0};
  add_escaped(&clean, message);
  progress_end();
  fflush(stdout);
  fprintf(stderr, "tdtool: %s\n", clean.data ? clean.data : "");
  text_free(&clean);
}

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  exit(TOOL_FAILED);
}

void die_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  exit(TOOL_USAGE);
}

void must(td_status status) {
  if (status != TD_OK) die("%s", td_last_error_message());
}

const tool_command *find_command(const char *name) {
  for (size_t i = 0; i < commands_len; i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  }
  return NULL;
}

/* What was printed has arrived, or the program has failed. */
static int finish(int result) {
  if (fflush(stdout) != 0 || ferror(stdout)) die("the output could not be written");
  return result;
}

static int about(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : "";
  terminal_begin();
  if (argc < 2) {
    print_help(NULL);
    return finish(TOOL_USAGE);
  }
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    printf("tdtool %d.%d.%d, library %s, libtorch %s\n", TD_VERSION_MAJOR, TD_VERSION_MINOR,
           TD_VERSION_PATCH, td_version(), td_torch_version());
    return finish(TOOL_FINE);
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
    const tool_command *command = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && !command) die_usage("no command '%s'; tdtool --help lists them", argv[2]);
    print_help(command);
    return finish(TOOL_FINE);
  }
  if (strcmp(first, "--print") == 0 && argc == 3) return finish(print_manual(argv[2]));
  if (*first == '-') die_usage("no option '%s' before a command; tdtool --help says more", first);
  die_usage("no command '%s'; tdtool --help lists them", first);
  return TOOL_USAGE;
}

int main(int argc, char **argv) {
  if (!td_supports_abi(TD_ABI_VERSION)) {
    die("made for ABI %d of the library; this one is %s", TD_ABI_VERSION, td_version());
  }
  const tool_command *command = argc > 1 ? find_command(argv[1]) : NULL;
  if (!command) return about(argc, argv);
  int count = 0;
  char **arguments = read_options(command, argc - 1, argv + 1, &count);
  terminal_begin();
  if (common.help) {
    print_help(command);
    return finish(TOOL_FINE);
  }
  if (count < command->least || (command->most >= 0 && count > command->most)) {
    die_usage("usage: tdtool %s %s", command->name, command->arguments);
  }
  return finish(command->run(count, arguments));
}
