/* tensordict/td_reload.h: a folder read into a dictionary (Python: load_memmap_, memmap_refresh_, make_memmap). */
#ifndef TENSORDICT_TD_RELOAD_H
#define TENSORDICT_TD_RELOAD_H

#include "tensordict/td_memmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reads a folder, or an archive, into a dictionary that is there.
 *
 * Tensors take the place of those of the same name, nested dictionaries are filled, entries that only
 * `td` has stay. Without a device in the options the tensors go to the device of `td`. A locked
 * dictionary takes them if it is mapped, and is so afterwards.
 *
 * @param td      borrowed; changed; left as it was on failure
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json, or of an archive
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_SHAPE (another batch size), TD_ERR_WRONG_ENTRY (a lazy stack
 *         for a dictionary, or the other way round), TD_ERR_UNSUPPORTED (`td` is a sub-tensordict), and those
 *         of td_memmap_load()
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_load_into(td_tensordict *td, const char *dir,
                              const td_load_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Reads again the folder that a dictionary was saved to or loaded from, and takes over what has come
 * meanwhile: new entries, files that were replaced, non-tensor values, a batch size that has
 * grown or shrunk.
 *
 * Entries that have gone from the folder stay. Values that were written to the mapped files are seen
 * without this.
 *
 * @param td      borrowed; changed, if mapped also when locked; left as it was on failure
 * @param options borrowed; NULL for the defaults; `subpath` does not count
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (there is no folder behind it), TD_ERR_LOCKED (locked and not
 *         mapped), TD_ERR_SHAPE (an entry that is not in the folder does not fit the new batch size),
 *         and those of td_memmap_load()
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_refresh(td_tensordict *td,
                            const td_load_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Adds a tensor of zeros to a mapped dictionary, and its file to the folder; to one that is mapped from
 * nameless memory, more of that. Works although the dictionary is locked.
 *
 * Dictionaries that are missing on the way are made, with their folders. Whoever loads the folder
 * meanwhile finds it without the entry or with all of it.
 *
 * @param td       borrowed; changed; left as it was on failure
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param sizes    borrowed; begin with the batch size
 * @param dims     number of sizes
 * @param dtype    of the tensor; TD_DTYPE_OTHER for libtorch's default of floating numbers
 * @param options  borrowed; NULL for the defaults
 * @param result   new; the mapped tensor; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not mapped), TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID,
 *         TD_ERR_WRONG_ENTRY (a tensor on the way), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_IO,
 *         TD_ERR_BUSY, TD_ERR_UNSUPPORTED (a lazy stack or a tensorclass)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_make(td_tensordict *td, const char *const *path, size_t path_len,
                         const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                         const td_memmap_options *TD_NULLABLE options,
                         td_tensor **result) TD_NOEXCEPT;

/**
 * td_memmap_make() with the shape, the dtype and the values of a tensor; those of plain memory come
 * through td_tensor_from_blob().
 *
 * A tensor that is mapped from the very file is taken as it is; one that is mapped from elsewhere is
 * copied only with `copy_existing`.
 *
 * @param td       borrowed; changed; left as it was on failure
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 * @param options  borrowed; NULL for the defaults
 * @param result   new; the mapped tensor; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not mapped, or `source` is mapped from elsewhere),
 *         TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a tensor on the way),
 *         TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_IO, TD_ERR_BUSY, TD_ERR_UNSUPPORTED (a lazy stack or a
 *         tensorclass)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_make_from_tensor(td_tensordict *td, const char *const *path, size_t path_len,
                                     const td_tensor *source,
                                     const td_memmap_options *TD_NULLABLE options,
                                     td_tensor **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
