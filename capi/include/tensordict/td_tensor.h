/* tensordict/td_tensor.h: tensors, in and out (C: td_tensor, td_tensor_from_blob; Python: torch.Tensor, torch.from_blob, DLPack). */
#ifndef TENSORDICT_TD_TENSOR_H
#define TENSORDICT_TD_TENSOR_H

#include "tensordict/td_base.h"

TD_BEGIN_C

/**
 * A tensor. The handle is a token, not an address. The tensor behind it is shared and
 * reference-counted.
 */
typedef struct td_tensor td_tensor;

/**
 * The element type of a tensor.
 */
typedef int32_t td_dtype;
enum {
  TD_DTYPE_OTHER = 0,       /**< a libtorch dtype that has no number here */
  TD_DTYPE_UINT8 = 1,       /**< 1 byte, unsigned */
  TD_DTYPE_INT8 = 2,        /**< 1 byte */
  TD_DTYPE_INT16 = 3,       /**< 2 bytes */
  TD_DTYPE_INT32 = 4,       /**< 4 bytes */
  TD_DTYPE_INT64 = 5,       /**< 8 bytes */
  TD_DTYPE_FLOAT16 = 6,     /**< IEEE half */
  TD_DTYPE_FLOAT32 = 7,     /**< IEEE single */
  TD_DTYPE_FLOAT64 = 8,     /**< IEEE double */
  TD_DTYPE_COMPLEX32 = 9,   /**< two halves */
  TD_DTYPE_COMPLEX64 = 10,  /**< two singles */
  TD_DTYPE_COMPLEX128 = 11, /**< two doubles */
  TD_DTYPE_BOOL = 12,       /**< 1 byte, 0 or 1 */
  TD_DTYPE_BFLOAT16 = 13,   /**< bfloat16 */
  TD_DTYPE_UINT16 = 14,     /**< 2 bytes, unsigned; libtorch 2.3 or newer */
  TD_DTYPE_UINT32 = 15,     /**< 4 bytes, unsigned; libtorch 2.3 or newer */
  TD_DTYPE_UINT64 = 16      /**< 8 bytes, unsigned; libtorch 2.3 or newer */
};

/**
 * The type of a device. The numbers are DLPack's where DLPack has one.
 */
typedef int32_t td_device_type;
enum {
  TD_DEVICE_NONE = 0,   /**< no device: entries may be on any device */
  TD_DEVICE_CPU = 1,    /**< host memory */
  TD_DEVICE_CUDA = 2,   /**< CUDA (and ROCm builds of libtorch) */
  TD_DEVICE_MPS = 8,    /**< Apple Metal */
  TD_DEVICE_XPU = 14,   /**< Intel GPUs */
  TD_DEVICE_META = 1000 /**< shapes without memory */
};

/* Only declared here; include dlpack.h to use them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * Wraps your memory as a tensor, without a copy. Python: torch.from_blob.
 *
 * The library calls `release(user)` exactly once, from any thread, when the last tensor over the
 * memory is gone, or when this call fails.
 *
 * @param data         consumed; at least as large as `sizes` and `strides` require; NULL only for
 *                     zero elements
 * @param sizes        borrowed; NULL only when dims is 0
 * @param strides      borrowed; in elements; NULL for row-major
 * @param dims         number of sizes
 * @param dtype        element type
 * @param device_type  where the memory is
 * @param device_index index among the devices of that type; -1 for the current one
 * @param release      NULL if there is nothing to release
 * @param user         passed to `release`
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT, TD_ERR_SHAPE (a negative size), TD_ERR_DTYPE, TD_ERR_DEVICE
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_from_blob(void *TD_NULLABLE data, const int64_t *TD_NULLABLE sizes,
                              const int64_t *TD_NULLABLE strides, size_t dims, td_dtype dtype,
                              td_device_type device_type, int32_t device_index,
                              td_release_fn TD_NULLABLE release, void *TD_NULLABLE user,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Copies row-major values into a new CPU tensor.
 *
 * @param data   borrowed; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must equal the number of elements times the element size
 * @param sizes  borrowed; NULL only when dims is 0
 * @param dims   number of sizes; 0 makes a scalar
 * @param dtype  element type
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_NULL_ARGUMENT, TD_ERR_SHAPE (a negative size, or `bytes` differs),
 *         TD_ERR_DTYPE
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_from_data(const void *TD_NULLABLE data, size_t bytes,
                              const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Creates a tensor of zeros.
 *
 * @param sizes        borrowed; NULL only when dims is 0
 * @param dims         number of sizes
 * @param dtype        element type
 * @param device_type  TD_DEVICE_NONE means the CPU
 * @param device_index index among the devices of that type; -1 for the current one
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_zeros(const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                          td_device_type device_type, int32_t device_index,
                          td_tensor **result) TD_NOEXCEPT;

/**
 * Takes over a DLPack tensor (version 1), without a copy. Python: torch.from_dlpack.
 *
 * The library calls its deleter, if it has one, exactly once: when the last tensor over the memory
 * is gone, or at once when this call fails. Memory marked read-only is copied.
 *
 * @param source consumed, whatever the call returns
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (another major version of DLPack), TD_ERR_DTYPE, TD_ERR_DEVICE
 * @threadsafety any thread
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
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_from_dlpack_legacy(struct DLManagedTensor *source,
                                       td_tensor **result) TD_NOEXCEPT;

/**
 * Exports a tensor as a DLPack tensor (version 1), without a copy. Python: torch.to_dlpack.
 *
 * @param tensor borrowed; its memory stays alive until you call the deleter of the result
 * @param result new; call its deleter once; NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (the tensor has no plain strided
 *         memory)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_dlpack(const td_tensor *tensor,
                              struct DLManagedTensorVersioned **result) TD_NOEXCEPT;

/**
 * Exports a tensor as a DLPack tensor of the older, unversioned form, without a copy.
 *
 * @param tensor borrowed; its memory stays alive until you call the deleter of the result
 * @param result new; call its deleter once; NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (the tensor has no plain strided
 *         memory)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_dlpack_legacy(const td_tensor *tensor,
                                     struct DLManagedTensor **result) TD_NOEXCEPT;

/**
 * Opens a second handle on the same tensor.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_dup(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * Frees a handle. The memory is released when nothing uses the tensor any more.
 *
 * @param tensor consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 1) void td_tensor_free(td_tensor *TD_NULLABLE tensor) TD_NOEXCEPT;

/**
 * Gets the dtype.
 *
 * @param tensor borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_dtype(const td_tensor *tensor, td_dtype *result) TD_NOEXCEPT;

/**
 * Gets the device.
 *
 * @param tensor       borrowed
 * @param result       written on success
 * @param result_index written on success; -1 for devices without an index
 *
 * @return TD_OK, TD_ERR_DEVICE (a device type that has no number here)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_device(const td_tensor *tensor, td_device_type *result,
                           int32_t *result_index) TD_NOEXCEPT;

/**
 * Gets the sizes. Pass `sizes_cap` 0 to get only the number of dimensions.
 *
 * @param tensor    borrowed
 * @param sizes     written when all sizes fit
 * @param sizes_cap room in `sizes`, in numbers
 * @param dims      the number of dimensions; written on success and on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_sizes(const td_tensor *tensor, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                          size_t *dims) TD_NOEXCEPT;

/**
 * Gets the strides, in elements. Pass `strides_cap` 0 to get only the number of dimensions.
 *
 * @param tensor      borrowed
 * @param strides     written when all strides fit
 * @param strides_cap room in `strides`, in numbers
 * @param dims        the number of dimensions; written on success and on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_strides(const td_tensor *tensor, int64_t *TD_NULLABLE strides,
                            size_t strides_cap, size_t *dims) TD_NOEXCEPT;

/**
 * Gets the address of the first element.
 *
 * @param tensor borrowed
 * @param result borrowed; valid while a handle on this tensor is open; NULL for zero elements and
 *               for the meta device
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (the tensor has no plain memory)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_data(const td_tensor *tensor, void **result) TD_NOEXCEPT;

/**
 * Gets the size of all elements in bytes, whether or not they are contiguous.
 *
 * @param tensor borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_nbytes(const td_tensor *tensor, size_t *result) TD_NOEXCEPT;

/**
 * Gets how many bytes of memory td_tensor_free() would release, counted like td_owned_nbytes(): 0
 * for a view, for an entry of a dictionary, and for memory that libtorch did not allocate.
 *
 * @param tensor borrowed
 * @param result written on success; bytes
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_owned_nbytes(const td_tensor *tensor, size_t *result) TD_NOEXCEPT;

/**
 * Tells whether the elements are contiguous in row-major order.
 *
 * @param tensor borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_contiguous(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether only this handle holds the tensor and its memory: no other handle, dictionary or
 * view. Always 0 for memory that other processes may map: a file, or shared memory; and for a small
 * tensor of a clone or a result whose block holds others, until these are gone.
 *
 * @param tensor borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_uniquely_owned(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether this tensor, or the tensor it is a view of, is in a file or anonymous memory that
 * this library mapped. Two mappings of one file share memory without knowing of each other.
 *
 * @param tensor borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_is_memmap(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Tells whether libtorch records operations on this tensor for gradients.
 *
 * @param tensor borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_requires_grad(const td_tensor *tensor, int32_t *result) TD_NOEXCEPT;

/**
 * Turns the recording of gradients for this tensor on or off.
 *
 * @param tensor   borrowed; changed
 * @param required 1 or 0
 *
 * @return TD_OK, TD_ERR_DTYPE (the tensor is neither floating-point nor complex)
 * @threadsafety needs exclusive access to `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_set_requires_grad(td_tensor *tensor, int32_t required) TD_NOEXCEPT;

/**
 * Copies the elements, in row-major order, into your memory. Works from any device.
 *
 * @param tensor borrowed
 * @param data   written; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must equal what td_tensor_nbytes() gives
 *
 * @return TD_OK, TD_ERR_SHAPE (`bytes` differs)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy_to(const td_tensor *tensor, void *TD_NULLABLE data,
                            size_t bytes) TD_NOEXCEPT;

/**
 * Overwrites the elements, in row-major order, with values from your memory. Works for any device.
 *
 * @param tensor borrowed; changed
 * @param data   borrowed; may be NULL when `bytes` is 0
 * @param bytes  size of `data`; must equal what td_tensor_nbytes() gives
 *
 * @return TD_OK, TD_ERR_SHAPE (`bytes` differs)
 * @threadsafety needs exclusive access to `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy_from(td_tensor *tensor, const void *TD_NULLABLE data,
                              size_t bytes) TD_NOEXCEPT;

/**
 * Overwrites the elements with those of another tensor, broadcast and converted to this dtype.
 * Python: tensor.copy_.
 *
 * @param tensor borrowed; changed
 * @param source borrowed
 *
 * @return TD_OK, TD_ERR_SHAPE (the sizes cannot be broadcast)
 * @threadsafety needs exclusive access to `tensor`; other threads may read `source`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_copy(td_tensor *tensor, const td_tensor *source) TD_NOEXCEPT;

/**
 * Copies a tensor into new memory.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_clone(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * Returns the same tensor if its elements are contiguous, else a contiguous copy.
 *
 * @param tensor borrowed
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_contiguous(const td_tensor *tensor, td_tensor **result) TD_NOEXCEPT;

/**
 * Converts a tensor to another dtype, another device, or both. Shares memory when nothing changes.
 *
 * @param tensor       borrowed
 * @param dtype        TD_DTYPE_OTHER keeps the dtype
 * @param device_type  TD_DEVICE_NONE keeps the device
 * @param device_index index among the devices of that type; -1 for the current one
 * @param result       new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY, TD_ERR_DEVICE_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to(const td_tensor *tensor, td_dtype dtype, td_device_type device_type,
                       int32_t device_index, td_tensor **result) TD_NOEXCEPT;

/**
 * Tells whether two tensors have the same dtype, device, sizes and values (NaN equals nothing).
 * Python: torch.equal.
 *
 * @param tensor borrowed
 * @param other  borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read both
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_equal(const td_tensor *tensor, const td_tensor *other,
                          int32_t *result) TD_NOEXCEPT;

/**
 * Prints a tensor like the line that Python's tensordict prints for it, such as
 * `Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)`.
 *
 * @param tensor   borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_string(const td_tensor *tensor, char *TD_NULLABLE text, size_t text_cap,
                              size_t *length) TD_NOEXCEPT;

/**
 * Tells whether this libtorch can use a device type.
 *
 * @param device_type any device type
 * @return 1 or 0
 * @threadsafety any thread
 */
TD_API(0, 1) int32_t td_device_available(td_device_type device_type) TD_NOEXCEPT;

/**
 * Returns the name of a dtype as torch prints it, such as "torch.float32".
 *
 * @param dtype any number
 * @return borrowed; "" for a number that is not a dtype; valid while the library is loaded
 * @threadsafety any thread
 */
TD_API(0, 1) const char *td_dtype_name(td_dtype dtype) TD_NOEXCEPT;

/**
 * Returns the size of one element.
 *
 * @param dtype any number
 * @return in bytes; 0 for a number that is not a dtype
 * @threadsafety any thread
 */
TD_API(0, 1) size_t td_dtype_size(td_dtype dtype) TD_NOEXCEPT;

TD_END_C

#endif
