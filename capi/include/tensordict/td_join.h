/* tensordict/td_join.h: joins beyond td_stack() and td_cat() (C: td_maybe_dense_stack, td_collate, td_join_into, …; Python: maybe_dense_stack, collate, stack_tensors, cat_tensors, out=). */
#ifndef TENSORDICT_TD_JOIN_H
#define TENSORDICT_TD_JOIN_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * How dictionaries or tensors are joined.
 */
typedef int32_t td_join_kind;
enum {
  TD_JOIN_STACK = 0, /**< along a new dimension */
  TD_JOIN_CAT = 1    /**< along an existing dimension */
};

/**
 * Like td_stack(), but where the dictionaries differ in keys, shapes or batch sizes, the result
 * holds a lazy stack instead of a dense one.
 *
 * @param sources     borrowed; lazy stacks in the result keep the sources in them
 * @param sources_len at least 1
 * @param dim         position of the new dimension; negative counts from behind the last
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (different numbers of batch
 *         dimensions), TD_ERR_INDEX (dim out of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_maybe_dense_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_collate(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_collate_options {
  uint32_t struct_size;                 /**< sizeof(td_collate_options) */
  uint32_t reserved;                    /**< zero */
  const td_key *TD_NULLABLE pad_keys;   /**< borrowed; tensors to pad behind their first dimension, to
                                             the longest; NULL: none */
  const double *TD_NULLABLE pad_values; /**< borrowed; the padding of each; NULL: zeros */
  size_t pad_keys_len;                  /**< number of `pad_keys` */
  const td_key *TD_NULLABLE nested_keys; /**< borrowed; tensors that become nested tensors; NULL: none */
  size_t nested_keys_len;               /**< number of `nested_keys` */
  const char *const *TD_NULLABLE masks; /**< borrowed; path for the masks of the padded tensors, true
                                             where there was a value; NULL: no masks */
  size_t masks_len;                     /**< number of names in `masks` */
} td_collate_options;
#define TD_COLLATE_OPTIONS_INIT \
  {sizeof(td_collate_options), 0, NULL, NULL, 0, NULL, 0, NULL, 0}

/**
 * Makes one dictionary of samples, along a new first dimension: like td_maybe_dense_stack(), with
 * some tensors padded and some nested. Tensors that are padded need samples without batch
 * dimensions.
 *
 * @param sources     borrowed; the samples; a lazy stack in the result keeps them
 * @param sources_len at least 1
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no sample, a key both padded and nested, masks without
 *         padded keys), TD_ERR_KEY_NOT_FOUND (a sample lacks a key), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (`masks` is an entry), TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE (samples with
 *         batch dimensions, or that cannot be stacked beside nested tensors), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 3) TD_MUST_USE
td_status td_collate(const td_tensordict *const *sources, size_t sources_len,
                     const td_collate_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Flags of td_join_into().
 */
typedef uint32_t td_join_into_flags;
enum {
  TD_JOIN_INTO_STRICT = 1 /**< the target and every source must have all keys */
};

/**
 * Writes the result of td_stack() or td_cat() into the tensors of an existing dictionary. Checks
 * everything before it writes. Python: out=.
 *
 * @param td          borrowed; its values change, its entries do not; may be locked
 * @param kind        stack or cat
 * @param sources     borrowed
 * @param sources_len at least 1
 * @param dim         as for td_stack() or td_cat()
 * @param flags       0 skips keys that `td` or all sources lack; or TD_JOIN_INTO_STRICT
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND (only some
 *         sources have a key, or TD_JOIN_INTO_STRICT), TD_ERR_INDEX (dim out of range),
 *         TD_ERR_WRONG_ENTRY
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_into(td_tensordict *td, td_join_kind kind, const td_tensordict *const *sources,
                       size_t sources_len, int64_t dim, td_join_into_flags flags) TD_NOEXCEPT;

/**
 * Flags of td_join_entries().
 */
typedef uint32_t td_join_entries_flags;
enum {
  TD_JOIN_ENTRIES_KEEP = 1 /**< keeps the joined entries; otherwise they are removed */
};

/**
 * Joins entries of one dictionary into a new entry: tensors, or dictionaries along batch
 * dimensions. Python: stack_tensors, cat_tensors.
 *
 * @param td       borrowed; changed
 * @param kind     stack or cat
 * @param keys     borrowed; the entries to join, all of one kind; NULL only when keys_len is 0
 * @param keys_len number of keys, at least 1
 * @param path     borrowed; path of the joined entry; may be one of the keys
 * @param path_len number of names
 * @param dim      dimension of the entries; negative counts from the end
 * @param flags    0 removes the joined entries; or TD_JOIN_ENTRIES_KEEP
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no key), TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED, TD_ERR_SHAPE, TD_ERR_INDEX (dim out
 *         of range)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_entries(td_tensordict *td, td_join_kind kind, const td_key *TD_NULLABLE keys,
                          size_t keys_len, const char *const *path, size_t path_len, int64_t dim,
                          td_join_entries_flags flags) TD_NOEXCEPT;

/**
 * Flags of td_join_tensors().
 */
typedef uint32_t td_join_tensors_flags;
enum {
  TD_JOIN_TENSORS_SORTED = 1 /**< in the order of the names; otherwise in key order */
};

/**
 * Joins all tensors of a dictionary, nested ones too, into one tensor. Python:
 * stack_from_tensordict, cat_from_tensordict.
 *
 * @param td     borrowed
 * @param kind   stack or cat
 * @param dim    dimension of the tensors; negative counts from the end
 * @param flags  0, or TD_JOIN_TENSORS_SORTED
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no tensor), TD_ERR_SHAPE, TD_ERR_INDEX (dim out of range)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_tensors(const td_tensordict *td, td_join_kind kind, int64_t dim,
                          td_join_tensors_flags flags, td_tensor **result) TD_NOEXCEPT;

TD_END_C

#endif
