/* tensordict/td_mask.h: masks over the batch (Python: masked_select, masked_fill, where). */
#ifndef TENSORDICT_TD_MASK_H
#define TENSORDICT_TD_MASK_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a mask picks, in new memory: one dimension takes the place of those that the mask speaks of.
 *
 * @param td     borrowed
 * @param mask   borrowed; bools over the leading batch dimensions; further dimensions of size 1 do
 *               not count
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (a mask that does not fit), TD_ERR_DTYPE (no bools),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_masked_select(const td_tensordict *td, const td_tensor *mask,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a value where a mask is true, into every tensor of a copy.
 *
 * @param td     borrowed
 * @param mask   borrowed; bools over leading dimensions of every tensor
 * @param value  borrowed; one number, converted to the dtype of each tensor
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a mask that does not fit, or more than one value), TD_ERR_INDEX (a mask
 *         that does not fit a lazy stack), TD_ERR_DTYPE (no bools), TD_ERR_TORCH (a tensor that cannot
 *         be written, or a value that its dtype does not take), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_masked_fill(const td_tensordict *td, const td_tensor *mask, const td_tensor *value,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_masked_fill(), into the tensors of the dictionary itself; a locked dictionary allows it.
 *
 * @param td    borrowed; its values change
 * @param mask  borrowed; bools over leading dimensions of every tensor
 * @param value borrowed; one number, converted to the dtype of each tensor
 *
 * @return TD_OK, TD_ERR_SHAPE (a mask that does not fit, or more than one value), TD_ERR_INDEX (a mask
 *         that does not fit a lazy stack), TD_ERR_DTYPE (no bools), TD_ERR_TORCH (a tensor that cannot
 *         be written, or a value that its dtype does not take)
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_masked_fill_inplace(td_tensordict *td, const td_tensor *mask,
                                 const td_tensor *value) TD_NOEXCEPT;

/**
 * Takes values of `td` where a condition is true, and others elsewhere. Lazy stacks give a dense
 * result. Non-tensor values are those of `td`.
 *
 * @param td        borrowed
 * @param condition borrowed; bools over leading dimensions of every tensor
 * @param other     borrowed; the other values, key by key; NULL: `value` everywhere
 * @param value     borrowed; with `other` one number that stands in for a tensor that one of the
 *                  dictionaries lacks, and NULL when both must have the same keys
 * @param result    new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT (neither `other` nor `value`), TD_ERR_KEY_NOT_FOUND (keys
 *         differ), TD_ERR_WRONG_ENTRY (a tensor beside a dictionary), TD_ERR_SHAPE, TD_ERR_DTYPE (no
 *         bools), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read what it is given
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_where(const td_tensordict *td, const td_tensor *condition,
                   const td_tensordict *TD_NULLABLE other, const td_tensor *TD_NULLABLE value,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds dimensions behind those of a tensor and expands it to a shape, sharing memory: a mask over the
 * batch becomes one over a whole tensor.
 *
 * @param tensor borrowed
 * @param sizes  borrowed; begins with the sizes of the tensor, or has others where these are 1; NULL
 *               only when dims is 0
 * @param dims   number of sizes, at least as many as the tensor has
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_expand_right(const td_tensor *tensor, const int64_t *TD_NULLABLE sizes,
                                 size_t dims, td_tensor **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
