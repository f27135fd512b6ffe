/* tensordict/td_message.h: dictionaries sent to another process (C: td_send, td_recv, td_send_fd, td_recv_fd; Python: send, recv). */
#ifndef TENSORDICT_TD_MESSAGE_H
#define TENSORDICT_TD_MESSAGE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Your function that takes bytes of a message. It must take all of them, or fail. It must not
 * unwind (no exception, panic or longjmp).
 *
 * @param user  the value that you passed to td_send()
 * @param data  borrowed; valid until the function returns
 * @param bytes number of bytes
 */
typedef td_status (*td_write_fn)(void *TD_NULLABLE user, const void *data, size_t bytes);

/**
 * Your function that provides the next bytes of a message. It must provide all of them, or fail. It
 * must not unwind (no exception, panic or longjmp).
 *
 * @param user  the value that you passed to td_recv()
 * @param data  written; room for `bytes`
 * @param bytes number of bytes to provide
 */
typedef td_status (*td_read_fn)(void *TD_NULLABLE user, void *data, size_t bytes);

/**
 * Options for sending and receiving messages. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_message_options {
  uint32_t struct_size; /**< sizeof(td_message_options) */
  uint32_t max_depth;   /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries; /**< most accepted entries, at all levels; 0: 1,000,000 */
  uint32_t timeout_ms;  /**< time for the whole message in milliseconds, in td_send_fd() and
                             td_recv_fd(); 0: no limit */
  uint64_t max_bytes;   /**< longest accepted message, in bytes; 0: 2^30 */
} td_message_options;
#define TD_MESSAGE_OPTIONS_INIT {sizeof(td_message_options), 0, 0, 0, 0}

/**
 * Sends a dictionary through your function. The message includes the structure and non-tensor data:
 * the receiver needs no prior knowledge.
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults
 * @param write   called during this call only, on this thread
 * @param user    passed to `write`
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name reserved by the format), TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_UNSUPPORTED (a tensor is not dense), or the code that `write` returned;
 *         TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_send(const td_tensordict *td, const td_message_options *TD_NULLABLE options,
                  td_write_fn write, void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * Receives a dictionary through your function.
 *
 * With `into`, the values are written into a dictionary of the same keys, shapes and dtypes, which
 * may be locked, once the whole message has arrived and matches. A tensorclass comes back as a
 * dictionary; td_set_tensorclass() restores its type.
 *
 * @param into    borrowed; its values change; unchanged on failure; NULL makes a new dictionary
 * @param options borrowed; NULL for the defaults
 * @param read    called during this call only, on this thread
 * @param user    passed to `read`
 * @param result  new; free with td_free(); NULL on failure; with `into` a handle on it
 *
 * @return TD_OK, TD_ERR_FORMAT (not a valid message), TD_ERR_CAPACITY (longer than `max_bytes`),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_KEY_NOT_FOUND and TD_ERR_SHAPE (`into` has other
 *         keys or shapes), or the code that `read` returned; TD_ERR_CALLBACK if that code is
 *         unknown
 * @threadsafety needs exclusive access to `into`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_recv(td_tensordict *TD_NULLABLE into, const td_message_options *TD_NULLABLE options,
                  td_read_fn read, void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * Sends a dictionary over a file descriptor, such as a socket or pipe, and waits until all is
 * written. A closed connection gives an error, not a signal.
 *
 * @param td      borrowed
 * @param fd      open for writing; you still own it
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO (the connection is closed, or timeout), otherwise as td_send()
 * @threadsafety safe while other threads only read `td`; one call at a time per descriptor
 */
TD_API(0, 1) TD_MUST_USE
td_status td_send_fd(const td_tensordict *td, int32_t fd,
                     const td_message_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Receives a dictionary over a file descriptor, such as a socket or pipe, and waits until all has
 * arrived. Reads no byte beyond the message.
 *
 * @param fd      open for reading; you still own it
 * @param into    borrowed; its values change; unchanged on failure; NULL makes a new dictionary
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure; with `into` a handle on it
 *
 * @return TD_OK, TD_ERR_IO (the message ends early, or timeout), otherwise as td_recv()
 * @threadsafety needs exclusive access to `into`; one call at a time per descriptor
 */
TD_API(0, 2) TD_MUST_USE
td_status td_recv_fd(int32_t fd, td_tensordict *TD_NULLABLE into,
                     const td_message_options *TD_NULLABLE options,
                     td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
