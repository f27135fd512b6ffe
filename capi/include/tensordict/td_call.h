/* tensordict/td_call.h: any PyTorch operator, by name, on every tensor (C: td_call, td_call_inplace; Python: torch.ops.aten). */
#ifndef TENSORDICT_TD_CALL_H
#define TENSORDICT_TD_CALL_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * The kind of an operator's argument. The comments name the fields that are used.
 */
typedef int32_t td_argument_kind;
enum {
  TD_ARGUMENT_LEAF = 1,     /**< the tensor of the dictionary for which the operator is called */
  TD_ARGUMENT_DICT = 2,     /**< dict: its tensor under the same path */
  TD_ARGUMENT_TENSOR = 3,   /**< tensor: the same one for every tensor of the dictionary */
  TD_ARGUMENT_INT = 4,      /**< integer */
  TD_ARGUMENT_DOUBLE = 5,   /**< real */
  TD_ARGUMENT_BOOL = 6,     /**< integer: 0 or 1 */
  TD_ARGUMENT_NONE = 7,     /**< None, where the operator allows it */
  TD_ARGUMENT_TEXT = 8,     /**< text; also the name of a memory format, "channels_last" */
  TD_ARGUMENT_DTYPE = 9,    /**< integer: a td_dtype */
  TD_ARGUMENT_DEVICE = 10,  /**< integer: a td_device_type; device_index */
  TD_ARGUMENT_INTS = 11,    /**< integers, count */
  TD_ARGUMENT_DOUBLES = 12, /**< reals, count */
  TD_ARGUMENT_BOOLS = 13    /**< integers, each 0 or 1, count */
};

/**
 * One argument of an operator. Its size stays 96 bytes in every release.
 */
typedef struct td_call_argument {
  td_argument_kind kind;                 /**< which fields are used */
  int32_t device_index;                  /**< index among the devices of that type; -1 for the current
                                              one */
  const char *TD_NULLABLE name;          /**< borrowed; the name of the operator's argument; NULL: by
                                              position */
  int64_t integer;                       /**< an integer, 0 or 1, a dtype or a device type */
  double real;                           /**< a number */
  const char *TD_NULLABLE text;          /**< borrowed; NUL-terminated */
  const td_tensor *TD_NULLABLE tensor;   /**< borrowed */
  const td_tensordict *TD_NULLABLE dict; /**< borrowed */
  const int64_t *TD_NULLABLE integers;   /**< borrowed; NULL only when count is 0 */
  const double *TD_NULLABLE reals;       /**< borrowed; NULL only when count is 0 */
  size_t count;                          /**< number of `integers` or `reals` */
  uint64_t reserved[2];                  /**< zero */
} td_call_argument;

/**
 * Options of td_call(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_call_options {
  uint32_t struct_size;                  /**< sizeof(td_call_options) */
  int32_t has_batch_size;                /**< 1: the results have `batch_size` */
  const int64_t *TD_NULLABLE batch_size; /**< borrowed; NULL only when batch_dims is 0 */
  size_t batch_dims;                     /**< number of sizes */
} td_call_options;
#define TD_CALL_OPTIONS_INIT {sizeof(td_call_options), 0, NULL, 0}

/**
 * Calls a libtorch operator, by name, for every tensor of a dictionary.
 *
 * The call looks the operator up once and checks the arguments against its schema before it touches
 * a tensor. Arguments that you omit have the operator's defaults. If no argument is
 * TD_ARGUMENT_LEAF, the tensor is the first argument. An operator that returns several tensors
 * gives as many dictionaries. Non-tensor data is kept.
 *
 * Not supported are operators that take or return lists of tensors, return anything but tensors,
 * have an `out` argument, change the sizes or memory of a tensor in place, or are internal to
 * libtorch (names that begin with an underscore). Where integers are divided by -1, the remainder is
 * 0, and the quotient of the smallest number is that number. For operators that write into their tensor
 * ("aten::add_") see td_call_inplace().
 *
 * @param td            borrowed
 * @param name          borrowed; "aten::clamp", or with an overload "aten::add.Tensor". Without an
 *                      overload, the first one that accepts the arguments; without a namespace,
 *                      "aten"
 * @param arguments     borrowed; NULL only when arguments_len is 0
 * @param arguments_len number of arguments
 * @param options       borrowed; NULL for the defaults
 * @param results       new; free each with td_free(); all NULL on failure
 * @param results_cap   room in `results`, in handles; 0 asks for their number only, and does not
 *                      call the operator
 * @param count         the number of results; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (no such operator, one that is not supported, or a kind of
 *         argument that this version does not know), TD_ERR_INVALID_ARGUMENT (the operator does not
 *         accept the arguments; the message shows its schema; a reserved field is not zero; or the
 *         operator writes into its tensor),
 *         TD_ERR_KEY_NOT_FOUND (a dictionary among the arguments has other keys), TD_ERR_SHAPE (a
 *         result does not begin with the batch size), TD_ERR_BUFFER_TOO_SMALL, or the operator's
 *         own error, mostly TD_ERR_TORCH
 * @threadsafety safe while other threads only read `td` and the arguments
 */
TD_API(0, 1) TD_MUST_USE
td_status td_call(const td_tensordict *td, const char *name,
                  const td_call_argument *TD_NULLABLE arguments, size_t arguments_len,
                  const td_call_options *TD_NULLABLE options, td_tensordict **TD_NULLABLE results,
                  size_t results_cap, size_t *count) TD_NOEXCEPT;

/**
 * Calls a libtorch operator that writes into its tensor ("aten::add_") for every tensor of a
 * dictionary, also of a locked one.
 *
 * The call tries the operator out first, so that nothing is written if it fails for one tensor. The
 * operator sees a lazy stack as td_call() does, as dense, and the results are written into the
 * tensors of the elements. Tensors that differ in shape between the elements, or that only some
 * elements have, are passed one by one; dimensions then count from the element. td_call() says
 * which operators are supported.
 *
 * @param td            borrowed; its values change; unchanged on failure
 * @param name          borrowed; as for td_call(): "aten::add_", or with an overload
 *                      "aten::add_.Tensor"
 * @param arguments     borrowed; NULL only when arguments_len is 0
 * @param arguments_len number of arguments
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (no such operator, one that is not supported, or a kind of
 *         argument that this version does not know), TD_ERR_INVALID_ARGUMENT (the operator does not
 *         accept the arguments; the message shows its schema; a reserved field is not zero; or the
 *         operator does not write into its tensor), TD_ERR_KEY_NOT_FOUND (a dictionary among the
 *         arguments lacks a key), or the operator's own error, mostly TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`; other threads may read the arguments
 */
TD_API(0, 2) TD_MUST_USE
td_status td_call_inplace(td_tensordict *td, const char *name,
                          const td_call_argument *TD_NULLABLE arguments, size_t arguments_len)
    TD_NOEXCEPT;

TD_END_C

/* Shorthand for C99: td_call_argument with[] = {TD_ARG_LEAF(NULL), TD_ARG_DOUBLE("max", 1.0)};
 * The name is that of the operator's argument, or NULL. */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_ARG_LEAF(name) {TD_ARGUMENT_LEAF, 0, (name), 0, 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_DICT(name, handle) \
  {TD_ARGUMENT_DICT, 0, (name), 0, 0, NULL, NULL, (handle), NULL, NULL, 0, {0, 0}}
#define TD_ARG_TENSOR(name, handle) \
  {TD_ARGUMENT_TENSOR, 0, (name), 0, 0, NULL, (handle), NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_INT(name, number) \
  {TD_ARGUMENT_INT, 0, (name), (number), 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_DOUBLE(name, number) \
  {TD_ARGUMENT_DOUBLE, 0, (name), 0, (number), NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_BOOL(name, truth) \
  {TD_ARGUMENT_BOOL, 0, (name), (truth), 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_NONE(name) {TD_ARGUMENT_NONE, 0, (name), 0, 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_TEXT(name, letters) \
  {TD_ARGUMENT_TEXT, 0, (name), 0, 0, (letters), NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_DTYPE(name, dtype) \
  {TD_ARGUMENT_DTYPE, 0, (name), (dtype), 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_DEVICE(name, type, index) \
  {TD_ARGUMENT_DEVICE, (index), (name), (type), 0, NULL, NULL, NULL, NULL, NULL, 0, {0, 0}}
#define TD_ARG_INTS(name, numbers, n) \
  {TD_ARGUMENT_INTS, 0, (name), 0, 0, NULL, NULL, NULL, (numbers), NULL, (n), {0, 0}}
#define TD_ARG_DOUBLES(name, numbers, n) \
  {TD_ARGUMENT_DOUBLES, 0, (name), 0, 0, NULL, NULL, NULL, NULL, (numbers), (n), {0, 0}}
#define TD_ARG_BOOLS(name, truths, n) \
  {TD_ARGUMENT_BOOLS, 0, (name), 0, 0, NULL, NULL, NULL, (truths), NULL, (n), {0, 0}}
#endif

#endif
