/* tensordict/td_lazy.h: lazy stacks (C: td_lazy_stack, td_lazy_insert, …; Python: LazyStackedTensorDict, lazy_stack). */
#ifndef TENSORDICT_TD_LAZY_H
#define TENSORDICT_TD_LAZY_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * The kind of a dictionary. Nearly all calls work on every kind.
 */
typedef int32_t td_dict_kind;
enum {
  TD_DICT_DENSE = 1,          /**< holds its tensors */
  TD_DICT_LAZY_STACK = 2,     /**< a list of dictionaries that stacks an entry when you read it:
                                   td_lazy_stack() */
  TD_DICT_SUB_TENSORDICT = 3, /**< a sub-tensordict of another dictionary: td_sub_tensordict() */
  TD_DICT_NON_TENSOR = 4,     /**< non-tensor data, as the element of a stack of non-tensor data */
  TD_DICT_NESTED_TENSOR = 5   /**< a nested tensor, see td_nested_tensor.h */
};

/**
 * How tensors of different shapes become one. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_padding_options {
  uint32_t struct_size; /**< sizeof(td_padding_options) */
  int32_t pad;          /**< if shapes differ: 0 fails, 1 pads, 2 makes a nested tensor */
  int32_t left;         /**< 1: pads in front; 0: pads behind */
  int32_t reserved;     /**< zero */
  double value;         /**< the padding, converted to the dtype of each tensor */
} td_padding_options;
#define TD_PADDING_OPTIONS_INIT {sizeof(td_padding_options), 0, 0, 0, 0.0}

/**
 * Gets the kind of a dictionary.
 *
 * @param td     borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_kind(const td_tensordict *td, td_dict_kind *result) TD_NOEXCEPT;

/**
 * Tells whether only this handle leads to the dictionary and to each nested one: no other handle,
 * lazy stack, sub-tensordict or dictionary does. Its tensors may still be shared.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_uniquely_owned(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Stacks dictionaries without copying: an entry is stacked when you read it.
 *
 * The stack holds the dictionaries themselves: you see their changes in the stack, and writes to
 * the stack reach them. They may differ in keys and in tensor shapes. The stack lists the keys that
 * all of them have, in the order of the first one. A batch dimension that differs has size -1.
 *
 * @param sources     borrowed; at least one
 * @param sources_len number of dictionaries
 * @param dim         position of the new dimension; negative counts from the end of the result
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_INDEX (dim out of range), TD_ERR_SHAPE
 *         (different numbers of batch dimensions), TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (a
 *         sub-tensordict)
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Inserts a dictionary into a lazy stack, in front of the element at a position.
 *
 * @param td       borrowed; changed
 * @param position 0 to the number of elements, which appends; negative counts from the end
 * @param source   borrowed; the stack holds this very dictionary
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a lazy stack), TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_DEVICE,
 *         TD_ERR_LOCKED, TD_ERR_CYCLE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_insert(td_tensordict *td, int64_t position,
                         const td_tensordict *source) TD_NOEXCEPT;

/**
 * Appends dictionaries to a lazy stack: all of them or, on failure, none.
 *
 * @param td          borrowed; changed
 * @param sources     borrowed; the stack holds these very dictionaries; NULL only when sources_len
 *                    is 0
 * @param sources_len number of dictionaries
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a lazy stack), TD_ERR_SHAPE, TD_ERR_DEVICE, TD_ERR_LOCKED,
 *         TD_ERR_CYCLE
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_extend(td_tensordict *td, const td_tensordict *const *TD_NULLABLE sources,
                         size_t sources_len) TD_NOEXCEPT;

/**
 * Gets the stack dimension and the number of elements of a lazy stack. td_index() with an integer
 * in that dimension returns the element itself.
 *
 * @param td        borrowed
 * @param stack_dim written on success
 * @param elements  written on success
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a lazy stack)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_info(const td_tensordict *td, int64_t *stack_dim, size_t *elements) TD_NOEXCEPT;

/**
 * Lists the keys that only some elements of a lazy stack have, sorted. You read and write them
 * through the elements.
 *
 * @param td     borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a lazy stack)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_exclusive_keys(const td_tensordict *td, td_keys **result) TD_NOEXCEPT;

/**
 * Stacks the tensors that the elements of a lazy stack have under a key. Each is padded to the
 * longest in every dimension where they differ.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param options  borrowed; NULL pads with zeros behind; `pad` is ignored
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no lazy stack on the
 *         path), TD_ERR_SHAPE (different numbers of dimensions)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_get_padded(const td_tensordict *td, const char *const *path, size_t path_len,
                             const td_padding_options *TD_NULLABLE options,
                             td_tensor **result) TD_NOEXCEPT;

/**
 * Concatenates the tensors that the elements of a lazy stack have under a key, along their first
 * dimension, and gets where each begins: the values and offsets of a nested tensor of jagged
 * layout.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param values   new; free with td_tensor_free(); NULL on failure
 * @param offsets  new; int64 of shape [elements + 1]; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no lazy stack on the
 *         path), TD_ERR_SHAPE (the tensors differ beyond the first dimension)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_lazy_get_jagged(const td_tensordict *td, const char *const *path, size_t path_len,
                             td_tensor **values, td_tensor **offsets) TD_NOEXCEPT;

/**
 * Unbinds a dictionary along a dimension into a lazy stack that shares memory.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE (the dimension has size 0)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_lazy_stack(const td_tensordict *td, int64_t dim,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * Makes a dictionary of the same content without lazy stacks or sub-tensordicts at any level.
 * Shares tensors that need no stacking or indexing, copies the others. Leaves out keys that only
 * some elements of a lazy stack have.
 *
 * @param td      borrowed
 * @param options borrowed; NULL: different shapes are an error
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (tensors of a lazy stack differ in shape, and the options do not pad)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_densify(const td_tensordict *td, const td_padding_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
