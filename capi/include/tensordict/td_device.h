/* tensordict/td_device.h: devices and dtypes (C: td_to, td_to_device, td_to_dtype, td_measure; Python: to, cpu, cuda, pin_memory, auto_device_, numel, bytes, cast_filter). */
#ifndef TENSORDICT_TD_DEVICE_H
#define TENSORDICT_TD_DEVICE_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * Which tensors get another dtype. Python: cast_filter with is_floating, is_inexact, is_integer or
 * is_bool.
 */
typedef uint32_t td_to_kinds;
enum {
  TD_TO_KINDS_FLOATING = 1, /**< floating-point dtypes */
  TD_TO_KINDS_COMPLEX = 2,  /**< complex dtypes */
  TD_TO_KINDS_INTEGER = 4,  /**< integer dtypes, without bool */
  TD_TO_KINDS_BOOL = 8      /**< bool */
};

/**
 * Options of td_to() and td_to_device(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_to_options {
  uint32_t struct_size;           /**< sizeof(td_to_options) */
  int32_t non_blocking;           /**< 1: returns before the copies are done */
  int32_t pin_memory;             /**< 1: copies through pinned memory; without another device the
                                       result stays there */
  int32_t each_like;              /**< 1: each tensor takes the dtype and device of the tensor in
                                       `like` under its key */
  td_to_kinds kinds;              /**< flags: only tensors of these dtypes get another dtype; 0: all.
                                       td_to_device() ignores it */
  uint32_t reserved;              /**< zero */
  const td_key *TD_NULLABLE keys; /**< borrowed; only these entries, and what is below them, are
                                       converted and moved; NULL: all. td_to_device() ignores it */
  size_t keys_len;                /**< number of `keys` */
} td_to_options;
#define TD_TO_OPTIONS_INIT {sizeof(td_to_options), 0, 0, 0, 0, 0, NULL, 0}

/**
 * Moves a dictionary to a device. Entries that you set later move there too.
 *
 * Tensors already on the device are shared. If the device is the same, you get the same dictionary.
 * The result is locked if `td` is.
 *
 * @param td           borrowed
 * @param device_type  not TD_DEVICE_NONE
 * @param device_index index among the devices of that type; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DEVICE (no such device), TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_device(const td_tensordict *td, td_device_type device_type, int32_t device_index,
                       const td_to_options *TD_NULLABLE options,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * Converts all tensors of a dictionary to a dtype, integers too. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param dtype  element type
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_dtype(const td_tensordict *td, td_dtype dtype, td_tensordict **result) TD_NOEXCEPT;

/**
 * Converts a dictionary to another dtype, moves it to another device or into pinned memory, or all
 * of these.
 *
 * If nothing changes, you get the same dictionary. The result is locked if `td` is. Non-tensor data
 * is kept.
 *
 * @param td           borrowed
 * @param like         borrowed; NULL for none; its device, and the common dtype of its tensors,
 *                     apply where you give none; with `each_like`, dtype and device of each tensor
 *                     (a meta tensor gives only the dtype)
 * @param dtype        TD_DTYPE_OTHER keeps the dtypes
 * @param device_type  TD_DEVICE_NONE keeps the devices
 * @param device_index index among the devices of that type; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DEVICE (no such device, or none to pin memory for), TD_ERR_DTYPE,
 *         TD_ERR_KEY_NOT_FOUND (`like` has other keys, or `td` lacks a key of the options),
 *         TD_ERR_INVALID_ARGUMENT (`each_like` without `like`, an unknown kind),
 *         TD_ERR_OUT_OF_MEMORY, TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td` and `like`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to(const td_tensordict *td, const td_tensordict *TD_NULLABLE like, td_dtype dtype,
                td_device_type device_type, int32_t device_index,
                const td_to_options *TD_NULLABLE options, td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_to(), but replaces the tensors of the dictionary itself.
 *
 * @param td           borrowed; changed; unchanged on failure
 * @param like         borrowed; NULL for none; as for td_to()
 * @param dtype        TD_DTYPE_OTHER keeps the dtypes
 * @param device_type  TD_DEVICE_NONE keeps the devices
 * @param device_index index among the devices of that type; -1 for the current one
 * @param options      borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_DEVICE (no such device, or none to pin memory for), TD_ERR_DTYPE,
 *         TD_ERR_KEY_NOT_FOUND (`like` has other keys, or `td` lacks a key of the options),
 *         TD_ERR_INVALID_ARGUMENT (`each_like` without `like`, an unknown kind), TD_ERR_LOCKED,
 *         TD_ERR_UNSUPPORTED (a sub-tensordict), TD_ERR_OUT_OF_MEMORY, TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety needs exclusive access to `td`; other threads may read `like`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_to_inplace(td_tensordict *td, const td_tensordict *TD_NULLABLE like, td_dtype dtype,
                        td_device_type device_type, int32_t device_index,
                        const td_to_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Removes the device of a dictionary and of all nested ones. Moves nothing. Works on a locked
 * dictionary. Python: clear_device_.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_clear_device(td_tensordict *td) TD_NOEXCEPT;

/**
 * Sets the device of a dictionary, and of all nested ones, to the device that all its tensors
 * share; clears it if they differ, or without tensors. Moves nothing. Works on a locked dictionary.
 * Python: auto_device_.
 *
 * @param td borrowed; changed
 *
 * @return TD_OK
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_auto_device(td_tensordict *td) TD_NOEXCEPT;

/**
 * Tells libtorch's allocator that work on a stream uses all tensors, so that it does not reuse
 * their memory before that work is done.
 *
 * @param td           borrowed
 * @param device_type  type of the accelerator
 * @param device_index index among the devices of that type; -1 for the current one
 * @param stream       libtorch's number of the stream; for CUDA also the address of a cudaStream_t
 *
 * @return TD_OK, TD_ERR_DEVICE (no such device, a device without streams, or a tensor on another
 *         device)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_record_stream(const td_tensordict *td, td_device_type device_type,
                           int32_t device_index, int64_t stream) TD_NOEXCEPT;

/**
 * What td_measure() computes over all tensors at every level.
 */
typedef int32_t td_measure_kind;
enum {
  TD_MEASURE_ELEMENTS = 0,          /**< number of elements. Python: numel */
  TD_MEASURE_ELEMENTS_ONCE = 1,     /**< the same; a tensor stored in two places counts once */
  TD_MEASURE_BYTES = 2,             /**< bytes of the tensors and of their gradients */
  TD_MEASURE_BYTES_ONCE = 3,        /**< the same; a tensor stored in two places counts once */
  TD_MEASURE_DTYPE = 4,             /**< their common td_dtype; TD_DTYPE_OTHER if they differ */
  TD_MEASURE_IS_FLOATING_POINT = 5, /**< 1: all have a floating-point dtype */
  TD_MEASURE_REQUIRES_GRAD = 6,     /**< 1: at least one requires gradients */
  TD_MEASURE_IS_PINNED = 7          /**< 1: all are in pinned memory */
};

/**
 * Computes a property of all tensors together.
 *
 * @param td     borrowed
 * @param kind   one of TD_MEASURE_
 * @param result written on success
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_measure(const td_tensordict *td, td_measure_kind kind, int64_t *result) TD_NOEXCEPT;

/**
 * Flags of td_data_pointers().
 */
typedef uint32_t td_data_pointers_flags;
enum {
  TD_DATA_POINTERS_STORAGE = 1 /**< addresses of the storages that the tensors view */
};

/**
 * Gets the addresses of all tensors, in the order of td_keys_of() with `include_nested` and
 * `leaves_only`; of a lazy stack, element by element. Pass `addresses_cap` 0 to get only their
 * number. Python: data_ptr.
 *
 * @param td            borrowed
 * @param flags         0 for the first element of each tensor; or TD_DATA_POINTERS_STORAGE
 * @param addresses     written if all fit; 0 for tensors without elements and on the meta device
 * @param addresses_cap room in `addresses`, in numbers
 * @param count         the number of tensors; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_UNSUPPORTED (a tensor without plain memory)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_data_pointers(const td_tensordict *td, td_data_pointers_flags flags,
                           int64_t *TD_NULLABLE addresses, size_t addresses_cap,
                           size_t *count) TD_NOEXCEPT;

TD_END_C

#endif
