/* tensordict/td_file.h: files of other programs (Python: safetensors, numpy.load, torch.load). */
#ifndef TENSORDICT_TD_FILE_H
#define TENSORDICT_TD_FILE_H

#include "tensordict/td_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What kind of file it is.
 */
typedef int32_t td_file_format;
enum {
  TD_FILE_AUTO = 0,        /**< read: as the content says; written: as the name ends */
  TD_FILE_SAFETENSORS = 1, /**< safetensors; ".safetensors" */
  TD_FILE_NPY = 2,         /**< an array of NumPy, or an array of records; ".npy" */
  TD_FILE_NPZ = 3,         /**< arrays of NumPy in a zip archive; ".npz" */
  TD_FILE_PT = 4,          /**< what torch.save and torch::save write; read only; ".pt", ".pth" */
  TD_FILE_RAW = 5          /**< records of a described layout */
};

/**
 * How a file is read or written. Zero in every field but the first means the default.
 *
 * With members and TD_FILE_AUTO a file is of raw records.
 */
typedef struct td_file_options {
  uint32_t struct_size;   /**< sizeof(td_file_options) */
  td_file_format format;  /**< TD_FILE_AUTO finds out */
  const char *TD_NULLABLE separator; /**< between the names of a path that are one in the file;
                                          NULL: "." (for TD_FILE_PT none); "": names stay whole */
  int32_t batch_dims;     /**< reading: so many leading dimensions are the batch; 0: as the file
                               says, or none */
  int32_t write_through;  /**< reading: 1: what is written to the tensors reaches the file */
  int32_t deflate;        /**< writing TD_FILE_NPZ: 1: compressed */
  int32_t durable;        /**< writing: 1: returns when the file is on the disk */
  uint32_t max_depth;     /**< deepest nesting accepted; 0: 1,000 */
  uint32_t max_entries;   /**< most entries accepted; 0: 1,000,000 */
  const char *TD_NULLABLE metadata; /**< writing TD_FILE_SAFETENSORS: a JSON object of texts */
  const td_member *TD_NULLABLE members; /**< raw records: what lies where in each */
  size_t members_len;     /**< raw records: number of members */
  size_t item_bytes;      /**< raw records: bytes from one to the next */
  size_t header_bytes;    /**< raw records: bytes before the first; written as zeros */
} td_file_options;
#define TD_FILE_OPTIONS_INIT \
  {(uint32_t)sizeof(td_file_options), 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0}

/**
 * Reads a file of any of the formats. Nothing in it is trusted and nothing in it is run.
 *
 * The file is mapped; tensors that lie in it at multiples of their element size are views of it, others
 * are copied. Writes to them stay in this process, unless `write_through` asks for more: then what would
 * have to be copied is refused.
 *
 * Joined names are taken apart: "layer.weight" is the entry "weight" of the dictionary "layer". An array
 * of records in a .npy file is a dictionary of its fields; a tensor without a name is called "arr_0".
 * Of files of torch.save, lists that hold tensors are dictionaries with the names "0", "1", and so on;
 * numbers, texts and other lists are non-tensor values; nothing requires gradients.
 *
 * @param file    borrowed; UTF-8 path; no symbolic link
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED (classes and functions that
 *         are not run; a copy that cannot write through), TD_ERR_KEY_EXISTS (an entry that would be a
 *         tensor and a dictionary), TD_ERR_SHAPE (the batch, or records that do not fit),
 *         TD_ERR_WRONG_ENTRY (no dictionary), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_load(const char *file, const td_file_options *TD_NULLABLE options,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary to a file. A file that was there is replaced once the new one is whole.
 *
 * In safetensors, what tensors and names do not say (batch sizes, names of dimensions, non-tensor values)
 * stands in the metadata under "tensordict", which other readers pass over. The other formats
 * hold tensors alone: read with `batch_dims` they have a batch size again. Lazy stacks are read out.
 * A .npy file becomes an array of records with the batch size as its shape, unless "arr_0" is the only
 * entry.
 *
 * @param td      borrowed
 * @param file    borrowed; UTF-8 path; its folder is there
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_DTYPE (one that the format has not), TD_ERR_KEY_EXISTS (two names that
 *         are one when joined), TD_ERR_KEY_INVALID (a name that cannot be stored), TD_ERR_UNSUPPORTED
 *         (non-tensor values, tensors that are not dense, TD_FILE_PT), TD_ERR_DEVICE (on meta),
 *         TD_ERR_SHAPE and TD_ERR_KEY_NOT_FOUND (members that do not fit), TD_ERR_WRONG_ENTRY,
 *         TD_ERR_INVALID_ARGUMENT (a name that does not say the format)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_save(const td_tensordict *td, const char *file,
                       const td_file_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Reads a file of one tensor: a .npy file that holds no records, or one of torch.save.
 *
 * @param file    borrowed; UTF-8 path; no symbolic link
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_WRONG_ENTRY (a
 *         dictionary), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_load_tensor(const char *file, const td_file_options *TD_NULLABLE options,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Writes a tensor to a .npy file. A file that was there is replaced once the new one is whole.
 *
 * @param tensor  borrowed
 * @param file    borrowed; UTF-8 path; its folder is there
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_DTYPE (one that NumPy has not), TD_ERR_UNSUPPORTED, TD_ERR_DEVICE (on
 *         meta), TD_ERR_INVALID_ARGUMENT (another format)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_save_tensor(const td_tensor *tensor, const char *file,
                              const td_file_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * The texts that a safetensors file keeps beside its tensors, as a JSON object. What this library puts
 * there stands under "tensordict".
 *
 * @param file     borrowed; UTF-8 path; no symbolic link
 * @param options  borrowed; NULL for the defaults
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_WRONG_ENTRY (another format),
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_file_metadata(const char *file, const td_file_options *TD_NULLABLE options,
                           char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
