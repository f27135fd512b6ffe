/* tensordict/td_shape.h: operations on batch dimensions (C: td_view, td_stack, td_cat, td_split, …; Python: view, reshape, permute, stack, cat, unbind, split). */
#ifndef TENSORDICT_TD_SHAPE_H
#define TENSORDICT_TD_SHAPE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Views the entries under another batch size, sharing memory. The feature dimensions of a tensor
 * stay.
 *
 * @param td     borrowed
 * @param sizes  borrowed; may hold one -1, which is computed; NULL only when dims is 0
 * @param dims   number of sizes
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of elements, or the strides allow no view)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_view(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_view(), but copies where no view is possible.
 *
 * @param td     borrowed
 * @param sizes  borrowed; may hold one -1, which is computed; NULL only when dims is 0
 * @param dims   number of sizes
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of elements), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
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
 * @param dims   number of dimensions in `order`; the others stay in place
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a dimension is repeated or out of range)
 * @threadsafety safe while other threads only read `td`
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
 * @threadsafety safe while other threads only read `td`
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
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_squeeze(const td_tensordict *td, int64_t dim, td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes all batch dimensions of size 1, sharing memory. Python: squeeze().
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_squeeze_all(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds a batch dimension of size 1, sharing memory.
 *
 * @param td     borrowed
 * @param dim    position of the new dimension; negative counts from behind the last batch dimension
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unsqueeze(const td_tensordict *td, int64_t dim, td_tensordict **result) TD_NOEXCEPT;

/**
 * Expands dimensions of size 1, and adds dimensions in front, without copying.
 *
 * @param td     borrowed
 * @param sizes  borrowed; the new batch size, -1 for the size that a dimension has; NULL only when
 *               dims is 0
 * @param dims   number of sizes; at least the number of batch dimensions
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (the batch size cannot be expanded to `sizes`)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_expand(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Flattens consecutive batch dimensions into one, sharing memory where possible.
 *
 * The new dimension has no name.
 *
 * @param td     borrowed
 * @param start  the first of these dimensions; negative counts from the end
 * @param end    the last of these dimensions; negative counts from the end
 * @param result new; free with td_free(); NULL on failure; has at least one batch dimension
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_INVALID_ARGUMENT (end is before start),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flatten(const td_tensordict *td, int64_t start, int64_t end,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Splits one batch dimension into several, sharing memory.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param sizes  borrowed; may hold one -1, which is computed; NULL only when dims is 0
 * @param dims   number of sizes, at least 1
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_SHAPE (another number of elements)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unflatten(const td_tensordict *td, int64_t dim, const int64_t *TD_NULLABLE sizes,
                       size_t dims, td_tensordict **result) TD_NOEXCEPT;

/**
 * Moves batch dimensions to other positions, sharing memory. The others keep their order.
 *
 * @param td     borrowed
 * @param from   borrowed; the dimensions to move; negative ones count from the end; NULL only when
 *               dims is 0
 * @param to     borrowed; their positions in the result; NULL only when dims is 0
 * @param dims   number of dimensions to move
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (a dimension is repeated)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_movedim(const td_tensordict *td, const int64_t *TD_NULLABLE from,
                     const int64_t *TD_NULLABLE to, size_t dims,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Takes a range of a batch dimension, sharing memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param start  first position of the range; negative counts from the end
 * @param length length of the range
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_narrow(const td_tensordict *td, int64_t dim, int64_t start, int64_t length,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds batch dimensions of size 1 in front until the dictionary has at least `dims`, sharing
 * memory. Python: atleast_1d, atleast_2d, atleast_3d.
 *
 * @param td     borrowed
 * @param dims   the smallest number of batch dimensions, at most 64; nothing changes if there are
 *               as many
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`dims` above 64)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_atleast(const td_tensordict *td, size_t dims, td_tensordict **result) TD_NOEXCEPT;

/**
 * What the numbers of td_split() mean. The comments name Python's function.
 */
typedef int32_t td_split_kind;
enum {
  TD_SPLIT_LENGTH = 0,   /**< split: one number, the length of each part; the last part may be
                              shorter */
  TD_SPLIT_LENGTHS = 1,  /**< split: the length of each part; they add up to the size of the
                              dimension */
  TD_SPLIT_CHUNKS = 2,   /**< chunk: one number, the most parts; all have the same length except the
                              last */
  TD_SPLIT_PARTS = 3,    /**< tensor_split: one number, how many parts; the first ones may be longer
                              by one */
  TD_SPLIT_POSITIONS = 4 /**< tensor_split: where each part but the first begins; negative counts
                              from the end */
};

/**
 * Splits a dictionary along a batch dimension into parts that share memory. They are locked if `td`
 * is.
 *
 * Pass `results_cap` 0 to get only their number.
 *
 * @param td          borrowed
 * @param dim         negative counts from the end
 * @param kind        what the numbers mean
 * @param numbers     borrowed; NULL only when numbers_len is 0
 * @param numbers_len number of numbers; exactly 1 for TD_SPLIT_LENGTH, TD_SPLIT_CHUNKS and
 *                    TD_SPLIT_PARTS
 * @param results     new; free each with td_free(); all NULL on failure
 * @param results_cap room in `results`, in handles
 * @param count       the number of parts; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_INVALID_ARGUMENT (a number below 1),
 *         TD_ERR_SHAPE (the lengths do not add up), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_split(const td_tensordict *td, int64_t dim, td_split_kind kind,
                   const int64_t *TD_NULLABLE numbers, size_t numbers_len,
                   td_tensordict **TD_NULLABLE results, size_t results_cap,
                   size_t *count) TD_NOEXCEPT;

/**
 * Flags of td_view_dtype().
 */
typedef uint32_t td_view_dtype_flags;
enum {
  TD_VIEW_DTYPE_HAS_SIZES = 1 /**< `sizes` is the batch size of the result and of nested
                                   dictionaries */
};

/**
 * Reinterprets the memory of every tensor as another dtype. Python: view(dtype).
 *
 * If the dtypes have different widths, the last dimension of each tensor changes. If that is a
 * batch dimension, give the new batch size in `sizes`.
 *
 * @param td     borrowed
 * @param dtype  dtype of the result
 * @param flags  0 keeps the batch size; or TD_VIEW_DTYPE_HAS_SIZES
 * @param sizes  borrowed; NULL only when dims is 0
 * @param dims   number of sizes
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a tensor would not begin with the batch size), TD_ERR_DTYPE,
 *         TD_ERR_TORCH (the other width does not divide a last dimension)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_view_dtype(const td_tensordict *td, td_dtype dtype, td_view_dtype_flags flags,
                        const int64_t *TD_NULLABLE sizes, size_t dims,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Splits a dictionary along a batch dimension into its elements, which share memory.
 *
 * Pass `results_cap` 0 to get only their number.
 *
 * @param td          borrowed
 * @param dim         negative counts from the end
 * @param results     new; free each with td_free(); all NULL on failure
 * @param results_cap room in `results`, in handles
 * @param count       the size of the dimension; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unbind(const td_tensordict *td, int64_t dim, td_tensordict **TD_NULLABLE results,
                    size_t results_cap, size_t *count) TD_NOEXCEPT;

/**
 * Stacks dictionaries of the same keys and sizes along a new batch dimension, in new memory.
 *
 * @param sources     borrowed
 * @param sources_len at least 1
 * @param dim         position of the new dimension; negative counts from behind the last
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (different sizes),
 *         TD_ERR_KEY_NOT_FOUND (different keys), TD_ERR_INDEX (dim out of range),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Concatenates dictionaries of the same keys along an existing batch dimension, in new memory.
 *
 * @param sources     borrowed
 * @param sources_len at least 1
 * @param dim         negative counts from the end
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (sizes differ beside `dim`),
 *         TD_ERR_KEY_NOT_FOUND (different keys), TD_ERR_INDEX (dim out of range),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_cat(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                 td_tensordict **result) TD_NOEXCEPT;

/**
 * Makes every tensor contiguous: shares those that are, copies the others.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_contiguous(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_contiguous(), and dimensions of size 1 also get the strides of a new contiguous tensor.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_contiguous_canonical(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Tells whether all tensors are contiguous.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_contiguous(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Replaces the entries, batch size, device and names of a dictionary with those of another. This
 * makes any operation work in place: call td_reshape(), then td_become().
 *
 * Both dictionaries then share their nested dictionaries, as td_set_dict() shares them. A dictionary
 * that holds `td` is not asked: what needs batch sizes that agree fails there if they no longer do.
 *
 * @param td     borrowed; changed
 * @param source borrowed
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_CYCLE (the source contains `td`), TD_ERR_UNSUPPORTED (a lazy
 *         stack or a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_become(td_tensordict *td, const td_tensordict *source) TD_NOEXCEPT;

TD_END_C

#endif
