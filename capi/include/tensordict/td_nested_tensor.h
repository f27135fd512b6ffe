/* tensordict/td_nested_tensor.h: nested tensors, components of different shapes as one entry (C: td_nested_tensor_create, td_get_nested_tensor; Python: torch.nested.nested_tensor). */
#ifndef TENSORDICT_TD_NESTED_TENSOR_H
#define TENSORDICT_TD_NESTED_TENSOR_H

#include "tensordict/td_lazy.h"

TD_BEGIN_C

/*
 * A nested tensor is a list of components that have the same number of dimensions and dtype, but
 * different sizes. Its handle is a td_tensordict: td_set_dict() stores it as an entry and
 * td_get_nested_tensor() gets it again. Its batch size is the number of components.
 *
 * As an entry it supports copies, moves and conversions, indexing along the batch (an integer gives a
 * tensor), td_unbind(), td_cat(), files and messages. Other operations return TD_ERR_UNSUPPORTED and
 * change nothing.
 */

/**
 * Creates a nested tensor over values in one buffer, component after component, each in row-major
 * order.
 *
 * @param values borrowed; shared if contiguous; of any shape, all elements count
 * @param sizes  borrowed; int64 of shape [components, dimensions of a component]
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (`sizes` is not two-dimensional, or does not match the values),
 *         TD_ERR_UNSUPPORTED (a tensor is not dense)
 * @threadsafety safe while other threads only read the tensors
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_create(const td_tensor *values, const td_tensor *sizes,
                                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Creates a nested tensor from copies of several tensors.
 *
 * @param parts     borrowed; at least one; all have the same number of dimensions, dtype and device
 * @param parts_len number of tensors
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no tensor), TD_ERR_SHAPE (different numbers of
 *         dimensions), TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (a tensor is not dense)
 * @threadsafety safe while other threads only read the tensors
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_from_tensors(const td_tensor *const *parts, size_t parts_len,
                                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets the nested tensor stored under a path.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (another kind of
 *         entry)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_nested_tensor(const td_tensordict *td, const char *const *path, size_t path_len,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets what a nested tensor is made of: its values in one dimension, component after component, and
 * their sizes.
 *
 * @param nested borrowed
 * @param values new; shares memory; free with td_tensor_free(); NULL on failure
 * @param sizes  new; int64 of shape [components, dimensions of a component]; a copy; free with
 *               td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a nested tensor)
 * @threadsafety safe while other threads only read it
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_values(const td_tensordict *nested, td_tensor **values,
                                  td_tensor **sizes) TD_NOEXCEPT;

/**
 * Gets one component of a nested tensor.
 *
 * @param nested   borrowed
 * @param position negative counts from the end
 * @param result   new; shares memory; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a nested tensor), TD_ERR_INDEX (no such component)
 * @threadsafety safe while other threads only read it
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_at(const td_tensordict *nested, int64_t position,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Pads the components of a nested tensor to the longest in every dimension and stacks them. Also
 * makes a mask that is true where there are values. The mask ends with the last dimension in which
 * the components differ. Python: to_padded_tensor.
 *
 * @param nested  borrowed
 * @param options borrowed; NULL pads with zeros behind; `pad` is ignored
 * @param result  new; free with td_tensor_free(); NULL on failure
 * @param mask    new; bool; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a nested tensor)
 * @threadsafety safe while other threads only read it
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_to_padded(const td_tensordict *nested,
                                     const td_padding_options *TD_NULLABLE options,
                                     td_tensor **result, td_tensor **mask) TD_NOEXCEPT;

TD_END_C

#endif
