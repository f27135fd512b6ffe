/* tdtool: looks at, compares and converts dictionaries of tensors on disk. What all commands share. */
#ifndef TDTOOL_H
#define TDTOOL_H

#include "asked.h"

void must(td_status status); /* main.c: ends the program with the message of the library */

/* tree.c: a dictionary of the library as such lines. */
tree tree_of(const td_tensordict *td, bool elements);

/* progress.c: a bar on stderr. */
void progress_begin(const char *label, uint64_t total);
void progress_add(uint64_t more);
void progress_set(uint64_t done, uint64_t total);
void progress_end(void);
/* A call of the library beside a bar, which counts the bytes that the process writes. */
td_status progress_call(const char *label, uint64_t total, td_status (*call)(void *user),
                        void *user);

/* files.c: opens and saves files and folders. */
form form_for(const char *path);                             /* to be written */
td_tensordict *open_any(const char *path, bool shapes_only); /* ends the program when it cannot */
/* The rows of a data set (dataset.c), or a dictionary as open_any() opens it. */
td_tensordict *open_rows(const char *path);
/* What a file keeps beside its entries (metadata.cpp), or NULL; which formats do. */
char *metadata_of(const char *path, form which);
bool keeps_metadata(form which);
/* Opens a folder so that a save into it keeps its files. Its tensors are mapped: do not write to them. */
td_tensordict *open_folder_shared(const char *path);
/* store.c: a dictionary in a Redis server, by its address. */
td_status open_store(const char *path, td_tensordict **td);
td_status save_store(const td_tensordict *td, const char *path, bool replace);
td_status try_open(const char *path, form which, td_tensordict **td);
td_tensordict *open_key(const char *path, const char *key, bool shapes_only);
/* Saves by the form. */
void save_any(const td_tensordict *td, const char *path, form as, const char *label);
/* Returns the dictionary that is mapped from a folder; NULL for other forms. */
td_tensordict *save_mapped(const td_tensordict *td, const char *path, form as, const char *label);
void print_saved(const td_tensordict *td, const char *path, form as);
void refuse_existing(const char *path); /* unless --force was given */

/* module.c: TorchScript archives. */
td_status load_module(const char *path, td_module **module);
void module_device(td_device_type *type, int32_t *index); /* of --device */

/* scratch.c: a temporary folder beside a path: .NAME.tdtool-PID */
const char *scratch_begin(const char *beside);
const char *scratch_path(void);
void scratch_remove(void);
void scratch_check(void); /* ends the program after an interrupt */
td_tensordict *scratch_keep(const char *out,
                            form as); /* the folder becomes OUT; returns the dictionary in it */

/* show_module.c: tdtool show of a TorchScript archive; false when it names no keys. */
bool show_module(const char *path, int64_t most_depth);

/* outputs.c: the outputs of a module for all rows, in files. */
typedef struct output {
  key path;
  td_dtype dtype;
  size_t dims;
  int64_t *sizes;
  td_tensor *file; /* for all rows; NULL at first */
} output;
typedef struct outputs {
  output *items;
  size_t length;
} outputs;
outputs outputs_of(const td_module *module, const td_tensordict *first); /* as the first rows are */
void outputs_free(outputs *of);
td_tensordict *outputs_exclude(const outputs *of, const td_tensordict *td);
/* Makes the files for all rows in a stored dictionary; false if it cannot get new files. */
bool outputs_make(outputs *of, td_tensordict *stored, int64_t rows);
/* Writes some rows. Returns NULL, or a message about rows that do not fit. */
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
void leaves_keep(leaves *of, int count, char **typed); /* only those under one of the keys */
void leaves_free(leaves *of);
/* Calls `each` with dense pieces of a leaf, one after the other; does not stack a lazy stack. `each`
 * borrows the tensor. */
void leaf_pieces(const td_tensordict *td, key path,
                 void (*each)(void *user, const td_tensor *piece), void *user);

/* values.c: elements of tensors. */
char *non_tensor_text(const td_tensordict *td, const char *const *path, size_t path_len, bool list);
typedef struct elements { /* a dense piece of a tensor on the CPU */
  td_tensor *held;
  const unsigned char *data;
  td_dtype dtype;
  size_t count, item;
  size_t dims;
  int64_t *sizes;
} elements;
elements elements_of(const td_tensor *tensor);
/* The elements of a key; false if the key is not a tensor. */
bool elements_at(const td_tensordict *td, const key *path, elements *of);
void elements_free(elements *of);
void add_element(text *to, td_dtype dtype, const void *element, bool exact);
double element_real(td_dtype dtype, const void *element); /* of a complex number its magnitude */
long double element_exact(td_dtype dtype, const void *element); /* no digit of int64 is lost */
void elements_real(td_dtype dtype, const void *data, size_t count, double *into);
bool is_real(td_dtype dtype);           /* floats */
bool is_integer(td_dtype dtype);        /* integers and bool */
void json_elements(const elements *of); /* nested lists */
void add_elements(text *to, const elements *of, size_t most);

/* compare.c: a description of the difference, or NULL */
const char *tensors_differ(const td_tensor *left, const td_tensor *right, double relative,
                           double absolute, text *details);

/* cmd_head.c, for cmd_slice.c */
void print_rows(const td_tensordict *td, const leaves *chosen, int64_t from, int64_t count);

#endif
