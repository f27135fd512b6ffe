/* tensordict/td_rows.h: results made of rows, in new memory (Python: repeat, gather, roll, flip, pad, pad_sequence). */
#ifndef TENSORDICT_TD_ROWS_H
#define TENSORDICT_TD_ROWS_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How td_repeat() counts.
 */
typedef uint32_t td_repeat_flags;
enum {
  TD_REPEAT_TILE = 1 /**< fewer counts speak of the last dimensions; for more, dimensions are added in front */
};

/**
 * Repeats the content along each batch dimension, in new memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param counts borrowed; how often for each dimension, 0 or more; NULL only when dims is 0
 * @param dims   number of counts; as many as there are batch dimensions
 * @param flags  0, or TD_REPEAT_TILE
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of counts, or a negative one), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_repeat(const td_tensordict *td, const int64_t *TD_NULLABLE counts, size_t dims,
                    td_repeat_flags flags, td_tensordict **result) TD_NOEXCEPT;

/**
 * Repeats each position of a batch dimension, in new memory. The result is locked if `td` is.
 *
 * @param td      borrowed; without batch dimensions it counts as one of size 1
 * @param repeats borrowed; integers: one number, or one for each position
 * @param dim     negative counts from the end
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_SHAPE, TD_ERR_DTYPE (no integers),
 *         TD_ERR_INVALID_ARGUMENT (a negative number), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_repeat_interleave(const td_tensordict *td, const td_tensor *repeats, int64_t dim,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * Moves positions along batch dimensions; those that leave at the end come in at the start. In new
 * memory; the result is locked if `td` is.
 *
 * @param td     borrowed
 * @param shifts borrowed; by how many positions, towards the end; NULL only when dims is 0
 * @param along  borrowed; which dimension each shift is for; negative ones count from the end; NULL
 *               (then with one shift): the batch is rolled as if it were flat
 * @param dims   number of shifts
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (no dimensions, and not one shift)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_roll(const td_tensordict *td, const int64_t *TD_NULLABLE shifts,
                  const int64_t *TD_NULLABLE along, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Turns batch dimensions round, in new memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param order  borrowed; the dimensions; negative ones count from the end; NULL only when dims is 0
 * @param dims   number of dimensions
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (repeated)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flip(const td_tensordict *td, const int64_t *TD_NULLABLE order, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Turns the plane of two batch dimensions by 90 degrees, from `dim0` towards `dim1`, in new memory.
 *
 * @param td     borrowed
 * @param times  how often; negative turns the other way; a multiple of 4 gives the same dictionary
 * @param dim0   negative counts from the end
 * @param dim1   negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (twice the same dimension)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_rot90(const td_tensordict *td, int64_t times, int64_t dim0, int64_t dim1,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Picks a position of one batch dimension for each position of the others, as torch.gather does.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param index  borrowed; integers, none negative; no longer than the batch, but for `dim`; its shape
 *               is the batch size of the result
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (or no index at all), TD_ERR_DTYPE (no
 *         integers), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_gather(const td_tensordict *td, int64_t dim, const td_tensor *index,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds positions before and behind batch dimensions, filled with a value.
 *
 * Names of dimensions are lost. Non-tensor values become null there.
 *
 * @param td     borrowed
 * @param sizes  borrowed; a pair for each dimension, from the first on: how many before, how many
 *               behind; negative ones cut off; NULL only when dims is 0
 * @param dims   how many numbers; an even number
 * @param value  converted to the dtype of each tensor
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (an odd number, too many, or more cut off than there is),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pad(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                 double value, td_tensordict **result) TD_NOEXCEPT;

/**
 * How td_pad_sequence() works. Zero in every field but the first means the default.
 */
typedef struct td_pad_sequence_options {
  uint32_t struct_size;                /**< sizeof(td_pad_sequence_options) */
  int32_t reserved;                    /**< zero */
  int64_t dim;                         /**< the dimension of each tensor that is padded; negative
                                            counts from its end */
  double value;                        /**< what is padded with, converted to the dtype of each */
  const char *const *TD_NULLABLE masks; /**< borrowed; where masks go, one for each tensor, true where
                                            there was a value; NULL: no masks */
  size_t masks_len;                    /**< number of names in `masks` */
} td_pad_sequence_options;
#define TD_PAD_SEQUENCE_OPTIONS_INIT \
  {(uint32_t)sizeof(td_pad_sequence_options), 0, 0, 0.0, NULL, 0}

/**
 * Stacks dictionaries along a new first dimension, each tensor padded behind to the longest.
 *
 * Only tensors that all sources have are taken.
 *
 * @param sources     borrowed, each
 * @param sources_len at least 1
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (a tensor without that dimension,
 *         or sizes that differ in others), TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pad_sequence(const td_tensordict *const *sources, size_t sources_len,
                          const td_pad_sequence_options *TD_NULLABLE options,
                          td_tensordict **result) TD_NOEXCEPT;

/**
 * Which positions of a batch dimension another dictionary has too, as far as one tensor tells.
 *
 * @param td        borrowed
 * @param reference borrowed; of as many batch dimensions
 * @param path      borrowed; the tensor that is compared
 * @param path_len  number of names
 * @param dim       negative counts from the end
 * @param result    new; a mask of one dimension; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX (dim out
 *         of range), TD_ERR_SHAPE (tensors that differ beside `dim`)
 * @threadsafety safe beside calls that only read both
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_isin(const td_tensordict *td, const td_tensordict *reference,
                  const char *const *path, size_t path_len, int64_t dim,
                  td_tensor **result) TD_NOEXCEPT;

/**
 * Leaves out positions of a batch dimension whose value in one tensor has occurred before. What is
 * left comes in the order of these values.
 *
 * @param td        borrowed
 * @param path      borrowed; the tensor that is looked at
 * @param path_len  number of names
 * @param dim       negative counts from the end
 * @param result    new; free with td_free(); NULL on failure
 * @param positions new; the positions that are left, int64; free with td_tensor_free(); NULL on
 *                  failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX (dim out
 *         of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove_duplicates(const td_tensordict *td, const char *const *path, size_t path_len,
                               int64_t dim, td_tensordict **result,
                               td_tensor **positions) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
