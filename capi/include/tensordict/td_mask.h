/* tensordict/td_mask.h: masks over the batch (C: td_masked_select, td_masked_fill, td_where; Python: masked_select, masked_fill, where). */
#ifndef TENSORDICT_TD_MASK_H
#define TENSORDICT_TD_MASK_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Selects the elements where a mask is true, into new memory. One dimension replaces those that the
 * mask covers.
 *
 * @param td     borrowed
 * @param mask   borrowed; bool, over the leading batch dimensions; further dimensions of size 1 are
 *               ignored
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (the mask does not match the batch size), TD_ERR_DTYPE (the mask is
 *         not bool), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_masked_select(const td_tensordict *td, const td_tensor *mask,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * Copies a dictionary and writes a value into every tensor where a mask is true.
 *
 * @param td     borrowed
 * @param mask   borrowed; bool, over leading dimensions of every tensor
 * @param value  borrowed; one number, converted to the dtype of each tensor
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (the mask does not match a tensor, or more than one value),
 *         TD_ERR_INDEX (the mask does not match a lazy stack), TD_ERR_DTYPE (the mask is not bool),
 *         TD_ERR_TORCH (a tensor is not writable, or its dtype cannot hold the value),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_masked_fill(const td_tensordict *td, const td_tensor *mask, const td_tensor *value,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_masked_fill(), but writes into the tensors of the dictionary itself. Works on a locked
 * dictionary.
 *
 * @param td    borrowed; its values change
 * @param mask  borrowed; bool, over leading dimensions of every tensor
 * @param value borrowed; one number, converted to the dtype of each tensor
 *
 * @return TD_OK, TD_ERR_SHAPE (the mask does not match a tensor, or more than one value),
 *         TD_ERR_INDEX (the mask does not match a lazy stack), TD_ERR_DTYPE (the mask is not bool),
 *         TD_ERR_TORCH (a tensor is not writable, or its dtype cannot hold the value)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_masked_fill_inplace(td_tensordict *td, const td_tensor *mask,
                                 const td_tensor *value) TD_NOEXCEPT;

/**
 * Takes values from `td` where a condition is true, and other values elsewhere. Lazy stacks give a
 * dense result. Non-tensor data that is equal on both sides stays as it is; other data is taken for each
 * element of the batch. With a number for `other`, it comes from `td`.
 *
 * @param td        borrowed
 * @param condition borrowed; bool, over leading dimensions of every tensor
 * @param other     borrowed; the other values, key by key; NULL uses `value` everywhere
 * @param value     borrowed; with `other`, one number that replaces a tensor that one of the
 *                  dictionaries lacks; NULL if both must have the same keys
 * @param result    new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT (neither `other` nor `value`), TD_ERR_KEY_NOT_FOUND
 *         (different keys), TD_ERR_WRONG_ENTRY (a tensor on one side, a dictionary on the other),
 *         TD_ERR_SHAPE, TD_ERR_DTYPE (the condition is not bool), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the inputs
 */
TD_API(0, 1) TD_MUST_USE
td_status td_where(const td_tensordict *td, const td_tensor *condition,
                   const td_tensordict *TD_NULLABLE other, const td_tensor *TD_NULLABLE value,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Appends dimensions to a tensor and expands it to a shape, sharing memory. Turns a mask over the
 * batch into one over a whole tensor. Python: expand_right.
 *
 * @param tensor borrowed
 * @param sizes  borrowed; begins with the sizes of the tensor, or differs only where these are 1;
 *               NULL only when dims is 0
 * @param dims   number of sizes, at least as many as the tensor has
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (the tensor cannot be expanded to these sizes)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_expand_right(const td_tensor *tensor, const int64_t *TD_NULLABLE sizes,
                                 size_t dims, td_tensor **result) TD_NOEXCEPT;

TD_END_C

#endif
