/* tensordict/td_file.h: files of other programs (C: td_file_load, td_file_save, …; Python: safetensors, numpy.load, torch.load). */
#ifndef TENSORDICT_TD_FILE_H
#define TENSORDICT_TD_FILE_H

#include "tensordict/td_layout.h"

TD_BEGIN_C

/**
 * A file format.
 */
typedef int32_t td_file_format;
enum {
  TD_FILE_AUTO = 0,        /**< reading: detected from the content; writing: from the file name */
  TD_FILE_SAFETENSORS = 1, /**< safetensors; ".safetensors" */
  TD_FILE_NPY = 2,         /**< one NumPy array, also a structured one; ".npy" */
  TD_FILE_NPZ = 3,         /**< NumPy arrays in a zip archive; ".npz" */
  TD_FILE_PT = 4,          /**< files of torch.save and torch::save; written as torch.save(TensorDict)
                                writes them; ".pt", ".pth" */
  TD_FILE_RAW = 5,         /**< records of a layout that you describe */
  TD_FILE_HDF5 = 6,        /**< HDF5; ".h5", ".hdf5"; td_hdf5.h has more options */
  TD_FILE_PARQUET = 7,     /**< Parquet; ".parquet"; td_arrow.h says what columns become */
  TD_FILE_ARROW = 8        /**< record batches of Arrow, also called Feather; ".arrow", ".feather" */
};

/**
 * Options of the td_file_ functions. Set a field after `struct_size` to 0 for its default.
 *
 * With members, TD_FILE_AUTO means TD_FILE_RAW.
 */
typedef struct td_file_options {
  uint32_t struct_size;                 /**< sizeof(td_file_options) */
  td_file_format format;                /**< TD_FILE_AUTO detects it */
  const char *TD_NULLABLE separator;    /**< joins the names of a path into one name in the file;
                                             NULL: "." (for TD_FILE_PT none, for TD_FILE_PARQUET and
                                             TD_FILE_ARROW nested dictionaries are structs; reading
                                             TD_FILE_NPZ: what the file says, or none); "": keeps
                                             names whole */
  int32_t batch_dims;                   /**< reading: number of leading dimensions that form the
                                             batch; 0: as the file says, or none */
  int32_t write_through;                /**< reading: 1: writes to the tensors reach the file */
  int32_t deflate;                      /**< writing TD_FILE_NPZ, TD_FILE_HDF5 or TD_FILE_ARROW: 1:
                                             compresses; TD_FILE_PARQUET always is compressed */
  int32_t durable;                      /**< writing: 1: returns when the file is on the disk */
  uint32_t max_depth;                   /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;                 /**< most accepted entries; 0: 1,000,000 */
  const char *TD_NULLABLE metadata;     /**< writing TD_FILE_SAFETENSORS: a JSON object of strings;
                                             writing TD_FILE_HDF5: attributes; both as of
                                             td_file_metadata() */
  const td_member *TD_NULLABLE members; /**< raw records: the layout of one record */
  size_t members_len;                   /**< raw records: number of members */
  size_t item_bytes;                    /**< raw records: bytes from one record to the next */
  size_t header_bytes;                  /**< raw records: bytes before the first record; written as
                                             zeros */
} td_file_options;
#define TD_FILE_OPTIONS_INIT \
  {sizeof(td_file_options), 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0}

/**
 * Reads a file in any of the formats. Trusts nothing in it and runs no code from it.
 *
 * The file is mapped. Tensors aligned to their element size are views of it, others are copied.
 * Writes to them stay in this process. With `write_through` they reach the file, and a tensor that
 * would need a copy is refused. An HDF5 file is read as td_hdf5_load() reads it;
 * TD_FILE_AUTO takes a file for one only if its name says so, too.
 *
 * Files of Parquet and Arrow are read as td_from_arrow_stream() reads: with the batch size [rows], or
 * of `batch_dims` dimensions that all columns share; missing numbers are refused. They need a module
 * beside this library, in a build with Arrow's libraries, which is loaded with the first such file.
 * Each record batch is validated before it is used; memory that is out of proportion to the file,
 * over 4 GiB and 1,032 times its size, is refused. TD_FILE_AUTO takes no file for one whose name says
 * another format.
 *
 * Joined names are split: "layer.weight" becomes the entry "weight" of the dictionary "layer". A
 * structured array in a .npy file becomes a dictionary of its fields; an array without a name
 * becomes "arr_0". In files of torch.save, lists that hold tensors become dictionaries with the
 * names "0", "1", …; numbers, strings and other lists become non-tensor data; dictionaries, lazy
 * stacks, tensorclasses and parameters of Python's tensordict are what they were, with their locks;
 * nothing requires gradients.
 *
 * @param file    borrowed; UTF-8 path; not a symbolic link
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (not a valid file), TD_ERR_DTYPE, TD_ERR_UNSUPPORTED
 *         (classes and functions that are not run, a copy with `write_through`, a format that this
 *         build lacks, missing numbers in a table),
 *         TD_ERR_KEY_EXISTS (an entry would be both a tensor and a dictionary), TD_ERR_SHAPE
 *         (`batch_dims` or the records do not match), TD_ERR_WRONG_ENTRY (the file holds no
 *         dictionary), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_load(const char *file, const td_file_options *TD_NULLABLE options,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary to a file. An existing file is replaced once the new one is complete.
 *
 * A safetensors file keeps batch sizes, names of dimensions, kinds and non-tensor data in its metadata
 * under "tensordict", in the form of Python's to_safetensors(), which other readers ignore; stacks of
 * values are lists for Python. The other formats hold only tensors; read them with `batch_dims` to get
 * the batch size back. Lazy stacks are written as dense; one whose elements have different keys is
 * refused. A safetensors file makes them lazy stacks of equal shapes again. A .npy file becomes a
 * structured array with the batch size as its shape, unless "arr_0" is the only entry.
 *
 * A file of torch.save loses nothing but devices. In Python, torch.load() gives the dictionary after
 * `import tensordict`; one with tensorclasses needs `weights_only=False`, and their modules.
 *
 * Files of Parquet and Arrow hold what td_to_arrow() lends, also non-tensor data. Parquet is written in
 * row groups of at most 128 MiB, compressed by zstd, with a checksum of each page; Arrow in one record
 * batch, which is read back without a copy unless it was compressed.
 *
 * @param td      borrowed
 * @param file    borrowed; UTF-8 path; its folder exists
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_DTYPE (the format has no such dtype), TD_ERR_KEY_EXISTS (two
 *         paths join to one name), TD_ERR_KEY_INVALID (the format cannot store a name),
 *         TD_ERR_UNSUPPORTED (non-tensor data, tensors that are not dense, keys that only some
 *         elements of a lazy stack have),
 *         TD_ERR_DEVICE (a meta tensor), TD_ERR_SHAPE and TD_ERR_KEY_NOT_FOUND (the members do not
 *         match; a table needs a batch dimension for its rows), TD_ERR_WRONG_ENTRY, TD_ERR_INVALID_ARGUMENT (the file name does not tell the
 *         format)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_save(const td_tensordict *td, const char *file,
                       const td_file_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Reads a file that holds one tensor: a plain .npy file, or one of torch.save.
 *
 * @param file    borrowed; UTF-8 path; not a symbolic link
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_WRONG_ENTRY (a
 *         dictionary), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_load_tensor(const char *file, const td_file_options *TD_NULLABLE options,
                              td_tensor **result) TD_NOEXCEPT;

/**
 * Writes a tensor to a .npy file, or to one as of torch.save. An existing file is replaced once the
 * new one is complete.
 *
 * @param tensor  borrowed
 * @param file    borrowed; UTF-8 path; its folder exists
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_DTYPE (the format has no such dtype), TD_ERR_UNSUPPORTED,
 *         TD_ERR_DEVICE (a meta tensor), TD_ERR_INVALID_ARGUMENT (another format)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_file_save_tensor(const td_tensor *tensor, const char *file,
                              const td_file_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Gets the metadata of a safetensors file as a JSON object of strings, or the attributes of an HDF5
 * file as a JSON object of such objects by the group or dataset: {"/data":{"total":3}}. In a
 * safetensors file this library stores its own under "tensordict". Attributes that are neither text
 * nor number are left out.
 *
 * @param file     borrowed; UTF-8 path; not a symbolic link
 * @param options  borrowed; NULL for the defaults
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_WRONG_ENTRY (another format),
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_file_metadata(const char *file, const td_file_options *TD_NULLABLE options,
                           char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

TD_END_C

#endif
