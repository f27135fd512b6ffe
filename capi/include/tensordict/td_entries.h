/* tensordict/td_entries.h: entries as wholes (Python: update_, select, exclude, split_keys, flatten_keys, pop, rename_key_). */
#ifndef TENSORDICT_TD_ENTRIES_H
#define TENSORDICT_TD_ENTRIES_H

#include "tensordict/td_apply.h"
#include "tensordict/td_index.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One key of a list of keys, as in `td_key key = {TD_KEY("agent", "obs")};`.
 */
typedef struct td_key {
  const char *const *path; /**< borrowed; one name for each level, NUL-terminated UTF-8 */
  size_t path_len;         /**< number of names, at least 1 */
} td_key;

/**
 * What td_update() does with a tensor for which there is an entry already, and with new ones.
 */
typedef int32_t td_update_mode;
enum {
  TD_UPDATE_STORE = 0,   /**< the tensors of the source are stored, in place of those that were there */
  TD_UPDATE_INPLACE = 1, /**< values are written into tensors that are there; new entries are stored */
  TD_UPDATE_STRICT = 2   /**< values are written; every entry of the source must be there */
};

/**
 * How td_update() works. Zero in every field but the first means the default.
 */
typedef struct td_update_options {
  uint32_t struct_size;           /**< sizeof(td_update_options) */
  td_update_mode mode;            /**< what is stored and what is written */
  int32_t clone;                  /**< 1: what is stored are copies */
  int32_t whole_dicts;            /**< 1: dictionaries replace one another instead of being merged */
  int32_t update_batch_size;      /**< 1: the batch size of the source is taken over too; the source must
                                       have all keys */
  int32_t ignore_lock;            /**< 1: entries change even if the dictionary is locked */
  int32_t has_keys;               /**< 1: only `keys`, and what lies below them */
  const td_key *TD_NULLABLE keys; /**< borrowed; NULL only when keys_len is 0 */
  size_t keys_len;                /**< number of keys */
} td_update_options;
#define TD_UPDATE_OPTIONS_INIT {(uint32_t)sizeof(td_update_options), 0, 0, 0, 0, 0, 0, NULL, 0}

/**
 * Puts the entries of another dictionary into this one. Dictionaries that both have are merged and stay
 * the same dictionaries. Values are written in place where a locked dictionary allows nothing else.
 *
 * @param td      borrowed; changed
 * @param source  borrowed; its batch size must agree with that of `td` as far as both go
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_LOCKED, TD_ERR_KEY_NOT_FOUND (TD_UPDATE_STRICT, and
 *         `update_batch_size` without all keys), TD_ERR_WRONG_ENTRY (a tensor written into a
 *         dictionary, or the other way round), TD_ERR_CYCLE, TD_ERR_DEVICE, TD_ERR_TORCH,
 *         TD_ERR_INVALID_ARGUMENT (options that exclude one another), TD_ERR_KEY_INVALID
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_update(td_tensordict *td, const td_tensordict *source,
                    const td_update_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * How td_update_at() writes.
 */
typedef uint32_t td_update_at_flags;
enum {
  TD_UPDATE_AT_EXACT = 1 /**< nothing is broadcast, and the part must be a view: no tensors among the items */
};

/**
 * Writes the values of another dictionary into a part of the entries that are there. Allowed when
 * locked. Every tensor is broadcast to its part for itself; td_set_at() asks for batch sizes that fit,
 * and makes entries that are missing.
 *
 * @param td        borrowed; its values change
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 * @param flags     0, or TD_UPDATE_AT_EXACT
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_INVALID_ARGUMENT (TD_UPDATE_AT_EXACT with a tensor), TD_ERR_UNSUPPORTED, TD_ERR_TORCH
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_update_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                       const td_tensordict *source, td_update_at_flags flags) TD_NOEXCEPT;

/**
 * Writes the values of a tensor into the one stored under a path, or stores the tensor when nothing is
 * there. A locked dictionary allows the first.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED,
 *         TD_ERR_SHAPE, TD_ERR_DEVICE
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_write_or_set(td_tensordict *td, const char *const *path, size_t path_len,
                          const td_tensor *source) TD_NOEXCEPT;

/**
 * Writes a value into the tensor under a path, or into all tensors of the dictionary that stands there;
 * it is broadcast to each. Allowed when locked.
 *
 * @param td       borrowed; its values change
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_fill_entry(td_tensordict *td, const char *const *path, size_t path_len,
                        const td_tensor *source) TD_NOEXCEPT;

/**
 * A part of the tensor under a path. The items count from its first dimension and may go beyond the
 * batch.
 *
 * @param td        borrowed
 * @param path      borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_entry_at(const td_tensordict *td, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          td_tensor **result) TD_NOEXCEPT;

/**
 * Writes into a part of the tensor under a path; the values are broadcast. Allowed when locked.
 *
 * @param td        borrowed; its values change
 * @param path      borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX,
 *         TD_ERR_SHAPE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_entry_at(td_tensordict *td, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          const td_tensor *source) TD_NOEXCEPT;

/**
 * The tensor under a path; when nothing is there, `source` is stored first.
 *
 * @param td       borrowed; changed when nothing is there
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY (no tensor is there),
 *         TD_ERR_LOCKED, TD_ERR_SHAPE, TD_ERR_DEVICE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_get_or_set(td_tensordict *td, const char *const *path, size_t path_len,
                        const td_tensor *source, td_tensor **result) TD_NOEXCEPT;

/**
 * Removes an entry and hands it out. A non-tensor value comes in a dictionary that holds it
 * under the last name of the path; a nested tensor comes as `dict`.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param kind     written on success
 * @param tensor   new; free with td_tensor_free(); NULL on failure, and unless it was a tensor
 * @param dict     new; free with td_free(); NULL on failure, and when it was a tensor
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (the path runs through
 *         a tensor), TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pop(td_tensordict *td, const char *const *path, size_t path_len, td_entry_kind *kind,
                 td_tensor **tensor, td_tensordict **dict) TD_NOEXCEPT;

/**
 * As td_pop(), the entry of the first level that was inserted last.
 *
 * @param td     borrowed; changed
 * @param key    new; a list of one key, with its kind; free with td_keys_free(); NULL on failure
 * @param tensor new; free with td_tensor_free(); NULL on failure, and unless it was a tensor
 * @param dict   new; free with td_free(); NULL on failure, and when it was a tensor
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (nothing is left), TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pop_last(td_tensordict *td, td_keys **key, td_tensor **tensor,
                      td_tensordict **dict) TD_NOEXCEPT;

/**
 * Makes an empty dictionary under a path, replacing what was there. It has the batch size and the
 * device of the dictionary that holds it.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (a tensor is in the way), TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_create_nested(td_tensordict *td, const char *const *path, size_t path_len) TD_NOEXCEPT;

/**
 * How td_rename_key() moves an entry.
 */
typedef uint32_t td_rename_key_flags;
enum {
  TD_RENAME_KEY_SAFE = 1 /**< an entry that is there already is an error */
};

/**
 * Moves an entry to another path, where it replaces what was there. Missing dictionaries on the way are
 * made; those that it leaves stay, empty or not. The same path twice only asks whether it is there.
 *
 * @param td           borrowed; changed
 * @param path         borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len     number of names, at least 1
 * @param new_path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param new_path_len number of names, at least 1
 * @param flags        0, or TD_RENAME_KEY_SAFE
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_LOCKED, TD_ERR_SHAPE (or tensors of a lazy stack that differ in shape), TD_ERR_CYCLE
 *         (into itself)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_rename_key(td_tensordict *td, const char *const *path, size_t path_len,
                        const char *const *new_path, size_t new_path_len, td_rename_key_flags flags) TD_NOEXCEPT;

/**
 * Removes all entries. Batch size and device stay.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_clear(td_tensordict *td) TD_NOEXCEPT;

/**
 * How td_select() and td_exclude() work. Zero in every field but the first means the default.
 */
typedef struct td_select_options {
  uint32_t struct_size;   /**< sizeof(td_select_options) */
  int32_t ignore_missing; /**< 1: keys that are not there are passed over; td_exclude() always does so */
} td_select_options;
#define TD_SELECT_OPTIONS_INIT {(uint32_t)sizeof(td_select_options), 0}

/**
 * Only these entries, in this order. The result is unlocked and has dictionaries of its own, at every
 * level, over the same tensors. Of a key and one below it the narrower one counts.
 *
 * @param td       borrowed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a key runs through a
 *         tensor)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_select(const td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                    const td_select_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_select(), but the dictionary itself loses the other entries.
 *
 * @param td       borrowed; changed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a key runs through a
 *         tensor), TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (of a sub-tensordict)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_select_inplace(td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                            const td_select_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * All entries but these. As td_select() otherwise; dictionaries that lose all entries stay. Taking
 * many keys away at once is one pass, where td_remove() takes one for each.
 *
 * @param td       borrowed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_exclude(const td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                     const td_select_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_exclude(), but the dictionary itself loses these entries.
 *
 * @param td       borrowed; changed
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (of a sub-tensordict)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_exclude_inplace(td_tensordict *td, const td_key *TD_NULLABLE keys, size_t keys_len,
                             const td_select_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * The keys of one of the dictionaries that td_split_keys() makes.
 */
typedef struct td_key_set {
  const td_key *TD_NULLABLE keys;  /**< borrowed; NULL only when keys_len is 0 */
  const td_key *TD_NULLABLE names; /**< borrowed; as many; what the entries are called there; NULL: as
                                        before */
  size_t keys_len;                 /**< number of keys */
} td_key_set;

/**
 * How td_split_keys() works. Zero in every field but the first means the default.
 */
typedef struct td_split_keys_options {
  uint32_t struct_size;   /**< sizeof(td_split_keys_options) */
  int32_t ignore_missing; /**< 1: keys that are not there are passed over */
  int32_t keep_structure; /**< 1: every result has all nested dictionaries, empty or not */
  int32_t keep_emptied;   /**< 1: the rest keeps nested dictionaries that lost all entries */
} td_split_keys_options;
#define TD_SPLIT_KEYS_OPTIONS_INIT {(uint32_t)sizeof(td_split_keys_options), 0, 0, 0}

/**
 * One dictionary for each set of keys, and the rest as the last one. With `results_cap` 0 only the
 * number is written and nothing changes.
 *
 * @param td          borrowed
 * @param sets        borrowed; NULL only when sets_len is 0
 * @param sets_len    number of sets
 * @param options     borrowed; NULL for the defaults
 * @param results     new, each; free with td_free(); all NULL on failure
 * @param results_cap how many handles `results` can take
 * @param count       one more than there are sets; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_split_keys(const td_tensordict *td, const td_key_set *TD_NULLABLE sets,
                        size_t sets_len, const td_split_keys_options *TD_NULLABLE options,
                        td_tensordict **TD_NULLABLE results, size_t results_cap,
                        size_t *count) TD_NOEXCEPT;

/**
 * As td_split_keys(), but the rest is `td` itself, which loses the other entries. With `results_cap` 0 only
 * the number is written and nothing changes.
 *
 * @param td          borrowed; changed
 * @param sets        borrowed; NULL only when sets_len is 0
 * @param sets_len    number of sets
 * @param options     borrowed; NULL for the defaults
 * @param results     new, each; free with td_free(); all NULL on failure; the last one is a handle on `td`
 * @param results_cap how many handles `results` can take
 * @param count       one more than there are sets; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED,
 *         TD_ERR_BUFFER_TOO_SMALL, TD_ERR_UNSUPPORTED (of a sub-tensordict)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_split_keys_inplace(td_tensordict *td, const td_key_set *TD_NULLABLE sets,
                                size_t sets_len, const td_split_keys_options *TD_NULLABLE options,
                                td_tensordict **TD_NULLABLE results, size_t results_cap,
                                size_t *count) TD_NOEXCEPT;

/**
 * What td_empty_like() keeps.
 */
typedef uint32_t td_empty_like_flags;
enum {
  TD_EMPTY_LIKE_RECURSE = 1 /**< the nested dictionaries, each without tensors and other values */
};

/**
 * A dictionary of the same batch size and device without entries; of a lazy stack a lazy stack.
 *
 * @param td      borrowed
 * @param flags   0, or TD_EMPTY_LIKE_RECURSE
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_empty_like(const td_tensordict *td, td_empty_like_flags flags, td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes the nested dictionaries in which nothing stands, at any depth.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (of a sub-tensordict)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove_empty(td_tensordict *td) TD_NOEXCEPT;

/**
 * The same without the non-tensor values, in dictionaries of its own over the same tensors.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_filter_non_tensor(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * How td_flatten_keys() works. Zero in every field but the first means the default.
 */
typedef struct td_flatten_keys_options {
  uint32_t struct_size;            /**< sizeof(td_flatten_keys_options) */
  int32_t reserved;                /**< zero */
  td_leaf_fn TD_NULLABLE is_leaf;  /**< asked of each dictionary; NULL: none counts as a leaf */
  void *TD_NULLABLE user;          /**< passed to `is_leaf` */
} td_flatten_keys_options;
#define TD_FLATTEN_KEYS_OPTIONS_INIT {(uint32_t)sizeof(td_flatten_keys_options), 0, NULL, NULL}

/**
 * Everything on one level, under the names of its path joined with a separator. Tensors are shared;
 * empty dictionaries disappear. A lazy stack stays one: its elements are flattened.
 *
 * @param td        borrowed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param options   borrowed; NULL for the defaults
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two entries would have one name), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_INVALID, TD_ERR_CALLBACK, or what the callback returned if it is a code of the library or at most -10000
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flatten_keys(const td_tensordict *td, const char *separator,
                          const td_flatten_keys_options *TD_NULLABLE options,
                          td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_flatten_keys(), but the dictionary itself changes.
 *
 * @param td        borrowed; changed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param options   borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two entries would have one name), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_CALLBACK, TD_ERR_UNSUPPORTED (of a sub-tensordict),
 *         or what the callback returned if it is a code of the library or at most -10000
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_flatten_keys_inplace(td_tensordict *td, const char *separator,
                                  const td_flatten_keys_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * The opposite: names of the first level that hold the separator are taken apart. Dictionaries that
 * are there already take in what belongs to them. Parts may be empty: "c." becomes "c", "".
 *
 * @param td        borrowed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (an entry would be overridden), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_INVALID
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_unflatten_keys(const td_tensordict *td, const char *separator,
                            td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_unflatten_keys(), but the dictionary itself changes.
 *
 * @param td        borrowed; changed
 * @param separator borrowed; NUL-terminated UTF-8, not empty
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (an entry would be overridden), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_INVALID, TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (of a sub-tensordict)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_unflatten_keys_inplace(td_tensordict *td, const char *separator) TD_NOEXCEPT;

/**
 * The entries of several dictionaries in one; nested dictionaries are merged too. Where several have
 * an entry, that of the first one stays. Tensors are shared.
 *
 * @param sources     borrowed; the batch size is that of the first one
 * @param sources_len how many, at least 2
 * @param callback    called during this call only, for each path under which all have a tensor: it
 *                    makes what stands there; NULL: that of the first one
 * @param user        passed to `callback`
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_SHAPE, TD_ERR_WRONG_ENTRY (a tensor beside a
 *         dictionary), TD_ERR_CALLBACK, or what the callback returned if it is a code of the library
 *         or at most -10000
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_merge(const td_tensordict *const *sources, size_t sources_len,
                   td_apply_entry_fn TD_NULLABLE callback, void *TD_NULLABLE user,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * How many dictionaries lie around the deepest tensor or other value, the first one not counted: 0
 * when all of them stand on the first level.
 *
 * @param td     borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_depth(const td_tensordict *td, size_t *result) TD_NOEXCEPT;

/**
 * The sizes of the tensor under a path, or the batch size of what else stands there. With `sizes_cap` 0
 * only the number of dimensions is written.
 *
 * @param td        borrowed
 * @param path      borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param sizes     written when all sizes fit
 * @param sizes_cap how many numbers `sizes` can take
 * @param dims      the number of dimensions; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_sizes(const td_tensordict *td, const char *const *path, size_t path_len,
                       int64_t *TD_NULLABLE sizes, size_t sizes_cap, size_t *dims) TD_NOEXCEPT;

/**
 * The dtype of the tensor under a path; a nested tensor has one too.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   written on success
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (a dictionary, a non-tensor value)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_dtype(const td_tensordict *td, const char *const *path, size_t path_len,
                       td_dtype *result) TD_NOEXCEPT;

/**
 * How td_auto_batch_size() works.
 */
typedef uint32_t td_auto_batch_size_flags;
enum {
  TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT = 1 /**< nested dictionaries that have `max_dims` dimensions stay as they are */
};

/**
 * Sets the longest batch size with which all entries begin, in nested dictionaries too. Dictionaries
 * without tensors and non-tensor values follow. Allowed when locked.
 *
 * @param td             borrowed; changed
 * @param max_dims       the most dimensions it may have; -1 for any number
 * @param flags          0, or TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (of a lazy stack or a sub-tensordict)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_auto_batch_size(td_tensordict *td, int64_t max_dims,
                             td_auto_batch_size_flags flags) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
