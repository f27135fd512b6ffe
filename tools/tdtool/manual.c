/* The man page and the completions, from the tables of commands and formats, and the table of the guide. The build installs
 * what this prints; a test compares the guide with it. */
#include <string.h>

#include "plain.h"

/* Text for troff: hyphens that can be typed, backslashes, no accidental requests. */
static void troff(const char *from) {
  bool start = true;
  for (; *from; from++) {
    if (start && (*from == '.' || *from == '\'')) fputs("\\&", stdout);
    if (*from == '-')
      fputs("\\-", stdout);
    else if (*from == '\\')
      fputs("\\e", stdout);
    else
      putchar(*from);
    start = *from == '\n';
  }
}

static void option_paragraphs(const tool_option *options, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tool_option *of = options + i;
    printf(".TP\n\\fB");
    if (of->letter) printf("\\-%c\\fR, \\fB", of->letter);
    printf("\\-\\-");
    troff(of->name);
    printf("\\fR");
    if (of->value) printf(" \\fI%s\\fR", of->value);
    printf("\n");
    troff(of->text);
    if (option_words(of)) printf("; one of: %s", option_words(of));
    printf(".\n");
  }
}

static void lines(const char *text) {
  printf(".PP\n.nf\n.RS\n");
  troff(text);
  printf("\n.RE\n.fi\n");
}

static void print_man(void) {
  printf(".\\\" Written by tdtool --print man.\n.TH TDTOOL 1 \"\" \"tensordict %d.%d.%d\" \"\"\n",
         TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
  printf(".SH NAME\ntdtool \\- inspects, compares and converts dictionaries of tensors on disk\n");
  printf(".SH SYNOPSIS\n.nf\n");
  for (size_t i = 0; i < commands_len; i++) {
    printf("\\fBtdtool %s\\fR ", commands[i]->name);
    troff(commands[i]->arguments);
    putchar('\n');
  }
  printf(
      "\\fBtdtool \\-\\-help\\fR, \\fBtdtool\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
      "\\fBtdtool \\-\\-version\\fR\n.fi\n");
  printf(
      ".SH DESCRIPTION\nA dictionary of tensors with a batch size is stored as a folder, as "
      "Python's tensordict does, "
      "or as one file.\n.I PATH\nmay be any of these:\n");
  print_forms();
  printf(
      ".PP\ntdtool recognises the format of an input by its content and chooses that of an output "
      "by its suffix. An output without a suffix is a folder.\n.PP\nA\n.I KEY\nconsists of names "
      "separated by slashes, such as \\fBnext/reward\\fR. Write a backslash before a slash or a "
      "backslash that is part of a name.\n");
  printf(".SH COMMANDS\n");
  for (size_t i = 0; i < commands_len; i++) {
    printf(".SS ");
    troff(commands[i]->name);
    printf(" ");
    troff(commands[i]->arguments);
    printf("\n");
    troff(commands[i]->summary);
    printf(".\n");
    if (commands[i]->text) {
      printf(".PP\n");
      troff(commands[i]->text);
      printf("\n");
    }
    option_paragraphs(commands[i]->options, commands[i]->options_len);
    lines(commands[i]->example);
  }
  printf(".SH COMMON OPTIONS\n");
  option_paragraphs(common_options, common_options_len);
  printf(
      ".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nA difference or damage was found.\n.TP\n2\nWrong "
      "usage.\n"
      ".TP\n3\nFailure: tdtool cannot read or write a file, or a format cannot hold the "
      "data.\n");
  printf(
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf set and not empty, disables colours unless "
      "\\fB\\-\\-color always\\fR is given.\n.TP\nCOLUMNS\nThe width of a terminal that does not "
      "report "
      "its own.\n");
}

static void print_words(const tool_option *options, size_t count) {
  for (size_t i = 0; i < count; i++) {
    printf(" --%s", options[i].name);
    if (options[i].letter) printf(" -%c", options[i].letter);
  }
}

/* What may stand behind an option that takes one of some words. */
static void bash_values(const tool_option *options, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tool_option *of = options + i;
    if (!of->value) continue;
    printf("    --%s", of->name);
    if (of->letter) printf(" | -%c", of->letter);
    if (option_words(of))
      printf(") mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$word\"); return ;;\n",
             option_words(of));
    else
      printf(") return ;;\n");
  }
}

static void print_bash(void) {
  puts(
      "# Completion of tdtool for bash. Written by tdtool --print bash.\n"
      "_tdtool() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then");
  printf("    mapfile -t COMPREPLY < <(compgen -W \"");
  for (size_t i = 0; i < commands_len; i++) printf("%s ", commands[i]->name);
  puts("--help --version\" -- \"$word\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in");
  for (size_t i = 0; i < commands_len; i++) {
    printf("  %s)\n    options=\"", commands[i]->name);
    print_words(commands[i]->options, commands[i]->options_len);
    printf("\"\n    case $before in\n");
    bash_values(commands[i]->options, commands[i]->options_len);
    puts("    esac\n    ;;");
  }
  puts("  esac\n  case $before in");
  bash_values(common_options, common_options_len);
  printf("  esac\n  case $word in\n  -*) mapfile -t COMPREPLY < <(compgen -W \"$options");
  print_words(common_options, common_options_len);
  puts(
      "\" -- \"$word\") ;;\n"
      "  *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _tdtool tdtool");
}

static void zsh_option(const tool_option *of) {
  if (of->letter)
    printf("      {-%c,--%s}'[", of->letter, of->name);
  else
    printf("      --%s'[", of->name);
  for (const char *at = of->text; *at; at++) {
    if (*at == '\'' || *at == ']' || *at == '[') continue;
    putchar(*at);
  }
  printf("]");
  if (of->value && option_words(of))
    printf(":%s:(%s)", of->value, option_words(of));
  else if (of->value)
    printf(":%s:", of->value);
  printf("' \\\n");
}

static void print_zsh(void) {
  puts(
      "#compdef tdtool\n# Completion of tdtool for zsh. Written by tdtool --print zsh.\n"
      "_tdtool() {\n  if (( CURRENT == 2 )); then\n    local -a names=(");
  for (size_t i = 0; i < commands_len; i++)
    printf("      '%s:%s'\n", commands[i]->name, commands[i]->summary);
  puts("    )\n    _describe command names\n    return\n  fi\n  case $words[2] in");
  for (size_t i = 0; i < commands_len; i++) {
    printf("  %s)\n    _arguments \\\n", commands[i]->name);
    for (size_t at = 0; at < commands[i]->options_len; at++) zsh_option(commands[i]->options + at);
    for (size_t at = 0; at < common_options_len; at++) zsh_option(common_options + at);
    puts("      '*:path:_files' ;;");
  }
  puts("  esac\n}\n_tdtool \"$@\"");
}

int print_manual(const char *what) {
  if (strcmp(what, "man") == 0)
    print_man();
  else if (strcmp(what, "bash") == 0)
    print_bash();
  else if (strcmp(what, "zsh") == 0)
    print_zsh();
  else if (strcmp(what, "guide") == 0)
    print_guide();
  else
    die_usage("--print takes man, bash, zsh or guide, not '%s'", what);
  return TOOL_FINE;
}
