/* tensordict/td_names.h: names of the batch dimensions (Python: names, refine_names, rename). */
#ifndef TENSORDICT_TD_NAMES_H
#define TENSORDICT_TD_NAMES_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The names of the batch dimensions: a list of one path for each, which holds the name, or nothing
 * where a dimension has none.
 *
 * Results have the names of the dimensions that they keep: of an index, of views, of operations on every
 * tensor. Dimensions that are made of others, such as those of td_view(), and of masks have none. A
 * dictionary without names takes over those of a dictionary that is stored in it; into one with names
 * only what agrees with them can be stored, and what has no names is given them. Names are not saved by
 * td_save_memmap().
 *
 * @param td     borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_names(const td_tensordict *td, td_keys **result) TD_NOEXCEPT;

/**
 * Names the batch dimensions, and the leading ones of nested dictionaries alike; further dimensions of
 * theirs keep their names. Allowed when locked.
 *
 * @param td        borrowed; changed
 * @param names     borrowed; one for each dimension, NULL for none; NULL only when names_len is 0
 * @param names_len the number of batch dimensions, or 0: all names go, of nested dictionaries too
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (another number of names, a name that stands twice or is not
 *         UTF-8), TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_names(td_tensordict *td, const char *const *TD_NULLABLE names,
                       size_t names_len) TD_NOEXCEPT;

/**
 * Gives named dimensions other names. Allowed when locked.
 *
 * @param td          borrowed; changed
 * @param names       borrowed; names that are there; NULL only when names_len is 0
 * @param new_names   borrowed; what takes their place, NULL for no name; NULL only when names_len is 0
 * @param names_len   number of both
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a name that is not there, or one that would stand twice),
 *         TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_rename_dims(td_tensordict *td, const char *const *TD_NULLABLE names,
                         const char *const *TD_NULLABLE new_names,
                         size_t names_len) TD_NOEXCEPT;

/**
 * Names dimensions that have no name yet; a name that is set may only be repeated. Allowed when locked.
 *
 * @param td        borrowed; changed
 * @param names     borrowed; one for each dimension, NULL for none; "..." stands, once, for as many
 *                  dimensions as needed, which keep what they have; NULL only when names_len is 0
 * @param names_len number of names
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (another number of names, or one that differs from what is set),
 *         TD_ERR_UNSUPPORTED (a sub-tensordict)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_refine_names(td_tensordict *td, const char *const *TD_NULLABLE names,
                          size_t names_len) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
