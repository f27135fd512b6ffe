/* tensordict/td_hdf5.h: HDF5 files, read whole or by rows (C: td_hdf5_load, td_hdf5_open, td_hdf5_read, td_hdf5_save; Python: PersistentTensorDict.from_h5, to_h5). */
#ifndef TENSORDICT_TD_HDF5_H
#define TENSORDICT_TD_HDF5_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * An open HDF5 file, of which parts are read.
 *
 * Groups are dictionaries. Datasets of numbers are tensors; what h5py writes for bool, float16 and
 * complex numbers is of these dtypes, other enumerations are their numbers, and uint16 and uint32
 * become int32 and int64 where libtorch lacks them. Texts, and the numbers that Python's to_h5()
 * stores for non-tensor data, are non-tensor data: one value for each element if their sizes begin
 * with the batch size. A dataset of records is a dictionary of its fields.
 *
 * Links into other files, values in other files and filters that are not part of HDF5 (but for
 * h5py's "lzf", which is read) are never followed or loaded. Sizes are checked before memory is taken. The parsing itself is the HDF5
 * library's, which reads beyond its buffers on some damaged files (release 1.10.8 does): read files
 * that you do not trust in a process of their own.
 */
typedef struct td_hdf5 td_hdf5;

/**
 * Flags of td_hdf5_open() and td_hdf5_load().
 */
typedef uint32_t td_hdf5_flags;
enum {
  TD_HDF5_ATTRIBUTES = 1, /**< attributes of groups become non-tensor data; an entry of the same name
                               comes first */
  TD_HDF5_SKIP = 2,       /**< leaves out what has no place in a dictionary: links into other files,
                               references, and so on; otherwise they are refused */
  TD_HDF5_STACK = 4       /**< the groups in `group` are the elements of a lazy stack, in the order
                               of the numbers in their names: demo_2 before demo_10 */
};

/**
 * Options of td_hdf5_open() and td_hdf5_load(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_hdf5_options {
  uint32_t struct_size;             /**< sizeof(td_hdf5_options) */
  td_hdf5_flags flags;              /**< what is read, and how */
  const char *TD_NULLABLE group;    /**< borrowed; the group that is read, as "/data"; NULL: "/" */
  const td_key *TD_NULLABLE keys;   /**< borrowed; the entries that are read; none: all */
  size_t keys_len;                  /**< number of keys */
  int64_t batch_dims;               /**< number of leading dimensions that form the batch; 0: as
                                         Python's from_h5() finds them: in each dictionary all that
                                         its tensors and dictionaries have in common */
  uint64_t max_bytes;               /**< most memory of one reading; 0: 1,100 times the size of the
                                         file and 64 MB, the most that deflate can pack into it */
  uint32_t max_depth;               /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;             /**< most accepted entries; 0: 1,000,000 */
} td_hdf5_options;
#define TD_HDF5_OPTIONS_INIT {sizeof(td_hdf5_options), 0, NULL, NULL, 0, 0, 0, 0, 0}

/**
 * Flags of td_hdf5_save().
 */
typedef uint32_t td_hdf5_save_flags;
enum {
  TD_HDF5_SAVE_STACK = 1,  /**< the elements of a lazy stack along dimension 0 become the groups
                                demo_0, demo_1, … with the attribute num_samples */
  TD_HDF5_SAVE_DURABLE = 2 /**< returns when the file is on the disk */
};

/**
 * Options of td_hdf5_save(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_hdf5_save_options {
  uint32_t struct_size;          /**< sizeof(td_hdf5_save_options) */
  td_hdf5_save_flags flags;      /**< how it is written */
  const char *TD_NULLABLE group; /**< borrowed; where the dictionary lies in the file; NULL: "/" */
  int64_t deflate;               /**< level of compression, 1 to 9; 0: not compressed */
  int64_t chunk_rows;            /**< rows of a chunk; 0: one piece, or chunks of about a megabyte
                                      with `deflate` */
} td_hdf5_save_options;
#define TD_HDF5_SAVE_OPTIONS_INIT {sizeof(td_hdf5_save_options), 0, NULL, 0, 0}

/**
 * Opens a file, and looks at what it holds; values are read later.
 *
 * @param file    borrowed; UTF-8 path; not a symbolic link
 * @param options borrowed, with all it points to; NULL for the defaults
 * @param result  new; free with td_hdf5_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (not a valid file, or larger than the limits),
 *         TD_ERR_KEY_NOT_FOUND (no such group or key), TD_ERR_WRONG_ENTRY (`group` is no group),
 *         TD_ERR_SHAPE (`batch_dims` does not match), TD_ERR_UNSUPPORTED (something has no place in
 *         a dictionary; this build has no HDF5), TD_ERR_BUSY (the file was replaced
 *         meanwhile), TD_ERR_KEY_INVALID, TD_ERR_INVALID_ARGUMENT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_open(const char *file, const td_hdf5_options *TD_NULLABLE options,
                       td_hdf5 **result) TD_NOEXCEPT;

/**
 * Closes a file. Dictionaries that were read from it stay.
 *
 * @param file consumed; NULL does nothing
 *
 * @threadsafety no other thread uses the handle
 */
TD_API(0, 2) void td_hdf5_free(td_hdf5 *TD_NULLABLE file) TD_NOEXCEPT;

/**
 * Gets the batch size of what is read.
 *
 * @param file      borrowed
 * @param sizes     written when `sizes_cap` is large enough; -1 where the elements of a stack differ
 * @param sizes_cap room in `sizes`; 0 asks for the number only
 * @param dims      number of batch dimensions; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_batch_size(const td_hdf5 *file, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                             size_t *dims) TD_NOEXCEPT;

/**
 * Gets the keys of all tensors and non-tensor values, at all levels; of a stack those that every
 * element has.
 *
 * @param file   borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_keys(const td_hdf5 *file, td_keys **result) TD_NOEXCEPT;

/**
 * Reads the part that an index picks, as td_index() would pick it from the whole.
 *
 * An integer, a slice, or positions or a mask along the first dimension, as first item, decide which
 * rows are read; a compressed dataset is read chunk by chunk. Further items pick from these rows in
 * memory. Of a stack the elements are the rows.
 *
 * @param file      borrowed
 * @param items     borrowed; NULL if `items_len` is 0
 * @param items_len number of items; 0 reads everything
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_FORMAT (damaged, or larger than the limits),
 *         TD_ERR_BUSY (the file has changed since it was opened), TD_ERR_DTYPE,
 *         TD_ERR_WRONG_ENTRY (a stack without elements), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread; readings of several threads take turns
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_read(const td_hdf5 *file, const td_index_item *TD_NULLABLE items,
                       size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads a whole file: td_hdf5_open(), td_hdf5_read() and td_hdf5_free() in one call.
 *
 * @param file    borrowed; UTF-8 path; not a symbolic link
 * @param options borrowed, with all it points to; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_BUSY, TD_ERR_KEY_INVALID, TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_OUT_OF_MEMORY, as those
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_load(const char *file, const td_hdf5_options *TD_NULLABLE options,
                       td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary to an HDF5 file as Python's to_h5() does. An existing file is replaced once
 * the new one is complete. The same dictionary makes the same bytes. The file is made in memory,
 * which takes twice its size.
 *
 * Texts and numbers among non-tensor data are written as Python writes them, other values as JSON
 * text with an attribute by which td_hdf5_load() knows them. Batch sizes and names of dimensions are
 * not stored, nor does Python store them. Lazy stacks are written as dense, unless
 * TD_HDF5_SAVE_STACK is given.
 *
 * @param td      borrowed
 * @param file    borrowed; UTF-8 path; its folder exists
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_DTYPE (HDF5 has no such dtype), TD_ERR_KEY_INVALID (a name is
 *         empty, "." or holds "/"), TD_ERR_KEY_EXISTS (two paths lead to one name),
 *         TD_ERR_UNSUPPORTED (tensors that are not dense; this build has no HDF5), TD_ERR_DEVICE (a
 *         meta tensor), TD_ERR_SHAPE (more than 32 dimensions; a lazy stack that cannot be dense),
 *         TD_ERR_WRONG_ENTRY (no lazy stack, with TD_HDF5_SAVE_STACK), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_hdf5_save(const td_tensordict *td, const char *file,
                       const td_hdf5_save_options *TD_NULLABLE options) TD_NOEXCEPT;

TD_END_C

#endif
