/* tensordict/td_shape.h: operations on the batch dimensions (Python: view, reshape, permute, stack, cat, unbind, split). */
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
 * Makes one batch dimension of several that follow one another, sharing memory where that is possible.
 *
 * Names of these dimensions are lost.
 *
 * @param td     borrowed
 * @param start  the first of them; negative counts from the end
 * @param end    the last of them; negative counts from the end
 * @param result new; free with td_free(); NULL on failure; of a dictionary without batch dimensions it
 *               has one
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_INVALID_ARGUMENT (end before start),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flatten(const td_tensordict *td, int64_t start, int64_t end,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Makes several batch dimensions of one, sharing memory.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param sizes  borrowed; at most one -1, which is worked out; NULL only when dims is 0
 * @param dims   number of sizes, at least 1
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_SHAPE (another number of elements)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unflatten(const td_tensordict *td, int64_t dim, const int64_t *TD_NULLABLE sizes,
                       size_t dims, td_tensordict **result) TD_NOEXCEPT;

/**
 * Moves batch dimensions to other places, sharing memory. The others keep their order.
 *
 * @param td     borrowed
 * @param from   borrowed; the dimensions that move; negative ones count from the end; NULL only when
 *               dims is 0
 * @param to     borrowed; where each of them stands in the result; NULL only when dims is 0
 * @param dims   number of dimensions that move
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (repeated)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_movedim(const td_tensordict *td, const int64_t *TD_NULLABLE from,
                     const int64_t *TD_NULLABLE to, size_t dims,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Some positions of a batch dimension, sharing memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param start  the first position; negative counts from the end
 * @param length how many positions
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_narrow(const td_tensordict *td, int64_t dim, int64_t start, int64_t length,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds batch dimensions of size 1 in front until there are so many, sharing memory.
 *
 * @param td     borrowed
 * @param dims   how many there are to be, at most 64; nothing changes when there are as many
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (more than 64)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_atleast(const td_tensordict *td, size_t dims, td_tensordict **result) TD_NOEXCEPT;

/**
 * What the numbers of td_split() mean.
 */
typedef int32_t td_split_kind;
enum {
  TD_SPLIT_LENGTH = 0,   /**< one number: the length of each part; the last one may be shorter */
  TD_SPLIT_LENGTHS = 1,  /**< the length of each part; they add up to the size of the dimension */
  TD_SPLIT_CHUNKS = 2,   /**< one number: how many parts at most, of equal length but for the last */
  TD_SPLIT_PARTS = 3,    /**< one number: how many parts exactly; the first may be longer by one */
  TD_SPLIT_POSITIONS = 4 /**< where each part but the first begins; negative counts from the end */
};

/**
 * Parts of a dictionary along a batch dimension, sharing memory. They are locked if `td` is.
 *
 * With `results_cap` 0 only their number is written.
 *
 * @param td          borrowed
 * @param dim         negative counts from the end
 * @param kind        what the numbers mean
 * @param numbers     borrowed; NULL only when numbers_len is 0
 * @param numbers_len how many; exactly 1 for TD_SPLIT_LENGTH, TD_SPLIT_CHUNKS and TD_SPLIT_PARTS
 * @param results     new, each; free each with td_free(); set to NULL on failure
 * @param results_cap how many handles `results` can take
 * @param count       how many parts there are; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_INVALID_ARGUMENT (a number below 1),
 *         TD_ERR_SHAPE (lengths that do not add up), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_split(const td_tensordict *td, int64_t dim, td_split_kind kind,
                   const int64_t *TD_NULLABLE numbers, size_t numbers_len,
                   td_tensordict **TD_NULLABLE results, size_t results_cap,
                   size_t *count) TD_NOEXCEPT;

/**
 * How td_view_dtype() works.
 */
typedef uint32_t td_view_dtype_flags;
enum {
  TD_VIEW_DTYPE_HAS_SIZES = 1 /**< `sizes` is the batch size of the result and of the dictionaries below */
};

/**
 * Reads the memory of every tensor as another dtype.
 *
 * Between dtypes of different widths the last dimension of a tensor changes. If that is a batch
 * dimension, `sizes` says what the batch size becomes.
 *
 * @param td         borrowed
 * @param dtype      what the elements are read as
 * @param flags      0: the batch size stays; or TD_VIEW_DTYPE_HAS_SIZES
 * @param sizes      borrowed; NULL only when dims is 0
 * @param dims       number of sizes
 * @param result     new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a tensor would not begin with the batch size), TD_ERR_DTYPE,
 *         TD_ERR_TORCH (a last dimension that the other width does not divide)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_view_dtype(const td_tensordict *td, td_dtype dtype, td_view_dtype_flags flags,
                        const int64_t *TD_NULLABLE sizes, size_t dims,
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

/**
 * As td_contiguous(); the strides of dimensions of size 1 are those of a tensor made densely, too.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_contiguous_canonical(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Whether all tensors lie densely.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_contiguous(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Puts what another dictionary has in place of what this one has: entries, batch size, device and
 * names. With it any operation works on the dictionary itself: td_reshape(), then td_become().
 *
 * Dictionaries below are shared with the source from then on, as td_set_dict() shares them.
 *
 * @param td     written
 * @param source borrowed
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_CYCLE (the source holds `td`), TD_ERR_UNSUPPORTED (a lazy stack
 *         or a sub-tensordict)
 * @threadsafety needs `td` for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_become(td_tensordict *td, const td_tensordict *source) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
