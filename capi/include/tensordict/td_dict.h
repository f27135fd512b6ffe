/* tensordict/td_dict.h: a dictionary of tensors with a batch size, td_tensordict (Python: TensorDict). */
#ifndef TENSORDICT_TD_DICT_H
#define TENSORDICT_TD_DICT_H

#include "tensordict/td_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A dictionary of tensors and dictionaries whose leading sizes agree. The handle is a token, not an
 * address; the dictionary behind it is shared and counted.
 *
 * Threads: a call that takes a handle as pointer to const may run beside other such calls on the
 * same dictionary. A call that takes it without const needs the dictionary for itself. Different
 * handles on one dictionary count as the same. Any handle may be used and freed on any thread.
 */
typedef struct td_tensordict td_tensordict;

/**
 * A snapshot of the keys of a dictionary.
 */
typedef struct td_keys td_keys;

/**
 * What stands under a path.
 */
typedef int32_t td_entry_kind;
enum {
  TD_ENTRY_NONE = 0,   /**< nothing */
  TD_ENTRY_TENSOR = 1, /**< a tensor: td_get() */
  TD_ENTRY_DICT = 2,   /**< a dictionary: td_get_dict() */
  TD_ENTRY_NON_TENSOR = 3,   /**< a non-tensor value, such as a text: td_get_non_tensor_json() */
  TD_ENTRY_NESTED_TENSOR = 4  /**< tensors of different shapes: td_get_nested_tensor() */
};

/**
 * Decides whether an entry counts as a leaf: is listed as tensors are, and not descended into.
 *
 * It must not change the dictionary, and must not unwind (no exception, panic or longjmp). Returning
 * anything but TD_OK ends the walk.
 *
 * @param user     what stands beside it in the options
 * @param path     borrowed; the full path of the entry
 * @param path_len number of names
 * @param kind     TD_ENTRY_DICT or TD_ENTRY_NON_TENSOR: tensors are leaves
 * @param is_leaf  to be written: 1 or 0; 0 when it is left alone
 */
typedef td_status (*td_leaf_fn)(void *TD_NULLABLE user, const char *const *path, size_t path_len,
                                td_entry_kind kind, int32_t *is_leaf);

/**
 * What td_keys_of() lists. Zero in every field but the first means the default.
 */
typedef struct td_keys_options {
  uint32_t struct_size;           /**< sizeof(td_keys_options) */
  int32_t include_nested;         /**< 1: also what lies deeper, a dictionary before its content */
  int32_t leaves_only;            /**< 1: only tensors */
  int32_t sort;                   /**< 1: ordered by the names joined with dots, not by insertion */
  int32_t include_non_tensor;           /**< 1: with `leaves_only`, non-tensor values too */
  int32_t contents_first;         /**< 1: a dictionary after its content */
  td_leaf_fn TD_NULLABLE is_leaf; /**< asked of what is no tensor; NULL: as the fields above say */
  void *TD_NULLABLE user;         /**< passed to `is_leaf` */
} td_keys_options;
#define TD_KEYS_OPTIONS_INIT {(uint32_t)sizeof(td_keys_options), 0, 0, 0, 0, 0, NULL, NULL}

/**
 * Makes an empty dictionary.
 *
 * @param batch_size   borrowed; NULL only when batch_dims is 0
 * @param batch_dims   number of sizes; 0 for a dictionary without batch dimensions
 * @param device_type  TD_DEVICE_NONE, or the device to which every entry will be moved
 * @param device_index which device of that kind; -1 for the current one
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a negative size), TD_ERR_DEVICE
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_create(const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                    td_device_type device_type, int32_t device_index,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * A second handle on the same dictionary: a change through one is seen through the other.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_dup(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives a handle back. What it held goes when nothing else uses it.
 *
 * @param td consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) void td_free(td_tensordict *TD_NULLABLE td) TD_NOEXCEPT;

/**
 * How td_clone() copies.
 */
typedef uint32_t td_clone_flags;
enum {
  TD_CLONE_SHALLOW = 1 /**< new dictionaries at every level over the same tensors */
};

/**
 * A copy, unlocked, with memory of its own.
 *
 * @param td     borrowed
 * @param flags  0, or TD_CLONE_SHALLOW (Python's `recurse = False`)
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY, TD_ERR_INVALID_ARGUMENT (unknown flags)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_clone(const td_tensordict *td, td_clone_flags flags,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Stores a tensor under a path, replacing what was there. Missing dictionaries on the way are made.
 *
 * The dictionary keeps this very tensor, unless its own device asks for a move.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed; its sizes must begin with the batch size
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (a tensor is in the way), TD_ERR_LOCKED,
 *         TD_ERR_SHAPE, TD_ERR_DEVICE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set(td_tensordict *td, const char *const *path, size_t path_len,
                 const td_tensor *source) TD_NOEXCEPT;

/**
 * Stores a dictionary under a path, replacing what was there.
 *
 * The very dictionary is stored when its batch size begins with that of `td` and its device fits;
 * otherwise a shallow copy with the batch size or the device of `td`.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_LOCKED, TD_ERR_SHAPE, TD_ERR_CYCLE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_dict(td_tensordict *td, const char *const *path, size_t path_len,
                      const td_tensordict *source) TD_NOEXCEPT;

/**
 * Writes the values of a tensor into the tensor that is stored under a path. Allowed when locked.
 *
 * The stored tensor keeps its dtype, its device and its memory; the values are broadcast.
 *
 * @param td       borrowed; its values change
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_inplace(td_tensordict *td, const char *const *path, size_t path_len,
                         const td_tensor *source) TD_NOEXCEPT;

/**
 * Looks up the tensor stored under a path.
 *
 * It shares memory with the entry and stays valid when the dictionary is freed or the entry replaced.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get(const td_tensordict *td, const char *const *path, size_t path_len,
                 td_tensor **result) TD_NOEXCEPT;

/**
 * Looks up the dictionary stored under a path: the same one as inside, not a copy.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_dict(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_tensordict **result) TD_NOEXCEPT;

/**
 * Stores a copy of plain memory under a path, as td_tensor_from_data() and td_set() do: a tensor that is moved to
 * the device of the dictionary if it has one.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param data     borrowed; may be NULL when `bytes` is 0
 * @param bytes    size of `data`; must be the number of elements times the size of one
 * @param sizes    borrowed; begin with the batch size; NULL only when dims is 0
 * @param dims     number of sizes
 * @param dtype    element type
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (a tensor is in the way),
 *         TD_ERR_LOCKED, TD_ERR_DEVICE
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_data(td_tensordict *td, const char *const *path, size_t path_len,
                      const void *TD_NULLABLE data, size_t bytes, const int64_t *TD_NULLABLE sizes,
                      size_t dims, td_dtype dtype) TD_NOEXCEPT;

/**
 * Copies the elements of a tensor, in row-major order, to memory of the caller. From any device.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param dtype    what the tensor is of: it is not converted
 * @param data     written; may be NULL when `bytes` is 0
 * @param bytes    size of `data`; must be that of all elements
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no tensor), TD_ERR_DTYPE (it is of
 *         another one), TD_ERR_SHAPE (another number of bytes)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_data(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_dtype dtype, void *TD_NULLABLE data, size_t bytes) TD_NOEXCEPT;

/**
 * Stores a whole number under a path, once for each element of the batch.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param value    the number
 * @param dtype    element type; also a floating one, or bool
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_TORCH (a number that the dtype does not take), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (a tensor is in the way), TD_ERR_LOCKED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_int(td_tensordict *td, const char *const *path, size_t path_len, int64_t value,
                     td_dtype dtype) TD_NOEXCEPT;

/**
 * As td_set_int(), a number with fractions.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param value    the number
 * @param dtype    element type
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_TORCH (a number that the dtype does not take), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (a tensor is in the way), TD_ERR_LOCKED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_double(td_tensordict *td, const char *const *path, size_t path_len, double value,
                        td_dtype dtype) TD_NOEXCEPT;

/**
 * Reads a tensor of one element as a whole number, from any device. Python's item().
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success; 1 or 0 of a bool
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no tensor), TD_ERR_SHAPE (not one
 *         element), TD_ERR_DTYPE (floating or complex)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_int(const td_tensordict *td, const char *const *path, size_t path_len,
                     int64_t *result) TD_NOEXCEPT;

/**
 * Reads a tensor of one element as a number with fractions, from any device. Python's item().
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no tensor), TD_ERR_SHAPE (not one
 *         element), TD_ERR_DTYPE (complex)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_double(const td_tensordict *td, const char *const *path, size_t path_len,
                        double *result) TD_NOEXCEPT;

/**
 * Looks up a non-tensor value (a text, a number, a list …) and writes it as JSON text.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_json(const td_tensordict *td, const char *const *path, size_t path_len,
                                 char *TD_NULLABLE text, size_t text_cap,
                                 size_t *length) TD_NOEXCEPT;

/**
 * What stands under a path. A path that leads nowhere, or through a tensor, gives TD_ENTRY_NONE.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_INVALID
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_kind(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_entry_kind *result) TD_NOEXCEPT;

/**
 * Removes an entry. Dictionaries on the way stay, empty or not.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove(td_tensordict *td, const char *const *path, size_t path_len) TD_NOEXCEPT;

/**
 * Lists the keys. The list is a snapshot: changing the dictionary does not disturb it.
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the keys of the first level
 * @param result  new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_CALLBACK, or what `is_leaf` returned if it is a code of the library or at most
 *         -10000
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_of(const td_tensordict *td, const td_keys_options *TD_NULLABLE options,
                     td_keys **result) TD_NOEXCEPT;

/**
 * How many keys a list holds.
 *
 * @param keys borrowed
 * @return 0 for a handle that is not a list
 * @threadsafety safe beside calls that only read `keys`
 * @since 0.1
 */
TD_API(0, 1) size_t td_keys_len(const td_keys *keys) TD_NOEXCEPT;

/**
 * One key of a list: the pair that td_get() takes.
 *
 * @param keys     borrowed
 * @param position from 0
 * @param path     borrowed from `keys`, valid until it is freed; NULL on failure
 * @param path_len number of names
 *
 * @return TD_OK, TD_ERR_INDEX
 * @threadsafety safe beside calls that only read `keys`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_at(const td_keys *keys, size_t position, const char *const **path,
                     size_t *path_len) TD_NOEXCEPT;

/**
 * What stood under a key of a list when the list was made.
 *
 * @param keys     borrowed
 * @param position from 0
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_INDEX
 * @threadsafety safe beside calls that only read `keys`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_kind_at(const td_keys *keys, size_t position,
                          td_entry_kind *result) TD_NOEXCEPT;

/**
 * Gives a list back.
 *
 * @param keys consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) void td_keys_free(td_keys *TD_NULLABLE keys) TD_NOEXCEPT;

/**
 * The batch size. With `sizes_cap` 0 only the number of dimensions is written.
 *
 * @param td        borrowed
 * @param sizes     written when all sizes fit
 * @param sizes_cap how many numbers `sizes` can take
 * @param dims      the number of batch dimensions; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_batch_size(const td_tensordict *td, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                        size_t *dims) TD_NOEXCEPT;

/**
 * Changes the batch size. Nested dictionaries grow with it where theirs is shorter; none shrinks.
 * Allowed when locked. Either everything changes or nothing.
 *
 * The dictionaries that hold this one are not told: where their batch size no longer fits, what they are
 * asked to do with batch dimensions ends with TD_ERR_SHAPE, until the sizes fit again. The same sizes
 * once more put nested dictionaries right.
 *
 * @param td         borrowed; changed
 * @param batch_size borrowed; NULL only when batch_dims is 0
 * @param batch_dims number of sizes
 *
 * @return TD_OK, TD_ERR_SHAPE (an entry does not begin with these sizes)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_batch_size(td_tensordict *td, const int64_t *TD_NULLABLE batch_size,
                            size_t batch_dims) TD_NOEXCEPT;

/**
 * The device of a dictionary.
 *
 * @param td           borrowed
 * @param result       TD_DEVICE_NONE when entries may live anywhere
 * @param result_index -1 for devices that have no number
 *
 * @return TD_OK, TD_ERR_DEVICE (a device that has no number here)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_device(const td_tensordict *td, td_device_type *result,
                    int32_t *result_index) TD_NOEXCEPT;

/**
 * Forbids structural change here and in every nested dictionary. Values can still be written.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, also when it is locked already
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lock(td_tensordict *td) TD_NOEXCEPT;

/**
 * Allows structural change again, here and in every nested dictionary.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED (it, or one below it, is part of another locked dictionary; nothing
 *         changes)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unlock(td_tensordict *td) TD_NOEXCEPT;

/**
 * Whether structural change is forbidden.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_locked(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Whether this is the result of a td_memmap call, with files behind its tensors.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_memmap(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Whether no tensor and no other value stands anywhere in it.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_empty(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * The bytes of all tensors, at every level; a tensor that stands in two places counts twice.
 *
 * @param td     borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_nbytes(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * The bytes of memory that td_free() would give back: allocated by libtorch, and reached through this
 * handle alone. 0 for a view, a nested dictionary read from another one, a second handle; memory that is lent,
 * mapped or shared between processes counts nothing.
 *
 * For languages whose garbage collector sees the handle but not the memory: cheap enough to be asked
 * of every handle.
 *
 * @param td     borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_owned_nbytes(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * Whether two handles speak of the same dictionary: a change through one is seen through the other.
 * Operations that change nothing, such as a view of the same sizes, answer with the same dictionary.
 *
 * @param td     borrowed
 * @param other  borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read both
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_same(const td_tensordict *td, const td_tensordict *other,
                     int32_t *result) TD_NOEXCEPT;

/**
 * Whether two dictionaries have the same batch size, the same keys (in any order) and equal tensors
 * under each: dtype, sizes and values. Devices of the dictionaries and locks do not count.
 *
 * @param td     borrowed
 * @param other  borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read both
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_equal(const td_tensordict *td, const td_tensordict *other,
                   int32_t *result) TD_NOEXCEPT;

/**
 * Prints the dictionary as Python's tensordict prints it.
 *
 * @param td       borrowed
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_string(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                       size_t *length) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
