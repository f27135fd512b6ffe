/* tensordict/td_map.h: a function over pieces of a dictionary, on several threads (Python: map, map_iter). */
#ifndef TENSORDICT_TD_MAP_H
#define TENSORDICT_TD_MAP_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a dictionary is cut along a dimension.
 */
typedef int32_t td_map_cut;
enum {
  TD_MAP_CUT_PER_WORKER = 0, /**< as many pieces as there are workers */
  TD_MAP_CUT_SIZE = 1,       /**< pieces of `amount` elements, the last one of what is left */
  TD_MAP_CUT_COUNT = 2,      /**< at most `amount` pieces of equal size, the last one of what is left */
  TD_MAP_CUT_ELEMENTS = 3    /**< one element each, without the dimension */
};

/**
 * Which piece a td_map_fn works on.
 */
typedef struct td_map_piece {
  uint32_t struct_size; /**< of the library; fields may be added at the end */
  int32_t worker;       /**< which worker, from 0 */
  size_t number;        /**< which piece, from 0 */
  size_t count;         /**< of how many */
  int64_t first;        /**< its first element along the dimension, in the order of the pieces */
  int64_t length;       /**< how many elements it has */
  uint64_t seed;        /**< `seed` of the options plus `number`: the same with any number of workers */
} td_map_piece;

/**
 * Is called once for each piece; with more than one worker on threads of the library, several at
 * once.
 *
 * A dictionary of its own stands for the piece; its tensors share memory with the source, so that
 * values written in place are written there. It must not unwind (no exception, panic or longjmp).
 * Returning anything but TD_OK ends the work. td_last_error_message() and td_set_grad_enabled()
 * speak of the thread; the gradient mode is that of the caller.
 *
 * @param user   what td_map() was given
 * @param piece  borrowed; gone when the function has returned
 * @param source borrowed; the handle is dead once the function has returned
 * @param result consumed, once a handle is stored there; left NULL, the piece has no result
 */
typedef td_status (*td_map_fn)(void *TD_NULLABLE user, const td_map_piece *piece,
                               td_tensordict *source, td_tensordict **result);

/**
 * Is told how far the work has come, on the thread that called: once before the first piece, and
 * after each piece whose predecessors are all done. Returning anything but TD_OK ends the work.
 *
 * @param user  `progress_user` of the options
 * @param done  pieces that are done
 * @param total pieces that there are
 */
typedef td_status (*td_progress_fn)(void *TD_NULLABLE user, size_t done, size_t total);

/**
 * How td_map() and td_map_iter_create() work. Zero in every field but the first means the default.
 */
typedef struct td_map_options {
  uint32_t struct_size;   /**< sizeof(td_map_options) */
  td_map_cut cut;         /**< how it is cut */
  int64_t dim;            /**< along which dimension; negative counts from the end */
  int64_t amount;         /**< for `cut` */
  int32_t num_workers;    /**< 0: as many threads as there are CPUs; 1: the calling thread alone */
  int32_t worker_threads; /**< libtorch's threads for one operation of one worker; 0: 1 */
  uint64_t seed;          /**< for the pieces and for `shuffle` */
  int32_t shuffle;        /**< 1: elements in an order that follows from `seed`; td_map_iter only */
  uint32_t reserved;      /**< zero */
  size_t ahead;           /**< pieces that workers may be ahead; 0: twice their number; td_map_iter only */
  td_tensordict *TD_NULLABLE out;       /**< borrowed; takes the results; td_map() only */
  td_progress_fn TD_NULLABLE progress;  /**< td_map() only */
  void *TD_NULLABLE progress_user;      /**< passed to `progress` */
} td_map_options;
#define TD_MAP_OPTIONS_INIT \
  {(uint32_t)sizeof(td_map_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL}

/**
 * Makes a dictionary of what a function returns for each piece of another one.
 *
 * Results stand in the order of the pieces: one after the other along the dimension, or stacked
 * when the pieces are elements (lazily where they differ in keys or shapes). Pieces without a
 * result are left out; without any, the result is NULL, with TD_OK. With `out` each result is
 * written in place to the entries that `out` has, behind the one before; a piece without a result
 * leaves its own length as it is. Several threads write to memory of their own: in place into the
 * piece.
 *
 * The first piece in order that fails gives the status and its text. No piece is begun after that;
 * what was written to `out` or in place by pieces before it stays.
 *
 * @param td       borrowed; its values change only if `callback` writes to them
 * @param options  borrowed; NULL for the defaults
 * @param callback called during this call only
 * @param user     passed to `callback`
 * @param result   new; free with td_free(); NULL on failure and without results; with `out` a
 *                 handle on that
 *
 * @return TD_OK, TD_ERR_INDEX (`dim`), TD_ERR_INVALID_ARGUMENT, TD_ERR_SHAPE (results that do not
 *         fit together or into `out`), TD_ERR_KEY_NOT_FOUND (results of different keys, or that
 *         `out` has no entry for), TD_ERR_CALLBACK, or what a callback returned if it is a code of
 *         the library or at most -10000
 * @threadsafety safe beside calls that only read `td`; `out` is needed for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map(const td_tensordict *td, const td_map_options *TD_NULLABLE options,
                 td_map_fn callback, void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * The results of a function over the pieces of a dictionary, one by one.
 */
typedef struct td_map_iter td_map_iter;

/**
 * Begins to work on the pieces of a dictionary. With one worker a piece is worked on when it is
 * asked for; more run ahead.
 *
 * @param td       borrowed; the iterator keeps its tensors
 * @param options  borrowed; NULL for the defaults; `out` and `progress` must be NULL
 * @param callback called until the iterator is freed
 * @param user     passed to `callback`; must live as long as the iterator
 * @param result   new; free with td_map_iter_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (`dim`), TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe beside calls that only read `td`, here and until the iterator is freed
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map_iter_create(const td_tensordict *td, const td_map_options *TD_NULLABLE options,
                             td_map_fn callback, void *TD_NULLABLE user,
                             td_map_iter **result) TD_NOEXCEPT;

/**
 * Waits for the next result, in the order of the pieces. Pieces without a result are passed over.
 *
 * When a piece fails, the results before it are given first; then every call fails as the piece
 * did.
 *
 * @param iter   borrowed; changed
 * @param result new; free with td_free(); NULL on failure and after the last one, with TD_OK
 * @param number the number of the piece; not written without a result
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (asked for by `callback` itself, or on two threads at
 *         once), TD_ERR_CALLBACK, or what the callback returned if it is a code of the library or
 *         at most -10000
 * @threadsafety needs the iterator for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map_iter_next(td_map_iter *iter, td_tensordict **result,
                           size_t *TD_NULLABLE number) TD_NOEXCEPT;

/**
 * Gives an iterator back, at its end or before. Pieces that were begun are waited for, the others
 * are not begun. Freed by its own callback, it waits for nothing.
 *
 * @param iter consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not beside a call that uses the iterator
 * @since 0.1
 */
TD_API(0, 1) void td_map_iter_free(td_map_iter *TD_NULLABLE iter) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
