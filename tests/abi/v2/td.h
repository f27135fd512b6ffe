/* clang-format off */
/* The headers of version 0.2 without comments and marks, one declaration a line. Not to be changed. */
#include <stddef.h>
#include <stdint.h>
#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 2
#define TD_VERSION_PATCH 0
#define TD_ABI_VERSION 2
#define TD_FREE(handle, free_function) do { free_function(handle); (handle) = NULL; } while (0)
#define TD_KEY(...) (const char *const[]){__VA_ARGS__}, (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define TD_KEYS_OPTIONS_INIT {(uint32_t)sizeof(td_keys_options), 0, 0, 0, 0, 0, NULL, NULL}
#define TD_APPLY_OPTIONS_INIT {(uint32_t)sizeof(td_apply_options), 0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, NULL}
#define TD_TO_OPTIONS_INIT {(uint32_t)sizeof(td_to_options), 0, 0, 0}
#define TD_I_INT(position) {TD_INDEX_INT, 0, (position), 0, 0, NULL, {0, 0, 0}}
#define TD_I_ALL {TD_INDEX_SLICE, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_SLICE(first, past) {TD_INDEX_SLICE, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP, (first), (past), 0, NULL, {0, 0, 0}}
#define TD_I_FROM(first) {TD_INDEX_SLICE, TD_INDEX_HAS_START, (first), 0, 0, NULL, {0, 0, 0}}
#define TD_I_UNTIL(past) {TD_INDEX_SLICE, TD_INDEX_HAS_STOP, 0, (past), 0, NULL, {0, 0, 0}}
#define TD_I_STEP(first, past, by) {TD_INDEX_SLICE, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP, (first), (past), (by), NULL, {0, 0, 0}}
#define TD_I_ELLIPSIS {TD_INDEX_ELLIPSIS, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_NONE {TD_INDEX_NONE, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_TENSOR(handle) {TD_INDEX_TENSOR, 0, 0, 0, 0, (handle), {0, 0, 0}}
#define TD_I_BOOL(truth) {TD_INDEX_BOOL, 0, (truth), 0, 0, NULL, {0, 0, 0}}
#define TD_MEMMAP_OPTIONS_INIT {(uint32_t)sizeof(td_memmap_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define TD_LOAD_OPTIONS_INIT {(uint32_t)sizeof(td_load_options), 0, -1, 0, 0, 0, 0, 0, NULL, 0}
#define TD_WRITER_OPTIONS_INIT {(uint32_t)sizeof(td_writer_options), 0, 0, 0}
typedef int32_t td_status;
enum { TD_OK = 0, TD_ERR_NULL_ARGUMENT = -1, TD_ERR_BAD_HANDLE = -2, TD_ERR_INVALID_ARGUMENT = -3, TD_ERR_BUFFER_TOO_SMALL = -4, TD_ERR_KEY_NOT_FOUND = -10, TD_ERR_KEY_INVALID = -11, TD_ERR_KEY_EXISTS = -12, TD_ERR_WRONG_ENTRY = -13, TD_ERR_LOCKED = -14, TD_ERR_CYCLE = -15, TD_ERR_SHAPE = -20, TD_ERR_INDEX = -21, TD_ERR_DTYPE = -22, TD_ERR_DEVICE = -23, TD_ERR_IO = -30, TD_ERR_FORMAT = -31, TD_ERR_BUSY = -32, TD_ERR_OUT_OF_MEMORY = -40, TD_ERR_DEVICE_OUT_OF_MEMORY = -41, TD_ERR_CAPACITY = -42, TD_ERR_UNSUPPORTED = -50, TD_ERR_VERSION = -51, TD_ERR_CALLBACK = -60, TD_ERR_TORCH = -70, TD_ERR_INTERNAL = -99 };
typedef void (*td_release_fn)(void *user);
typedef int32_t td_log_level;
enum { TD_LOG_DEBUG = 1, TD_LOG_INFO = 2, TD_LOG_WARNING = 3 };
typedef void (*td_log_fn)(void *user, td_log_level level, const char *message);
int32_t td_abi_version(void);
int32_t td_supports_abi(int32_t abi);
const char *td_version(void);
const char *td_torch_version(void);
const char *td_status_name(td_status status);
td_status td_last_error_code(void);
const char *td_last_error_function(void);
const char *td_last_error_message(void);
void td_set_error(td_status code, const char *message);
void td_set_log(td_log_fn callback, void *user, td_release_fn release);
void td_release_set_flag(void *user);
td_release_fn td_release_flag_fn(void);
int32_t td_set_grad_enabled(int32_t enabled);
int64_t td_debug_live_handles(void);
typedef struct td_tensor td_tensor;
typedef int32_t td_dtype;
enum { TD_DTYPE_OTHER = 0, TD_DTYPE_UINT8 = 1, TD_DTYPE_INT8 = 2, TD_DTYPE_INT16 = 3, TD_DTYPE_INT32 = 4, TD_DTYPE_INT64 = 5, TD_DTYPE_FLOAT16 = 6, TD_DTYPE_FLOAT32 = 7, TD_DTYPE_FLOAT64 = 8, TD_DTYPE_COMPLEX32 = 9, TD_DTYPE_COMPLEX64 = 10, TD_DTYPE_COMPLEX128 = 11, TD_DTYPE_BOOL = 12, TD_DTYPE_BFLOAT16 = 13, TD_DTYPE_UINT16 = 14, TD_DTYPE_UINT32 = 15, TD_DTYPE_UINT64 = 16 };
typedef int32_t td_device_type;
enum { TD_DEVICE_NONE = 0, TD_DEVICE_CPU = 1, TD_DEVICE_CUDA = 2, TD_DEVICE_MPS = 8, TD_DEVICE_XPU = 14, TD_DEVICE_META = 1000 };
struct DLManagedTensor;
struct DLManagedTensorVersioned;
td_status td_tensor_from_blob(void *data, const int64_t *sizes, const int64_t *strides, size_t dims, td_dtype dtype, td_device_type device_type, int32_t device_index, td_release_fn release, void *user, td_tensor **result);
td_status td_tensor_from_data(const void *data, size_t bytes, const int64_t *sizes, size_t dims, td_dtype dtype, td_tensor **result);
td_status td_tensor_zeros(const int64_t *sizes, size_t dims, td_dtype dtype, td_device_type device_type, int32_t device_index, td_tensor **result);
td_status td_tensor_from_dlpack(struct DLManagedTensorVersioned *source, td_tensor **result);
td_status td_tensor_from_dlpack_legacy(struct DLManagedTensor *source, td_tensor **result);
td_status td_tensor_to_dlpack(const td_tensor *tensor, struct DLManagedTensorVersioned **result);
td_status td_tensor_to_dlpack_legacy(const td_tensor *tensor, struct DLManagedTensor **result);
td_status td_tensor_dup(const td_tensor *tensor, td_tensor **result);
void td_tensor_free(td_tensor *tensor);
td_status td_tensor_dtype(const td_tensor *tensor, td_dtype *result);
td_status td_tensor_device(const td_tensor *tensor, td_device_type *result, int32_t *result_index);
td_status td_tensor_sizes(const td_tensor *tensor, int64_t *sizes, size_t sizes_cap, size_t *dims);
td_status td_tensor_strides(const td_tensor *tensor, int64_t *strides, size_t strides_cap, size_t *dims);
td_status td_tensor_data(const td_tensor *tensor, void **result);
td_status td_tensor_nbytes(const td_tensor *tensor, size_t *result);
td_status td_tensor_owned_nbytes(const td_tensor *tensor, size_t *result);
td_status td_tensor_is_contiguous(const td_tensor *tensor, int32_t *result);
td_status td_tensor_is_uniquely_owned(const td_tensor *tensor, int32_t *result);
td_status td_tensor_is_memmap(const td_tensor *tensor, int32_t *result);
td_status td_tensor_requires_grad(const td_tensor *tensor, int32_t *result);
td_status td_tensor_set_requires_grad(td_tensor *tensor, int32_t required);
td_status td_tensor_copy_to(const td_tensor *tensor, void *data, size_t bytes);
td_status td_tensor_copy_from(td_tensor *tensor, const void *data, size_t bytes);
td_status td_tensor_copy(td_tensor *tensor, const td_tensor *source);
td_status td_tensor_clone(const td_tensor *tensor, td_tensor **result);
td_status td_tensor_contiguous(const td_tensor *tensor, td_tensor **result);
td_status td_tensor_to(const td_tensor *tensor, td_dtype dtype, td_device_type device_type, int32_t device_index, td_tensor **result);
td_status td_tensor_equal(const td_tensor *tensor, const td_tensor *other, int32_t *result);
td_status td_tensor_to_string(const td_tensor *tensor, char *text, size_t text_cap, size_t *length);
int32_t td_device_available(td_device_type device_type);
const char *td_dtype_name(td_dtype dtype);
size_t td_dtype_size(td_dtype dtype);
typedef struct td_tensordict td_tensordict;
typedef struct td_keys td_keys;
typedef int32_t td_entry_kind;
enum { TD_ENTRY_NONE = 0, TD_ENTRY_TENSOR = 1, TD_ENTRY_DICT = 2, TD_ENTRY_NON_TENSOR = 3, TD_ENTRY_NESTED_TENSOR = 4 };
typedef td_status (*td_leaf_fn)(void *user, const char *const *path, size_t path_len, td_entry_kind kind, int32_t *is_leaf);
typedef struct td_keys_options { uint32_t struct_size; int32_t include_nested; int32_t leaves_only; int32_t sort; int32_t include_non_tensor; int32_t contents_first; td_leaf_fn is_leaf; void *user; } td_keys_options;
td_status td_create(const int64_t *batch_size, size_t batch_dims, td_device_type device_type, int32_t device_index, td_tensordict **result);
td_status td_dup(const td_tensordict *td, td_tensordict **result);
void td_free(td_tensordict *td);
typedef uint32_t td_clone_flags;
enum { TD_CLONE_SHALLOW = 1 };
td_status td_clone(const td_tensordict *td, td_clone_flags flags, td_tensordict **result);
td_status td_set(td_tensordict *td, const char *const *path, size_t path_len, const td_tensor *source);
td_status td_set_dict(td_tensordict *td, const char *const *path, size_t path_len, const td_tensordict *source);
td_status td_set_inplace(td_tensordict *td, const char *const *path, size_t path_len, const td_tensor *source);
td_status td_get(const td_tensordict *td, const char *const *path, size_t path_len, td_tensor **result);
td_status td_get_dict(const td_tensordict *td, const char *const *path, size_t path_len, td_tensordict **result);
td_status td_get_non_tensor_json(const td_tensordict *td, const char *const *path, size_t path_len, char *text, size_t text_cap, size_t *length);
td_status td_get_kind(const td_tensordict *td, const char *const *path, size_t path_len, td_entry_kind *result);
td_status td_remove(td_tensordict *td, const char *const *path, size_t path_len);
td_status td_keys_of(const td_tensordict *td, const td_keys_options *options, td_keys **result);
size_t td_keys_len(const td_keys *keys);
td_status td_keys_at(const td_keys *keys, size_t position, const char *const **path, size_t *path_len);
td_status td_keys_kind_at(const td_keys *keys, size_t position, td_entry_kind *result);
void td_keys_free(td_keys *keys);
td_status td_batch_size(const td_tensordict *td, int64_t *sizes, size_t sizes_cap, size_t *dims);
td_status td_set_batch_size(td_tensordict *td, const int64_t *batch_size, size_t batch_dims);
td_status td_device(const td_tensordict *td, td_device_type *result, int32_t *result_index);
td_status td_lock(td_tensordict *td);
td_status td_unlock(td_tensordict *td);
td_status td_is_locked(const td_tensordict *td, int32_t *result);
td_status td_is_memmap(const td_tensordict *td, int32_t *result);
td_status td_is_empty(const td_tensordict *td, int32_t *result);
td_status td_nbytes(const td_tensordict *td, size_t *result);
td_status td_owned_nbytes(const td_tensordict *td, size_t *result);
td_status td_is_same(const td_tensordict *td, const td_tensordict *other, int32_t *result);
td_status td_equal(const td_tensordict *td, const td_tensordict *other, int32_t *result);
td_status td_to_string(const td_tensordict *td, char *text, size_t text_cap, size_t *length);
typedef td_status (*td_apply_fn)(void *user, const char *const *path, size_t path_len, const td_tensor *source, td_tensor **result);
typedef int32_t td_filter_empty;
enum { TD_FILTER_EMPTY_DEFAULT = 0, TD_FILTER_EMPTY_YES = 1, TD_FILTER_EMPTY_NO = 2 };
typedef struct td_apply_options { uint32_t struct_size; td_filter_empty filter_empty; int32_t propagate_lock; int32_t call_on_nested; int32_t fill_missing; int32_t has_batch_size; td_device_type device_type; int32_t device_index; const int64_t *batch_size; size_t batch_dims; const char *const *names; size_t names_len; const td_tensor *default_value; td_tensordict *out; } td_apply_options;
td_status td_apply(const td_tensordict *td, const td_apply_options *options, td_apply_fn callback, void *user, td_tensordict **result);
td_status td_apply_inplace(td_tensordict *td, const td_apply_options *options, td_apply_fn callback, void *user);
typedef struct td_apply_entry { uint32_t struct_size; td_entry_kind kind; const char *const *path; size_t path_len; const td_tensor *const *tensors; const td_tensordict *const *dicts; size_t sources_len; } td_apply_entry;
typedef td_status (*td_apply_entry_fn)(void *user, const td_apply_entry *entry, td_tensor **tensor, td_tensordict **dict);
td_status td_apply_entries(const td_tensordict *td, const td_tensordict *const *others, size_t others_len, const td_apply_options *options, td_apply_entry_fn callback, void *user, td_tensordict **result);
td_status td_apply_entries_inplace(td_tensordict *td, const td_tensordict *const *others, size_t others_len, const td_apply_options *options, td_apply_entry_fn callback, void *user);
typedef struct td_to_options { uint32_t struct_size; int32_t non_blocking; int32_t pin_memory; int32_t each_like; } td_to_options;
td_status td_to_device(const td_tensordict *td, td_device_type device_type, int32_t device_index, const td_to_options *options, td_tensordict **result);
td_status td_to_dtype(const td_tensordict *td, td_dtype dtype, td_tensordict **result);
td_status td_to(const td_tensordict *td, const td_tensordict *like, td_dtype dtype, td_device_type device_type, int32_t device_index, const td_to_options *options, td_tensordict **result);
td_status td_to_inplace(td_tensordict *td, const td_tensordict *like, td_dtype dtype, td_device_type device_type, int32_t device_index, const td_to_options *options);
td_status td_clear_device(td_tensordict *td);
td_status td_auto_device(td_tensordict *td);
td_status td_record_stream(const td_tensordict *td, td_device_type device_type, int32_t device_index, int64_t stream);
typedef int32_t td_measure_kind;
enum { TD_MEASURE_ELEMENTS = 0, TD_MEASURE_ELEMENTS_ONCE = 1, TD_MEASURE_BYTES = 2, TD_MEASURE_BYTES_ONCE = 3, TD_MEASURE_DTYPE = 4, TD_MEASURE_IS_FLOATING_POINT = 5, TD_MEASURE_REQUIRES_GRAD = 6, TD_MEASURE_IS_PINNED = 7 };
td_status td_measure(const td_tensordict *td, td_measure_kind kind, int64_t *result);
typedef uint32_t td_data_pointers_flags;
enum { TD_DATA_POINTERS_STORAGE = 1 };
td_status td_data_pointers(const td_tensordict *td, td_data_pointers_flags flags, int64_t *addresses, size_t addresses_cap, size_t *count);
typedef int32_t td_index_kind;
enum { TD_INDEX_INT = 1, TD_INDEX_SLICE = 2, TD_INDEX_ELLIPSIS = 3, TD_INDEX_NONE = 4, TD_INDEX_TENSOR = 5, TD_INDEX_BOOL = 6 };
typedef uint32_t td_index_flags;
enum { TD_INDEX_HAS_START = 1, TD_INDEX_HAS_STOP = 2, TD_INDEX_HAS_STEP = 4 };
typedef struct td_index_item { td_index_kind kind; td_index_flags flags; int64_t start; int64_t stop; int64_t step; const td_tensor *tensor; uint64_t reserved[3]; } td_index_item;
td_status td_index(const td_tensordict *td, const td_index_item *items, size_t items_len, td_tensordict **result);
td_status td_set_at(td_tensordict *td, const td_index_item *items, size_t items_len, const td_tensordict *source);
td_status td_fill_at(td_tensordict *td, const td_index_item *items, size_t items_len, const td_tensor *source);
td_status td_tensor_index(const td_tensor *tensor, const td_index_item *items, size_t items_len, td_tensor **result);
td_status td_tensor_set_at(td_tensor *tensor, const td_index_item *items, size_t items_len, const td_tensor *source);
td_status td_index_parse(const char *text, td_index_item *items, size_t items_cap, size_t *items_len);
typedef int32_t td_archive;
enum { TD_ARCHIVE_BY_NAME = 0, TD_ARCHIVE_YES = 1, TD_ARCHIVE_NO = 2 };
typedef int32_t td_compression;
enum { TD_COMPRESSION_STORED = 0, TD_COMPRESSION_DEFLATE = 1 };
typedef struct td_memmap_options { uint32_t struct_size; int32_t num_threads; int32_t copy_existing; int32_t fail_if_exists; int32_t verbatim_names; td_archive archive; td_compression compression; int32_t dense_sub_tensordicts; int32_t durable; int32_t checksums; } td_memmap_options;
typedef struct td_load_options { uint32_t struct_size; td_device_type device_type; int32_t device_index; int32_t private_mapping; int32_t verbatim_names; uint32_t max_depth; uint32_t max_entries; int32_t write_through; const char *const *subpath; size_t subpath_len; } td_load_options;
td_status td_memmap(const td_tensordict *td, const char *dir, const td_memmap_options *options, td_tensordict **result);
td_status td_memmap_inplace(td_tensordict *td, const char *dir, const td_memmap_options *options);
td_status td_memmap_like(const td_tensordict *td, const char *dir, const td_memmap_options *options, td_tensordict **result);
td_status td_memmap_load(const char *dir, const td_load_options *options, td_tensordict **result);
td_status td_saved_path(const td_tensordict *td, char *text, size_t text_cap, size_t *length);
td_status td_memmap_flush(const td_tensordict *td);
td_status td_view(const td_tensordict *td, const int64_t *sizes, size_t dims, td_tensordict **result);
td_status td_reshape(const td_tensordict *td, const int64_t *sizes, size_t dims, td_tensordict **result);
td_status td_permute(const td_tensordict *td, const int64_t *order, size_t dims, td_tensordict **result);
td_status td_transpose(const td_tensordict *td, int64_t dim0, int64_t dim1, td_tensordict **result);
td_status td_squeeze(const td_tensordict *td, int64_t dim, td_tensordict **result);
td_status td_squeeze_all(const td_tensordict *td, td_tensordict **result);
td_status td_unsqueeze(const td_tensordict *td, int64_t dim, td_tensordict **result);
td_status td_expand(const td_tensordict *td, const int64_t *sizes, size_t dims, td_tensordict **result);
td_status td_flatten(const td_tensordict *td, int64_t start, int64_t end, td_tensordict **result);
td_status td_unflatten(const td_tensordict *td, int64_t dim, const int64_t *sizes, size_t dims, td_tensordict **result);
td_status td_movedim(const td_tensordict *td, const int64_t *from, const int64_t *to, size_t dims, td_tensordict **result);
td_status td_narrow(const td_tensordict *td, int64_t dim, int64_t start, int64_t length, td_tensordict **result);
td_status td_atleast(const td_tensordict *td, size_t dims, td_tensordict **result);
typedef int32_t td_split_kind;
enum { TD_SPLIT_LENGTH = 0, TD_SPLIT_LENGTHS = 1, TD_SPLIT_CHUNKS = 2, TD_SPLIT_PARTS = 3, TD_SPLIT_POSITIONS = 4 };
td_status td_split(const td_tensordict *td, int64_t dim, td_split_kind kind, const int64_t *numbers, size_t numbers_len, td_tensordict **results, size_t results_cap, size_t *count);
typedef uint32_t td_view_dtype_flags;
enum { TD_VIEW_DTYPE_HAS_SIZES = 1 };
td_status td_view_dtype(const td_tensordict *td, td_dtype dtype, td_view_dtype_flags flags, const int64_t *sizes, size_t dims, td_tensordict **result);
td_status td_unbind(const td_tensordict *td, int64_t dim, td_tensordict **results, size_t results_cap, size_t *count);
td_status td_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim, td_tensordict **result);
td_status td_cat(const td_tensordict *const *sources, size_t sources_len, int64_t dim, td_tensordict **result);
td_status td_contiguous(const td_tensordict *td, td_tensordict **result);
td_status td_contiguous_canonical(const td_tensordict *td, td_tensordict **result);
td_status td_is_contiguous(const td_tensordict *td, int32_t *result);
td_status td_become(td_tensordict *td, const td_tensordict *source);
typedef struct td_writer td_writer;
typedef struct td_writer_options { uint32_t struct_size; uint32_t reserved; int64_t first_row; int64_t capacity; } td_writer_options;
td_status td_writer_open(td_tensordict *td, const td_writer_options *options, td_writer **result);
td_status td_writer_bind(td_writer *writer, const char *const *path, size_t path_len, int32_t *result);
td_status td_writer_row_bytes(const td_writer *writer, int32_t field, size_t *result);
td_status td_writer_put(td_writer *writer, int32_t field, const void *data, size_t bytes);
td_status td_writer_next(td_writer *writer);
td_status td_writer_rows(const td_writer *writer, int64_t *result);
td_status td_writer_flush(td_writer *writer);
td_status td_writer_close(td_writer *writer);
void td_writer_free(td_writer *writer);
