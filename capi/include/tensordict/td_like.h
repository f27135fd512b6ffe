/* tensordict/td_like.h: the same structure with other values (Python: torch.zeros_like, new_zeros), and torch.allclose. */
#ifndef TENSORDICT_TD_LIKE_H
#define TENSORDICT_TD_LIKE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What td_like() and td_like_sized() fill tensors with.
 */
typedef int32_t td_like_kind;
enum {
  TD_LIKE_EMPTY = 0, /**< whatever the memory holds */
  TD_LIKE_ZEROS = 1, /**< 0 */
  TD_LIKE_ONES = 2,  /**< 1 */
  TD_LIKE_FULL = 3, /**< the value of the options */
  TD_LIKE_RAND = 4,  /**< evenly from 0 to 1 */
  TD_LIKE_RANDN = 5  /**< normally, around 0 with deviation 1 */
};

/**
 * How td_like() and td_like_sized() work. Begin with TD_LIKE_OPTIONS_INIT.
 */
typedef struct td_like_options {
  uint32_t struct_size;       /**< sizeof(td_like_options) */
  td_dtype dtype;             /**< TD_DTYPE_OTHER: each tensor keeps its dtype */
  td_device_type device_type; /**< TD_DEVICE_NONE: each tensor keeps its device */
  int32_t device_index;       /**< which device of that kind; -1 for the current one */
  double value;               /**< of TD_LIKE_FULL */
} td_like_options;
#define TD_LIKE_OPTIONS_INIT {(uint32_t)sizeof(td_like_options), 0, 0, -1, 0.0}

/**
 * The same structure and batch size with other values, in new memory. Non-tensor values are
 * carried over. The result is locked if `td` is.
 *
 * @param td      borrowed
 * @param kind    what the tensors are filled with
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind), TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_TORCH
 *         (random values of a dtype that has none), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_like(const td_tensordict *td, td_like_kind kind,
                  const td_like_options *TD_NULLABLE options, td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_like() under another batch size; what lies behind the batch dimensions stays. The result is
 * unlocked.
 *
 * @param td      borrowed
 * @param kind    what the tensors are filled with
 * @param sizes   borrowed; the batch size; NULL only when dims is 0
 * @param dims    number of sizes
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind), TD_ERR_SHAPE (a negative size), TD_ERR_DTYPE,
 *         TD_ERR_DEVICE, TD_ERR_TORCH (random values of a dtype that has none), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_like_sized(const td_tensordict *td, td_like_kind kind,
                        const int64_t *TD_NULLABLE sizes, size_t dims,
                        const td_like_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * How td_allclose() compares. Zero in every field but the first means the default.
 */
typedef struct td_allclose_options {
  uint32_t struct_size;   /**< sizeof(td_allclose_options) */
  int32_t has_tolerance;  /**< 1: `relative` and `absolute` count; 0: what suits each dtype */
  int32_t nan_differs;    /**< 1: NaN is not close to NaN */
  int32_t common_keys;    /**< 1: only keys that both have are compared */
  double relative;        /**< allowed difference, as a part of the other value */
  double absolute;        /**< allowed difference on top of that */
} td_allclose_options;
#define TD_ALLCLOSE_OPTIONS_INIT {(uint32_t)sizeof(td_allclose_options), 0, 0, 0, 0.0, 0.0}

/**
 * Whether two dictionaries have the same keys, batch sizes, shapes, dtypes and devices, and values
 * that are nearly equal; if not, where they differ first.
 *
 * @param td       borrowed
 * @param other    borrowed
 * @param options  borrowed; NULL for the defaults
 * @param result   1 or 0; also written with TD_ERR_BUFFER_TOO_SMALL
 * @param text     written with a closing NUL when `text_cap` is larger than the length: the key, and
 *                 for values the root of the mean square difference; "" when the result is 1
 * @param text_cap bytes that `text` can take; 0 when no text is wanted
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INVALID_ARGUMENT (a tolerance below 0)
 * @threadsafety safe beside calls that only read both
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_allclose(const td_tensordict *td, const td_tensordict *other,
                      const td_allclose_options *TD_NULLABLE options, int32_t *result,
                      char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
