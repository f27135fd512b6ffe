/* tensordict/td_map.h: your function on pieces of a dictionary, on several threads (C: td_map, td_map_iter_create; Python: map, map_iter). */
#ifndef TENSORDICT_TD_MAP_H
#define TENSORDICT_TD_MAP_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * How a dictionary is cut along a dimension.
 */
typedef int32_t td_map_cut;
enum {
  TD_MAP_CUT_PER_WORKER = 0, /**< one piece per worker */
  TD_MAP_CUT_SIZE = 1,       /**< chunksize: pieces of `amount` elements; the last one may be
                                  shorter */
  TD_MAP_CUT_COUNT = 2,      /**< num_chunks: at most `amount` pieces of equal size; the last one
                                  may be shorter */
  TD_MAP_CUT_ELEMENTS = 3    /**< chunksize=0: one element per piece, without the dimension */
};

/**
 * The piece that a td_map_fn works on.
 */
typedef struct td_map_piece {
  uint32_t struct_size; /**< size in the library; later releases may add fields at the end */
  int32_t worker;       /**< number of the worker, from 0 */
  size_t number;        /**< number of the piece, from 0 */
  size_t count;         /**< number of pieces */
  int64_t first;        /**< its first element along the dimension, in the order of the pieces */
  int64_t length;       /**< number of elements in it */
  uint64_t seed;        /**< `seed` of the options plus `number`: independent of the number of
                             workers */
} td_map_piece;

/**
 * Your function, called once per piece. With more than one worker it runs on threads of the
 * library, several at once.
 *
 * It gets a dictionary of its own whose tensors share memory with the source, so it can write
 * values in place. It must not unwind (no exception, panic or longjmp). If it returns anything but
 * TD_OK, the work ends. td_last_error_message() and td_set_grad_enabled() apply to its thread; the
 * gradient mode starts as that of the caller.
 *
 * @param user   the value that you passed to td_map()
 * @param piece  borrowed; valid until the function returns
 * @param source borrowed; the handle is valid until the function returns
 * @param result consumed if you store a handle there; leave NULL if the piece has no result
 */
typedef td_status (*td_map_fn)(void *TD_NULLABLE user, const td_map_piece *piece,
                               td_tensordict *source, td_tensordict **result);

/**
 * Reports progress, on the thread that called: once before the first piece, and after each piece
 * once all earlier ones are done. If it returns anything but TD_OK, the work ends.
 *
 * @param user  the `progress_user` of the options
 * @param done  number of pieces done
 * @param total number of pieces
 */
typedef td_status (*td_progress_fn)(void *TD_NULLABLE user, size_t done, size_t total);

/**
 * Options of td_map() and td_map_iter_create(). Set a field after `struct_size` to 0 for its
 * default.
 */
typedef struct td_map_options {
  uint32_t struct_size;                /**< sizeof(td_map_options) */
  td_map_cut cut;                      /**< how the dictionary is cut */
  int64_t dim;                         /**< the dimension to cut; negative counts from the end */
  int64_t amount;                      /**< for `cut` */
  int32_t num_workers;                 /**< 0: one thread per CPU; 1: only the calling thread */
  int32_t worker_threads;              /**< threads that libtorch may use in one worker; 0: 1 */
  uint64_t seed;                       /**< for `seed` of each piece and for `shuffle` */
  int32_t shuffle;                     /**< 1: shuffles the elements by `seed`; td_map_iter only */
  uint32_t reserved;                   /**< zero */
  size_t ahead;                        /**< how many pieces workers may be ahead; 0: twice the
                                            workers; td_map_iter only */
  td_tensordict *TD_NULLABLE out;      /**< borrowed; receives the results; td_map() only */
  td_progress_fn TD_NULLABLE progress; /**< td_map() only */
  void *TD_NULLABLE progress_user;     /**< passed to `progress` */
} td_map_options;
#define TD_MAP_OPTIONS_INIT \
  {sizeof(td_map_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL}

/**
 * Makes a dictionary from what your function returns for each piece of a dictionary.
 *
 * The results are joined in the order of the pieces: concatenated along the dimension, or stacked
 * if the pieces are elements (as a lazy stack where they differ in keys or shapes). Pieces without
 * a result are left out; if no piece has one, the result is NULL, with TD_OK. With `out`, each
 * result is written into the entries of `out`, behind the previous one; a piece without a result
 * leaves a gap of its length. If your function writes in place on several threads, each must write
 * only to its own piece.
 *
 * The first piece, in order, that fails decides the status and its message. No further piece is
 * started. What earlier pieces wrote to `out` or in place stays.
 *
 * @param td       borrowed; its values change only if `callback` writes to them
 * @param options  borrowed; NULL for the defaults
 * @param callback called during this call only
 * @param user     passed to `callback`
 * @param result   new; free with td_free(); NULL on failure and without results; with `out` a
 *                 handle on that
 *
 * @return TD_OK, TD_ERR_INDEX (`dim` out of range), TD_ERR_INVALID_ARGUMENT, TD_ERR_SHAPE (the
 *         results do not match each other or `out`), TD_ERR_KEY_NOT_FOUND (the results have
 *         different keys, or keys that `out` lacks), or the code that a callback returned;
 *         TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td`; needs exclusive access to `out`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map(const td_tensordict *td, const td_map_options *TD_NULLABLE options,
                 td_map_fn callback, void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * An iterator over the results of a function on the pieces of a dictionary.
 */
typedef struct td_map_iter td_map_iter;

/**
 * Starts to work on the pieces of a dictionary. One worker works on a piece when you ask for it;
 * several work ahead.
 *
 * @param td       borrowed; the iterator keeps its tensors
 * @param options  borrowed; NULL for the defaults; `out` and `progress` must be NULL
 * @param callback called until you free the iterator
 * @param user     passed to `callback`; must be valid until you free the iterator
 * @param result   new; free with td_map_iter_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (`dim` out of range), TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe while other threads only read `td`, from now until you free the iterator
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map_iter_create(const td_tensordict *td, const td_map_options *TD_NULLABLE options,
                             td_map_fn callback, void *TD_NULLABLE user,
                             td_map_iter **result) TD_NOEXCEPT;

/**
 * Waits for the next result, in the order of the pieces. Skips pieces without a result.
 *
 * If a piece fails, you first get the results before it; then every call returns its error.
 *
 * @param iter   borrowed; changed
 * @param result new; free with td_free(); NULL on failure and after the last one, with TD_OK
 * @param number the number of the piece; not written without a result; NULL if you do not need it
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (called by `callback` itself, or on two threads at once),
 *         or the code that the callback returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety needs exclusive access to `iter`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_map_iter_next(td_map_iter *iter, td_tensordict **result,
                           size_t *TD_NULLABLE number) TD_NOEXCEPT;

/**
 * Frees an iterator, at its end or before. Waits for pieces that are being worked on; starts no
 * others. If its own callback frees it, the call does not wait.
 *
 * @param iter consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this iterator
 */
TD_API(0, 1) void td_map_iter_free(td_map_iter *TD_NULLABLE iter) TD_NOEXCEPT;

TD_END_C

#endif
