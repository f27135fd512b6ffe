/* tensordict/td_shape.h: operations on the batch dimensions, and on several dictionaries at once. */
#ifndef TENSORDICT_TD_SHAPE_H
#define TENSORDICT_TD_SHAPE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The same entries under another batch size, sharing memory. The features of a tensor stay.
 *
 * @param td     borrowed
 * @param sizes  borrowed; at most one -1, which is worked out; NULL only when dims is 0
 * @param dims   number of sizes
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of elements, or strides that do not allow a view)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_view(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_view(), but copies where a view is not possible.
 *
 * @param td     borrowed
 * @param sizes  borrowed; at most one -1, which is worked out; NULL only when dims is 0
 * @param dims   number of sizes
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_reshape(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Reorders the batch dimensions, sharing memory.
 *
 * @param td     borrowed
 * @param order  borrowed; a permutation of the first `dims` batch dimensions; negative ones count
 *               from the end; NULL only when dims is 0
 * @param dims   number of dimensions given; the rest stay where they are
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (repeated or out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_permute(const td_tensordict *td, const int64_t *TD_NULLABLE order, size_t dims,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Swaps two batch dimensions, sharing memory.
 *
 * @param td     borrowed
 * @param dim0   negative counts from the end
 * @param dim1   negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_transpose(const td_tensordict *td, int64_t dim0, int64_t dim1,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes a batch dimension of size 1, sharing memory. A dimension of another size stays.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_squeeze(const td_tensordict *td, int64_t dim, td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes all batch dimensions of size 1, sharing memory.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_squeeze_all(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds a batch dimension of size 1, sharing memory.
 *
 * @param td     borrowed
 * @param dim    where; negative counts from behind the last batch dimension
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unsqueeze(const td_tensordict *td, int64_t dim, td_tensordict **result) TD_NOEXCEPT;

/**
 * Repeats dimensions of size 1, and adds dimensions in front, without using memory.
 *
 * @param td     borrowed
 * @param sizes  borrowed; the new batch size; NULL only when dims is 0
 * @param dims   number of sizes, at least that of the batch
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_expand(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Takes a dictionary apart along a batch dimension; the parts share memory.
 *
 * With `results_cap` 0 only their number is written.
 *
 * @param td          borrowed
 * @param dim         negative counts from the end
 * @param results     new, each; free each with td_free(); set to NULL on failure
 * @param results_cap how many handles `results` can take
 * @param count       the size of the dimension; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unbind(const td_tensordict *td, int64_t dim, td_tensordict **TD_NULLABLE results,
                    size_t results_cap, size_t *count) TD_NOEXCEPT;

/**
 * Joins dictionaries of the same keys and sizes along a new batch dimension, in new memory.
 *
 * @param sources     borrowed, each
 * @param sources_len at least 1
 * @param dim         where the new dimension stands; negative counts from behind the last
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND (keys
 *         differ), TD_ERR_INDEX (dim out of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Joins dictionaries of the same keys along a batch dimension they have, in new memory.
 *
 * @param sources     borrowed, each
 * @param sources_len at least 1
 * @param dim         negative counts from the end
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND (keys
 *         differ), TD_ERR_INDEX (dim out of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_cat(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                 td_tensordict **result) TD_NOEXCEPT;

/**
 * A dictionary whose tensors lie densely: tensors that already do are shared, others copied.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_contiguous(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
