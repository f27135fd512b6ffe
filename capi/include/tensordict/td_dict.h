/* tensordict/td_dict.h: dictionaries of tensors with a batch size (C: td_tensordict, td_get, td_set; Python: TensorDict). */
#ifndef TENSORDICT_TD_DICT_H
#define TENSORDICT_TD_DICT_H

#include "tensordict/td_tensor.h"

TD_BEGIN_C

/**
 * A dictionary of tensors and nested dictionaries whose leading sizes equal its batch size. The
 * handle is a token, not an address. The dictionary behind it is shared and reference-counted.
 *
 * Threads: calls that take a handle as pointer to const may run at the same time on the same
 * dictionary. A call that takes it without const needs exclusive access: no other call may use the
 * dictionary meanwhile. Different handles on one dictionary count as the same. You may use and free
 * any handle on any thread.
 */
typedef struct td_tensordict td_tensordict;

/**
 * A snapshot of the keys of a dictionary.
 */
typedef struct td_keys td_keys;

/**
 * The kind of an entry.
 */
typedef int32_t td_entry_kind;
enum {
  TD_ENTRY_NONE = 0,         /**< no entry */
  TD_ENTRY_TENSOR = 1,       /**< a tensor: td_get() */
  TD_ENTRY_DICT = 2,         /**< a dictionary: td_get_dict() */
  TD_ENTRY_NON_TENSOR = 3,   /**< non-tensor data, such as a string: td_get_non_tensor_json() */
  TD_ENTRY_NESTED_TENSOR = 4 /**< a nested tensor, of components of different shapes:
                                  td_get_nested_tensor() */
};

/**
 * Decides whether an entry is a leaf: listed like a tensor, and not descended into.
 *
 * It must not change the dictionary, and must not unwind (no exception, panic or longjmp). If it
 * returns anything but TD_OK, the walk ends.
 *
 * @param user     the `user` of the options
 * @param path     borrowed; the full path of the entry
 * @param path_len number of names
 * @param kind     TD_ENTRY_DICT or TD_ENTRY_NON_TENSOR; tensors are always leaves
 * @param is_leaf  write 1 or 0; 0 if you leave it unchanged
 */
typedef td_status (*td_leaf_fn)(void *TD_NULLABLE user, const char *const *path, size_t path_len,
                                td_entry_kind kind, int32_t *is_leaf);

/**
 * What td_keys_of() lists. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_keys_options {
  uint32_t struct_size;           /**< sizeof(td_keys_options) */
  int32_t include_nested;         /**< 1: also nested keys, each dictionary before its content */
  int32_t leaves_only;            /**< 1: only tensors, nested ones too */
  int32_t sort;                   /**< 1: sorted by the names joined with dots, not in insertion
                                       order */
  int32_t include_non_tensor;     /**< 1: with `leaves_only`, also non-tensor data */
  int32_t contents_first;         /**< 1: each dictionary after its content */
  td_leaf_fn TD_NULLABLE is_leaf; /**< called for each entry that is not a tensor; NULL: the fields
                                       above decide */
  void *TD_NULLABLE user;         /**< passed to `is_leaf` */
} td_keys_options;
#define TD_KEYS_OPTIONS_INIT {sizeof(td_keys_options), 0, 0, 0, 0, 0, NULL, NULL}

/**
 * Creates an empty dictionary.
 *
 * @param batch_size   borrowed; NULL only when batch_dims is 0
 * @param batch_dims   number of sizes; 0 for a dictionary without batch dimensions
 * @param device_type  TD_DEVICE_NONE, or the device to which the dictionary moves every entry
 * @param device_index index among the devices of that type; -1 for the current one
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a negative size), TD_ERR_DEVICE (no such device)
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_create(const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                    td_device_type device_type, int32_t device_index,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Opens a second handle on the same dictionary: you see a change through both.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_dup(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Frees a handle. What the dictionary holds is released when nothing else uses it.
 *
 * @param td consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
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
 * Copies a dictionary into new memory. The copy is unlocked. Small tensors of one dtype (up to
 * 16 KiB each) share blocks of at most 64 KiB: one that outlives the copy keeps its block alive.
 *
 * @param td     borrowed
 * @param flags  0, or TD_CLONE_SHALLOW (Python's `recurse = False`)
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY, TD_ERR_INVALID_ARGUMENT (unknown flags)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_clone(const td_tensordict *td, td_clone_flags flags,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Stores a tensor under a path and replaces any previous entry. Creates missing dictionaries on the
 * way.
 *
 * The dictionary keeps this very tensor, unless it has a device of its own and must move the tensor
 * there.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed; its sizes must begin with the batch size
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_LOCKED, TD_ERR_SHAPE (`source` does not begin with the batch size), TD_ERR_DEVICE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set(td_tensordict *td, const char *const *path, size_t path_len,
                 const td_tensor *source) TD_NOEXCEPT;

/**
 * Stores a dictionary under a path and replaces any previous entry.
 *
 * The dictionary keeps `source` itself when the batch size of `source` begins with that of `td` and
 * its device matches. Otherwise it stores a shallow copy that has the batch size and device of
 * `td`.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_LOCKED, TD_ERR_SHAPE (an entry does not begin with the batch size), TD_ERR_CYCLE
 *         (`source` contains `td`)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_dict(td_tensordict *td, const char *const *path, size_t path_len,
                      const td_tensordict *source) TD_NOEXCEPT;

/**
 * Writes the values of a tensor into the tensor stored under a path. Works on a locked dictionary.
 * Python: set_.
 *
 * The stored tensor keeps its dtype, device and memory. The values are broadcast.
 *
 * @param td       borrowed; its values change
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (not a tensor), TD_ERR_SHAPE (the sizes
 *         cannot be broadcast)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_inplace(td_tensordict *td, const char *const *path, size_t path_len,
                         const td_tensor *source) TD_NOEXCEPT;

/**
 * Gets the tensor stored under a path.
 *
 * The result shares memory with the entry. It stays valid after you free the dictionary or replace
 * the entry.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a tensor)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get(const td_tensordict *td, const char *const *path, size_t path_len,
                 td_tensor **result) TD_NOEXCEPT;

/**
 * Gets the dictionary stored under a path: the same dictionary, not a copy.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a dictionary)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_dict(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_tensordict **result) TD_NOEXCEPT;

/**
 * Copies plain row-major memory into a new tensor and stores it under a path, like
 * td_tensor_from_data() and td_set(). The tensor goes to the device of the dictionary, if it has
 * one.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param data     borrowed; may be NULL when `bytes` is 0
 * @param bytes    size of `data`; must equal the number of elements times the element size
 * @param sizes    borrowed; must begin with the batch size; NULL only when dims is 0
 * @param dims     number of sizes
 * @param dtype    element type
 *
 * @return TD_OK, TD_ERR_SHAPE (wrong sizes or `bytes`), TD_ERR_DTYPE, TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (the path runs through a tensor), TD_ERR_LOCKED, TD_ERR_DEVICE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_data(td_tensordict *td, const char *const *path, size_t path_len,
                      const void *TD_NULLABLE data, size_t bytes, const int64_t *TD_NULLABLE sizes,
                      size_t dims, td_dtype dtype) TD_NOEXCEPT;

/**
 * Copies the elements of a tensor, in row-major order, into your memory. Works from any device.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param dtype    the dtype of the tensor; the call does not convert
 * @param data     written; may be NULL when `bytes` is 0
 * @param bytes    size of `data`; must equal the size of all elements
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_DTYPE (the tensor has another dtype), TD_ERR_SHAPE (`bytes` differs)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_data(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_dtype dtype, void *TD_NULLABLE data, size_t bytes) TD_NOEXCEPT;

/**
 * Stores an integer under a path, repeated for each element of the batch.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param value    the integer
 * @param dtype    element type; may also be floating-point or bool
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_TORCH (the dtype cannot hold the number), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (the path runs through a tensor), TD_ERR_LOCKED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_int(td_tensordict *td, const char *const *path, size_t path_len, int64_t value,
                     td_dtype dtype) TD_NOEXCEPT;

/**
 * Stores a floating-point number under a path, repeated for each element of the batch.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param value    the number
 * @param dtype    element type
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_TORCH (the dtype cannot hold the number), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (the path runs through a tensor), TD_ERR_LOCKED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_double(td_tensordict *td, const char *const *path, size_t path_len, double value,
                        td_dtype dtype) TD_NOEXCEPT;

/**
 * Reads a tensor of one element as an integer, from any device. Python: item().
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success; 1 or 0 for a bool
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_SHAPE (not exactly one element), TD_ERR_DTYPE (floating-point or complex)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_int(const td_tensordict *td, const char *const *path, size_t path_len,
                     int64_t *result) TD_NOEXCEPT;

/**
 * Reads a tensor of one element as a floating-point number, from any device. Python: item().
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_SHAPE (not exactly one element), TD_ERR_DTYPE (complex)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_double(const td_tensordict *td, const char *const *path, size_t path_len,
                        double *result) TD_NOEXCEPT;

/**
 * Gets non-tensor data (a string, a number, a list, …) as JSON text. Python: NonTensorData.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not non-tensor
 *         data), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_json(const td_tensordict *td, const char *const *path, size_t path_len,
                                 char *TD_NULLABLE text, size_t text_cap,
                                 size_t *length) TD_NOEXCEPT;

/**
 * Gets the kind of the entry under a path. The kind is TD_ENTRY_NONE if the path leads nowhere or
 * runs through a tensor.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_INVALID
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_kind(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_entry_kind *result) TD_NOEXCEPT;

/**
 * Removes an entry. Dictionaries on the way stay, even if they become empty. Python: del_.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove(td_tensordict *td, const char *const *path, size_t path_len) TD_NOEXCEPT;

/**
 * Lists the keys. The list is a snapshot: later changes of the dictionary do not affect it.
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the keys of the first level
 * @param result  new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, or the code that `is_leaf` returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_of(const td_tensordict *td, const td_keys_options *TD_NULLABLE options,
                     td_keys **result) TD_NOEXCEPT;

/**
 * Returns the number of keys in a list.
 *
 * @param keys borrowed
 * @return 0 for a handle that is not a key list
 * @threadsafety safe while other threads only read `keys`
 */
TD_API(0, 1) size_t td_keys_len(const td_keys *keys) TD_NOEXCEPT;

/**
 * Gets one key of a list, in the form that td_get() takes.
 *
 * @param keys     borrowed
 * @param position from 0
 * @param path     borrowed from `keys`, valid until you free it; NULL on failure
 * @param path_len number of names
 *
 * @return TD_OK, TD_ERR_INDEX (no such position)
 * @threadsafety safe while other threads only read `keys`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_at(const td_keys *keys, size_t position, const char *const **path,
                     size_t *path_len) TD_NOEXCEPT;

/**
 * Gets the kind that an entry had when the list was made.
 *
 * @param keys     borrowed
 * @param position from 0
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_INDEX (no such position)
 * @threadsafety safe while other threads only read `keys`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_keys_kind_at(const td_keys *keys, size_t position,
                          td_entry_kind *result) TD_NOEXCEPT;

/**
 * Frees a key list.
 *
 * @param keys consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 1) void td_keys_free(td_keys *TD_NULLABLE keys) TD_NOEXCEPT;

/**
 * Gets the batch size. Pass `sizes_cap` 0 to get only the number of dimensions.
 *
 * @param td        borrowed
 * @param sizes     written when all sizes fit
 * @param sizes_cap room in `sizes`, in numbers
 * @param dims      the number of batch dimensions; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_batch_size(const td_tensordict *td, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                        size_t *dims) TD_NOEXCEPT;

/**
 * Changes the batch size. Nested dictionaries whose batch size is shorter grow with it; none
 * shrinks. Works on a locked dictionary. Either everything changes or nothing.
 *
 * Dictionaries that contain this one do not notice. If their batch size no longer matches, their
 * operations on batch dimensions return TD_ERR_SHAPE until it matches again. To repair nested
 * dictionaries, set the same batch size on the parent once more.
 *
 * @param td         borrowed; changed
 * @param batch_size borrowed; NULL only when batch_dims is 0
 * @param batch_dims number of sizes
 *
 * @return TD_OK, TD_ERR_SHAPE (an entry does not begin with these sizes)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_batch_size(td_tensordict *td, const int64_t *TD_NULLABLE batch_size,
                            size_t batch_dims) TD_NOEXCEPT;

/**
 * Gets the device of a dictionary.
 *
 * @param td           borrowed
 * @param result       TD_DEVICE_NONE if entries may be on any device
 * @param result_index -1 for devices without an index
 *
 * @return TD_OK, TD_ERR_DEVICE (a device type that has no number here)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_device(const td_tensordict *td, td_device_type *result,
                    int32_t *result_index) TD_NOEXCEPT;

/**
 * Locks a dictionary and every nested one: you can still write values, but not add, replace or
 * remove entries.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, also if it is already locked
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lock(td_tensordict *td) TD_NOEXCEPT;

/**
 * Unlocks a dictionary and every nested one.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED (another locked dictionary contains it, or one of its nested
 *         dictionaries; nothing changes)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unlock(td_tensordict *td) TD_NOEXCEPT;

/**
 * Tells whether a dictionary is locked.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_locked(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether a dictionary is the result of a td_memmap call, so that its tensors are mapped.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_memmap(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether a dictionary holds no tensor and no other value at any level.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_empty(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Gets the size of all tensors at every level, in bytes. A tensor stored in two places counts
 * twice.
 *
 * @param td     borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_nbytes(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * Gets how many bytes of memory td_free() would release: memory that libtorch allocated and that
 * only this handle reaches. 0 for a view, for a nested dictionary you got from another one, and for
 * a second handle. Memory that is lent, mapped or shared between processes does not count. A batch of
 * a loader or a replay buffer counts in full: its memory is used again once the handle is gone.
 *
 * For languages whose garbage collector sees the handle but not the memory. It is cheap enough to
 * call for every handle.
 *
 * @param td     borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_owned_nbytes(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * Tells whether two handles refer to the same dictionary: you see a change through both. Operations
 * that change nothing, such as a view with the same sizes, return the same dictionary.
 *
 * @param td     borrowed
 * @param other  borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read both
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_same(const td_tensordict *td, const td_tensordict *other,
                     int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether two dictionaries have the same batch size, the same keys (in any order) and equal
 * tensors: dtype, sizes and values. Devices of the dictionaries and locks do not matter.
 *
 * @param td     borrowed
 * @param other  borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read both
 */
TD_API(0, 1) TD_MUST_USE
td_status td_equal(const td_tensordict *td, const td_tensordict *other,
                   int32_t *result) TD_NOEXCEPT;

/**
 * How a dictionary is printed.
 */
typedef int32_t td_print_form;
enum {
  TD_PRINT_AUTO = 0,    /**< compact, unless a part is shown or hidden that only the detailed form
                             prints */
  TD_PRINT_COMPACT = 1, /**< `TensorDict(batch_size=[3], fields={a: f32[4]})`: sizes behind the batch
                             dimensions; lines are broken at 80 columns */
  TD_PRINT_DETAILED = 2 /**< a line for each tensor, with its whole shape */
};

/**
 * Parts of a printed dictionary. The compact form prints the batch size, the device and dtypes; of
 * the others it prints none, whether shown or hidden.
 */
typedef uint32_t td_print_part_flags;
enum {
  TD_PRINT_PART_BATCH_SIZE = 1,       /**< of each dictionary */
  TD_PRINT_PART_DEVICE = 2,           /**< of each dictionary */
  TD_PRINT_PART_IS_SHARED = 4,        /**< of each dictionary: whether it is in shared memory */
  TD_PRINT_PART_SHAPE = 8,            /**< of each tensor */
  TD_PRINT_PART_FIELD_DEVICE = 16,    /**< of each tensor */
  TD_PRINT_PART_DTYPE = 32,           /**< of each tensor */
  TD_PRINT_PART_FIELD_IS_SHARED = 64, /**< of each tensor: whether it is in shared memory */
  TD_PRINT_PART_GRAD = 128,           /**< only if shown: whether a tensor requires a gradient */
  TD_PRINT_PART_IS_CONTIGUOUS = 256,  /**< only if shown: whether a tensor is contiguous */
  TD_PRINT_PART_IS_VIEW = 512,        /**< only if shown: whether a tensor is a view */
  TD_PRINT_PART_STORAGE_SIZE = 1024,  /**< only if shown: bytes of a tensor's storage */
  TD_PRINT_PART_PLAIN = 2048          /**< only if shown: mean and standard deviation of floats,
                                           smallest and largest of other numbers; reads the values */
};

/**
 * Options of td_print(), those of Python's set_printoptions(). Set a field after `struct_size` to 0
 * for its default.
 */
typedef struct td_print_options {
  uint32_t struct_size;     /**< sizeof(td_print_options) */
  td_print_form form;       /**< compact or detailed */
  td_print_part_flags show; /**< also these parts */
  td_print_part_flags hide; /**< not these parts */
  int32_t brief;            /**< 1: no devices, dtypes and `is_shared`, unless `show` has them */
  int32_t unsorted;         /**< 1: entries in the order of the keys, not sorted by their text */
} td_print_options;
#define TD_PRINT_OPTIONS_INIT {sizeof(td_print_options), 0, 0, 0, 0, 0}

/**
 * Prints the dictionary like Python's tensordict 0.15, as `options` say.
 *
 * Dictionaries more than 64 levels deep print as `...`, and so do all after the first 10,000.
 *
 * @param td       borrowed
 * @param options  borrowed; NULL for the defaults
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INVALID_ARGUMENT (an unknown form or part, or one
 *         that is both shown and hidden)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_print(const td_tensordict *td, const td_print_options *TD_NULLABLE options,
                   char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

/**
 * Prints the dictionary like Python's tensordict: td_print() without options.
 *
 * @param td       borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_string(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                       size_t *length) TD_NOEXCEPT;

TD_END_C

#endif
