/* tensordict/td_device.h: moving and converting a whole dictionary. */
#ifndef TENSORDICT_TD_DEVICE_H
#define TENSORDICT_TD_DEVICE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a dictionary is moved. Zero in every field but the first means the default.
 */
typedef struct td_to_options {
  uint32_t struct_size; /**< sizeof(td_to_options) */
  int32_t non_blocking; /**< 1: do not wait for the copies */
} td_to_options;
#define TD_TO_OPTIONS_INIT {(uint32_t)sizeof(td_to_options), 0}

/**
 * A dictionary whose entries lie on a device, and which moves there what is set later.
 *
 * Tensors that are there already are shared. With the same device it is the same dictionary. The
 * lock is kept.
 *
 * @param td           borrowed
 * @param device_type  not TD_DEVICE_NONE
 * @param device_index which device of that kind; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DEVICE (there is no such device), TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_device(const td_tensordict *td, td_device_type device_type, int32_t device_index,
                       const td_to_options *TD_NULLABLE options,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * A dictionary whose tensors are all of a dtype, integers too. The lock is kept.
 *
 * @param td     borrowed
 * @param dtype  element type
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_dtype(const td_tensordict *td, td_dtype dtype, td_tensordict **result) TD_NOEXCEPT;

/**
 * Forgets the device of a dictionary and of all nested ones. Nothing moves. Allowed when locked.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_clear_device(td_tensordict *td) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
