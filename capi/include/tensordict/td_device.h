/* tensordict/td_device.h: devices and dtypes (Python: to, cpu, cuda, pin_memory, auto_device_, numel, bytes). */
#ifndef TENSORDICT_TD_DEVICE_H
#define TENSORDICT_TD_DEVICE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a dictionary is moved or converted. Zero in every field but the first means the default.
 */
typedef struct td_to_options {
  uint32_t struct_size; /**< sizeof(td_to_options) */
  int32_t non_blocking; /**< 1: do not wait for the copies */
  int32_t pin_memory;   /**< 1: through pinned memory; without another device they stay there */
  int32_t each_like;    /**< 1: each tensor becomes as the one of the same key in `like` */
} td_to_options;
#define TD_TO_OPTIONS_INIT {(uint32_t)sizeof(td_to_options), 0, 0, 0}

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
 * A dictionary of another dtype, on another device, in pinned memory, or all of this at once.
 *
 * The same dictionary when nothing changes. The lock is kept. Non-tensor values are kept.
 *
 * @param td           borrowed
 * @param like         borrowed; NULL for none; gives its device, and the dtype that all its tensors have,
 *                     where neither is said; with `each_like` both for each tensor (meta tensors give
 *                     only the dtype)
 * @param dtype        TD_DTYPE_OTHER keeps the dtypes
 * @param device_type  TD_DEVICE_NONE keeps the devices
 * @param device_index which device of that kind; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DEVICE (there is no such device, or none to pin memory for), TD_ERR_DTYPE,
 *         TD_ERR_KEY_NOT_FOUND (`like` has other keys), TD_ERR_INVALID_ARGUMENT (`each_like` without
 *         `like`), TD_ERR_OUT_OF_MEMORY, TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `td` and `like`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to(const td_tensordict *td, const td_tensordict *TD_NULLABLE like, td_dtype dtype,
                td_device_type device_type, int32_t device_index,
                const td_to_options *TD_NULLABLE options, td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_to(), but the tensors of the dictionary itself are replaced.
 *
 * @param td           borrowed; changed; left as it was on failure
 * @param like         borrowed; NULL for none; as for td_to()
 * @param dtype        TD_DTYPE_OTHER keeps the dtypes
 * @param device_type  TD_DEVICE_NONE keeps the devices
 * @param device_index which device of that kind; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_DEVICE (there is no such device, or none to pin memory for), TD_ERR_DTYPE,
 *         TD_ERR_KEY_NOT_FOUND (`like` has other keys), TD_ERR_INVALID_ARGUMENT (`each_like` without
 *         `like`), TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a sub-tensordict), TD_ERR_OUT_OF_MEMORY,
 *         TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety needs `td` for itself; safe beside calls that only read `like`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_to_inplace(td_tensordict *td, const td_tensordict *TD_NULLABLE like, td_dtype dtype,
                        td_device_type device_type, int32_t device_index,
                        const td_to_options *TD_NULLABLE options) TD_NOEXCEPT;

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

/**
 * Sets the device of a dictionary, and of all nested ones, to the one that all its tensors lie on. If they
 * do not agree, or there are none, to none. Nothing moves. Allowed when locked.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_auto_device(td_tensordict *td) TD_NOEXCEPT;

/**
 * Tells libtorch's allocator that work on a stream uses all tensors, so that their memory is not given to
 * others before that work is done.
 *
 * @param td           borrowed
 * @param device_type  the kind of accelerator
 * @param device_index which device of that kind; -1 for the current one
 * @param stream       libtorch's number of the stream; of CUDA also the address of a cudaStream_t
 *
 * @return TD_OK, TD_ERR_DEVICE (no such device, one without streams, or a tensor lies elsewhere)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_record_stream(const td_tensordict *td, td_device_type device_type,
                           int32_t device_index, int64_t stream) TD_NOEXCEPT;

/**
 * What td_measure() finds out of all tensors together, at every level.
 */
typedef int32_t td_measure_kind;
enum {
  TD_MEASURE_ELEMENTS = 0,          /**< how many numbers they hold */
  TD_MEASURE_ELEMENTS_ONCE = 1,     /**< the same, a tensor that stands in two places counted once */
  TD_MEASURE_BYTES = 2,             /**< bytes of them and of their gradients */
  TD_MEASURE_BYTES_ONCE = 3,        /**< the same, each tensor once */
  TD_MEASURE_DTYPE = 4,             /**< the td_dtype of all; TD_DTYPE_OTHER when they differ */
  TD_MEASURE_IS_FLOATING_POINT = 5, /**< 1: all are of a floating dtype */
  TD_MEASURE_REQUIRES_GRAD = 6,     /**< 1: any is recorded for gradients */
  TD_MEASURE_IS_PINNED = 7          /**< 1: all lie in pinned memory */
};

/**
 * Counts or asks something of all tensors together.
 *
 * @param td     borrowed
 * @param kind   one of TD_MEASURE_
 * @param result written on success
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_measure(const td_tensordict *td, td_measure_kind kind, int64_t *result) TD_NOEXCEPT;

/**
 * Which addresses td_data_pointers() gives.
 */
typedef uint32_t td_data_pointers_flags;
enum {
  TD_DATA_POINTERS_STORAGE = 1 /**< of the memory that each tensor is a view of */
};

/**
 * The addresses of all tensors, in the order of td_keys_of() with `include_nested` and `leaves_only`; of a
 * lazy stack those of one element after the other.
 * With `addresses_cap` 0 only their number is written.
 *
 * @param td            borrowed
 * @param flags         0 for the first element of each, or TD_DATA_POINTERS_STORAGE
 * @param addresses     written when all fit; 0 for zero elements and for the meta device
 * @param addresses_cap how many numbers `addresses` can take
 * @param count         the number of tensors; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_UNSUPPORTED (a tensor without plain memory)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_data_pointers(const td_tensordict *td, td_data_pointers_flags flags,
                           int64_t *TD_NULLABLE addresses, size_t addresses_cap,
                           size_t *count) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
