/* tensordict/td_tensor.h: tensors, in and out (Python: torch.Tensor, torch.from_blob, DLPack). */
#ifndef TENSORDICT_TD_TENSOR_H
#define TENSORDICT_TD_TENSOR_H

#include "tensordict/td_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A tensor. The handle is a token, not an address; the tensor behind it is shared and counted.
 */
typedef struct td_tensor td_tensor;

/**
 * The element type of a tensor.
 */
typedef int32_t td_dtype;
enum {
  TD_DTYPE_OTHER = 0,          /**< a dtype of libtorch that has no number here */
  TD_DTYPE_UINT8 = 1,          /**< 1 byte, unsigned */
  TD_DTYPE_INT8 = 2,           /**< 1 byte */
  TD_DTYPE_INT16 = 3,          /**< 2 bytes */
  TD_DTYPE_INT32 = 4,          /**< 4 bytes */
  TD_DTYPE_INT64 = 5,          /**< 8 bytes */
  TD_DTYPE_FLOAT16 = 6,        /**< IEEE half */
  TD_DTYPE_FLOAT32 = 7,        /**< IEEE single */
  TD_DTYPE_FLOAT64 = 8,        /**< IEEE double */
  TD_DTYPE_COMPLEX32 = 9,      /**< two halves */
  TD_DTYPE_COMPLEX64 = 10,     /**< two singles */
  TD_DTYPE_COMPLEX128 = 11,    /**< two doubles */
  TD_DTYPE_BOOL = 12,          /**< 1 byte, 0 or 1 */
  TD_DTYPE_BFLOAT16 = 13,      /**< bfloat16 */
  TD_DTYPE_UINT16 = 14,        /**< 2 bytes, unsigned; libtorch 2.3 and newer */
  TD_DTYPE_UINT32 = 15,        /**< 4 bytes, unsigned; libtorch 2.3 and newer */
  TD_DTYPE_UINT64 = 16         /**< 8 bytes, unsigned; libtorch 2.3 and newer */
};

/**
 * The kind of a device. The numbers are DLPack's where DLPack has one.
 */
typedef int32_t td_device_type;
enum {
  TD_DEVICE_NONE = 0,   /**< no device: entries may live anywhere */
  TD_DEVICE_CPU = 1,    /**< host memory */
  TD_DEVICE_CUDA = 2,   /**< CUDA (and ROCm builds of libtorch) */
  TD_DEVICE_MPS = 8,    /**< Apple Metal */
  TD_DEVICE_XPU = 14,   /**< Intel GPUs */
  TD_DEVICE_META = 1000 /**< shapes without memory */
};

/* Declared here by name only; include dlpack.h to use them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * Wraps memory of the caller as a tensor, without a copy.
 *
 * `release(user)` is called exactly once, from any thread, when the last tensor over the memory is
 * gone, and also when this call fails.
 *
 * @param data         consumed; at least as large as sizes and strides say; NULL only for zero elements
 * @param sizes        borrowed; NULL only when dims is 0
 * @param strides      borrowed; in elements; NULL for row-major
 * @param dims         number of sizes
 * @param dtype        element type
 * @param device_type  where the memory lies
 * @param device_index which device of that kind; -1 for the current one
 * @param release      NULL when nothing is to be released
 * @param user         passed to `release`
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_from_blob(void *TD_NULLABLE data, const int64_t *TD_NULLABLE sizes,
                              const int64_t *TD_NULLABLE strides, size_t dims, td_dtype dtype,
                              td_device_type device_type, int32_t device_index,
                              td_release_fn TD_NULLABLE release, void *TD_NULLABLE user,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Copies row-major values of the caller into a new CPU tensor.
 *
 * @param data   borrowed; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must be the number of elements times the size of one
 * @param sizes  borrowed; NULL only when dims is 0
 * @param dims   number of sizes; 0 makes a scalar
 * @param dtype  element type
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT, TD_ERR_SHAPE, TD_ERR_DTYPE
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_from_data(const void *TD_NULLABLE data, size_t bytes,
                              const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Makes a tensor of zeros.
 *
 * @param sizes        borrowed; NULL only when dims is 0
 * @param dims         number of sizes
 * @param dtype        element type
 * @param device_type  TD_DEVICE_NONE means the CPU
 * @param device_index which device of that kind; -1 for the current one
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_zeros(const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                          td_device_type device_type, int32_t device_index,
                          td_tensor **result) TD_NOEXCEPT;

/**
 * Takes over a DLPack tensor (version 1), without a copy.
 *
 * Its deleter, if it has one, is called exactly once: when the last tensor over the memory is gone,
 * or at once when this call fails. Memory marked read-only is copied.
 *
 * @param source consumed, whatever the call returns
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (another major version of DLPack), TD_ERR_DTYPE, TD_ERR_DEVICE
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_from_dlpack(struct DLManagedTensorVersioned *source,
                                td_tensor **result) TD_NOEXCEPT;

/**
 * Takes over a DLPack tensor of the older, unversioned form, without a copy.
 *
 * @param source consumed, whatever the call returns
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_from_dlpack_legacy(struct DLManagedTensor *source,
                                       td_tensor **result) TD_NOEXCEPT;

/**
 * Lends a tensor as a DLPack tensor (version 1), without a copy.
 *
 * @param tensor borrowed; its memory stays alive until the deleter of the result is called
 * @param result new; call its deleter once; NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (no plain strided memory)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_dlpack(const td_tensor *tensor,
                              struct DLManagedTensorVersioned **result) TD_NOEXCEPT;

/**
 * Lends a tensor as a DLPack tensor of the older, unversioned form, without a copy.
 *
 * @param tensor borrowed; its memory stays alive until the deleter of the result is called
 * @param result new; call its deleter once; NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (no plain strided memory)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_dlpack_legacy(const td_tensor *tensor,
                                     struct DLManagedTensor **result) TD_NOEXCEPT;

/**
 * A second handle on the same tensor.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_dup(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * Gives a handle back. The memory goes when nothing uses the tensor any more.
 *
 * @param tensor consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) void td_tensor_free(td_tensor *TD_NULLABLE tensor) TD_NOEXCEPT;

/**
 * The element type.
 *
 * @param tensor borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_dtype(const td_tensor *tensor, td_dtype *result) TD_NOEXCEPT;

/**
 * The device.
 *
 * @param tensor      borrowed
 * @param result      written on success
 * @param result_index written on success; -1 for devices that have no number
 *
 * @return TD_OK, TD_ERR_DEVICE (a device that has no number here)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_device(const td_tensor *tensor, td_device_type *result,
                           int32_t *result_index) TD_NOEXCEPT;

/**
 * The sizes. With `sizes_cap` 0 only the number of dimensions is written.
 *
 * @param tensor    borrowed
 * @param sizes     written when all sizes fit
 * @param sizes_cap how many numbers `sizes` can take
 * @param dims      the number of dimensions; written on success and with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_sizes(const td_tensor *tensor, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                          size_t *dims) TD_NOEXCEPT;

/**
 * The strides, in elements. With `strides_cap` 0 only the number of dimensions is written.
 *
 * @param tensor      borrowed
 * @param strides     written when all strides fit
 * @param strides_cap how many numbers `strides` can take
 * @param dims        the number of dimensions; written on success and with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_strides(const td_tensor *tensor, int64_t *TD_NULLABLE strides,
                            size_t strides_cap, size_t *dims) TD_NOEXCEPT;

/**
 * The address of the first element.
 *
 * @param tensor borrowed
 * @param result borrowed; valid as long as a handle on this tensor is; NULL for zero elements and
 *               for the meta device
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (no plain memory)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_data(const td_tensor *tensor, void **result) TD_NOEXCEPT;

/**
 * The number of bytes of all elements, whether or not they lie densely.
 *
 * @param tensor borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_nbytes(const td_tensor *tensor, size_t *result) TD_NOEXCEPT;

/**
 * The bytes of memory that td_tensor_free() would give back, as td_owned_nbytes() counts them: 0 for a
 * view, an entry read from a dictionary, and memory that libtorch has not allocated.
 *
 * @param tensor borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_owned_nbytes(const td_tensor *tensor, size_t *result) TD_NOEXCEPT;

/**
 * Whether the elements lie densely in row-major order.
 *
 * @param tensor borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_contiguous(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Whether nobody else holds this tensor or its memory: no other handle, dictionary or view. Never so for
 * memory that others may have mapped, too: a file, or memory that is shared with other processes.
 *
 * @param tensor borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_uniquely_owned(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Whether this tensor, or the one it is a view of, lies in a file or nameless memory that this library
 * has mapped. Two mappings of one file share memory without knowing of each other.
 *
 * @param tensor borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_memmap(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Whether operations on this tensor are recorded for gradients.
 *
 * @param tensor borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_requires_grad(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Switches the recording of gradients for this tensor.
 *
 * @param tensor   borrowed; changed
 * @param required 1 or 0
 *
 * @return TD_OK, TD_ERR_DTYPE (only floating and complex tensors can)
 * @threadsafety needs the tensor for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_set_requires_grad(td_tensor *tensor, int32_t required) TD_NOEXCEPT;

/**
 * Copies the elements, in row-major order, to memory of the caller. From any device.
 *
 * @param tensor borrowed
 * @param data   written; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must be what td_tensor_nbytes() gives
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of bytes)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy_to(const td_tensor *tensor, void *TD_NULLABLE data,
                            size_t bytes) TD_NOEXCEPT;

/**
 * Overwrites the elements, in row-major order, from memory of the caller. To any device.
 *
 * @param tensor borrowed; changed
 * @param data   borrowed; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must be what td_tensor_nbytes() gives
 *
 * @return TD_OK, TD_ERR_SHAPE (another number of bytes)
 * @threadsafety needs the tensor for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy_from(td_tensor *tensor, const void *TD_NULLABLE data,
                              size_t bytes) TD_NOEXCEPT;

/**
 * Overwrites the elements with those of another tensor, broadcast and converted to this dtype.
 *
 * @param tensor borrowed; changed
 * @param source borrowed
 *
 * @return TD_OK, TD_ERR_SHAPE
 * @threadsafety needs `tensor` for itself; safe beside calls that only read `source`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy(td_tensor *tensor, const td_tensor *source) TD_NOEXCEPT;

/**
 * A tensor of the same values in memory of its own.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_clone(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * The same values lying densely: the same tensor when they already do, else a copy.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_contiguous(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * Converts to another dtype, another device, or both; shares memory when nothing changes.
 *
 * @param tensor       borrowed
 * @param dtype        TD_DTYPE_OTHER keeps the dtype
 * @param device_type  TD_DEVICE_NONE keeps the device
 * @param device_index which device of that kind; -1 for the current one
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY, TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to(const td_tensor *tensor, td_dtype dtype, td_device_type device_type,
                       int32_t device_index, td_tensor **result) TD_NOEXCEPT;

/**
 * Whether two tensors have the same dtype, device, sizes and values (NaN equals nothing).
 *
 * @param tensor borrowed
 * @param other  borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read both
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_equal(const td_tensor *tensor, const td_tensor *other,
                          int32_t *result) TD_NOEXCEPT;

/**
 * The line that a dictionary prints for this tensor, such as
 * `Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)`.
 *
 * @param tensor borrowed
 * @param text   written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_string(const td_tensor *tensor, char *TD_NULLABLE text, size_t text_cap,
                              size_t *length) TD_NOEXCEPT;

/**
 * Whether libtorch here can use a kind of device.
 *
 * @param device_type any kind
 * @return 1 or 0
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) int32_t td_device_available(td_device_type device_type) TD_NOEXCEPT;

/**
 * The name of a dtype as torch prints it, such as "torch.float32".
 *
 * @param dtype any number
 * @return borrowed; "" for a number that is not a dtype; lives as long as the library
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) const char *td_dtype_name(td_dtype dtype) TD_NOEXCEPT;

/**
 * The size of one element.
 *
 * @param dtype any number
 * @return bytes; 0 for a number that is not a dtype
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) size_t td_dtype_size(td_dtype dtype) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
