/* misuse.h: valid arguments of every kind, for the tests that gen_misuse.py writes. */
#ifndef MISUSE_H
#define MISUSE_H

#include "td_dlpack.h"
#include "td_values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one call needs. Every handle is fresh; `freed_…` were valid once. */
typedef struct misuse {
  int64_t live_before;
  td_tensordict *td, *other, *loaded, *parent /* of a sub-tensordict */, *freed_tensordict,
      *before[2];
  td_tensor *tensor, *tensor_source, *freed_tensor;
  td_keys *keys, *freed_keys;
  td_writer *writer, *freed_writer;
  td_map_iter *map_iter, *freed_map_iter;
  td_future *future, *freed_future;
  td_module *module, *freed_module, *script, *reward;
  td_optimizer *optimizer, *freed_optimizer;
  td_tensordict *params; /* of the optimizer, with gradients */
  td_loader *loader, *freed_loader;
  td_generator *generator, *freed_generator;
  td_tensor *generator_state;
  td_loader_options loader_options;
  td_replay *replay, *freed_replay, *goals;
  td_hdf5 *hdf5, *freed_hdf5;
  td_dataset *dataset, *freed_dataset;
  td_dataset_writer *dataset_writer, *freed_dataset_writer;
  td_store *store, *freed_store; /* without a server of no kind of handle */
  td_store_options store_options, new_store;
  td_replay_options replay_options;
  td_tensor *place;              /* of a row */
  td_group *group, *freed_group; /* of this process alone, the same one each time */
  int32_t ranks[1];
  const td_module *modules[1];
  td_distribution distributions[1];
  td_tensorclass *tensorclass_type, *freed_tensorclass;
  const td_tensordict *sources[2];
  const td_tensor *nested_tensor_parts[1];
  td_key wanted[1];
  td_key_set sets[1];
  td_tensordict *results[4];
  td_index_item items[1];
  td_field fields[2], field;
  td_call_argument arguments[1];
  td_operand operands[1];
  td_reduce_options reduced;
  td_index_item parsed[4];
  td_member members[1];
  float numbers[4];
  int64_t sizes[1];
  int64_t order[1];
  int64_t sizes_out[8];
  td_tensor *mask, *positions, *one, *table;
  char text[1024];
  struct DLManagedTensorVersioned versioned;
  struct DLManagedTensor legacy;
  struct ArrowSchema arrow_schema;
  struct ArrowArray arrow_array;
  struct ArrowArrayStream arrow_stream;
  int line;     /* a file that holds a message, once there is one */
  int lent;     /* memory that was given away in a call … */
  int released; /* … and came back */
} misuse;

void misuse_begin(misuse *m);

/* Skips the test where there is no server for a store. */
void misuse_need_store(void);

/* Adds a nested tensor to the dictionaries. A call that met it must have worked (the answer is 1), or have
 * said in one line that it cannot, with every dictionary as it was. */
void misuse_add_nested_tensor(misuse *m);
int misuse_nested_tensor_answer(misuse *m, const char *function, td_status refusal,
                                td_status status);

/* Adds a graph to the dictionaries in which each of 60 dictionaries stands twice in the one above it: 2^60
 * paths. Every call must come back at once, having worked (the answer is 1) or said in one line that it
 * cannot. */
void misuse_add_graph(misuse *m);
int misuse_graph_answer(const char *function, td_status refusal, td_status status);

/* Gives everything back; all lent memory must have come back and no other handle be open. */
void misuse_end(misuse *m);

/* Dictionaries of batch size [2,4], and of float32 alone. */
td_tensordict *misuse_pair(misuse *m);
td_tensordict *misuse_floats(misuse *m);

/* Bytes under "a"; a lazy stack; a sub-tensordict. */
td_tensordict *misuse_one(misuse *m);
td_writer *misuse_rows_writer(misuse *m);
td_writer *misuse_texts_writer(misuse *m);
td_tensordict *misuse_value(misuse *m);
td_tensordict *misuse_lazy(misuse *m);
td_tensordict *misuse_padded(misuse *m);
td_tensordict *misuse_sub(misuse *m);

/* A nested tensor; a dictionary with one under "a"; sizes for `tensor_source`. */
td_tensordict *misuse_nested_tensor(misuse *m);
td_tensordict *misuse_nested_tensor_entry(misuse *m);
td_tensor *misuse_nested_tensor_sizes(misuse *m);

/* What lies in a folder; what is mapped from nameless memory. */
td_tensordict *misuse_basic(misuse *m);
td_tensordict *misuse_mapped(misuse *m);

/* A dictionary with a text under "str". */
const td_tensordict *misuse_loaded(misuse *m);

/* A dictionary without entries. */
const td_tensordict *misuse_empty(misuse *m);

/* The state of a generator, which is freed with `m`. */
td_tensor *misuse_generator_state(misuse *m);

/* A row, or rows, of the replay buffer; a folder of it. */
const td_tensordict *misuse_replay_row(misuse *m);
const td_tensordict *misuse_replay_rows(misuse *m);
const char *misuse_replay_folder(misuse *m);
/* A replay buffer of rows that have goals, and a module that rewards them. */
td_replay *misuse_goals(misuse *m);
/* The same rows, drawn otherwise. */
const td_tensordict *misuse_last_row(misuse *m);
td_replay *misuse_drawn(misuse *m, td_replay_sampler sampler, int64_t n_steps);
const td_module *misuse_reward(misuse *m);

/* An HDF5 file. */
const char *misuse_hdf5(misuse *m);
/* A data set of one demonstration. */
const char *misuse_dataset(misuse *m);
/* Steps of such a set. */
td_tensordict *misuse_steps(misuse *m);
/* Ends the test as skipped in a build without process groups; where such a group meets. */
void misuse_need_groups(void);
/* Opens the group that all tests share again if it is closed. */
void misuse_open_groups(void);
void misuse_need_hdf5(void);
const td_group_options *misuse_place(misuse *m);

/* A record batch like `td` in `arrow_schema` and `arrow_array`; a stream of one. */
struct ArrowSchema *misuse_arrow(misuse *m);
struct ArrowArrayStream *misuse_arrow_stream(misuse *m);

/* The state of a loader. */
const td_tensordict *misuse_loader_state(misuse *m);

/* A dictionary of two tensors without gradients, and gradients for them; an optimizer of two parameters that has
 * made a step. */
td_tensordict *misuse_leaves(misuse *m);
const td_tensordict *misuse_gradients(misuse *m);
td_optimizer *misuse_adam(misuse *m);

/* A dictionary whose tensor is recorded for gradients. */
td_tensordict *misuse_recorded(misuse *m);

/* An archive with a dictionary like `td`. */
const char *misuse_archive(misuse *m);

/* A folder with a dictionary like `td`. */
const char *misuse_folder(misuse *m);

/* A file with a table. */
const char *misuse_table(misuse *m);

/* A file of tensors, and one of one tensor. */
const char *misuse_file(misuse *m);
const char *misuse_array(misuse *m);

/* A network with parameters, the file it comes from, and the parameters. */
td_module *misuse_script(misuse *m);
const char *misuse_script_file(void);
const td_tensordict *misuse_script_params(misuse *m);

/* A tensor of libtorch, and the version of libtorch. */
void *misuse_impl(misuse *m);
int32_t misuse_torch_version(void);

/* A dictionary in shared memory, and its name. */
const td_tensordict *misuse_shared(misuse *m);
const char *misuse_name(misuse *m);

/* A descriptor at the beginning of a message that fits `other`, and functions for it. */
int misuse_line(misuse *m);
void *misuse_reader(misuse *m);
td_status misuse_write(void *user, const void *data, size_t bytes);
td_status misuse_read(void *user, void *data, size_t bytes);

void misuse_release(void *user);
td_status misuse_share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result);
td_status misuse_share_entry(void *user, const td_apply_entry *entry, td_tensor **tensor,
                             td_tensordict **dict);
td_status misuse_share_source(void *user, td_tensordict *source, td_tensordict **result);
td_status misuse_share_piece(void *user, const td_map_piece *piece, td_tensordict *source,
                             td_tensordict **result);

/* Other numbers and, if `forms`, other dictionaries: the same ones for a seed. */
void misuse_shuffle(misuse *m, uint64_t seed, int forms);
int64_t misuse_whole(void);
double misuse_real(void);
td_dtype misuse_dtype(void);
int32_t misuse_choice(int32_t below_this); /* from -1 up to the number itself */

/* Puts a dictionary of another form in the place of `td`: 0 leaves it, 1 has entries of all kinds, 2 is a lazy stack, 3 a
 * sub-tensordict. But for 0, `other` has keys that it lacks. */
void misuse_form(misuse *m, int form);

/* A random call may fail, but not as a defect of the library; and what it gave can be looked at. */
void misuse_defect(const char *function, uint64_t seed, td_status status);
void misuse_look(const td_tensordict *td);

/* An address that no handle has: that of a variable. */
#define MISUSE_GARBAGE(m) ((void *)&(m)->text[8])

#ifdef __cplusplus
}
#endif

#endif
