/* tensordict/td_apply.h: a function of the caller over every entry (Python: apply, apply_, named_apply, _fast_apply). */
#ifndef TENSORDICT_TD_APPLY_H
#define TENSORDICT_TD_APPLY_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Is called once for each tensor, on the thread that called td_apply(), in the order of the keys.
 *
 * It may call any function of the library, on the dictionary that is walked only such as take it as
 * pointer to const. It must not free what it borrowed, and must not unwind (no exception, panic or
 * longjmp). Returning anything but TD_OK ends the walk.
 *
 * @param user     what td_apply() was given
 * @param path     borrowed; the full path of the tensor
 * @param path_len number of names
 * @param source   borrowed; the handle is dead once the function has returned
 * @param result   consumed, once a handle is stored there; the tensor to put in place of `source`;
 *                 left NULL, the entry is dropped
 */
typedef td_status (*td_apply_fn)(void *TD_NULLABLE user, const char *const *path, size_t path_len,
                                 const td_tensor *source, td_tensor **result);

/**
 * What becomes of dictionaries in which no entry is left.
 */
typedef int32_t td_filter_empty;
enum {
  TD_FILTER_EMPTY_DEFAULT = 0, /**< dropped if they lost all entries, kept if they were empty before */
  TD_FILTER_EMPTY_YES = 1,     /**< dropped */
  TD_FILTER_EMPTY_NO = 2       /**< kept */
};

/**
 * How td_apply(), td_apply_entries() and their forms in place work. Zero in every field but the first means the default.
 */
typedef struct td_apply_options {
  uint32_t struct_size;          /**< sizeof(td_apply_options) */
  td_filter_empty filter_empty;  /**< what becomes of empty dictionaries, the root among them */
  int32_t propagate_lock;        /**< 1: the result is locked if the source is */
  int32_t call_on_nested;        /**< 1: td_apply_entries() gives nested dictionaries as they are */
  int32_t fill_missing;          /**< 1: where others lack a tensor, `default_value` stands */
  int32_t has_batch_size;        /**< 1: `batch_size` is that of each dictionary of the result */
  td_device_type device_type;    /**< of the result; TD_DEVICE_NONE: as before */
  int32_t device_index;          /**< which device of that kind; -1 for the current one */
  const int64_t *TD_NULLABLE batch_size;    /**< borrowed; lazy stacks are then read out */
  size_t batch_dims;                        /**< number of sizes */
  const char *const *TD_NULLABLE names;     /**< borrowed; of the result's dimensions; NULL in it: none */
  size_t names_len;                         /**< 0: as before; with another batch size none */
  const td_tensor *TD_NULLABLE default_value; /**< borrowed; NULL: the callback gets NULL */
  td_tensordict *TD_NULLABLE out;           /**< borrowed; takes the results in place of a new one;
                                      lazy stacks are then read out */
} td_apply_options;
#define TD_APPLY_OPTIONS_INIT \
  {(uint32_t)sizeof(td_apply_options), 0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, NULL}

/**
 * Makes a dictionary of what a function returns for each tensor. Non-tensor values are
 * carried over. A lazy stack stays one: the function is called for the tensors of each element.
 *
 * A dictionary that loses all of its entries goes, as `filter_empty` says. When the root goes, the
 * result is NULL, with TD_OK.
 *
 * @param td       borrowed
 * @param options  borrowed; NULL for the defaults; `out` is changed and must not be locked
 * @param callback called during this call only
 * @param user     passed to `callback`
 * @param result   new; free with td_free(); NULL on failure and when nothing is left; with `out` a
 *                 handle on that
 *
 * @return TD_OK, TD_ERR_SHAPE (a result does not begin with the batch size), TD_ERR_LOCKED,
 *         TD_ERR_DEVICE, TD_ERR_INVALID_ARGUMENT (options that exclude each other),
 *         TD_ERR_CALLBACK, or what the callback returned if it is a code of the library or at most
 *         -10000
 * @threadsafety safe beside calls that only read `td`; needs `out` for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_apply(const td_tensordict *td, const td_apply_options *TD_NULLABLE options,
                   td_apply_fn callback, void *TD_NULLABLE user,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_apply(), but writes what the function returns into the tensors of `td` themselves. All results are
 * there before the first one is written. A tensor that the function leaves NULL stays as it is; a locked
 * dictionary allows it.
 *
 * @param td       borrowed; its values change
 * @param options  borrowed; NULL for the defaults
 * @param callback called during this call only
 * @param user     passed to `callback`
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT (options that exclude each other),
 *         TD_ERR_UNSUPPORTED, TD_ERR_TORCH, TD_ERR_CALLBACK, or what the callback returned if it is a
 *         code of the library or at most -10000
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_apply_inplace(td_tensordict *td, const td_apply_options *TD_NULLABLE options,
                           td_apply_fn callback, void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * One entry, as a td_apply_entry_fn gets it.
 */
typedef struct td_apply_entry {
  uint32_t struct_size;          /**< of the library; fields may be added at the end */
  td_entry_kind kind;            /**< TD_ENTRY_TENSOR; with `call_on_nested` also TD_ENTRY_DICT */
  const char *const *path;       /**< the full path; the last name is that of the entry */
  size_t path_len;               /**< number of names */
  const td_tensor *const *TD_NULLABLE tensors;  /**< one of each dictionary, or NULL for a dictionary */
  const td_tensordict *const *TD_NULLABLE dicts; /**< one of each dictionary, or NULL for a tensor */
  size_t sources_len;            /**< how many: 1 and one for each of `others` */
} td_apply_entry;

/**
 * Is called once for each entry, as a td_apply_fn for each tensor.
 *
 * @param user   what td_apply_entries() was given
 * @param entry  borrowed, with all it points to; its handles are dead once the function has
 *               returned
 * @param tensor consumed, once a handle is stored there; to put in place of the entry
 * @param dict   consumed, once a handle is stored there; the same, for a dictionary. Both left NULL
 *               drop the entry
 */
typedef td_status (*td_apply_entry_fn)(void *TD_NULLABLE user, const td_apply_entry *entry,
                                       td_tensor **tensor, td_tensordict **dict);

/**
 * As td_apply(), with the entries of other dictionaries under the same paths beside those of `td`.
 * Keys that only others have are passed over. The result may hold a dictionary where a tensor was,
 * and the other way round.
 *
 * @param td         borrowed
 * @param others     borrowed; NULL only when others_len is 0
 * @param others_len number of other dictionaries
 * @param options    borrowed; NULL for the defaults; `out` is changed and must not be locked
 * @param callback   called during this call only
 * @param user       passed to `callback`
 * @param result     new; free with td_free(); NULL on failure and when nothing is left; with `out` a
 *                   handle on that
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (others lack an entry), TD_ERR_WRONG_ENTRY (a tensor beside a
 *         dictionary), TD_ERR_SHAPE, TD_ERR_LOCKED, TD_ERR_DEVICE, TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_UNSUPPORTED (a sub-tensordict as `out`), TD_ERR_CALLBACK, or what the callback returned if
 *         it is a code of the library or at most -10000
 * @threadsafety safe beside calls that only read `td` and `others`; needs `out` for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_apply_entries(const td_tensordict *td, const td_tensordict *const *TD_NULLABLE others,
                           size_t others_len, const td_apply_options *TD_NULLABLE options,
                           td_apply_entry_fn callback, void *TD_NULLABLE user,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_apply_entries(), but writes what the function returns into the entries of `td` themselves, as
 * td_apply_inplace() does.
 *
 * @param td         borrowed; its values change
 * @param others     borrowed; NULL only when others_len is 0
 * @param others_len number of other dictionaries
 * @param options    borrowed; NULL for the defaults
 * @param callback   called during this call only
 * @param user       passed to `callback`
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (others lack an entry), TD_ERR_WRONG_ENTRY (a tensor beside a
 *         dictionary), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED,
 *         TD_ERR_TORCH, TD_ERR_CALLBACK, or what the callback returned if it is a code of the library or
 *         at most -10000
 * @threadsafety needs `td` for itself; safe beside calls that only read `others`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_apply_entries_inplace(td_tensordict *td,
                                   const td_tensordict *const *TD_NULLABLE others,
                                   size_t others_len, const td_apply_options *TD_NULLABLE options,
                                   td_apply_entry_fn callback, void *TD_NULLABLE user) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
