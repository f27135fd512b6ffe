/* tdtool: answers at once what needs no library. For everything else it becomes tdtool-main, which loads libtorch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asked.h"
#include "light.h"

/* Runs tdtool-main, which is beside this program in a build folder, or at a relative path in an installed tree. */
static void become_main(char **argv) {
  static const char *const places[] = {"tdtool-main", TDTOOL_MAIN};
  char here[4096];
  ssize_t length = readlink("/proc/self/exe", here, sizeof here);
  if (length <= 0 || (size_t)length >= sizeof here) die("/proc/self/exe: %s", strerror(errno));
  while (length > 0 && here[length - 1] != '/') length--;
  text place = {NULL, 0, 0};
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    place.length = 0;
    if (*places[i] != '/') add_bytes(&place, here, (size_t)length);
    add(&place, places[i]);
    fflush(stdout);
    execv(place.data, argv);
  }
  die("%s: %s", place.data, strerror(errno));
}

/* Answers a call without a command. */
static int answer(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : "";
  terminal_begin();
  if (argc < 2) {
    print_help(NULL);
    return TOOL_USAGE;
  }
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    printf("tdtool %d.%d.%d, built with libtorch %s\n", TD_VERSION_MAJOR, TD_VERSION_MINOR,
           TD_VERSION_PATCH, TDTOOL_TORCH);
    return TOOL_FINE;
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
    const tool_command *command = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && !command) die_usage("no command '%s'; tdtool --help lists them", argv[2]);
    print_help(command);
    return TOOL_FINE;
  }
  if (strcmp(first, "--print") == 0 && argc == 3) return print_manual(argv[2]);
  if (*first == '-') die_usage("no option '%s' before a command; tdtool --help says more", first);
  die_usage("no command '%s'; tdtool --help lists them", first);
  return TOOL_USAGE;
}

/* Prints what the light readers can read; false for all others. */
static bool show_at_once(int count, char **arguments) {
  tree of;
  form which;
  if (loading.sha256) return false;
  if (!read_light(arguments[0], count > 1 ? arguments[1] : NULL, &of, &which)) return false;
  print_tree(&of, arguments[0], which, show_asked.depth);
  tree_free(&of);
  return true;
}

int main(int argc, char **argv) {
  const tool_command *command = argc > 1 ? find_command(argv[1]) : NULL;
  if (!command) return finish(answer(argc, argv));
  int count = 0;
  char **copy = xcalloc((size_t)argc + 1, sizeof *copy); /* tdtool-main reads the options again */
  memcpy(copy, argv, (size_t)argc * sizeof *copy);
  char **arguments = read_command(command, argc, copy, &count);
  bool done = common.help;
  if (common.help) print_help(command);
  if (command == &command_show && !done) done = show_at_once(count, arguments);
  if (!done) become_main(argv);
  free(copy);
  return finish(TOOL_FINE);
}
