/* tensordict/td_lazy.h: lazy stacks, dictionaries side by side (Python: LazyStackedTensorDict, lazy_stack). */
#ifndef TENSORDICT_TD_LAZY_H
#define TENSORDICT_TD_LAZY_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What kind of dictionary stands behind a handle. All kinds take all calls, with few exceptions.
 */
typedef int32_t td_dict_kind;
enum {
  TD_DICT_DENSE = 1, /**< holds its tensors */
  TD_DICT_LAZY_STACK = 2,  /**< a list of dictionaries, stacked when an entry is read: td_lazy_stack() */
  TD_DICT_SUB_TENSORDICT = 3,   /**< a sub-tensordict of another one: td_sub_tensordict() */
  TD_DICT_NON_TENSOR = 4,  /**< a non-tensor value, as the part of a stack of such */
  TD_DICT_NESTED_TENSOR = 5 /**< tensors of different shapes, see td_nested_tensor.h */
};

/**
 * How tensors of different shapes become one. Zero in every field but the first means the default.
 */
typedef struct td_padding_options {
  uint32_t struct_size; /**< sizeof(td_padding_options) */
  int32_t pad;          /**< what shapes that differ are: 0 an error, 1 padded, 2 a nested tensor */
  int32_t left;         /**< 1: padding stands in front; 0: behind */
  int32_t reserved;     /**< zero */
  double value;         /**< what is padded with, converted to the dtype of each tensor */
} td_padding_options;
#define TD_PADDING_OPTIONS_INIT {(uint32_t)sizeof(td_padding_options), 0, 0, 0, 0.0}

/**
 * What kind of dictionary stands behind a handle.
 *
 * @param td     borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_kind(const td_tensordict *td, td_dict_kind *result) TD_NOEXCEPT;

/**
 * Whether this handle alone leads to the dictionary and to each one below it: no other handle, lazy
 * stack, sub-tensordict or dictionary does. Tensors may be shared all the same.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_uniquely_owned(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Puts dictionaries side by side without copying: an entry is stacked when it is read.
 *
 * They are held as they are: a change of one shows in the stack, and what is written to the stack
 * reaches them. They may differ in keys and in the shapes of tensors; readable through the stack
 * are the keys that all have, sorted. A batch dimension that differs between them has size -1.
 *
 * @param sources     borrowed; at least one
 * @param sources_len number of dictionaries
 * @param dim         where the new dimension stands; negative counts from the end of the result
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (none given), TD_ERR_INDEX, TD_ERR_SHAPE (numbers of
 *         batch dimensions differ), TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety safe beside calls that only read the sources
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_stack(const td_tensordict *const *sources, size_t sources_len, int64_t dim,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Puts a dictionary into a lazy stack, in front of the one at a position.
 *
 * @param td       borrowed; changed
 * @param position 0 to the number of elements, which appends; negative counts from the end
 * @param source   borrowed; held as it is
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no lazy stack), TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_DEVICE,
 *         TD_ERR_LOCKED, TD_ERR_CYCLE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_insert(td_tensordict *td, int64_t position,
                         const td_tensordict *source) TD_NOEXCEPT;

/**
 * Appends dictionaries to a lazy stack: all of them, or none.
 *
 * @param td          borrowed; changed
 * @param sources     borrowed; held as they are; NULL only when sources_len is 0
 * @param sources_len number of dictionaries
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE, TD_ERR_DEVICE, TD_ERR_LOCKED, TD_ERR_CYCLE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_extend(td_tensordict *td, const td_tensordict *const *TD_NULLABLE sources,
                         size_t sources_len) TD_NOEXCEPT;

/**
 * The dimension of a lazy stack and the number of its elements. td_index() with an integer there
 * gives the element itself.
 *
 * @param td        borrowed
 * @param stack_dim written on success
 * @param elements  written on success
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no lazy stack)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_info(const td_tensordict *td, int64_t *stack_dim, size_t *elements) TD_NOEXCEPT;

/**
 * Lists the keys that some elements of a lazy stack have and others lack, sorted. They are read and
 * written through the elements.
 *
 * @param td     borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no lazy stack)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_exclusive_keys(const td_tensordict *td, td_keys **result) TD_NOEXCEPT;

/**
 * The tensors of a key of a lazy stack as one, each padded to the longest in every dimension in
 * which they differ.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param options  borrowed; NULL pads with zeros behind; `pad` does not count
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no lazy stack on
 *         the way), TD_ERR_SHAPE (numbers of dimensions differ)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_lazy_get_padded(const td_tensordict *td, const char *const *path, size_t path_len,
                             const td_padding_options *TD_NULLABLE options,
                             td_tensor **result) TD_NOEXCEPT;

/**
 * The tensors of a key of a lazy stack one after the other along their first dimension, and where
 * each begins. It is what a nested tensor of jagged layout holds.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param values   new; free with td_tensor_free(); NULL on failure
 * @param offsets  new; int64 of shape [elements + 1]; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no lazy stack on
 *         the way), TD_ERR_SHAPE (they differ in more than the first dimension)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_lazy_get_jagged(const td_tensordict *td, const char *const *path, size_t path_len,
                             td_tensor **values, td_tensor **offsets) TD_NOEXCEPT;

/**
 * The parts of a dictionary along a dimension as a lazy stack, sharing memory.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE (nothing along that dimension)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_lazy_stack(const td_tensordict *td, int64_t dim,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * A dictionary of the same content without lazy stacks or sub-tensordicts at any level. Tensors that are
 * stored as they read are shared, not copied; keys that not all elements of a stack have are left
 * out.
 *
 * @param td      borrowed
 * @param options borrowed; NULL: shapes that differ are an error
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (tensors of a stack differ in shape and are not to be padded)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_densify(const td_tensordict *td, const td_padding_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
