/* tensordict/td_apply.h: your function on every entry (C: td_apply, td_apply_entries, …; Python: apply, apply_, named_apply, _fast_apply). */
#ifndef TENSORDICT_TD_APPLY_H
#define TENSORDICT_TD_APPLY_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Your function, called once per tensor, on the thread that called td_apply(), in key order.
 *
 * It may call any function of the library, but on the dictionary being walked only those that take
 * it as pointer to const. It must not free what it borrows, and must not unwind (no exception,
 * panic or longjmp). If it returns anything but TD_OK, the walk ends.
 *
 * @param user     the value that you passed to td_apply()
 * @param path     borrowed; the full path of the tensor
 * @param path_len number of names
 * @param source   borrowed; the handle is valid until the function returns
 * @param result   consumed if you store a handle there: the new tensor; leave NULL to drop the
 *                 entry
 */
typedef td_status (*td_apply_fn)(void *TD_NULLABLE user, const char *const *path, size_t path_len,
                                 const td_tensor *source, td_tensor **result);

/**
 * What happens to dictionaries without entries.
 */
typedef int32_t td_filter_empty;
enum {
  TD_FILTER_EMPTY_DEFAULT = 0, /**< drops those that lost all entries, keeps those that were empty
                                    before */
  TD_FILTER_EMPTY_YES = 1,     /**< drops them */
  TD_FILTER_EMPTY_NO = 2       /**< keeps them */
};

/**
 * Options of td_apply(), td_apply_entries() and their in-place forms. Set a field after
 * `struct_size` to 0 for its default.
 */
typedef struct td_apply_options {
  uint32_t struct_size;                       /**< sizeof(td_apply_options) */
  td_filter_empty filter_empty;               /**< what happens to empty dictionaries, including the root */
  int32_t propagate_lock;                     /**< 1: the result is locked if the source is */
  int32_t call_on_nested;                     /**< 1: td_apply_entries() also passes nested dictionaries to
                                                   the function */
  int32_t fill_missing;                       /**< 1: `default_value` replaces a tensor that another
                                                   dictionary lacks */
  int32_t has_batch_size;                     /**< 1: every dictionary of the result has `batch_size` */
  td_device_type device_type;                 /**< device of the result; TD_DEVICE_NONE keeps it */
  int32_t device_index;                       /**< index among the devices of that type; -1 for the current
                                                   one */
  const int64_t *TD_NULLABLE batch_size;      /**< borrowed; a lazy stack then gives a dense result */
  size_t batch_dims;                          /**< number of sizes */
  const char *const *TD_NULLABLE names;       /**< borrowed; names of the result's dimensions; NULL in it
                                                   for no name */
  size_t names_len;                           /**< 0 keeps the names, or with another batch size drops them */
  const td_tensor *TD_NULLABLE default_value; /**< borrowed; NULL: the function gets NULL */
  td_tensordict *TD_NULLABLE out;             /**< borrowed; receives the results, instead of a new
                                                   dictionary; a lazy stack is then read as dense */
} td_apply_options;
#define TD_APPLY_OPTIONS_INIT \
  {sizeof(td_apply_options), 0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, NULL}

/**
 * Makes a dictionary from what your function returns for each tensor. Keeps non-tensor data. A lazy
 * stack stays lazy: the function is called for the tensors of each element.
 *
 * `filter_empty` decides what happens to a dictionary that loses all entries. If the root is
 * dropped, the result is NULL, with TD_OK.
 *
 * @param td       borrowed
 * @param options  borrowed; NULL for the defaults; `out` is changed and must be unlocked
 * @param callback called during this call only
 * @param user     passed to `callback`
 * @param result   new; free with td_free(); NULL on failure and if the root is dropped; with `out`
 *                 a handle on it
 *
 * @return TD_OK, TD_ERR_SHAPE (a returned tensor does not begin with the batch size), TD_ERR_LOCKED
 *         (`out`), TD_ERR_DEVICE, TD_ERR_INVALID_ARGUMENT (options that exclude each other), or the
 *         code that the callback returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td`; needs exclusive access to `out`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_apply(const td_tensordict *td, const td_apply_options *TD_NULLABLE options,
                   td_apply_fn callback, void *TD_NULLABLE user,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_apply(), but writes what the function returns into the tensors of `td`. Nothing is
 * written before the function has returned for every tensor. If it leaves the result NULL, the
 * tensor stays unchanged. Works on a locked dictionary. Python: apply_.
 *
 * @param td       borrowed; its values change
 * @param options  borrowed; NULL for the defaults
 * @param callback called during this call only
 * @param user     passed to `callback`
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT (options that exclude each
 *         other), TD_ERR_UNSUPPORTED, TD_ERR_TORCH, or the code that the callback returned;
 *         TD_ERR_CALLBACK if that code is unknown
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_apply_inplace(td_tensordict *td, const td_apply_options *TD_NULLABLE options,
                           td_apply_fn callback, void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * One entry, as td_apply_entry_fn gets it.
 */
typedef struct td_apply_entry {
  uint32_t struct_size;                          /**< size in the library; later releases may add fields at the
                                                      end */
  td_entry_kind kind;                            /**< TD_ENTRY_TENSOR; with `call_on_nested` also TD_ENTRY_DICT */
  const char *const *path;                       /**< the full path; the last name is that of the entry */
  size_t path_len;                               /**< number of names */
  const td_tensor *const *TD_NULLABLE tensors;   /**< one from each dictionary; NULL if the entry is a
                                                      dictionary */
  const td_tensordict *const *TD_NULLABLE dicts; /**< one from each dictionary; NULL if the entry is a tensor */
  size_t sources_len;                            /**< number of dictionaries: `td` and each of `others` */
} td_apply_entry;

/**
 * Your function, called once per entry, by the rules of td_apply_fn.
 *
 * @param user   the value that you passed to td_apply_entries()
 * @param entry  borrowed, with all it points to; its handles are valid until the function returns
 * @param tensor consumed if you store a handle there: the new entry
 * @param dict   consumed if you store a handle there: the new entry, a dictionary. Leave both NULL
 *               to drop the entry
 */
typedef td_status (*td_apply_entry_fn)(void *TD_NULLABLE user, const td_apply_entry *entry,
                                       td_tensor **tensor, td_tensordict **dict);

/**
 * Like td_apply(), but the function also gets the entries of other dictionaries under the same
 * path. Keys that only the others have are skipped. The function may return a dictionary for a
 * tensor, and the other way round.
 *
 * @param td         borrowed
 * @param others     borrowed; NULL only when others_len is 0
 * @param others_len number of other dictionaries
 * @param options    borrowed; NULL for the defaults; `out` is changed and must be unlocked
 * @param callback   called during this call only
 * @param user       passed to `callback`
 * @param result     new; free with td_free(); NULL on failure and if the root is dropped; with
 *                   `out` a handle on it
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (another dictionary lacks an entry), TD_ERR_WRONG_ENTRY (a
 *         tensor in one, a dictionary in another), TD_ERR_SHAPE, TD_ERR_LOCKED (`out`),
 *         TD_ERR_DEVICE, TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED (`out` is a sub-tensordict),
 *         or the code that the callback returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td` and `others`; needs exclusive access to
 *               `out`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_apply_entries(const td_tensordict *td, const td_tensordict *const *TD_NULLABLE others,
                           size_t others_len, const td_apply_options *TD_NULLABLE options,
                           td_apply_entry_fn callback, void *TD_NULLABLE user,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_apply_entries(), but writes what the function returns into the entries of `td`, like
 * td_apply_inplace().
 *
 * @param td         borrowed; its values change
 * @param others     borrowed; NULL only when others_len is 0
 * @param others_len number of other dictionaries
 * @param options    borrowed; NULL for the defaults
 * @param callback   called during this call only
 * @param user       passed to `callback`
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (another dictionary lacks an entry), TD_ERR_WRONG_ENTRY (a
 *         tensor in one, a dictionary in another), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED, TD_ERR_TORCH, or the code that the callback
 *         returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety needs exclusive access to `td`; other threads may read `others`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_apply_entries_inplace(td_tensordict *td,
                                   const td_tensordict *const *TD_NULLABLE others,
                                   size_t others_len, const td_apply_options *TD_NULLABLE options,
                                   td_apply_entry_fn callback, void *TD_NULLABLE user) TD_NOEXCEPT;

TD_END_C

#endif
