/* tensordict/td_nested_tensor.h: tensors of different shapes as one entry (Python: torch.nested.nested_tensor). */
#ifndef TENSORDICT_TD_NESTED_TENSOR_H
#define TENSORDICT_TD_NESTED_TENSOR_H

#include "tensordict/td_lazy.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A nested tensor is a row of parts that have as many dimensions and one dtype, and differ in sizes
 * (Python's nested tensor). It is held by a handle as a dictionary is: td_set_dict() makes it an entry,
 * td_get_nested_tensor() reads it again. Its batch size is the number of parts.
 *
 * As an entry it follows what copies, moves or converts a dictionary, what picks parts along the batch
 * (an integer gives a tensor), td_unbind(), td_cat(), files and messages. Whatever else meets it ends
 * with TD_ERR_UNSUPPORTED and changes nothing.
 */

/**
 * A nested tensor over values that lie one part after the other, row by row.
 *
 * @param values borrowed; shared where it is contiguous; of any shape, all elements count
 * @param sizes  borrowed; int64 of shape [parts, dimensions of a part]
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (the sizes are no table, or do not fit the values),
 *         TD_ERR_UNSUPPORTED (a tensor that is not dense)
 * @threadsafety safe beside calls that only read the tensors
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_create(const td_tensor *values, const td_tensor *sizes,
                                  td_tensordict **result) TD_NOEXCEPT;

/**
 * A nested tensor with a copy of each of several tensors.
 *
 * @param parts     borrowed; at least one; of as many dimensions, one dtype and one device
 * @param parts_len number of tensors
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (none given), TD_ERR_SHAPE (numbers of dimensions differ),
 *         TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (a tensor that is not dense)
 * @threadsafety safe beside calls that only read the tensors
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_from_tensors(const td_tensor *const *parts, size_t parts_len,
                                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads an entry that is a nested tensor.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (another kind of entry)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_nested_tensor(const td_tensordict *td, const char *const *path, size_t path_len,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * What a nested tensor is made of: all values in one dimension, part after part, and the sizes.
 *
 * @param nested borrowed
 * @param values new; shares memory; free with td_tensor_free(); NULL on failure
 * @param sizes  new; int64 of shape [parts, dimensions of a part]; a copy; free with
 *               td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no nested tensor)
 * @threadsafety safe beside calls that only read it
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_values(const td_tensordict *nested, td_tensor **values,
                                  td_tensor **sizes) TD_NOEXCEPT;

/**
 * One part of a nested tensor.
 *
 * @param nested   borrowed
 * @param position negative counts from the end
 * @param result   new; shares memory; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no nested tensor), TD_ERR_INDEX
 * @threadsafety safe beside calls that only read it
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_at(const td_tensordict *nested, int64_t position,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * The parts of a nested tensor as one tensor, each padded to the longest in every dimension, and a
 * mask that is true where there are values. The mask ends with the last dimension in which parts differ.
 *
 * @param nested  borrowed
 * @param options borrowed; NULL pads with zeros behind; `pad` does not count
 * @param result  new; free with td_tensor_free(); NULL on failure
 * @param mask    new; bool; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no nested tensor)
 * @threadsafety safe beside calls that only read it
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_nested_tensor_to_padded(const td_tensordict *nested,
                                     const td_padding_options *TD_NULLABLE options,
                                     td_tensor **result, td_tensor **mask) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
