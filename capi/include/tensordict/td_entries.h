/* tensordict/td_entries.h: entries as a whole (C: td_update, td_pop, td_select, …; Python: update_, select, exclude, split_keys, flatten_keys, pop, rename_key_, rename_keys). */
#ifndef TENSORDICT_TD_ENTRIES_H
#define TENSORDICT_TD_ENTRIES_H

#include "tensordict/td_apply.h"
#include "tensordict/td_index.h"

TD_BEGIN_C

/**
 * One key in a list of keys, as in `td_key key = {TD_KEY("agent", "obs")};`.
 */
typedef struct td_key {
  const char *const *path; /**< borrowed; one name per level, NUL-terminated UTF-8 */
  size_t path_len;         /**< number of names, at least 1 */
} td_key;

/**
 * How td_update() treats tensors that `td` already has, and new ones.
 */
typedef int32_t td_update_mode;
enum {
  TD_UPDATE_STORE = 0,   /**< replaces the tensors of `td` with those of the source */
  TD_UPDATE_INPLACE = 1, /**< writes values into existing tensors; stores new entries */
  TD_UPDATE_STRICT = 2   /**< writes values; `td` must have every entry of the source */
};

/**
 * Options of td_update(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_update_options {
  uint32_t struct_size;           /**< sizeof(td_update_options) */
  td_update_mode mode;            /**< whether tensors are stored or written */
  int32_t clone;                  /**< 1: stores copies */
  int32_t whole_dicts;            /**< 1: TD_UPDATE_STORE replaces nested dictionaries instead of
                                       merging them; the other modes write into them */
  int32_t update_batch_size;      /**< 1: also takes over the batch size of the source, which must
                                       have all keys */
  int32_t ignore_lock;            /**< 1: changes entries even if the dictionary is locked */
  int32_t has_keys;               /**< 1: only the entries in `keys` and below them */
  const td_key *TD_NULLABLE keys; /**< borrowed; NULL only when keys_len is 0 */
  size_t keys_len;                /**< number of keys */
} td_update_options;
#define TD_UPDATE_OPTIONS_INIT {sizeof(td_update_options), 0, 0, 0, 0, 0, 0, NULL, 0}

/**
 * Puts the entries of another dictionary into this one. Nested dictionaries that both have are
 * merged and keep their identity. A locked dictionary gets its values written in place.
 *
 * @param td      borrowed; changed
 * @param source  borrowed; its batch size must equal that of `td` in the dimensions that both have
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_LOCKED, TD_ERR_KEY_NOT_FOUND (with TD_UPDATE_STRICT, or with
 *         `update_batch_size` and keys missing), TD_ERR_WRONG_ENTRY (a tensor would be written into
 *         a dictionary, or the other way round), TD_ERR_CYCLE, TD_ERR_DEVICE, TD_ERR_TORCH,
 *         TD_ERR_INVALID_ARGUMENT (options that exclude each other), TD_ERR_KEY_INVALID
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_update(td_tensordict *td, const td_tensordict *source,
                    const td_update_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Flags of td_update_at().
 */
typedef uint32_t td_update_at_flags;
enum {
  TD_UPDATE_AT_EXACT = 1 /**< does not broadcast, and the index must give a view: no tensors among
                              the items */
};

/**
 * Writes the values of another dictionary into existing entries at an index. Works on a locked
 * dictionary. Each tensor is broadcast on its own; td_set_at() instead requires matching batch sizes,
 * and creates missing entries. For a lazy stack, the batch size of `source` must broadcast to that of
 * the region, as in td_set_at(). Python: update_at_.
 *
 * @param td        borrowed; its values change
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 * @param flags     0, or TD_UPDATE_AT_EXACT
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_INVALID_ARGUMENT (TD_UPDATE_AT_EXACT with a tensor as index), TD_ERR_UNSUPPORTED,
 *         TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_update_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                       const td_tensordict *source, td_update_at_flags flags) TD_NOEXCEPT;

/**
 * Writes the values of a tensor into the one stored under a path, or stores the tensor if the path
 * has no entry. On a locked dictionary only the write works.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_WRONG_ENTRY (not a tensor), TD_ERR_LOCKED (a new entry), TD_ERR_SHAPE,
 *         TD_ERR_DEVICE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_write_or_set(td_tensordict *td, const char *const *path, size_t path_len,
                          const td_tensor *source) TD_NOEXCEPT;

/**
 * Writes a tensor, broadcast, into the tensor under a path, or into every tensor of the dictionary
 * under it. Works on a locked dictionary. Python: fill_.
 *
 * @param td       borrowed; its values change
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE (the
 *         sizes cannot be broadcast)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_fill_entry(td_tensordict *td, const char *const *path, size_t path_len,
                        const td_tensor *source) TD_NOEXCEPT;

/**
 * Reads the tensor under a path at an index. The items start at its first dimension and may index
 * beyond the batch. Python: get_at.
 *
 * @param td        borrowed
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_INDEX
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_entry_at(const td_tensordict *td, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          td_tensor **result) TD_NOEXCEPT;

/**
 * Writes values, broadcast, into the tensor under a path at an index. Works on a locked dictionary.
 * Python: set_at_.
 *
 * @param td        borrowed; its values change
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_INDEX, TD_ERR_SHAPE (the sizes cannot be broadcast)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_entry_at(td_tensordict *td, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          const td_tensor *source) TD_NOEXCEPT;

/**
 * Gets the tensor under a path. If the path has no entry, stores `source` there first. Python:
 * setdefault.
 *
 * @param td       borrowed; changed if the path has no entry
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_WRONG_ENTRY (not a tensor), TD_ERR_LOCKED (a new entry), TD_ERR_SHAPE,
 *         TD_ERR_DEVICE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_or_set(td_tensordict *td, const char *const *path, size_t path_len,
                        const td_tensor *source, td_tensor **result) TD_NOEXCEPT;

/**
 * Removes an entry and returns it. Non-tensor data comes in a dictionary that holds it under the
 * last name of the path. A nested tensor comes as `dict`.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param kind     written on success
 * @param tensor   new; free with td_tensor_free(); NULL on failure, and if the entry was not a
 *                 tensor
 * @param dict     new; free with td_free(); NULL on failure, and if the entry was a tensor
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (the path runs
 *         through a tensor), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pop(td_tensordict *td, const char *const *path, size_t path_len, td_entry_kind *kind,
                 td_tensor **tensor, td_tensordict **dict) TD_NOEXCEPT;

/**
 * Removes the entry of the first level that was inserted last, and returns it like td_pop().
 * Python: popitem.
 *
 * @param td     borrowed; changed
 * @param key    new; a list of one key, with its kind; free with td_keys_free(); NULL on failure
 * @param tensor new; free with td_tensor_free(); NULL on failure, and if the entry was not a tensor
 * @param dict   new; free with td_free(); NULL on failure, and if the entry was a tensor
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is empty), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pop_last(td_tensordict *td, td_keys **key, td_tensor **tensor,
                      td_tensordict **dict) TD_NOEXCEPT;

/**
 * Creates an empty dictionary under a path and replaces any previous entry. It gets the batch size
 * and device of the dictionary that holds it.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_create_nested(td_tensordict *td, const char *const *path, size_t path_len) TD_NOEXCEPT;

/**
 * Flags of td_rename_key().
 */
typedef uint32_t td_rename_key_flags;
enum {
  TD_RENAME_KEY_SAFE = 1 /**< fails if the new path already has an entry */
};

/**
 * Moves an entry to another path and replaces any previous entry there. Creates missing
 * dictionaries on the way; the old ones stay, even if they become empty. With the same path twice
 * it only checks that the entry exists. Python: rename_key_.
 *
 * @param td           borrowed; changed
 * @param path         borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len     number of names, at least 1
 * @param new_path     borrowed; one name per level, NUL-terminated UTF-8
 * @param new_path_len number of names, at least 1
 * @param flags        0, or TD_RENAME_KEY_SAFE
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_EXISTS (an entry at the new
 *         path, with TD_RENAME_KEY_SAFE), TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED, TD_ERR_SHAPE (also:
 *         tensors of a lazy stack that differ in shape), TD_ERR_CYCLE (into itself)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_rename_key(td_tensordict *td, const char *const *path, size_t path_len,
                        const char *const *new_path, size_t new_path_len,
                        td_rename_key_flags flags) TD_NOEXCEPT;

/**
 * Flags of td_rename_keys().
 */
typedef uint32_t td_rename_keys_flags;
enum {
  TD_RENAME_KEYS_IGNORE_MISSING = 1 /**< skips keys that do not exist. Python: strict=False */
};

/**
 * Makes a dictionary over the same tensors in which several entries have other paths, all at once:
 * two may change places. Moved entries stand last in their dictionaries. The result lacks
 * dictionaries that lose their last entry; with a lazy stack, only if all its elements lose it.
 *
 * @param td       borrowed
 * @param keys     borrowed; none twice, none inside another one; NULL only when keys_len is 0
 * @param new_keys borrowed; the new path of each; likewise
 * @param keys_len number of keys, and of new ones
 * @param flags    0, or TD_RENAME_KEYS_IGNORE_MISSING
 * @param result   new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (an entry at a new
 *         path that is not renamed itself, or a tensor above it), TD_ERR_INVALID_ARGUMENT (a key
 *         twice, or inside another one), TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_rename_keys(const td_tensordict *td, const td_key *TD_NULLABLE keys,
                         const td_key *TD_NULLABLE new_keys, size_t keys_len,
                         td_rename_keys_flags flags, td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes all entries. The batch size and device stay.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_clear(td_tensordict *td) TD_NOEXCEPT;

/**
 * Options of td_select() and td_exclude(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_select_options {
  uint32_t struct_size;   /**< sizeof(td_select_options) */
  int32_t ignore_missing; /**< 1: skips keys that do not exist; td_exclude() always does */
} td_select_options;
#define TD_SELECT_OPTIONS_INIT {sizeof(td_select_options), 0}

/**
 * Keeps only these entries, in this order. The result is unlocked: new dictionaries at every level,
 * over the same tensors. If you give a key and one below it, the narrower one counts.
 *
 * @param td       borrowed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a key runs through a
 *         tensor)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_select(const td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                    const td_select_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_select(), but removes the other entries from the dictionary itself.
 *
 * @param td       borrowed; changed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a key runs through a
 *         tensor), TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_select_inplace(td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                            const td_select_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Leaves these entries out. Otherwise like td_select(). Dictionaries that lose all entries stay.
 * Removing many keys takes one pass, where td_remove() takes one pass per key.
 *
 * @param td       borrowed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_exclude(const td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                     const td_select_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_exclude(), but removes these entries from the dictionary itself.
 *
 * @param td       borrowed; changed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_exclude_inplace(td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                             const td_select_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * The keys of one of the dictionaries that td_split_keys() creates.
 */
typedef struct td_key_set {
  const td_key *TD_NULLABLE keys;  /**< borrowed; NULL only when keys_len is 0 */
  const td_key *TD_NULLABLE names; /**< borrowed; as many new names for these entries; NULL keeps
                                        the names */
  size_t keys_len;                 /**< number of keys */
} td_key_set;

/**
 * Options of td_split_keys(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_split_keys_options {
  uint32_t struct_size;   /**< sizeof(td_split_keys_options) */
  int32_t ignore_missing; /**< 1: skips keys that do not exist */
  int32_t keep_structure; /**< 1: every result has all nested dictionaries, even empty ones */
  int32_t keep_emptied;   /**< 1: the rest keeps nested dictionaries that lost all entries */
} td_split_keys_options;
#define TD_SPLIT_KEYS_OPTIONS_INIT {sizeof(td_split_keys_options), 0, 0, 0}

/**
 * Creates one dictionary per set of keys, and a last one with the rest. With `results_cap` 0 it
 * only writes the number of results.
 *
 * @param td          borrowed
 * @param sets        borrowed; NULL only when sets_len is 0
 * @param sets_len    number of sets
 * @param options     borrowed; NULL for the defaults
 * @param results     new; free each with td_free(); all NULL on failure
 * @param results_cap room in `results`, in handles
 * @param count       the number of sets plus 1; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_split_keys(const td_tensordict *td, const td_key_set *TD_NULLABLE sets,
                        size_t sets_len, const td_split_keys_options *TD_NULLABLE options,
                        td_tensordict **TD_NULLABLE results, size_t results_cap,
                        size_t *count) TD_NOEXCEPT;

/**
 * Like td_split_keys(), but the rest is `td` itself, which loses the other entries. With
 * `results_cap` 0 it only writes the number of results and changes nothing.
 *
 * @param td          borrowed; changed
 * @param sets        borrowed; NULL only when sets_len is 0
 * @param sets_len    number of sets
 * @param options     borrowed; NULL for the defaults
 * @param results     new; free each with td_free(); all NULL on failure; the last one is a handle
 *                    on `td`
 * @param results_cap room in `results`, in handles
 * @param count       the number of sets plus 1; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED,
 *         TD_ERR_BUFFER_TOO_SMALL, TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_split_keys_inplace(td_tensordict *td, const td_key_set *TD_NULLABLE sets,
                                size_t sets_len, const td_split_keys_options *TD_NULLABLE options,
                                td_tensordict **TD_NULLABLE results, size_t results_cap,
                                size_t *count) TD_NOEXCEPT;

/**
 * Flags of td_empty_like().
 */
typedef uint32_t td_empty_like_flags;
enum {
  TD_EMPTY_LIKE_RECURSE = 1 /**< keeps the nested dictionaries, each without tensors and other
                                 values */
};

/**
 * Creates a dictionary of the same batch size and device without entries. For a lazy stack the
 * result is a lazy stack. Python: empty.
 *
 * @param td     borrowed
 * @param flags  0, or TD_EMPTY_LIKE_RECURSE
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_empty_like(const td_tensordict *td, td_empty_like_flags flags,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes nested dictionaries that hold no tensor and no other value, at any depth.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove_empty(td_tensordict *td) TD_NOEXCEPT;

/**
 * Leaves out non-tensor data. The result has new dictionaries over the same tensors. Python:
 * filter_non_tensor_data.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_filter_non_tensor(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_flatten_keys(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_flatten_keys_options {
  uint32_t struct_size;           /**< sizeof(td_flatten_keys_options) */
  int32_t reserved;               /**< zero */
  td_leaf_fn TD_NULLABLE is_leaf; /**< called for each dictionary; NULL: none is a leaf */
  void *TD_NULLABLE user;         /**< passed to `is_leaf` */
} td_flatten_keys_options;
#define TD_FLATTEN_KEYS_OPTIONS_INIT {sizeof(td_flatten_keys_options), 0, NULL, NULL}

/**
 * Puts every entry on the first level, under the names of its path joined with a separator. Tensors
 * are shared; empty dictionaries disappear. A lazy stack stays lazy: its elements are flattened.
 *
 * @param td        borrowed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param options   borrowed; NULL for the defaults
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two entries would get one name), TD_ERR_INVALID_ARGUMENT (an
 *         empty separator), TD_ERR_KEY_INVALID, or the code that the callback returned;
 *         TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flatten_keys(const td_tensordict *td, const char *separator,
                          const td_flatten_keys_options *TD_NULLABLE options,
                          td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_flatten_keys(), but changes the dictionary itself.
 *
 * @param td        borrowed; changed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param options   borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two entries would get one name), TD_ERR_INVALID_ARGUMENT (an
 *         empty separator), TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a
 *         sub-tensordict), or the code that the callback returned; TD_ERR_CALLBACK if that code is
 *         unknown
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_flatten_keys_inplace(td_tensordict *td, const char *separator,
                                  const td_flatten_keys_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Splits names of the first level at the separator and creates nested dictionaries from them: the
 * opposite of td_flatten_keys(). Existing dictionaries receive the entries that belong to them.
 * Names may be empty: "c." becomes "c", "".
 *
 * @param td        borrowed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (an entry would be overwritten), TD_ERR_INVALID_ARGUMENT (an
 *         empty separator), TD_ERR_KEY_INVALID
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_unflatten_keys(const td_tensordict *td, const char *separator,
                            td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_unflatten_keys(), but changes the dictionary itself.
 *
 * @param td        borrowed; changed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (an entry would be overwritten), TD_ERR_INVALID_ARGUMENT (an
 *         empty separator), TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a
 *         sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_unflatten_keys_inplace(td_tensordict *td, const char *separator) TD_NOEXCEPT;

/**
 * Merges the entries of several dictionaries, nested ones too, into a new one. Where several have
 * an entry, the first one wins. Tensors are shared. Python: merge_tensordicts.
 *
 * @param sources     borrowed; the result has the batch size of the first one. A nested dictionary keeps
 *                    its own, also one that only later sources have, which in Python gets that of
 *                    the dictionary around it.
 * @param sources_len number of dictionaries, at least 2
 * @param callback    called during this call only, for each path where all sources have a tensor;
 *                    its result becomes the entry; NULL: the tensor of the first source
 * @param user        passed to `callback`
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (fewer than 2 sources), TD_ERR_SHAPE, TD_ERR_WRONG_ENTRY
 *         (a tensor in one source, a dictionary in another), or the code that the callback
 *         returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_merge(const td_tensordict *const *sources, size_t sources_len,
                   td_apply_entry_fn TD_NULLABLE callback, void *TD_NULLABLE user,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets how deep the deepest tensor or other value is nested: 0 if all are on the first level.
 *
 * @param td     borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_depth(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * Gets the sizes of the tensor under a path, or the batch size of any other entry. Pass `sizes_cap`
 * 0 to get only the number of dimensions.
 *
 * @param td        borrowed
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param sizes     written when all sizes fit
 * @param sizes_cap room in `sizes`, in numbers
 * @param dims      the number of dimensions; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_sizes(const td_tensordict *td, const char *const *path, size_t path_len,
                       int64_t *TD_NULLABLE sizes, size_t sizes_cap, size_t *dims) TD_NOEXCEPT;

/**
 * Gets the dtype of the tensor or nested tensor under a path.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (a dictionary or
 *         non-tensor data)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_dtype(const td_tensordict *td, const char *const *path, size_t path_len,
                       td_dtype *result) TD_NOEXCEPT;

/**
 * Flags of td_auto_batch_size().
 */
typedef uint32_t td_auto_batch_size_flags;
enum {
  TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT = 1 /**< leaves nested dictionaries that have `max_dims`
                                             dimensions unchanged */
};

/**
 * Sets the longest batch size that all entries begin with, also in nested dictionaries.
 * Dictionaries without tensors, and non-tensor data, follow. Works on a locked dictionary. Python:
 * auto_batch_size_.
 *
 * @param td       borrowed; changed
 * @param max_dims the largest number of batch dimensions; -1 for no limit
 * @param flags    0, or TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (a lazy stack or a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_auto_batch_size(td_tensordict *td, int64_t max_dims,
                             td_auto_batch_size_flags flags) TD_NOEXCEPT;

TD_END_C

#endif
