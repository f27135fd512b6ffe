/* tensordict/td_future.h: work on a thread of the library (Python: TensorDictFuture, return_early). */
#ifndef TENSORDICT_TD_FUTURE_H
#define TENSORDICT_TD_FUTURE_H

#include "tensordict/td_memmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Work on a thread of the library that gives a dictionary. The thread ends with the work and is gone
 * when the future is. A process that ends without freeing it ends when the work does.
 */
typedef struct td_future td_future;

/**
 * td_memmap() on a thread of the library: this call returns at once.
 *
 * What is saved is the dictionary as it is now: it may be changed and freed. Its tensors are kept alive
 * and read until the work is done; values that are written into them meanwhile may be saved or not.
 * What the caller did wrong is told by td_future_result(), as everything that fails.
 *
 * @param td      borrowed; the future keeps its tensors
 * @param dir     borrowed; as of td_memmap()
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (the options), TD_ERR_OUT_OF_MEMORY (also: no thread)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_async(const td_tensordict *td, const char *TD_NULLABLE dir,
                          const td_memmap_options *TD_NULLABLE options,
                          td_future **result) TD_NOEXCEPT;

/**
 * Waits for the end of the work, whether it has failed or not.
 *
 * @param future     borrowed
 * @param timeout_ms how long to wait, in milliseconds; 0 only asks, -1 waits as long as it takes
 * @param done       written on success; 1 when the work is done, 0 when the time is over
 *
 * @return TD_OK
 * @threadsafety any thread, several at once
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_future_wait(const td_future *future, int64_t timeout_ms, int32_t *done) TD_NOEXCEPT;

/**
 * How far the work has come. Of td_memmap_async(): tensors.
 *
 * @param future borrowed
 * @param done   written on success; how many are done
 * @param total  written on success; of how many; 0 while that is being worked out
 *
 * @return TD_OK
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_future_progress(const td_future *future, size_t *done, size_t *total) TD_NOEXCEPT;

/**
 * Waits for the work and gives what it has made, the same dictionary each time. When it has failed,
 * each call fails as it did.
 *
 * @param future borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, or what the work would have returned: of td_memmap_async() that of td_memmap()
 * @threadsafety any thread, several at once
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_future_result(const td_future *future, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives a future back. Work that goes on is waited for: what was begun is done.
 *
 * @param future consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not beside a call that uses the future
 * @since 0.1
 */
TD_API(0, 1) void td_future_free(td_future *TD_NULLABLE future) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
