/* tdtool: looks at, compares and converts dictionaries of tensors on disk. What all commands share. */
#ifndef TDTOOL_H
#define TDTOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <tensordict/td.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* How the program ends. */
enum {
  TOOL_FINE = 0,  /* done, nothing found */
  TOOL_FOUND = 1, /* a difference, or damage */
  TOOL_USAGE = 2, /* asked wrongly */
  TOOL_FAILED = 3 /* could not be done */
};

/* main.c: one line to stderr, and the end. */
void die(const char *format, ...);
void die_usage(const char *format, ...);
void must(td_status status);

/* options.c: what a command takes. Commands are tables; help, the man page and completion are made of them. */
typedef enum { TAKES_NOTHING, TAKES_TEXT, TAKES_TEXTS, TAKES_COUNT, TAKES_REAL } option_takes;
typedef struct texts { /* of an option that may come several times */
  const char **items;
  size_t length;
} texts;
typedef struct tool_option {
  const char *name;   /* without the dashes */
  char letter;        /* 0: there is only the long one */
  const char *value;  /* what the help calls its value; NULL for a switch */
  const char *words;  /* the values that it may have, separated by blanks; NULL: any */
  const char *text;   /* one line */
  option_takes takes; /* what `into` points to: bool, const char *, texts, int64_t, double */
  void *into;
} tool_option;
typedef struct tool_command {
  const char *name;
  const char *arguments; /* as in a usage line */
  const char *summary;   /* one line */
  const char *text;      /* paragraphs, separated by an empty line */
  const char *example;   /* command lines */
  const tool_option *options;
  size_t options_len;
  int least, most; /* how many arguments; most -1: any */
  int (*run)(int count, char **arguments);
} tool_command;

extern const tool_command command_cat, command_convert, command_diff, command_head, command_repair,
    command_run, command_show, command_slice, command_stats, command_verify;
extern const tool_command *const commands[];
extern const size_t commands_len;
extern const tool_option common_options[];
extern const size_t common_options_len;
extern struct common_values {
  bool json, help;
  int64_t batch_dims;
  const char *color, *progress;
} common;

const tool_command *find_command(const char *name);
char **read_options(const tool_command *command, int argc, char **argv, int *count);
void print_help(const tool_command *command); /* NULL: of the tool */
int print_manual(const char *what);           /* manual.c: man, bash, zsh */

/* memory.c: memory that is there, or the end. */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* text.c: growing text, and what people like to read. */
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
size_t text_fit(const char *utf8, size_t columns); /* bytes that take at most so many columns */
const char *dtype_name(td_dtype dtype);            /* float32 */
char *non_tensor_text(const td_tensordict *td, const char *const *path, size_t path_len, bool list);

/* terminal.c: what the terminal can do. */
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
void json_raw(const char *json);
void json_int(int64_t value);
void json_size(uint64_t value);
void json_real(double value); /* null for what JSON lacks */
void json_bool(bool value);
void json_sizes(const int64_t *sizes, size_t dims);
void json_path(const char *const *path, size_t path_len); /* the members "key" and "path" */
void json_finish(void);

/* progress.c: a bar on stderr. */
void progress_begin(const char *label, uint64_t total);
void progress_add(uint64_t more);
void progress_set(uint64_t done, uint64_t total);
void progress_end(void);
/* A call of the library beside a bar, which counts the bytes that the process writes. */
td_status progress_call(const char *label, uint64_t total, td_status (*call)(void *user),
                        void *user);

/* forms.c: what lies on the disk. */
typedef enum {
  FORM_UNKNOWN,
  FORM_FOLDER,
  FORM_ARCHIVE,
  FORM_CONSOLIDATED,
  FORM_SAFETENSORS,
  FORM_NPZ,
  FORM_NPY,
  FORM_TORCH,
  FORM_MODULE,
  FORM_CSV,
  FORM_JSON
} form;
const char *form_name(form which);  /* as --to takes it */
const char *form_title(form which); /* as people read it */
extern struct saving_values {
  const char *to;
  bool force, compress, checksums, durable, tensors, pad;
} saving;
#define SAVING_OPTIONS                                                                              \
  {"to",                                                                                            \
   't',                                                                                             \
   "FORMAT",                                                                                        \
   "folder tdz consolidated safetensors npz npy csv json",                                          \
   "the format of OUT; by default its suffix decides",                                              \
   TAKES_TEXT,                                                                                      \
   &saving.to},                                                                                     \
      {"force", 0, NULL, NULL, "replace an existing OUT", TAKES_NOTHING, &saving.force},            \
      {"compress",                                                                                  \
       'z',                                                                                         \
       NULL,                                                                                        \
       NULL,                                                                                        \
       "compress the tensors in a .tdz or .npz archive",                                            \
       TAKES_NOTHING,                                                                               \
       &saving.compress},                                                                           \
      {"checksums",      0, NULL, NULL, "write checksums into a folder, for verify", TAKES_NOTHING, \
       &saving.checksums},                                                                          \
      {"durable",      0, NULL, NULL, "wait until all data is on the disk", TAKES_NOTHING,          \
       &saving.durable},                                                                            \
      {"tensors", 0, NULL, NULL, "leave out non-tensor data", TAKES_NOTHING, &saving.tensors}, {    \
    "pad", 0, NULL, NULL, "pad the tensors of a lazy stack with zeros to one tensor",               \
        TAKES_NOTHING, &saving.pad                                                                  \
  }
void print_forms(void); /* for the man page */
form form_of_file(const char *path);
form form_for(const char *path);                             /* to be written */
td_tensordict *open_any(const char *path, bool shapes_only); /* ends the program when it cannot */
td_status try_open(const char *path, form which, td_tensordict **td);
td_tensordict *open_key(const char *path, const char *key, bool shapes_only);
/* Saves by the form. */
void save_any(const td_tensordict *td, const char *path, form as, const char *label);
/* Gives the dictionary that is mapped from a folder; NULL for some forms. */
td_tensordict *save_mapped(const td_tensordict *td, const char *path, form as, const char *label);
void print_saved(const td_tensordict *td, const char *path, form as);
void refuse_existing(const char *path); /* unless --force was given */

/* zip.c: whether a zip archive has an entry of this name in a folder at its top. */
bool zip_holds(const char *path, const char *name);

/* module.c: TorchScript archives. */
extern struct module_values {
  texts in, out;
  const char *sha256, *device;
  bool freeze;
} loading;
#define SHA256_OPTION \
  { "sha256", 0, "HEX", NULL, "refuse a module with another checksum", TAKES_TEXT, &loading.sha256 }
td_status load_module(const char *path, td_module **module);
void module_device(td_device_type *type, int32_t *index); /* of --device */

/* scratch.c: a folder beside a place: .NAME.tdtool-PID */
const char *scratch_begin(const char *beside);
const char *scratch_path(void);
void scratch_remove(void);
void scratch_check(void); /* ends the program when it was interrupted */
td_tensordict *scratch_keep(const char *out, form as); /* the folder becomes OUT; what OUT holds */

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

/* tree.c: a dictionary as a list of lines. */
typedef struct entry {
  char *name;
  size_t parent; /* position of the dictionary around it; its own for the root */
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
  size_t having, of;        /* in how many elements of the stack around it, when not all have it */
  int64_t stack_dim;
  char *tensorclass; /* the tensorclass */
  char *value;       /* of what is no tensor, as JSON */
} entry;
typedef struct tree {
  entry *entries; /* the root first, each dictionary before its content */
  size_t length;
} tree;
tree tree_of(const td_tensordict *td, bool elements);
void tree_free(tree *of);
void entry_key(const tree *of, size_t position, key *result);

/* show_lines.c: such a list as people read it, and as JSON; most_depth 0: all levels. */
void print_lines(const tree *of, int64_t most_depth);
void json_lines(const tree *of, int64_t most_depth); /* the member "entries" */
void add_note(text *to, const entry *line);

/* show_module.c: tdtool show of a TorchScript archive; false when it names no keys. */
bool show_module(const char *path, int64_t most_depth);

/* outputs.c: the outputs of a module for all rows, in files. */
typedef struct output {
  key path;
  td_dtype dtype;
  size_t dims;
  int64_t *sizes;
  td_tensor *file; /* where all rows go; NULL before they are made */
} output;
typedef struct outputs {
  output *items;
  size_t length;
} outputs;
outputs outputs_of(const td_module *module, const td_tensordict *first); /* as the first rows are */
void outputs_free(outputs *of);
td_tensordict *outputs_exclude(const outputs *of, const td_tensordict *td);
/* Files for all rows in a stored dictionary; false when it gets none. */
bool outputs_make(outputs *of, td_tensordict *stored, int64_t rows);
/* Some rows; says what does not fit, or NULL. */
char *outputs_write(const outputs *of, const td_tensordict *result, int64_t first, int64_t past);

/* leaves.c: the tensors of a dictionary, also through lazy stacks. */
typedef struct leaf {
  key path;
  td_entry_kind kind;
} leaf;
typedef struct leaves {
  leaf *items;
  size_t length;
} leaves;
leaves leaves_of(const td_tensordict *td, bool data);  /* of all elements of lazy stacks, too */
void leaves_keep(leaves *of, int count, char **typed); /* only what lies under one of the keys */
void leaves_free(leaves *of);
/* Calls `each` with dense pieces of a leaf one after the other, none larger than it must be; a lazy
 * stack is not stacked for it. `each` borrows the tensor. */
void leaf_pieces(const td_tensordict *td, key path,
                 void (*each)(void *user, const td_tensor *piece), void *user);

/* values.c: elements of tensors. */
typedef struct elements { /* a dense piece of a tensor on the CPU */
  td_tensor *held;
  const unsigned char *data;
  td_dtype dtype;
  size_t count, item;
  size_t dims;
  int64_t *sizes;
} elements;
elements elements_of(const td_tensor *tensor);
void elements_free(elements *of);
void add_element(text *to, td_dtype dtype, const void *element, bool exact);
double element_real(td_dtype dtype, const void *element); /* of a complex number its magnitude */
void elements_real(td_dtype dtype, const void *data, size_t count, double *into);
bool is_real(td_dtype dtype);           /* floats */
bool is_integer(td_dtype dtype);        /* integers and bool */
void json_elements(const elements *of); /* nested lists */
void add_elements(text *to, const elements *of, size_t most);

/* compare.c: what differs, and how, or NULL */
const char *tensors_differ(const td_tensor *left, const td_tensor *right, double relative,
                           double absolute, text *details);

/* cmd_head.c, for cmd_slice.c */
void print_rows(const td_tensordict *td, const leaves *chosen, int64_t from, int64_t count);

#endif
