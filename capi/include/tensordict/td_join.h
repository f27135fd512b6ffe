/* tensordict/td_join.h: joins where td_stack() and td_cat() are not enough (Python: maybe_dense_stack, stack_tensors, out=). */
#ifndef TENSORDICT_TD_JOIN_H
#define TENSORDICT_TD_JOIN_H

#include "tensordict/td_entries.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How dictionaries, or tensors, are joined.
 */
typedef int32_t td_join_kind;
enum {
  TD_JOIN_STACK = 0, /**< along a new dimension */
  TD_JOIN_CAT = 1    /**< along a dimension that they have */
};

/**
 * As td_stack(), but where dictionaries differ in keys, shapes or batch sizes a lazy stack takes the
 * place of the dense one, there and nowhere else.
 *
 * @param sources     borrowed, each; what is stacked lazily is held
 * @param sources_len at least 1
 * @param dim         where the new dimension stands; negative counts from behind the last
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (numbers of batch dimensions
 *         differ), TD_ERR_INDEX (dim out of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_maybe_dense_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * How td_join_into() works.
 */
typedef uint32_t td_join_into_flags;
enum {
  TD_JOIN_INTO_STRICT = 1 /**< all keys must be in the target and in the sources */
};

/**
 * Writes what td_stack() or td_cat() would make into tensors that are there. Nothing is written
 * before all has been looked at.
 *
 * @param td          written; its values change, its entries do not; may be locked
 * @param kind        stack or cat
 * @param sources     borrowed, each
 * @param sources_len at least 1
 * @param dim         as for td_stack() or td_cat()
 * @param flags       0 passes over what `td` lacks, or all sources lack; or TD_JOIN_INTO_STRICT
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND (some sources
 *         have a key that others lack, or TD_JOIN_INTO_STRICT), TD_ERR_INDEX (dim out of range), TD_ERR_WRONG_ENTRY
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_into(td_tensordict *td, td_join_kind kind, const td_tensordict *const *sources,
                       size_t sources_len, int64_t dim, td_join_into_flags flags) TD_NOEXCEPT;

/**
 * How td_join_entries() works.
 */
typedef uint32_t td_join_entries_flags;
enum {
  TD_JOIN_ENTRIES_KEEP = 1 /**< the entries stay; else they are removed */
};

/**
 * Joins entries of one dictionary into a new one: tensors, or dictionaries along batch dimensions.
 *
 * @param td       written
 * @param kind     stack or cat
 * @param keys     borrowed; where the entries are, all of one kind; NULL only when keys_len is 0
 * @param keys_len number of keys, at least 1
 * @param path     borrowed; where the joined entry goes; may be one of the keys
 * @param path_len number of names
 * @param dim      of the entries; negative counts from the end
 * @param flags    0 removes the entries, or TD_JOIN_ENTRIES_KEEP
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no key), TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED, TD_ERR_SHAPE, TD_ERR_INDEX (dim out
 *         of range)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_entries(td_tensordict *td, td_join_kind kind, const td_key *TD_NULLABLE keys,
                          size_t keys_len, const char *const *path, size_t path_len, int64_t dim,
                          td_join_entries_flags flags) TD_NOEXCEPT;

/**
 * How td_join_tensors() works.
 */
typedef uint32_t td_join_tensors_flags;
enum {
  TD_JOIN_TENSORS_SORTED = 1 /**< in the order of the names; else in that of the keys */
};

/**
 * Joins all tensors of a dictionary, those below included, into one tensor.
 *
 * @param td     borrowed
 * @param kind   stack or cat
 * @param dim    of the tensors; negative counts from the end
 * @param flags  0, or TD_JOIN_TENSORS_SORTED
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no tensor), TD_ERR_SHAPE, TD_ERR_INDEX (dim out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_join_tensors(const td_tensordict *td, td_join_kind kind, int64_t dim, td_join_tensors_flags flags,
                          td_tensor **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
