/* tensordict/td_like.h: the same structure with other values, and comparison with tolerance (C: td_like, td_allclose; Python: torch.zeros_like, new_zeros, torch.allclose). */
#ifndef TENSORDICT_TD_LIKE_H
#define TENSORDICT_TD_LIKE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * What td_like() and td_like_sized() fill tensors with.
 */
typedef int32_t td_like_kind;
enum {
  TD_LIKE_EMPTY = 0, /**< nothing: uninitialised memory */
  TD_LIKE_ZEROS = 1, /**< 0 */
  TD_LIKE_ONES = 2,  /**< 1 */
  TD_LIKE_FULL = 3,  /**< the `value` of the options */
  TD_LIKE_RAND = 4,  /**< uniform random numbers from 0 to 1 */
  TD_LIKE_RANDN = 5  /**< normal random numbers with mean 0 and deviation 1 */
};

/**
 * Options of td_like() and td_like_sized(). Begin with TD_LIKE_OPTIONS_INIT.
 */
typedef struct td_like_options {
  uint32_t struct_size;       /**< sizeof(td_like_options) */
  td_dtype dtype;             /**< TD_DTYPE_OTHER keeps the dtype of each tensor */
  td_device_type device_type; /**< TD_DEVICE_NONE keeps the device of each tensor */
  int32_t device_index;       /**< index among the devices of that type; -1 for the current one */
  double value;               /**< for TD_LIKE_FULL */
} td_like_options;
#define TD_LIKE_OPTIONS_INIT {sizeof(td_like_options), 0, 0, -1, 0.0}

/**
 * Creates a dictionary of the same structure and batch size with other values, in new memory. Keeps
 * non-tensor data. The result is locked if `td` is.
 *
 * @param td      borrowed
 * @param kind    the values of the tensors
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind), TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_TORCH
 *         (the dtype has no random values), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_like(const td_tensordict *td, td_like_kind kind,
                  const td_like_options *TD_NULLABLE options, td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_like(), with another batch size. The feature dimensions of each tensor stay. The result
 * is unlocked. Python: new_zeros.
 *
 * @param td      borrowed
 * @param kind    the values of the tensors
 * @param sizes   borrowed; the batch size; NULL only when dims is 0
 * @param dims    number of sizes
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind), TD_ERR_SHAPE (a negative size),
 *         TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_TORCH (the dtype has no random values),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_like_sized(const td_tensordict *td, td_like_kind kind,
                        const int64_t *TD_NULLABLE sizes, size_t dims,
                        const td_like_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_allclose(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_allclose_options {
  uint32_t struct_size;  /**< sizeof(td_allclose_options) */
  int32_t has_tolerance; /**< 1: uses `relative` and `absolute`; 0: a tolerance that suits each
                              dtype */
  int32_t nan_differs;   /**< 1: NaN does not equal NaN */
  int32_t common_keys;   /**< 1: compares only keys that both have */
  double relative;       /**< allowed difference, relative to the other value */
  double absolute;       /**< allowed difference, added to that */
} td_allclose_options;
#define TD_ALLCLOSE_OPTIONS_INIT {sizeof(td_allclose_options), 0, 0, 0, 0.0, 0.0}

/**
 * Compares two dictionaries: keys, batch sizes, shapes, dtypes and devices must be equal, values
 * nearly equal. If they are not, tells where they first differ.
 *
 * @param td       borrowed
 * @param other    borrowed
 * @param options  borrowed; NULL for the defaults
 * @param result   1 or 0; also written on TD_ERR_BUFFER_TOO_SMALL
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length: the key,
 *                 and for values the root mean square difference; "" if the result is 1
 * @param text_cap room in `text`, in bytes; 0 if you need no text
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INVALID_ARGUMENT (a negative tolerance)
 * @threadsafety safe while other threads only read both
 */
TD_API(0, 2) TD_MUST_USE
td_status td_allclose(const td_tensordict *td, const td_tensordict *other,
                      const td_allclose_options *TD_NULLABLE options, int32_t *result,
                      char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

TD_END_C

#endif
