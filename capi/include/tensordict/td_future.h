/* tensordict/td_future.h: work on a background thread (C: td_future, td_memmap_async; Python: TensorDictFuture, return_early). */
#ifndef TENSORDICT_TD_FUTURE_H
#define TENSORDICT_TD_FUTURE_H

#include "tensordict/td_memmap.h"

TD_BEGIN_C

/**
 * Work on a background thread that produces a dictionary. The thread ends with the work, and
 * freeing the future waits for it. A process that exits without freeing the future waits for the
 * work too.
 */
typedef struct td_future td_future;

/**
 * Runs td_memmap() on a background thread and returns at once.
 *
 * It saves the dictionary as it is now: you may change and free it. Its tensors stay alive and are
 * read until the work is done; values that you write to them meanwhile may or may not be saved.
 * td_future_result() reports errors, also those in your arguments.
 *
 * @param td      borrowed; the future keeps its tensors
 * @param dir     borrowed; as for td_memmap()
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (wrong options), TD_ERR_OUT_OF_MEMORY (also: no thread
 *         could be started)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_async(const td_tensordict *td, const char *TD_NULLABLE dir,
                          const td_memmap_options *TD_NULLABLE options,
                          td_future **result) TD_NOEXCEPT;

/**
 * Waits until the work has ended, successfully or not.
 *
 * @param future     borrowed
 * @param timeout_ms longest wait in milliseconds; 0 only asks, -1 waits without limit
 * @param done       written on success; 1 if the work has ended, 0 on timeout
 *
 * @return TD_OK
 * @threadsafety any thread, several at once
 */
TD_API(0, 2) TD_MUST_USE
td_status td_future_wait(const td_future *future, int64_t timeout_ms, int32_t *done) TD_NOEXCEPT;

/**
 * Gets the progress of the work. td_memmap_async() counts tensors.
 *
 * @param future borrowed
 * @param done   written on success; number done
 * @param total  written on success; number in all; 0 while it is not known
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_future_progress(const td_future *future, size_t *done, size_t *total) TD_NOEXCEPT;

/**
 * Waits for the work and gets its result, the same dictionary each time. If the work failed, every
 * call returns its error.
 *
 * @param future borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, or the status of the work: for td_memmap_async() that of td_memmap()
 * @threadsafety any thread, several at once
 */
TD_API(0, 1) TD_MUST_USE
td_status td_future_result(const td_future *future, td_tensordict **result) TD_NOEXCEPT;

/**
 * Tells the work to end before it is done, and returns at once. td_future_result() then returns
 * TD_ERR_IO, unless the work was done already. Transfers of td_group.h can be cancelled; saves cannot.
 *
 * @param future borrowed
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (the work cannot be cancelled)
 * @threadsafety any thread, several at once
 */
TD_API(0, 2) TD_MUST_USE
td_status td_future_cancel(const td_future *future) TD_NOEXCEPT;

/**
 * Frees a future. Waits for work that is still running and lets it finish; what can be cancelled is.
 *
 * @param future consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this future
 */
TD_API(0, 1) void td_future_free(td_future *TD_NULLABLE future) TD_NOEXCEPT;

TD_END_C

#endif
