/* What tdtool is made of that needs no library: what may be asked, and how answers are printed. The command itself
 * links this alone, so that it starts at once; tdtool-main, which it becomes for everything else, links it too. */
#ifndef TDTOOL_PLAIN_H
#define TDTOOL_PLAIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <tensordict/td.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Exit statuses. */
enum {
  TOOL_FINE = 0,  /* done, nothing found */
  TOOL_FOUND = 1, /* a difference, or damage */
  TOOL_USAGE = 2, /* asked wrongly */
  TOOL_FAILED = 3 /* could not be done */
};

/* end.c: ends the program with one line to stderr. */
#ifdef __GNUC__
#define ENDS __attribute__((noreturn))
#else
#define ENDS
#endif
ENDS void die(const char *format, ...);
ENDS void die_usage(const char *format, ...);
ENDS void die_without_memory(void);
extern void (*before_message)(void); /* removes a progress bar; NULL without one */
int finish(int result);              /* flushes stdout; the exit status */

/* options.c: options of commands. Help, the man page and completion are made from the same tables. */
typedef enum {
  TAKES_NOTHING,
  TAKES_TEXT,
  TAKES_TEXTS,
  TAKES_FORM,
  TAKES_COUNT,
  TAKES_REAL
} option_takes;
typedef struct texts { /* of an option that may come several times */
  const char **items;
  size_t length;
} texts;
typedef struct tool_option {
  const char *name;   /* without the dashes */
  char letter;        /* 0: no short form */
  const char *value;  /* its value in the help; NULL for a switch */
  const char *words;  /* the allowed values, separated by blanks; NULL: any */
  const char *text;   /* one line */
  option_takes takes; /* what `into` points to: bool, const char *, texts, form, int64_t, double */
  void *into;
} tool_option;
const char *option_words(const tool_option *of); /* of a form: all that can be saved */
typedef struct tool_command {
  const char *name;
  const char *arguments; /* as in a usage line */
  const char *summary;   /* one line */
  const char *text;      /* paragraphs, separated by an empty line */
  const char *example;   /* command lines */
  const tool_option *options;
  size_t options_len;
  int least, most; /* how many arguments; most -1: any */
} tool_command;
/* Its options, and the least and most arguments that it takes. */
#define TAKES(table, fewest, highest) \
  .options = (table), .options_len = COUNT_OF(table), .least = (fewest), .most = (highest)

extern const tool_command *const commands[];
extern const size_t commands_len;
extern const tool_option common_options[];
extern const size_t common_options_len;
extern struct common_values {
  bool json, help;
  int64_t batch_dims; /* -1: not given */
  const char *color, *progress;
} common;

const tool_command *find_command(const char *name); /* ask.c */
/* Reads the options behind a command; argv[1] is the command. Returns the arguments, the rest of argv. */
char **read_command(const tool_command *command, int argc, char **argv, int *count);
char **read_options(const tool_command *command, int argc, char **argv, int *count);
void print_help(const tool_command *command); /* NULL: of the tool */
int print_manual(const char *what);           /* manual.c: man, bash, zsh, guide */

/* memory.c: allocations that end the program if they fail. */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* text.c: growing text; sizes, shapes and keys for people. */
typedef struct text {
  char *data; /* with a closing NUL; NULL when nothing was added */
  size_t length, capacity;
} text;
void add_bytes(text *to, const char *bytes, size_t count);
void add(text *to, const char *string);
void addf(text *to, const char *format, ...);
void add_escaped(text *to, const char *utf8); /* control characters do not reach the terminal */
void add_size(text *to, uint64_t bytes);      /* 12.5 MB */
void add_shape(text *to, const int64_t *sizes, size_t dims);
void add_key(text *to, const char *const *path, size_t path_len); /* a/b */
void text_free(text *of);
size_t text_columns(const char *utf8);             /* of the terminal */
size_t text_fit(const char *utf8, size_t columns); /* the bytes that fit */

/* terminal.c: width, encoding and colours of the terminal. */
typedef enum { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN } color;
void terminal_begin(void);
size_t terminal_width(void); /* of stdout; 0: no limit */
bool terminal_utf8(void);
const char *color_on(color which); /* "" without colours */
const char *color_off(color which);

/* table.c: columns that are aligned, and fit the terminal. */
typedef struct table table;
table *table_new(const char *alignment); /* for each column: l, r, or L: left, may be shortened */
void table_cell(table *to, color which,
                const char *utf8); /* copied; a row is full after the last column */
size_t table_rows(const table *of);
typedef enum {
  CUT_LINES,
  BLOCKS,
  WHOLE_LINES
} table_fit; /* BLOCKS: of columns, one below the other */
void table_print(const table *of, table_fit fit);
void table_free(table *of);

/* json.c: JSON to stdout. */
void json_begin(char bracket); /* '{' or '[' */
void json_end(char bracket);   /* '}' or ']' */
void json_name(const char *name);
void json_text(const char *utf8);
void add_quoted(text *to, const char *utf8); /* a JSON text, not to stdout */
void json_raw(const char *json);
void json_int(int64_t value);
void json_size(uint64_t value);
void json_real(double value); /* null for NaN and infinities */
void json_bool(bool value);
void json_sizes(const int64_t *sizes, size_t dims);
/* A member: json_member(sizes, "shape", sizes, dims) writes the name, then json_sizes(sizes, dims). */
#define json_member(type, name, ...) (json_name(name), json_##type(__VA_ARGS__))
void json_path(const char *const *path, size_t path_len); /* the members "key" and "path" */
void json_finish(void);
bool json_is_open(void); /* a list or an object around what was written */

/* forms.cpp: what the tables of the core say of formats and dtypes. Here are the formats that tdtool treats in ways of
 * their own; all others go through td_file_load() and td_file_save(), with the number of a td_file_format. */
typedef int32_t form;
enum {
  FORM_UNKNOWN = 0,
  FORM_FOLDER = 64,
  FORM_ARCHIVE,
  FORM_CONSOLIDATED,
  FORM_MODULE,
  FORM_STORE,
  FORM_CSV,
  FORM_JSON
};
const char *form_name(form which);      /* as --to takes it */
const char *form_title(form which);     /* as people read it */
const char *form_words(void);           /* the names that --to takes */
bool form_saves(form which);            /* not read only */
bool form_has_batch(form which);        /* stores the batch size */
form form_called(const char *name);     /* as --to takes it; FORM_UNKNOWN */
form form_of_name(const char *path);    /* FORM_UNKNOWN for other suffixes; a folder without one */
form form_of_file(const char *path);    /* by its content; ends the program if there is no file */
void print_forms(void);                 /* for the man page */
void print_guide(void);                 /* the table of docs/guide/files.md */
const char *dtype_name(td_dtype dtype); /* float32 */
typedef enum {
  KIND_TRUTH,
  KIND_WHOLE,
  KIND_NATURAL,
  KIND_REAL,
  KIND_COMPLEX,
  KIND_NONE
} dtype_kinds;
dtype_kinds dtype_kind(td_dtype dtype);

/* keys.c: keys as people type them. */
typedef struct key {
  const char **names;
  size_t length;
} key;
key key_parse(const char *typed); /* a/b; a backslash before a slash that belongs to a name */
key key_join(const char *const *path, size_t path_len, const char *name);
key key_copy(const char *const *path, size_t path_len);
void key_free(key *of);
bool key_within(const char *const *path, size_t path_len, key prefix);

/* tree_lines.c: a dictionary as a list of lines. */
typedef struct entry {
  char *name;
  size_t parent; /* position of its dictionary; that of the root is its own */
  size_t depth;
  bool last; /* of its siblings */
  td_entry_kind kind;
  td_dict_kind dict_kind;
  td_dtype dtype;
  size_t dims, dims_before; /* dims_before: of the dictionary around it */
  int64_t *sizes;           /* batch size of a dictionary */
  bool same_batch;          /* as the dictionary around it */
  uint64_t bytes;           /* of all tensors below */
  size_t tensors, values;   /* below, or 1 */
  size_t elements;          /* of a lazy stack */
  size_t having, of;        /* `having` of `of` elements of its stack have it; 0: all */
  int64_t stack_dim;
  char *tensorclass; /* the tensorclass */
  char *value;       /* non-tensor data, as JSON */
} entry;
typedef struct tree {
  entry *entries; /* the root first, each dictionary before its content */
  size_t length;
  char **names; /* of the batch dimensions of the root, NULL for those without; NULL: no list */
  const struct ring *ring; /* of a replay buffer, else NULL */
  char *metadata;          /* as of metadata.cpp */
} tree;

/* Where a replay buffer stands. */
typedef struct ring {
  int64_t len, capacity, cursor, written;
} ring;
void tree_free(tree *of);
void entry_key(const tree *of, size_t position, key *result);

void tree_sum(tree *of); /* bytes, tensors and values, from below */
bool same_sizes(const entry *one, const entry *other);

/* show_lines.c: prints such a list as a tree, or as JSON; most_depth 0: all levels. */
void print_lines(const tree *of, int64_t most_depth);
void json_lines(const tree *of, int64_t most_depth); /* the member "entries" */
void add_note(text *to, const entry *line);
void add_abbreviated(text *to, const char *json, size_t columns);

/* metadata.cpp: what a safetensors file keeps beside its entries, without what this library keeps there, as JSON of texts.
 * NULL: nothing. */
char *metadata_in_safetensors(const char *path);
/* Calls `take` for each of these, or for each attribute of an HDF5 file; `place` is that of the attribute, or NULL. */
typedef void metadata_take(const char *place, const char *name, const char *json);
void metadata_each(const char *json, metadata_take *take);

/* show_print.c: what show prints of a tree. */
void print_tree(const tree *of, const char *path, form which, int64_t most_depth);

#ifdef __cplusplus
}
#endif

#endif
