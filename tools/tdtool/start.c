/* tdtool: answers at once what needs no library, and looks at plain dictionaries without it. For everything else it becomes
 * tdtool-main, which loads libtorch. */
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset.h"
#include "disk.h"
#include "pip.h"
#include "rows.h"
#include "runs.h"

/* That of this program, with a slash. */
static const char *own_folder(void) {
  static char here[4096];
  ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
  if (length <= 0 || (size_t)length >= sizeof here - 1) die("/proc/self/exe: %s", strerror(errno));
  while (length > 0 && here[length - 1] != '/') length--;
  here[length] = '\0';
  return here;
}

/* Where tdtool-main is: beside this program in a build folder, or at a relative path in an installed tree. A package of
 * the one program, such as pip's, lacks it. */
static bool find_main(text *place) {
  static const char *const places[] = {"tdtool-main", TDTOOL_MAIN};
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    place->length = 0;
    if (*places[i] != '/') add(place, own_folder());
    add(place, places[i]);
    if (access(place->data, F_OK) == 0) return true;
  }
  return false;
}

static void become_main(char **argv) {
  text place = {NULL, 0, 0};
  if (!find_main(&place))
    die("this needs the library and libtorch, which this package of tdtool lacks (no %s); Debian's "
        "package tdtool and the tarball of TensorDict have them",
        place.data);
  find_pip_torch(place.data, own_folder());
  fflush(stdout);
  execv(place.data, argv);
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
    text place = {NULL, 0, 0};
    printf("tdtool %d.%d.%d, ", TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
    puts(find_main(&place) ? "built with libtorch " TDTOOL_TORCH : "without the library");
    free(place.data);
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

static char **asked; /* the arguments of the program */

/* Discards the output: tdtool-main starts over. */
static void leave(void) {
  __fpurge(stdout);
  become_main(asked);
}

void must(td_status status) {
  if (status != TD_OK) leave();
}

td_tensordict *open_any(const char *path, bool shapes_only) {
  (void)shapes_only;
  form which;
  td_tensordict *td = disk_open(path, NULL, &which);
  if (!td) leave();
  return td;
}

td_tensordict *open_rows(const char *path) { return open_any(path, false); }

/* A folder of a data set does not open as a dictionary: tdtool-main looks at it. */
bool is_set_folder(const char *path) {
  (void)path;
  return false;
}

static int run_show_disk(int count, char **arguments) {
  form which = FORM_UNKNOWN;
  td_tensordict *td =
      loading.sha256 ? NULL : disk_open(arguments[0], count > 1 ? arguments[1] : NULL, &which);
  if (!td) leave();
  tree of = tree_of(td, show_asked.elements);
  if (count == 1 && which == (form)TD_FILE_SAFETENSORS)
    of.metadata = metadata_in_safetensors(arguments[0]);
  print_tree(&of, arguments[0], which, show_asked.depth);
  tree_free(&of);
  td_free(td);
  return TOOL_FINE;
}

/* grep with OUT always needs the library. */
void save_begin(const char *out) {
  (void)out;
  leave();
}
void save_rows(const block *rows, const unsigned char *met) {
  (void)rows;
  (void)met;
}
void save_end(const char *out) { (void)out; }

static const struct {
  const tool_command *command;
  int (*run)(int count, char **arguments);
} runs[] = {
    {&command_diff, run_diff},   {&command_grep, run_grep},     {&command_head, run_head},
    {&command_plot, run_plot},   {&command_report, run_report}, {&command_show, run_show_disk},
    {&command_stats, run_stats},
};

int main(int argc, char **argv) {
  const tool_command *command = argc > 1 ? find_command(argv[1]) : NULL;
  if (!command) return finish(answer(argc, argv));
  int count = 0;
  asked = xcalloc((size_t)argc + 1,
                  sizeof *asked); /* the options are read again by the other program */
  memcpy(asked, argv, (size_t)argc * sizeof *asked);
  before_message = progress_end;
  char **arguments = read_command(command, argc, argv, &count);
  if (common.help) {
    print_help(command);
    return finish(TOOL_FINE);
  }
  for (size_t i = 0; i < COUNT_OF(runs); i++) {
    if (runs[i].command == command) return finish(runs[i].run(count, arguments));
  }
  become_main(asked);
  return TOOL_FAILED;
}
