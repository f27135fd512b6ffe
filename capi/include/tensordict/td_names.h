/* tensordict/td_names.h: names of batch dimensions (C: td_names, td_set_names, td_rename_dims, td_refine_names; Python: names, rename, refine_names). */
#ifndef TENSORDICT_TD_NAMES_H
#define TENSORDICT_TD_NAMES_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Gets the names of the batch dimensions: a list with one path per dimension, which holds its name;
 * an empty path for a dimension without a name.
 *
 * A result keeps the names of the dimensions that it keeps: after an index, a view, or an operation
 * on every tensor. New dimensions, such as those of td_view() and of masks, have no name. A
 * dictionary without names takes over those of a dictionary that you store in it. A dictionary with
 * names accepts only a dictionary whose names agree, and gives its names to one without names.
 * td_memmap() saves names; Python reads them from tensordict 0.15 on.
 *
 * @param td     borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_names(const td_tensordict *td, td_keys **result) TD_NOEXCEPT;

/**
 * Names the batch dimensions, and the leading ones of nested dictionaries alike. Further dimensions
 * of these keep their names. Works on a locked dictionary.
 *
 * @param td        borrowed; changed
 * @param names     borrowed; one per dimension, NULL for no name; NULL only when names_len is 0
 * @param names_len the number of batch dimensions; 0 removes all names, in nested dictionaries too
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a wrong number of names, a name that occurs twice or is
 *         not UTF-8), TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_names(td_tensordict *td, const char *const *TD_NULLABLE names,
                       size_t names_len) TD_NOEXCEPT;

/**
 * Renames named dimensions. Works on a locked dictionary.
 *
 * @param td        borrowed; changed
 * @param names     borrowed; existing names; NULL only when names_len is 0
 * @param new_names borrowed; the new names, NULL for no name; NULL only when names_len is 0
 * @param names_len length of both lists
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (an unknown name, or one that would occur twice),
 *         TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_rename_dims(td_tensordict *td, const char *const *TD_NULLABLE names,
                         const char *const *TD_NULLABLE new_names,
                         size_t names_len) TD_NOEXCEPT;

/**
 * Names dimensions that have no name yet. For a named dimension, repeat its name. Works on a locked
 * dictionary.
 *
 * @param td        borrowed; changed
 * @param names     borrowed; one per dimension, NULL for no name; "..." may occur once, for as many
 *                  dimensions as needed, which keep their names; NULL only when names_len is 0
 * @param names_len number of names
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a wrong number of names, or one that differs from an
 *         existing name), TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_refine_names(td_tensordict *td, const char *const *TD_NULLABLE names,
                          size_t names_len) TD_NOEXCEPT;

TD_END_C

#endif
