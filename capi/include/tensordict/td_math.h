/* tensordict/td_math.h: arithmetic, comparison, logic and reductions (C: td_unary, td_binary, td_reduce, td_fill, …; Python: td + 1, td.exp(), td.sum()). */
#ifndef TENSORDICT_TD_MATH_H
#define TENSORDICT_TD_MATH_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Operations with one operand.
 */
typedef int32_t td_unary_op;
enum {
  TD_UNARY_ABS = 1,          /**< absolute value */
  TD_UNARY_ACOS = 2,         /**< inverse cosine */
  TD_UNARY_ASIN = 3,         /**< inverse sine */
  TD_UNARY_ATAN = 4,         /**< inverse tangent */
  TD_UNARY_CEIL = 5,         /**< rounds up */
  TD_UNARY_COS = 6,          /**< cosine */
  TD_UNARY_COSH = 7,         /**< hyperbolic cosine */
  TD_UNARY_ERF = 8,          /**< error function */
  TD_UNARY_ERFC = 9,         /**< complementary error function */
  TD_UNARY_EXP = 10,         /**< exponential */
  TD_UNARY_EXPM1 = 11,       /**< exponential minus 1 */
  TD_UNARY_FLOOR = 12,       /**< rounds down */
  TD_UNARY_FRAC = 13,        /**< fractional part */
  TD_UNARY_LGAMMA = 14,      /**< logarithm of the gamma function */
  TD_UNARY_LOG = 15,         /**< natural logarithm */
  TD_UNARY_LOG10 = 16,       /**< decimal logarithm */
  TD_UNARY_LOG1P = 17,       /**< natural logarithm of 1 plus the value */
  TD_UNARY_LOG2 = 18,        /**< binary logarithm */
  TD_UNARY_NEG = 19,         /**< negation */
  TD_UNARY_RECIPROCAL = 20,  /**< 1 divided by the value */
  TD_UNARY_ROUND = 21,       /**< rounds to the nearest integer, halves to even */
  TD_UNARY_SIGMOID = 22,     /**< logistic function */
  TD_UNARY_SIGN = 23,        /**< sign: -1, 0 or 1 */
  TD_UNARY_SIN = 24,         /**< sine */
  TD_UNARY_SINH = 25,        /**< hyperbolic sine */
  TD_UNARY_SQRT = 26,        /**< square root */
  TD_UNARY_TAN = 27,         /**< tangent */
  TD_UNARY_TANH = 28,        /**< hyperbolic tangent */
  TD_UNARY_TRUNC = 29,       /**< rounds towards 0 */
  TD_UNARY_BITWISE_NOT = 30, /**< inverts the bits of integers, or bools */
  TD_UNARY_LOGICAL_NOT = 31, /**< whether a value is 0; gives bool */
  TD_UNARY_ISFINITE = 40,    /**< whether a value is neither infinite nor NaN; not in place */
  TD_UNARY_ISNAN = 41,       /**< whether a value is NaN; not in place */
  TD_UNARY_ISNEGINF = 42,    /**< whether a value is minus infinity; not in place */
  TD_UNARY_ISPOSINF = 43,    /**< whether a value is plus infinity; not in place */
  TD_UNARY_ISREAL = 44       /**< whether a value has no imaginary part; not in place */
};

/**
 * Operations with two operands.
 */
typedef int32_t td_binary_op;
enum {
  TD_BINARY_ADD = 1,          /**< sum; multiplies the operand by alpha */
  TD_BINARY_SUB = 2,          /**< difference; multiplies the operand by alpha */
  TD_BINARY_RSUB = 3,         /**< the operand minus alpha times the value; not in place */
  TD_BINARY_MUL = 4,          /**< product */
  TD_BINARY_DIV = 5,          /**< quotient; integers give floats */
  TD_BINARY_RDIV = 6,         /**< the operand divided by the value; not in place */
  TD_BINARY_POW = 7,          /**< power */
  TD_BINARY_MOD = 8,          /**< remainder with the sign of the operand; 0 where integers are
                                   divided by -1 */
  TD_BINARY_MAXIMUM = 9,      /**< the larger value; NaN if either is NaN */
  TD_BINARY_MINIMUM = 10,     /**< the smaller value; NaN if either is NaN */
  TD_BINARY_CLAMP_MAX = 11,   /**< at most the operand */
  TD_BINARY_CLAMP_MIN = 12,   /**< at least the operand */
  TD_BINARY_BITWISE_AND = 13, /**< bitwise and; for bool, logical and */
  TD_BINARY_BITWISE_OR = 14,  /**< bitwise or; for bool, logical or */
  TD_BINARY_BITWISE_XOR = 15, /**< bitwise exclusive or; for bool, not equal */
  TD_BINARY_LOGICAL_AND = 16, /**< whether both are not 0; not in place */
  TD_BINARY_EQ = 40,          /**< whether equal; not in place */
  TD_BINARY_NE = 41,          /**< whether not equal; not in place */
  TD_BINARY_LT = 42,          /**< whether less; not in place */
  TD_BINARY_LE = 43,          /**< whether less or equal; not in place */
  TD_BINARY_GT = 44,          /**< whether greater; not in place */
  TD_BINARY_GE = 45           /**< whether greater or equal; not in place */
};

/**
 * Operations with three operands; a is the dictionary.
 */
typedef int32_t td_ternary_op;
enum {
  TD_TERNARY_LERP = 1,    /**< a + c * (b - a) */
  TD_TERNARY_ADDCMUL = 2, /**< a + value * b * c */
  TD_TERNARY_ADDCDIV = 3, /**< a + value * b / c */
  TD_TERNARY_CLAMP = 4    /**< at least b and at most c */
};

/**
 * Reductions of td_reduce().
 */
typedef int32_t td_reduce_op;
enum {
  TD_REDUCE_SUM = 1,        /**< sum */
  TD_REDUCE_MEAN = 2,       /**< mean; floating-point only */
  TD_REDUCE_PROD = 3,       /**< product */
  TD_REDUCE_STD = 4,        /**< standard deviation; floating-point only */
  TD_REDUCE_VAR = 5,        /**< variance; floating-point only */
  TD_REDUCE_NANSUM = 6,     /**< sum of the values that are not NaN */
  TD_REDUCE_NANMEAN = 7,    /**< mean of the values that are not NaN; floating-point only */
  TD_REDUCE_MIN = 8,        /**< smallest value; one dimension */
  TD_REDUCE_MAX = 9,        /**< largest value; one dimension */
  TD_REDUCE_AMIN = 10,      /**< smallest value; any number of dimensions */
  TD_REDUCE_AMAX = 11,      /**< largest value; any number of dimensions */
  TD_REDUCE_ALL = 12,       /**< whether all are not 0 */
  TD_REDUCE_ANY = 13,       /**< whether any is not 0 */
  TD_REDUCE_QUANTILE = 14,  /**< quantile; floating-point only; one dimension */
  TD_REDUCE_NORM = 15,      /**< Euclidean norm; floating-point only */
  TD_REDUCE_LOGSUMEXP = 16, /**< logarithm of the sum of exponentials */
  TD_REDUCE_SOFTMAX = 17,   /**< exponentials divided by their sum; one dimension, which stays */
  TD_REDUCE_CUMMIN = 18,    /**< smallest value so far; one dimension, which stays */
  TD_REDUCE_CUMMAX = 19,    /**< largest value so far; one dimension, which stays */
  TD_REDUCE_CUMSUM = 20,    /**< sum so far; one dimension, which stays */
  TD_REDUCE_CUMPROD = 21,   /**< product so far; one dimension, which stays */
  TD_REDUCE_SUM_FROM = 22   /**< sum from here to the end; one dimension, which stays */
};

/**
 * The kind of an operand. The comments name the field that is used.
 */
typedef int32_t td_operand_kind;
enum {
  TD_OPERAND_DICT = 1,   /**< dict: matches tensors by key; different batch sizes are broadcast */
  TD_OPERAND_TENSOR = 2, /**< tensor: a scalar for all values; otherwise broadcast against the batch
                              size and along the feature dimensions */
  TD_OPERAND_INT = 3,    /**< integer: a number */
  TD_OPERAND_DOUBLE = 4, /**< real: a number */
  TD_OPERAND_BOOL = 5    /**< integer: 0 or 1 */
};

/**
 * The second or third operand of an operation. Its size stays 64 bytes in every release.
 */
typedef struct td_operand {
  td_operand_kind kind;                  /**< which fields are used */
  int32_t zero;                          /**< zero */
  int64_t integer;                       /**< a number; for TD_OPERAND_BOOL 0 or 1 */
  double real;                           /**< a number */
  const td_tensor *TD_NULLABLE tensor;   /**< borrowed */
  const td_tensordict *TD_NULLABLE dict; /**< borrowed */
  uint64_t reserved[3];                  /**< zero */
} td_operand;

/**
 * What happens to keys that only one of two dictionaries has.
 */
typedef int32_t td_missing;
enum {
  TD_MISSING_ERROR = 0,    /**< TD_ERR_KEY_NOT_FOUND; in place, keys that only the operand has are
                                skipped */
  TD_MISSING_DEFAULT = 1,  /**< `fallback` replaces the missing tensor; not for comparisons */
  TD_MISSING_INTERSECT = 2 /**< leaves them out; not for comparisons */
};

/**
 * Options of td_binary(). Begin with TD_BINARY_OPTIONS_INIT.
 */
typedef struct td_binary_options {
  uint32_t struct_size;                  /**< sizeof(td_binary_options) */
  td_missing missing;                    /**< what happens to keys that only one of the dictionaries
                                              has */
  double alpha;                          /**< a factor, for TD_BINARY_ADD, SUB and RSUB only; otherwise
                                              1 */
  const td_tensor *TD_NULLABLE fallback; /**< borrowed; a scalar; for TD_MISSING_DEFAULT */
} td_binary_options;
#define TD_BINARY_OPTIONS_INIT {sizeof(td_binary_options), 0, 1.0, NULL}

/**
 * Which dimensions a reduction covers.
 */
typedef int32_t td_reduce_over;
enum {
  TD_REDUCE_OVER_ALL = 0,     /**< batch and feature dimensions: one value per tensor, batch size
                                   []. For TD_REDUCE_LOGSUMEXP all batch dimensions */
  TD_REDUCE_OVER_DIMS = 1,    /**< the batch dimensions in `dims` */
  TD_REDUCE_OVER_FEATURES = 2 /**< the feature dimensions: one value per element of the batch */
};

/**
 * How a quantile between two values is computed.
 */
typedef int32_t td_interpolation;
enum {
  TD_INTERPOLATION_LINEAR = 0,   /**< linear interpolation */
  TD_INTERPOLATION_LOWER = 1,    /**< the lower one */
  TD_INTERPOLATION_HIGHER = 2,   /**< the higher one */
  TD_INTERPOLATION_MIDPOINT = 3, /**< their mean */
  TD_INTERPOLATION_NEAREST = 4   /**< the nearest one */
};

/**
 * Options of td_reduce(). Begin with TD_REDUCE_OPTIONS_INIT.
 */
typedef struct td_reduce_options {
  uint32_t struct_size;            /**< sizeof(td_reduce_options) */
  td_reduce_over over;             /**< which dimensions are reduced */
  const int64_t *TD_NULLABLE dims; /**< borrowed; negative ones count from the end of the batch size */
  size_t dims_len;                 /**< number of dimensions */
  int32_t keepdim;                 /**< 1: keeps the reduced dimensions, with size 1 */
  td_dtype dtype;                  /**< dtype to compute and return; 0: libtorch's choice */
  int64_t correction;              /**< degrees of freedom to subtract, for TD_REDUCE_STD and VAR */
  double q;                        /**< for TD_REDUCE_QUANTILE, from 0 to 1 */
  td_interpolation interpolation;  /**< for TD_REDUCE_QUANTILE */
} td_reduce_options;
#define TD_REDUCE_OPTIONS_INIT {sizeof(td_reduce_options), 0, NULL, 0, 0, 0, 1, 0.5, 0}

/**
 * Applies an operation to each tensor of a dictionary, like libtorch: integers give floating-point
 * numbers where the result requires it.
 *
 * Keeps non-tensor data. The result is locked if `td` is, except for TD_UNARY_ISFINITE and the
 * following operations.
 *
 * @param td     borrowed
 * @param op     the operation
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such operation), TD_ERR_TORCH (the operation does not
 *         support a dtype)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unary(const td_tensordict *td, td_unary_op op, td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_unary(), but writes into the existing tensors. Works on a locked dictionary. Checks all
 * tensors before the first one changes.
 *
 * @param td borrowed; its values change
 * @param op the operation
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such operation, or none that works in place),
 *         TD_ERR_DTYPE (the dtype of a tensor cannot hold the result), TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_unary_inplace(td_tensordict *td, td_unary_op op) TD_NOEXCEPT;

/**
 * Applies an operation to each tensor of a dictionary and an operand.
 *
 * The result has the batch size to which both are broadcast. Keeps non-tensor data; TD_BINARY_EQ
 * and NE compare it and give one bool per element of the batch. The result is locked if `td` is,
 * except for comparisons.
 *
 * A number, or a scalar tensor, that bounds the values (TD_BINARY_MAXIMUM, MINIMUM, CLAMP_MAX,
 * CLAMP_MIN) never wraps around in the dtype of the result. All uint8 are below 300: that upper
 * bound changes none. None is above: as a lower bound it is refused.
 *
 * @param td      borrowed
 * @param op      the operation
 * @param other   borrowed; the operand
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_NOT_FOUND (only one of the dictionaries has a
 *         key), TD_ERR_WRONG_ENTRY (a tensor on one side, a dictionary on the other), TD_ERR_SHAPE
 *         (the batch sizes cannot be broadcast), TD_ERR_DTYPE (non-tensor data has no order; a
 *         bound that integers cannot meet or floats cannot hold), TD_ERR_DEVICE (the operand lies on
 *         another device), TD_ERR_TORCH (libtorch cannot combine the tensors)
 * @threadsafety safe while other threads only read `td` and the operand
 */
TD_API(0, 1) TD_MUST_USE
td_status td_binary(const td_tensordict *td, td_binary_op op, const td_operand *other,
                    const td_binary_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_binary(), but writes into the existing tensors. Works on a locked dictionary. Checks all
 * tensors before the first one changes.
 *
 * @param td      borrowed; its values change
 * @param op      the operation
 * @param other   borrowed; the operand
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (also: the operation does not work in place),
 *         TD_ERR_KEY_NOT_FOUND (the operand lacks a key), TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE,
 *         TD_ERR_DTYPE (the dtype of a tensor cannot hold the result), TD_ERR_DEVICE, TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`; other threads may read the operand
 */
TD_API(0, 1) TD_MUST_USE
td_status td_binary_inplace(td_tensordict *td, td_binary_op op, const td_operand *other,
                            const td_binary_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Applies an operation to each tensor of a dictionary and two operands.
 *
 * @param td     borrowed; a
 * @param op     the operation
 * @param b      borrowed; NULL only for TD_TERNARY_CLAMP: no lower bound
 * @param c      borrowed; NULL only for TD_TERNARY_CLAMP: no upper bound
 * @param value  a factor, for TD_TERNARY_ADDCMUL and ADDCDIV
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_NOT_FOUND (not all dictionaries have a key),
 *         TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE, TD_ERR_DTYPE (a bound, as for td_binary()),
 *         TD_ERR_DEVICE, TD_ERR_TORCH
 * @threadsafety safe while other threads only read `td` and the operands
 */
TD_API(0, 1) TD_MUST_USE
td_status td_ternary(const td_tensordict *td, td_ternary_op op, const td_operand *TD_NULLABLE b,
                     const td_operand *TD_NULLABLE c, double value,
                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_ternary(), but writes into the existing tensors. Works on a locked dictionary. Checks all
 * tensors before the first one changes.
 *
 * @param td    borrowed; its values change; a
 * @param op    the operation
 * @param b     borrowed; NULL only for TD_TERNARY_CLAMP: no lower bound
 * @param c     borrowed; NULL only for TD_TERNARY_CLAMP: no upper bound
 * @param value a factor, for TD_TERNARY_ADDCMUL and ADDCDIV
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_NOT_FOUND (an operand lacks a key),
 *         TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`; other threads may read the operands
 */
TD_API(0, 1) TD_MUST_USE
td_status td_ternary_inplace(td_tensordict *td, td_ternary_op op, const td_operand *TD_NULLABLE b,
                             const td_operand *TD_NULLABLE c, double value) TD_NOEXCEPT;

/**
 * Reduces each tensor of a dictionary.
 *
 * Dimensions are those of the batch size; feature dimensions stay unless you reduce them. A lazy
 * stack is read as dense. The result is unlocked. Non-tensor data is kept, with the new batch size.
 *
 * @param td      borrowed
 * @param op      the reduction
 * @param options borrowed; NULL for the defaults: over all
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (options that this reduction does not accept),
 *         TD_ERR_INDEX (a dimension is out of range), TD_ERR_DTYPE (integers for a floating-point
 *         reduction), TD_ERR_TORCH
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_reduce(const td_tensordict *td, td_reduce_op op,
                    const td_reduce_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_reduce(), and also gets the positions of the values. For TD_REDUCE_MIN, MAX, CUMMIN and
 * CUMMAX over one dimension.
 *
 * @param td        borrowed
 * @param op        the reduction
 * @param options   borrowed
 * @param values    new; free with td_free(); NULL on failure
 * @param positions new; free with td_free(); NULL on failure; int64
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (also: the reduction has no positions), TD_ERR_INDEX,
 *         TD_ERR_TORCH
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_reduce_pair(const td_tensordict *td, td_reduce_op op,
                         const td_reduce_options *TD_NULLABLE options, td_tensordict **values,
                         td_tensordict **positions) TD_NOEXCEPT;

/**
 * Reduces all tensors of a dictionary to one tensor: flattened and concatenated
 * (TD_REDUCE_OVER_ALL), concatenated along the first of `dims`, or by feature. Python: reduce=True.
 * TD_REDUCE_OVER_ALL includes the tensors that only some elements of a lazy stack have.
 *
 * @param td      borrowed
 * @param op      the reduction
 * @param options borrowed; NULL for the defaults: over all
 * @param result  new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (also: no tensor), TD_ERR_SHAPE (the tensors cannot be
 *         joined), TD_ERR_INDEX, TD_ERR_DTYPE, TD_ERR_TORCH
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_reduce_leaves(const td_tensordict *td, td_reduce_op op,
                           const td_reduce_options *TD_NULLABLE options,
                           td_tensor **result) TD_NOEXCEPT;

/**
 * Tells whether all elements of all tensors are nonzero.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0; 1 without tensors
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_all(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether any element of any tensor is nonzero.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0; 0 without tensors
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_any(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Sets all tensors, and the values of nested tensors, to 0. Works on a locked dictionary.
 * Non-tensor data stays. Python: zero_.
 *
 * @param td borrowed; its values change
 *
 * @return TD_OK, TD_ERR_TORCH (a tensor requires gradients while gradients are recorded)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_zero(td_tensordict *td) TD_NOEXCEPT;

/**
 * Writes one number into a tensor, into the values of a nested tensor, or into all of these in a
 * nested dictionary. Works on a locked dictionary. Python: fill_.
 *
 * @param td       borrowed; its values change
 * @param path     borrowed
 * @param path_len number of names
 * @param value    borrowed; a number, or a tensor with one element
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (non-tensor data),
 *         TD_ERR_INVALID_ARGUMENT (the operand is not a number), TD_ERR_TORCH
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_fill(td_tensordict *td, const char *const *path, size_t path_len,
                  const td_operand *value) TD_NOEXCEPT;

TD_END_C

/* Shorthand for operands; TD_BY is C99: td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), …). */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_BY(operand) ((const td_operand[]){operand})
#endif
#if !defined(SWIG)
#define TD_O_DICT(other) {TD_OPERAND_DICT, 0, 0, 0.0, NULL, (other), {0, 0, 0}}
#define TD_O_TENSOR(other) {TD_OPERAND_TENSOR, 0, 0, 0.0, (other), NULL, {0, 0, 0}}
#define TD_O_INT(number) {TD_OPERAND_INT, 0, (number), 0.0, NULL, NULL, {0, 0, 0}}
#define TD_O_DOUBLE(number) {TD_OPERAND_DOUBLE, 0, 0, (number), NULL, NULL, {0, 0, 0}}
#define TD_O_BOOL(truth) {TD_OPERAND_BOOL, 0, (truth), 0.0, NULL, NULL, {0, 0, 0}}
#endif

#endif
