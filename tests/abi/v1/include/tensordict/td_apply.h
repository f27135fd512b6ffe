/* tensordict/td_apply.h: a function of the caller over every tensor. */
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
 * How td_apply() works. Zero in every field but the first means the default.
 */
typedef struct td_apply_options {
  uint32_t struct_size;          /**< sizeof(td_apply_options) */
  int32_t inplace;               /**< 1: write the results into the tensors that are there */
  td_filter_empty filter_empty;  /**< what becomes of empty dictionaries; the root always stays */
  int32_t propagate_lock;        /**< 1: the result is locked if the source is */
} td_apply_options;
#define TD_APPLY_OPTIONS_INIT {(uint32_t)sizeof(td_apply_options), 0, 0, 0}

/**
 * Makes a dictionary of what a function returns for each tensor.
 *
 * @param td       borrowed; its values change only with `inplace`
 * @param options  borrowed; NULL for the defaults
 * @param callback called during this call only
 * @param user     passed to `callback`
 * @param result   new; free with td_free(); NULL on failure; with `inplace` a handle on `td`
 *
 * @return TD_OK, TD_ERR_SHAPE (a result does not begin with the batch size), TD_ERR_CALLBACK, or
 *         what the callback returned if it is a code of the library or at most -10000
 * @threadsafety safe beside calls that only read `td`; with `inplace` it needs `td` for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_apply(const td_tensordict *td, const td_apply_options *TD_NULLABLE options,
                   td_apply_fn callback, void *TD_NULLABLE user,
                   td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
