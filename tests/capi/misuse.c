#include "misuse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_owned.h"
#include "td_redis.h"

#define TABLE(format, separator) \
  (&(const td_table_options){(uint32_t)sizeof(td_table_options), (format), (separator), 0, 0, 0})

static void release_versioned(struct DLManagedTensorVersioned *self) {
  misuse_release(self->context);
}

static void release_legacy(struct DLManagedTensor *self) { misuse_release(self->context); }

void misuse_release(void *user) { ++((misuse *)user)->released; }

td_status misuse_share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

td_status misuse_share_entry(void *user, const td_apply_entry *entry, td_tensor **tensor,
                             td_tensordict **dict) {
  (void)user;
  (void)dict;
  return td_tensor_dup(entry->tensors[0], tensor);
}

td_status misuse_share_piece(void *user, const td_map_piece *piece, td_tensordict *source,
                             td_tensordict **result) {
  (void)user;
  (void)piece;
  return td_dup(source, result);
}

td_status misuse_share_source(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user;
  return td_dup(source, result);
}

static td_tensordict *dictionary(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  return td;
}

static const char *const first_name[] = {"a"};
static const td_key first_key = {first_name, 1};
static const char *const logits_names[] = {"logits"};

/* A sequence of one module, which reads "a" and writes "a". */
static td_module *module_on(misuse *m) {
  td_module *one = NULL, *sequence = NULL;
  m->distributions[0].kind = TD_DISTRIBUTION_BERNOULLI;
  m->distributions[0].in_keys = &first_key;
  m->distributions[0].in_keys_len = 1;
  m->distributions[0].names = logits_names;
  m->distributions[0].names_len = 1;
  m->distributions[0].out_key = &first_key;
  TD_DO(td_module_probabilistic(m->distributions, 1, NULL, &one));
  TD_DO(td_module_sequence((const td_module *const[]){one}, 1, NULL, &sequence));
  td_module_free(one);
  return sequence;
}

const char *misuse_script_file(void) { return td_golden("../../golden2/data/modules/mlp.pt"); }

td_module *misuse_script(misuse *m) {
  if (m->script == NULL) TD_DO(td_module_load(misuse_script_file(), NULL, &m->script));
  return m->script;
}

const td_tensordict *misuse_script_params(misuse *m) {
  if (m->loaded == NULL) TD_DO(td_module_params(misuse_script(m), &m->loaded));
  return m->loaded;
}

/* What the member of the fixture describes. */
struct number {
  float value;
};

static td_writer *writer_on(td_tensordict *td) {
  td_writer *writer = NULL;
  int32_t field = -1;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("a"), &field));
  return writer;
}

static int store_here(void) { return td_redis_here(); }

/* The server outlives the tests; what they leave there goes with it. */
static void misuse_open_store(misuse *m) {
  m->freed_store = m->store = (td_store *)MISUSE_GARBAGE(m);
  if (!store_here()) return;
  m->new_store = m->store_options = td_redis_options("misuse");
  m->new_store.id = NULL;
  TD_REDIS("FLUSHALL");
  TD_DO(td_store_from(m->td, &m->store_options, &m->store));
  TD_DO(td_store_set_non_tensor_json(m->store, TD_KEY("text"), "0"));
  TD_DO(td_store_open(&m->store_options, &m->freed_store));
  td_store_free(m->freed_store);
}

void misuse_need_store(void) {
  if (!store_here()) td_test_skip("there is no redis-server");
}

/* Opened once: a group takes threads and connections. */
static td_group *shared_group, *closed_group;

const td_group_options *misuse_place(misuse *m) {
  static td_group_options options = TD_GROUP_OPTIONS_INIT;
  (void)m;
  options.url = "tcp://127.0.0.1:0";
  options.world_size = 1;
  return &options;
}

__attribute__((constructor)) static void open_groups(void) {
  if (td_group_open(misuse_place(NULL), &shared_group) != TD_OK) return;
  if (td_group_open(misuse_place(NULL), &closed_group) == TD_OK) td_group_free(closed_group);
}

void misuse_open_groups(void) {
  if (shared_group == NULL || td_group_barrier(shared_group, NULL) == TD_OK) return;
  td_group_free(shared_group);
  shared_group = NULL;
  td_owned_enter(); /* it outlives the test */
  TD_DO(td_group_open(misuse_place(NULL), &shared_group));
  td_owned_leave();
}

void misuse_need_groups(void) {
  if (shared_group == NULL) td_test_skip("a build without process groups");
}

/* A build with the library finds no such file; one without it does not look. */
static int hdf5_here(void) {
  td_hdf5 *none = NULL;
  return td_hdf5_open("", NULL, &none) != TD_ERR_UNSUPPORTED;
}

void misuse_need_hdf5(void) {
  if (!hdf5_here()) td_test_skip("a build without HDF5");
}

void misuse_begin(misuse *m) {
  const td_index_item all = TD_I_ALL;
  const int64_t live_before = td_debug_live_handles();
  memset(m, 0, sizeof *m);
  m->live_before = live_before;
  m->td = dictionary();
  m->other = dictionary();
  m->freed_tensordict = dictionary();
  m->tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  m->tensor_source = td_arange(TD_DTYPE_FLOAT32, 4, TD_SIZES(4));
  m->freed_tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  m->mask = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(4));
  m->positions = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4));
  m->one = td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES);
  TD_DO(td_keys_of(m->td, NULL, &m->keys));
  TD_DO(td_keys_of(m->td, NULL, &m->freed_keys));
  m->writer = writer_on(m->td);
  m->freed_writer = writer_on(m->td);
  m->fields[0].name = "a";
  m->fields[0].dtype = TD_DTYPE_FLOAT32;
  m->fields[0].flags = TD_FIELD_HAS_FEATURE;
  m->fields[1].name = "n";
  m->fields[1].kind = TD_FIELD_DICT;
  TD_DO(td_tensorclass_create("Record", m->fields, 2, NULL, &m->tensorclass_type));
  TD_DO(td_tensorclass_create("Record", NULL, 0, NULL, &m->freed_tensorclass));
  td_tensorclass_free(m->freed_tensorclass);
  td_map_options here = TD_MAP_OPTIONS_INIT; /* no threads for each of a thousand calls */
  here.num_workers = 1;
  TD_DO(td_map_iter_create(m->td, &here, misuse_share_piece, NULL, &m->map_iter));
  TD_DO(td_map_iter_create(m->td, &here, misuse_share_piece, NULL, &m->freed_map_iter));
  td_map_iter_free(m->freed_map_iter);
  TD_DO(td_memmap_async(m->td, NULL, NULL, &m->future));
  TD_DO(td_memmap_async(m->td, NULL, NULL, &m->freed_future));
  td_future_free(m->freed_future);
  m->module = module_on(m);
  m->modules[0] = m->module;
  m->freed_module = module_on(m);
  td_module_free(m->freed_module);
  td_tensordict *gradient = td_empty(TD_SIZES(4));
  td_put(gradient, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(4)));
  td_tensordict *recorded = m->params = misuse_recorded(m);
  TD_DO(td_set_grad(recorded, gradient));
  td_free(gradient);
  TD_DO(td_optimizer_create(recorded, TD_OPTIMIZER_SGD, NULL, &m->optimizer));
  TD_DO(td_optimizer_create(recorded, TD_OPTIMIZER_SGD, NULL, &m->freed_optimizer));
  td_optimizer_free(m->freed_optimizer);
  TD_DO(td_generator_create(1, &m->generator));
  TD_DO(td_generator_create(1, &m->freed_generator));
  td_generator_free(m->freed_generator);
  TD_DO(td_generator_state(m->generator, &m->generator_state));
  const td_loader_options loads = TD_LOADER_OPTIONS_INIT;
  m->loader_options = loads;
  m->loader_options.rows = 2;
  TD_DO(td_loader_create(m->td, &m->loader_options, &m->loader));
  TD_DO(td_loader_create(m->td, &m->loader_options, &m->freed_loader));
  td_loader_free(m->freed_loader);
  m->replay_options = (td_replay_options)TD_REPLAY_OPTIONS_INIT;
  m->replay_options.capacity = 4;
  m->replay_options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED;
  TD_DO(td_replay_create(&m->replay_options, &m->replay));
  TD_DO(td_replay_extend(m->replay, misuse_replay_rows(m)));
  td_free(m->loaded);
  TD_DO(td_replay_create(&m->replay_options, &m->freed_replay));
  td_replay_free(m->freed_replay);
  m->freed_hdf5 = m->hdf5 = (td_hdf5 *)MISUSE_GARBAGE(m);
  m->freed_dataset = m->dataset = (td_dataset *)MISUSE_GARBAGE(m);
  m->freed_dataset_writer = m->dataset_writer = (td_dataset_writer *)MISUSE_GARBAGE(m);
  if (hdf5_here()) {
    TD_DO(td_dataset_open(misuse_dataset(m), NULL, &m->dataset));
    TD_DO(td_dataset_open(misuse_dataset(m), NULL, &m->freed_dataset));
    td_dataset_free(m->freed_dataset);
    const char *file = td_path(td_test_folder(), "misuse_written.h5");
    const td_dataset_kind kind = TD_DATASET_KIND_ROBOMIMIC;
    TD_DO(td_dataset_writer_open(file, kind, NULL, NULL, &m->dataset_writer));
    TD_DO(td_dataset_writer_open(file, kind, NULL, NULL, &m->freed_dataset_writer));
    td_dataset_writer_free(m->freed_dataset_writer);
    TD_DO(td_hdf5_open(misuse_hdf5(m), NULL, &m->hdf5));
    TD_DO(td_hdf5_open(misuse_hdf5(m), NULL, &m->freed_hdf5));
    td_hdf5_free(m->freed_hdf5);
  }
  misuse_open_store(m);
  m->place = td_positions((const int64_t[]){0}, 1);
  m->group = shared_group != NULL ? shared_group : (td_group *)MISUSE_GARBAGE(m);
  m->freed_group = shared_group != NULL ? closed_group : m->group;
  m->loaded = NULL;
  td_free(m->freed_tensordict);
  td_tensor_free(m->freed_tensor);
  td_keys_free(m->freed_keys);
  td_writer_free(m->freed_writer);

  m->sources[0] = m->td;
  m->sources[1] = m->other;
  m->nested_tensor_parts[0] = m->tensor;
  m->wanted[0].path = first_name;
  m->wanted[0].path_len = 1;
  m->sets[0].keys = m->wanted;
  m->sets[0].keys_len = 1;
  const td_call_argument leaf = TD_ARG_LEAF(NULL);
  m->arguments[0] = leaf;
  m->operands[0] = (td_operand)TD_O_INT(2);
  m->reduced = (td_reduce_options)TD_REDUCE_OPTIONS_INIT;
  m->reduced.over = TD_REDUCE_OVER_DIMS;
  m->reduced.dims = m->order;
  m->reduced.dims_len = 1;
  m->items[0] = all;
  m->sizes[0] = 4;
  m->members[0] = (td_member)TD_MEMBER(struct number, value, TD_DTYPE_FLOAT32, "a");
  m->members[0].path = first_name;
  const struct DLTensorLayout tensor = {m->numbers, DLPACK_CPU, 0,        1,    DLPACK_FLOAT,
                                        32,         1,          m->sizes, NULL, 0};
  m->versioned.major = 1;
  m->versioned.context = m->legacy.context = m;
  m->versioned.deleter = release_versioned;
  m->legacy.deleter = release_legacy;
  m->versioned.tensor = m->legacy.tensor = tensor;
}

void misuse_end(misuse *m) {
  if (m->arrow_schema.release != NULL) m->arrow_schema.release(&m->arrow_schema);
  if (m->arrow_array.release != NULL) m->arrow_array.release(&m->arrow_array);
  if (m->arrow_stream.release != NULL) m->arrow_stream.release(&m->arrow_stream);
  for (size_t i = 0; i < 4; i++) td_free(m->results[i]);
  td_free(m->td);
  td_free(m->other);
  td_free(m->loaded);
  td_free(m->parent);
  if (m->line != 0) close(m->line);
  td_tensor_free(m->tensor);
  td_tensor_free(m->mask);
  td_tensor_free(m->positions);
  td_tensor_free(m->table);
  td_free(m->before[0]);
  td_free(m->before[1]);
  td_tensor_free(m->one);
  td_tensor_free(m->tensor_source);
  td_keys_free(m->keys);
  td_writer_free(m->writer);
  td_map_iter_free(m->map_iter);
  td_future_free(m->future);
  td_module_free(m->module);
  td_module_free(m->script);
  td_module_free(m->reward);
  td_optimizer_free(m->optimizer);
  td_free(m->params);
  td_loader_free(m->loader);
  td_generator_free(m->generator);
  td_tensor_free(m->generator_state);
  td_replay_free(m->replay);
  td_replay_free(m->goals);
  td_hdf5_free(m->hdf5);
  td_dataset_free(m->dataset);
  td_dataset_writer_free(m->dataset_writer);
  td_store_free(m->store);
  td_tensor_free(m->place);
  td_tensorclass_free(m->tensorclass_type);
  TD_CHECK_INT(m->released, m->lent);
  TD_CHECK_INT(td_debug_live_handles(), m->live_before);
}

const td_tensordict *misuse_loaded(misuse *m) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("nontensor"), &options, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_basic(misuse *m) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("basic"), &options, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_mapped(misuse *m) {
  TD_DO(td_memmap(m->td, NULL, NULL, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_pair(misuse *m) {
  const td_tensordict *const both[] = {m->td, m->other};
  TD_DO(td_stack(both, 2, 0, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_floats(misuse *m) {
  m->loaded = td_empty(TD_SIZES(4));
  td_put(m->loaded, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  return m->loaded;
}

td_tensordict *misuse_one(misuse *m) {
  m->loaded = td_empty(TD_NO_SIZES);
  td_put(m->loaded, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 7, TD_NO_SIZES));
  return m->loaded;
}

td_writer *misuse_rows_writer(misuse *m) {
  m->loaded = td_empty(TD_SIZES(4));
  td_put(m->loaded, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 4)));
  td_writer_free(m->writer);
  m->writer = writer_on(m->loaded);
  return m->writer;
}

td_writer *misuse_texts_writer(misuse *m) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  int32_t field = -1;
  options.background = -1;
  m->loaded = td_empty(TD_SIZES(1));
  TD_DO(td_set_texts(m->loaded, TD_KEY("text"), (const char *[]){""}, 1));
  td_writer_free(m->writer);
  TD_DO(td_writer_open_append(td_path(td_test_folder(), "texts"), m->loaded, &options, &m->writer));
  TD_DO(td_writer_bind(m->writer, TD_KEY("text"), &field));
  return m->writer;
}

td_tensordict *misuse_value(misuse *m) {
  m->loaded = td_empty(TD_SIZES(4));
  TD_DO(td_set_non_tensor_bytes(m->loaded, TD_KEY("a"), "abc", 3));
  return m->loaded;
}

td_tensordict *misuse_lazy(misuse *m) {
  TD_DO(td_lazy_stack((const td_tensordict *const[]){m->td}, 1, 0, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_padded(misuse *m) {
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  static const char *const masks[] = {"masks"};
  options.masks = masks;
  options.masks_len = 1;
  td_tensordict *one = td_empty(TD_SIZES(4));
  td_put(one, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_DO(td_pad_sequence((const td_tensordict *const[]){one, one}, 2, &options, &m->loaded));
  td_free(one);
  return m->loaded;
}

td_tensordict *misuse_sub(misuse *m) {
  TD_DO(td_sub_tensordict(m->td, NULL, 0, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_nested_tensor(misuse *m) {
  TD_DO(td_nested_tensor_from_tensors(m->nested_tensor_parts, 1, &m->loaded));
  return m->loaded;
}

td_tensordict *misuse_nested_tensor_entry(misuse *m) {
  td_tensordict *nested_tensor = misuse_nested_tensor(m);
  m->loaded = td_empty(TD_NO_SIZES);
  TD_DO(td_set_dict(m->loaded, TD_KEY("a"), nested_tensor));
  td_free(nested_tensor);
  return m->loaded;
}

td_tensor *misuse_nested_tensor_sizes(misuse *m) {
  if (m->table == NULL) m->table = td_arange(TD_DTYPE_INT64, 4, TD_SIZES(1, 1));
  return m->table;
}

static td_tensordict *with_nested_tensor(td_tensordict *td) {
  td_tensordict *nested_tensor = NULL, *copy = NULL;
  td_tensor *values = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(10));
  td_tensor *sizes = td_arange(TD_DTYPE_INT64, 1, TD_SIZES(4, 1)); /* 1, 2, 3, 4 */
  TD_DO(td_nested_tensor_create(values, sizes, &nested_tensor));
  TD_DO(td_set_dict(td, TD_KEY("nested"), nested_tensor));
  TD_DO(td_clone(td, 0, &copy));
  td_free(nested_tensor);
  td_tensor_free(sizes);
  td_tensor_free(values);
  return copy;
}

void misuse_add_nested_tensor(misuse *m) {
  m->before[0] = with_nested_tensor(m->td);
  m->before[1] = with_nested_tensor(m->other);
}

int misuse_nested_tensor_answer(misuse *m, const char *function, td_status refusal,
                                td_status status) {
  if (status == TD_OK) return 1;
  if (status != refusal) {
    td_test_fail(__FILE__, __LINE__, "%s gave %s: %s", function, td_status_name(status),
                 td_last_error_message());
  }
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
  TD_CHECK_EQUAL(m->td, m->before[0]);
  TD_CHECK_EQUAL(m->other, m->before[1]);
  return 0;
}

static void add_graph(td_tensordict *td) {
  td_tensordict *graph = td_empty(TD_SIZES(4));
  td_put(graph, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  for (int i = 0; i < 60; i++) {
    td_tensordict *above = td_empty(TD_SIZES(4));
    TD_DO(td_set_dict(above, TD_KEY("a"), graph));
    TD_DO(td_set_dict(above, TD_KEY("b"), graph));
    td_free(graph);
    graph = above;
  }
  TD_DO(td_set_dict(td, TD_KEY("g"), graph));
  td_free(graph);
}

void misuse_add_graph(misuse *m) {
  add_graph(m->td);
  add_graph(m->other);
}

int misuse_graph_answer(const char *function, td_status refusal, td_status status) {
  if (status == TD_OK) return 1;
  if (status != refusal) {
    td_test_fail(__FILE__, __LINE__, "%s gave %s: %s", function, td_status_name(status),
                 td_last_error_message());
  }
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
  return 0;
}

const td_tensordict *misuse_empty(misuse *m) {
  m->loaded = td_empty(TD_NO_SIZES);
  return m->loaded;
}

td_tensor *misuse_generator_state(misuse *m) { return m->generator_state; }

const td_tensordict *misuse_loader_state(misuse *m) {
  TD_DO(td_loader_state(m->loader, &m->loaded));
  return m->loaded;
}

const td_tensordict *misuse_replay_rows(misuse *m) {
  m->loaded = td_empty(TD_SIZES(1));
  td_put(m->loaded, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  return m->loaded;
}

const td_tensordict *misuse_replay_row(misuse *m) {
  m->loaded = td_empty(TD_NO_SIZES);
  td_put(m->loaded, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  return m->loaded;
}

/* One more row for misuse_drawn(), which ends an episode. */
const td_tensordict *misuse_last_row(misuse *m) {
  m->loaded = td_empty(TD_SIZES(1));
  td_put(m->loaded, TD_KEY("desired_goal"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(1)));
  td_put(m->loaded, TD_KEY("achieved_goal"), td_filled(TD_DTYPE_FLOAT32, 2, TD_SIZES(1)));
  td_put(m->loaded, TD_KEY("next", "reward"), td_filled(TD_DTYPE_FLOAT32, 3, TD_SIZES(1)));
  td_put(m->loaded, TD_KEY("next", "done"), td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(1)));
  return m->loaded;
}

const char *misuse_replay_folder(misuse *m) {
  const char *folder = td_path(td_test_folder(), "replay");
  TD_DO(td_replay_save(m->replay, folder, 0));
  return folder;
}

td_replay *misuse_goals(misuse *m) { return misuse_drawn(m, TD_REPLAY_SAMPLER_RANDOM, 0); }

td_replay *misuse_drawn(misuse *m, td_replay_sampler sampler, int64_t n_steps) {
  if (m->goals != NULL) return m->goals;
  static const char *const done[] = {"next", "done"};
  static const td_key ends[] = {{done, 2}};
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = 4;
  options.sampler = sampler;
  options.n_steps = n_steps;
  options.gamma = 0.5;
  if (sampler == TD_REPLAY_SAMPLER_SLICES ||
      sampler == TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT ||
      sampler == TD_REPLAY_SAMPLER_PRIORITIZED_SLICES) {
    options.slice_len = 2;
    options.ends = ends;
    options.ends_len = 1;
  }
  TD_DO(td_replay_create(&options, &m->goals));
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("desired_goal"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("achieved_goal"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("next", "reward"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("next", "done"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(4)));
  TD_DO(td_replay_extend(m->goals, td));
  td_free(td);
  return m->goals;
}

static td_status give_reward(void *user, td_tensordict *source, td_tensordict **result) {
  const float rewards[3] = {1, 2, 3};
  (void)user, (void)result;
  return td_set_data(source, TD_KEY("next", "reward"), rewards, sizeof rewards, TD_SIZES(3),
                     TD_DTYPE_FLOAT32);
}

const td_module *misuse_reward(misuse *m) {
  if (m->reward == NULL) TD_DO(td_module_from_function(NULL, give_reward, NULL, NULL, &m->reward));
  return m->reward;
}

struct ArrowSchema *misuse_arrow(misuse *m) {
  TD_DO(td_to_arrow(m->td, NULL, &m->arrow_schema, &m->arrow_array));
  return &m->arrow_schema;
}

static void release_arrow(misuse *m) {
  if (m->arrow_schema.release != NULL) m->arrow_schema.release(&m->arrow_schema);
  if (m->arrow_array.release != NULL) m->arrow_array.release(&m->arrow_array);
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  misuse *m = self->private_data;
  *out = m->arrow_schema;
  m->arrow_schema.release = NULL;
  return 0;
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  misuse *m = self->private_data;
  *out = m->arrow_array;
  m->arrow_array.release = NULL;
  return 0;
}

static void stream_release(struct ArrowArrayStream *self) { self->release = NULL; }

struct ArrowArrayStream *misuse_arrow_stream(misuse *m) {
  release_arrow(m);
  misuse_arrow(m);
  m->arrow_stream.get_schema = stream_schema;
  m->arrow_stream.get_next = stream_next;
  m->arrow_stream.release = stream_release;
  m->arrow_stream.private_data = m;
  return &m->arrow_stream;
}

const char *misuse_hdf5(misuse *m) {
  const char *file = td_path(td_test_folder(), "misuse.h5");
  if (!td_exists(file)) TD_DO(td_hdf5_save(m->td, file, NULL));
  return file;
}

const char *misuse_dataset(misuse *m) {
  const char *file = td_path(td_test_folder(), "misuse_demos.h5");
  td_hdf5_save_options options = TD_HDF5_SAVE_OPTIONS_INIT;
  td_tensordict *demo, *stack = NULL;
  (void)m;
  if (td_exists(file)) return file;
  demo = td_empty(TD_SIZES(4));
  td_put(demo, TD_KEY("actions"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  options.flags = TD_HDF5_SAVE_STACK;
  options.group = "data";
  TD_DO(td_lazy_stack((const td_tensordict *const[]){demo}, 1, 0, &stack));
  TD_DO(td_hdf5_save(stack, file, &options));
  td_free(stack);
  td_free(demo);
  return file;
}

td_tensordict *misuse_steps(misuse *m) {
  m->loaded = td_empty(TD_SIZES(4));
  td_put(m->loaded, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  return m->loaded;
}

td_tensordict *misuse_recorded(misuse *m) {
  m->loaded = td_empty(TD_SIZES(4));
  td_put(m->loaded, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_DO(td_set_requires_grad(m->loaded, 1));
  return m->loaded;
}

static td_tensordict *two_floats(double value) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, value, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT32, value, TD_SIZES(4)));
  return td;
}

td_tensordict *misuse_leaves(misuse *m) { return m->loaded = two_floats(0); }

const td_tensordict *misuse_gradients(misuse *m) { return m->parent = two_floats(1); }

td_optimizer *misuse_adam(misuse *m) {
  td_tensordict *gradients = two_floats(1);
  td_free(m->params);
  td_optimizer_free(m->optimizer);
  m->params = two_floats(0);
  TD_DO(td_set_requires_grad(m->params, 1));
  TD_DO(td_set_grad(m->params, gradients));
  TD_DO(td_optimizer_create(m->params, TD_OPTIMIZER_ADAM, NULL, &m->optimizer));
  TD_DO(td_optimizer_step(m->optimizer));
  td_free(gradients);
  return m->optimizer;
}

const td_tensordict *misuse_shared(misuse *m) {
  TD_DO(td_clone(m->td, 0, &m->loaded));
  TD_DO(td_share_memory(m->loaded));
  return m->loaded;
}

const char *misuse_name(misuse *m) {
  size_t length = 0;
  TD_DO(td_shared_name(misuse_shared(m), m->text, sizeof m->text, &length));
  return m->text;
}

int misuse_line(misuse *m) {
  FILE *file = tmpfile();
  TD_CHECK(file != NULL);
  m->line = dup(fileno(file));
  fclose(file);
  TD_DO(td_send_fd(m->other, m->line, NULL));
  TD_CHECK(lseek(m->line, 0, SEEK_SET) == 0);
  return m->line;
}

void *misuse_reader(misuse *m) {
  misuse_line(m);
  return m;
}

td_status misuse_write(void *user, const void *data, size_t bytes) {
  (void)user;
  (void)data;
  (void)bytes;
  return TD_OK;
}

td_status misuse_read(void *user, void *data, size_t bytes) {
  const misuse *m = user;
  return read(m->line, data, bytes) == (ssize_t)bytes ? TD_OK : TD_ERR_INTERNAL;
}

int32_t misuse_torch_version(void) {
  int major = 0, minor = 0;
  TD_CHECK_INT(sscanf(td_torch_version(), "%d.%d", &major, &minor), 2);
  return 10000 * major + 100 * minor;
}

void *misuse_impl(misuse *m) {
  void *impl = NULL;
  TD_DO(td_tensor_to_torch(m->tensor, misuse_torch_version(), &impl));
  return impl;
}

const char *misuse_file(misuse *m) {
  snprintf(m->text, sizeof m->text, "%s/file.safetensors", td_test_folder());
  TD_DO(td_file_save(m->td, m->text, NULL));
  return m->text;
}

const char *misuse_array(misuse *m) {
  snprintf(m->text, sizeof m->text, "%s/array.npy", td_test_folder());
  TD_DO(td_file_save_tensor(m->tensor, m->text, NULL));
  return m->text;
}

const char *misuse_archive(misuse *m) {
  td_tensordict *saved = NULL;
  snprintf(m->text, sizeof m->text, "%s/archive.tdz", td_test_folder());
  TD_DO(td_memmap(m->td, m->text, NULL, &saved));
  td_free(saved);
  return m->text;
}

const char *misuse_folder(misuse *m) {
  td_tensordict *td = dictionary(), *mapped = NULL;
  snprintf(m->text, sizeof m->text, "%s/folder", td_test_folder());
  TD_DO(td_memmap(td, m->text, NULL, &mapped));
  td_free(mapped);
  td_free(td);
  return m->text;
}

const char *misuse_table(misuse *m) {
  snprintf(m->text, sizeof m->text, "%s/table.csv", td_test_folder());
  TD_DO(td_table_save(m->td, m->text, TABLE(TD_TABLE_CSV, ".")));
  return m->text;
}
