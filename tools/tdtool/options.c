/* Options by the tables of the commands, and the help that is made of these. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

const tool_option common_options[] = {
    {"json", 0, NULL, NULL, "print JSON, for scripts", TAKES_NOTHING, &common.json},
    {"color", 0, "WHEN", "auto always never",
     "use colours; auto: on a terminal, unless NO_COLOR is set", TAKES_TEXT, &common.color},
    {"progress", 0, "WHEN", "auto always never",
     "show a progress bar on stderr; auto: on a terminal", TAKES_TEXT, &common.progress},
    {"batch-dims", 0, "N", NULL, "the number of batch dimensions, for formats that do not store it",
     TAKES_COUNT, &common.batch_dims},
    {"help", 'h', NULL, NULL, "print this help", TAKES_NOTHING, &common.help},
};
const size_t common_options_len = COUNT_OF(common_options);

/* The options of a command, then the common ones. */
static const tool_option *option_at(const tool_command *command, size_t position) {
  if (position < command->options_len) return command->options + position;
  return common_options + (position - command->options_len);
}

const char *option_words(const tool_option *of) {
  return of->takes == TAKES_FORM ? form_words() : of->words;
}

static bool is_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; *at; at += strspn(at, " ")) {
    size_t here = strcspn(at, " ");
    if (here == length && strncmp(at, word, length) == 0) return true;
    at += here;
  }
  return false;
}

static void take(const tool_command *command, const tool_option *given, const char *value) {
  const char *words = option_words(given);
  char *end = NULL;
  if (words && !is_word(words, value))
    die_usage("%s: --%s takes one of: %s; not '%s'", command->name, given->name, words, value);
  errno = 0;
  switch (given->takes) {
    case TAKES_NOTHING: *(bool *)given->into = true; return;
    case TAKES_TEXT: *(const char **)given->into = value; return;
    case TAKES_FORM: *(form *)given->into = form_called(value); return;
    case TAKES_TEXTS: {
      texts *to = given->into;
      to->items = xrealloc(to->items, (to->length + 1) * sizeof *to->items);
      to->items[to->length++] = value;
      return;
    }
    case TAKES_COUNT: *(int64_t *)given->into = strtoll(value, &end, 10); break;
    case TAKES_REAL: *(double *)given->into = strtod(value, &end); break;
  }
  bool negative =
      given->takes == TAKES_REAL ? !(*(double *)given->into >= 0) : *(int64_t *)given->into < 0;
  if (!*value || *end || errno || negative) {
    die_usage("%s: --%s takes a number of at least 0, not '%s'", command->name, given->name,
              value + strspn(value, " "));
  }
}

/* Ends the program over an unknown option, and lists the options that begin with it. */
static void refuse_option(const tool_command *command, const char *typed) {
  text known = {NULL, 0, 0};
  size_t found = 0, length = strcspn(typed, "=");
  for (size_t i = 0; i < command->options_len + common_options_len; i++) {
    const char *name = option_at(command, i)->name;
    if (length <= 2 || strncmp(name, typed + 2, length - 2) != 0) continue;
    addf(&known, "%s--%s", found++ ? ", " : "", name);
  }
  if (found) die_usage("%s: %.*s could be %s", command->name, (int)length, typed, known.data);
  die_usage("%s: no option %.*s; see tdtool %s --help", command->name, (int)length, typed,
            command->name);
}

char **read_options(const tool_command *command, int argc, char **argv, int *count) {
  size_t options = command->options_len + common_options_len;
  struct option *longs = xcalloc(options + 1, sizeof *longs);
  text letters = {NULL, 0, 0};
  add(&letters, ":");
  for (size_t i = 0; i < options; i++) {
    const tool_option *from = option_at(command, i);
    int has_value = from->value ? required_argument : no_argument;
    longs[i] = (struct option){from->name, has_value, NULL, 1000 + (int)i};
    if (from->letter) addf(&letters, "%c%s", from->letter, from->value ? ":" : "");
  }
  opterr = 0;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) { /* -1 is an index, not an option */
    if (argv[i][0] != '-' || argv[i][1] < '0' || argv[i][1] > '9') continue;
    text number = {NULL, 0, 0};
    addf(&number, " %s", argv[i]);
    argv[i] = number.data;
  }
  for (int found; (found = getopt_long(argc, argv, letters.data, longs, NULL)) != -1;) {
    const char *typed = argv[optind - 1];
    if (found == ':') die_usage("%s: %s needs a value", command->name, typed);
    if (found == '?' && optopt >= 1000) die_usage("%s: %s takes no value", command->name, typed);
    if (found == '?' && optopt) die_usage("%s: no option -%c", command->name, optopt);
    if (found == '?') refuse_option(command, typed);
    for (size_t i = 0; i < options; i++) {
      const tool_option *given = option_at(command, i);
      if (found == 1000 + (int)i || (given->letter && found == given->letter))
        take(command, given, optarg);
    }
  }
  free(longs);
  text_free(&letters);
  *count = argc - optind;
  return argv + optind;
}

static void print_option(table *to, const tool_option *of) {
  text left = {NULL, 0, 0}, right = {NULL, 0, 0};
  if (of->letter)
    addf(&left, "  -%c, --%s", of->letter, of->name);
  else
    addf(&left, "      --%s", of->name);
  if (of->value) addf(&left, " %s", of->value);
  add(&right, of->text);
  table_cell(to, BOLD, left.data);
  table_cell(to, PLAIN, right.data);
  text_free(&left);
  text_free(&right);
}

static void heading(const char *title) {
  printf("\n%s%s%s\n", color_on(BOLD), title, color_off(BOLD));
}

static void print_tool_help(void) {
  puts("Inspects, compares and converts dictionaries of tensors on disk.");
  printf("\nusage: tdtool COMMAND [OPTION...] [ARGUMENT...]\n");
  heading("Commands");
  table *list = table_new("ll");
  for (size_t i = 0; i < commands_len; i++) {
    text name = {NULL, 0, 0};
    addf(&name, "  %s", commands[i]->name);
    table_cell(list, BOLD, name.data);
    table_cell(list, PLAIN, commands[i]->summary);
    text_free(&name);
  }
  table_print(list, WHOLE_LINES);
  table_free(list);
  heading("Every command takes");
  list = table_new("ll");
  for (size_t i = 0; i < common_options_len; i++) print_option(list, common_options + i);
  table_print(list, WHOLE_LINES);
  table_free(list);
  puts("\nExit status: 0 success, 1 found a difference or damage, 2 wrong usage, 3 failure.");
  puts("See tdtool COMMAND --help for a command, and man tdtool for everything.");
}

/* Lines of at most 80 columns, or what the terminal has. */
static void print_wrapped(const char *words) {
  size_t width = terminal_width(), used = 0;
  if (width == 0 || width > 80) width = 80;
  for (size_t length; *words; words += length, words += strspn(words, " ")) {
    length = strcspn(words, " \n");
    if (!length) { /* a new paragraph */
      length = strspn(words, "\n");
      fputs("\n\n", stdout);
      used = 0;
      continue;
    }
    size_t columns = length;
    if (used && used + 1 + columns > width) {
      putchar('\n');
      used = 0;
    }
    printf("%s%.*s", used ? " " : "", (int)length, words);
    used += columns + (used ? 1 : 0);
  }
  putchar('\n');
}

void print_help(const tool_command *command) {
  if (!command) {
    print_tool_help();
    return;
  }
  printf("usage: tdtool %s %s\n\n%s.\n", command->name, command->arguments, command->summary);
  if (command->text) {
    putchar('\n');
    print_wrapped(command->text);
  }
  heading("Options");
  table *list = table_new("ll");
  for (size_t i = 0; i < command->options_len + common_options_len; i++) {
    print_option(list, option_at(command, i));
  }
  table_print(list, WHOLE_LINES);
  table_free(list);
  heading("Examples");
  for (const char *at = command->example; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    printf("  %.*s\n", (int)strcspn(at, "\n"), at);
  }
}
