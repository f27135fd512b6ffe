/* tensordict/td_message.h: dictionaries sent to another process (Python: send, recv). */
#ifndef TENSORDICT_TD_MESSAGE_H
#define TENSORDICT_TD_MESSAGE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Takes bytes of a message: all of them, or fails. It must not unwind (no exception, panic or longjmp).
 *
 * @param user  what td_send() was given
 * @param data  borrowed; gone when the function has returned
 * @param bytes how many there are
 */
typedef td_status (*td_write_fn)(void *TD_NULLABLE user, const void *data, size_t bytes);

/**
 * Gives the next bytes of a message: all that are asked for, or fails. It must not unwind (no
 * exception, panic or longjmp).
 *
 * @param user  what td_recv() was given
 * @param data  written
 * @param bytes how many are wanted
 */
typedef td_status (*td_read_fn)(void *TD_NULLABLE user, void *data, size_t bytes);

/**
 * How a message is carried, and what is accepted. Zero in every field but the first means the default.
 */
typedef struct td_message_options {
  uint32_t struct_size; /**< sizeof(td_message_options) */
  uint32_t max_depth;   /**< deepest nesting accepted; 0: 1,000 */
  uint32_t max_entries; /**< most entries accepted, all levels together; 0: 1,000,000 */
  uint32_t timeout_ms;  /**< of td_send_fd() and td_recv_fd(), for the whole message; 0: no limit */
  uint64_t max_bytes;   /**< longest message accepted; 0: 2^30 */
} td_message_options;
#define TD_MESSAGE_OPTIONS_INIT {(uint32_t)sizeof(td_message_options), 0, 0, 0, 0}

/**
 * Sends a dictionary through a function of the caller. The message holds the structure and the
 * non-tensor values too: its receiver needs nothing.
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults
 * @param write   called during this call only, on this thread
 * @param user    passed to `write`
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name that the format needs), TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_UNSUPPORTED (no dense tensor), TD_ERR_CALLBACK, or what `write` returned if it is a
 *         code of the library or at most -10000
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_send(const td_tensordict *td, const td_message_options *TD_NULLABLE options,
                  td_write_fn write, void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * Receives a dictionary through a function of the caller.
 *
 * With `into`, the values are written to a dictionary of the same keys, shapes and dtypes, which may be
 * locked, once all of the message has come and fits. A tensorclass comes as a dictionary, of which
 * td_set_tensorclass() makes one again.
 *
 * @param into    borrowed; written to; left as it was on failure; NULL makes a new dictionary
 * @param options borrowed; NULL for the defaults
 * @param read    called during this call only, on this thread
 * @param user    passed to `read`
 * @param result  new; free with td_free(); NULL on failure; with `into` a handle on it
 *
 * @return TD_OK, TD_ERR_FORMAT, TD_ERR_CAPACITY (longer than allowed), TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_KEY_NOT_FOUND and TD_ERR_SHAPE (`into` has other keys or
 *         shapes), TD_ERR_CALLBACK, or what `read` returned if it is a code of the library or at
 *         most -10000
 * @threadsafety needs `into` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_recv(td_tensordict *TD_NULLABLE into, const td_message_options *TD_NULLABLE options,
                  td_read_fn read, void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * Sends a dictionary over a file descriptor, such as a socket or a pipe, and waits until all is
 * written. A partner that has gone is an error, not a signal.
 *
 * @param td      borrowed
 * @param fd      open for writing; stays the caller's
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO (the partner has gone, or the time is over), otherwise as td_send()
 * @threadsafety safe beside calls that only read `td`; one call at a time for one descriptor
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_send_fd(const td_tensordict *td, int32_t fd,
                     const td_message_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Receives a dictionary over a file descriptor, such as a socket or a pipe, and waits until all has
 * come. Not a byte behind the message is read.
 *
 * @param fd      open for reading; stays the caller's
 * @param into    borrowed; written to; left as it was on failure; NULL makes a new dictionary
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure; with `into` a handle on it
 *
 * @return TD_OK, TD_ERR_IO (the message ends too early, or the time is over), otherwise as td_recv()
 * @threadsafety needs `into` for itself; one call at a time for one descriptor
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_recv_fd(int32_t fd, td_tensordict *TD_NULLABLE into,
                     const td_message_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
