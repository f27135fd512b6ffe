/* tensordict/td_reload.h: folders read into an existing dictionary, entries added to a folder (C: td_memmap_load_into, td_memmap_refresh, td_memmap_make; Python: load_memmap_, memmap_refresh_, make_memmap). */
#ifndef TENSORDICT_TD_RELOAD_H
#define TENSORDICT_TD_RELOAD_H

#include "tensordict/td_memmap.h"

TD_BEGIN_C

/**
 * Reads a folder or an archive into an existing dictionary.
 *
 * Its tensors replace those of the same name, and nested dictionaries are filled. Entries that only
 * `td` has stay. Unless the options give a device, tensors go to the device of `td`. A locked
 * dictionary must be mapped, and stays locked.
 *
 * @param td      borrowed; changed; unchanged on failure
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json, or of an archive
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_LOCKED (locked and not mapped), TD_ERR_SHAPE (another batch size),
 *         TD_ERR_WRONG_ENTRY (a lazy stack for a dictionary, or the other way round),
 *         TD_ERR_UNSUPPORTED (`td` is a sub-tensordict), and those of td_memmap_load()
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_load_into(td_tensordict *td, const char *dir,
                              const td_load_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Re-reads the folder of a dictionary and takes over what changed: new entries, replaced files,
 * non-tensor data, a larger or smaller batch size.
 *
 * Entries that were removed from the folder stay. You see values that others wrote to the mapped
 * files without this call.
 *
 * @param td      borrowed; changed, also when locked if it is mapped; unchanged on failure
 * @param options borrowed; NULL for the defaults; `subpath` is ignored
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`td` has no folder), TD_ERR_LOCKED (locked and not
 *         mapped), TD_ERR_SHAPE (an entry that is not in the folder does not match the new batch
 *         size), and those of td_memmap_load()
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_refresh(td_tensordict *td,
                            const td_load_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Adds a tensor of zeros to a mapped dictionary, and its file to the folder; with anonymous memory,
 * maps more of it. Works on a locked dictionary.
 *
 * Creates missing dictionaries on the way, with their folders. If another process loads the folder
 * meanwhile, it sees the entry complete or not at all.
 *
 * @param td       borrowed; changed; unchanged on failure
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param sizes    borrowed; must begin with the batch size
 * @param dims     number of sizes
 * @param dtype    of the tensor; TD_DTYPE_OTHER for libtorch's default floating-point dtype
 * @param options  borrowed; NULL for the defaults
 * @param result   new; the mapped tensor; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not mapped), TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID,
 *         TD_ERR_WRONG_ENTRY (the path runs through a tensor), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_IO, TD_ERR_BUSY, TD_ERR_UNSUPPORTED (a lazy stack or a tensorclass)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_make(td_tensordict *td, const char *const *path, size_t path_len,
                         const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                         const td_memmap_options *TD_NULLABLE options,
                         td_tensor **result) TD_NOEXCEPT;

/**
 * Like td_memmap_make(), with the shape, dtype and values of a tensor. For plain memory use
 * td_tensor_from_blob() first.
 *
 * A tensor that is already mapped from the right file is used as it is. One mapped from another
 * file is copied only with `copy_existing`.
 *
 * @param td       borrowed; changed; unchanged on failure
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param source   borrowed
 * @param options  borrowed; NULL for the defaults
 * @param result   new; the mapped tensor; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not mapped, or `source` is mapped from another file),
 *         TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (the path runs through a
 *         tensor), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_IO, TD_ERR_BUSY, TD_ERR_UNSUPPORTED (a lazy
 *         stack or a tensorclass)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_make_from_tensor(td_tensordict *td, const char *const *path, size_t path_len,
                                     const td_tensor *source,
                                     const td_memmap_options *TD_NULLABLE options,
                                     td_tensor **result) TD_NOEXCEPT;

TD_END_C

#endif
