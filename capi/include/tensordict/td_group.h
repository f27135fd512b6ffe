/* tensordict/td_group.h: dictionaries between the ranks of a process group (C: td_group_open, td_group_send, …; Python: torch.distributed, send, recv, broadcast, all_reduce). */
#ifndef TENSORDICT_TD_GROUP_H
#define TENSORDICT_TD_GROUP_H

#include "tensordict/td_future.h"
#include "tensordict/td_message.h"

TD_BEGIN_C

/**
 * A process group: one of several processes, its rank, and the connections to all others. The ranks
 * may be programs in any language, and Python's torch.distributed with the same version of libtorch:
 * if one is, what is sent is what Python's tensordict sends, except by td_group_send_message().
 *
 * If all ranks are of this library, they compare keys, dtypes and shapes before they send or reduce
 * tensors. Keys in another order are the same keys. A difference is TD_ERR_SHAPE on all ranks that
 * take part; the message names the first key that differs, nothing has changed, and the group goes on.
 * Reductions of up to 64 KB are made in the order of the ranks: the same bits on all of them, each time.
 *
 * Several threads may use a group. Calls in which all ranks take part run one after the other in the
 * order in which they were made; it must be the same on all ranks. A call that reaches its time limit
 * returns TD_ERR_IO and leaves the group usable; late data for it is discarded. When a rank
 * ends, calls that need it return TD_ERR_IO.
 *
 * td_group_iall_reduce() and the other asynchronous forms of such calls take their turn, and the
 * values, before they return: several may be on their way, and other calls may come between them. The
 * limit counts from there, so it includes the wait for earlier calls. td_future_cancel() and
 * td_future_free() end the wait of this rank alone; the group makes the call when all ranks come, and
 * throws the result away.
 *
 * gloo, which carries the bytes, ends the process when a rank sends more bytes than the other
 * receives. Calls with ranks in Python, and collective calls, trust the other ranks in this: use them
 * in networks that you trust.
 *
 * After a fork() the group belongs to the parent: in the child its calls return TD_ERR_IO.
 */
typedef struct td_group td_group;

/**
 * How values of all ranks become one.
 */
typedef int32_t td_group_op;
enum {
  TD_GROUP_OP_SUM = 0,     /**< the sum */
  TD_GROUP_OP_AVERAGE = 1, /**< the sum, divided by the number of ranks; floating point only */
  TD_GROUP_OP_PRODUCT = 2, /**< the product */
  TD_GROUP_OP_MIN = 3,     /**< the smallest */
  TD_GROUP_OP_MAX = 4      /**< the largest */
};

/**
 * Flags of calls on a group.
 */
typedef uint32_t td_group_flags;
enum {
  TD_GROUP_CONSOLIDATED = 1, /**< td_group_send(), td_group_recv() and their asynchronous forms: one
                                  message, as Python sends with `consolidated=True` */
  TD_GROUP_FUSED = 2         /**< td_group_all_reduce() and td_group_iall_reduce(): one buffer for each
                                  dtype, however large. All ranks must choose it; not with ranks
                                  in Python */
};

/**
 * Options of td_group_open(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_group_options {
  uint32_t struct_size;            /**< sizeof(td_group_options) */
  uint32_t timeout_ms;             /**< limit for opening, and for calls that give none; 0: five
                                        minutes */
  int32_t rank;                    /**< this process, from 0; used if `world_size` is not 0 */
  int32_t world_size;              /**< number of ranks; 0: rank and size of the url or environment */
  const char *TD_NULLABLE url;     /**< borrowed; `tcp://HOST:PORT` (rank 0 listens there),
                                        `file:///PATH` on a common file system, a new file for each
                                        group, or `env://` for MASTER_ADDR, MASTER_PORT, RANK and
                                        WORLD_SIZE; `?rank=R&world_size=N` may follow; NULL:
                                        `env://` */
  const char *TD_NULLABLE name;    /**< borrowed; groups of several names may meet at one url; NULL:
                                        the name of Python's default group */
  const char *TD_NULLABLE device;  /**< borrowed; interface of the network, such as "eth0"; NULL:
                                        GLOO_SOCKET_IFNAME, or that of the host's name */
  const char *TD_NULLABLE backend; /**< borrowed; "gloo" or NULL */
} td_group_options;
#define TD_GROUP_OPTIONS_INIT {sizeof(td_group_options), 0, 0, 0, NULL, NULL, NULL, NULL}

/**
 * Options of calls on a group. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_group_call_options {
  uint32_t struct_size;   /**< sizeof(td_group_call_options) */
  td_group_flags flags;   /**< forms of transfer */
  uint32_t timeout_ms;    /**< limit in milliseconds; 0: that of the group */
  int32_t init_tag;       /**< tag of the first message, from 0 to 2^28 - 1; each tensor takes the
                               next one */
  int32_t num_threads;    /**< number of threads that copy into one buffer; 0 and 1: the calling
                               thread */
  uint32_t max_depth;     /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;   /**< most accepted entries, at all levels; 0: 1,000,000 */
  uint32_t reserved;      /**< 0 */
  uint64_t max_bytes;     /**< longest accepted message, in bytes; 0: 2^30 */
  uint64_t bucket_bytes;  /**< reductions: the largest buffer, in bytes, in which tensors of a dtype
                               travel together, as with Python's `bucket_bytes`; all ranks choose
                               the same; 0: among Python's ranks one by one, otherwise small ones
                               together; not with TD_GROUP_FUSED */
} td_group_call_options;
#define TD_GROUP_CALL_OPTIONS_INIT \
  {sizeof(td_group_call_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Opens a group: waits until all its ranks have come.
 *
 * @param options borrowed, with all it points to; NULL for the defaults: the environment
 * @param result  new; free with td_group_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such url, rank or size; a variable is missing),
 *         TD_ERR_IO (the limit was reached; the message names the ranks that are missing),
 *         TD_ERR_UNSUPPORTED (another back-end; a build without process groups: the message says
 *         what to install)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_open(const td_group_options *TD_NULLABLE options,
                        td_group **result) TD_NOEXCEPT;

/**
 * Makes a group of some of the ranks, as Python's new_group() does: they keep their order, whatever
 * the order in `ranks`. All ranks call it with the same ranks and name.
 *
 * @param group     borrowed
 * @param ranks     borrowed; their numbers in `group`
 * @param ranks_len number of ranks
 * @param name      borrowed; NULL: the name that Python would give
 * @param result    new; free with td_group_free(); NULL on failure, and on a rank that is not among
 *                  them
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such rank, or one is there twice), TD_ERR_IO (the ranks
 *         did not come)
 * @threadsafety needs exclusive access to `group`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_split(td_group *group, const int32_t *ranks, size_t ranks_len,
                         const char *TD_NULLABLE name, td_group **result) TD_NOEXCEPT;

/**
 * Frees a group and closes its connections: calls of other ranks that need this one fail, and so do
 * futures of this group that still wait.
 *
 * @param group consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this group
 */
TD_API(0, 2) void td_group_free(td_group *TD_NULLABLE group) TD_NOEXCEPT;

/**
 * Gets the rank of this process and the number of ranks.
 *
 * @param group borrowed
 * @param rank  written on success
 * @param size  written on success
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_rank(const td_group *group, int32_t *rank, int32_t *size) TD_NOEXCEPT;

/**
 * Waits until all ranks have called it.
 *
 * @param group   borrowed
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_IO (a rank did not come in time, or has ended)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_barrier(td_group *group,
                           const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Sends the tensors of a dictionary to a rank that receives them with td_group_recv() or Python's
 * `recv`. In a group with ranks in Python one message each, with keys in sorted order and the elements
 * of a lazy stack in turn; otherwise in one message with their keys, of which copies are made. Non-tensor
 * data is not sent.
 *
 * Waits until the other rank has taken them. Data of a send that timed out may still arrive.
 *
 * @param group   borrowed
 * @param td      borrowed
 * @param dst     another rank
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such rank; a tag out of range), TD_ERR_UNSUPPORTED (a
 *         nested or sparse tensor), TD_ERR_IO (the limit was reached, or the rank has ended)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_send(td_group *group, const td_tensordict *td, int32_t dst,
                        const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Receives tensors into a dictionary of the same keys, shapes and dtypes, which may be locked. They
 * are written when all have come.
 *
 * In a group with ranks in Python it trusts the sizes of the other rank: gloo ends the process if more
 * comes. After a receive that reached its limit, the next one with the same rank and tag receives its
 * late data.
 *
 * @param group   borrowed
 * @param into    borrowed; its values change; unchanged on failure
 * @param src     another rank
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED, TD_ERR_IO (the limit was reached, or
 *         the rank has ended), TD_ERR_SHAPE (other tensors were sent, or `into` was changed
 *         meanwhile), TD_ERR_KEY_NOT_FOUND (`into` was changed meanwhile), TD_ERR_BUSY (with ranks in
 *         Python: a receive of other sizes was given up and comes first), TD_ERR_CAPACITY (other
 *         tensors were sent, longer than `max_bytes`)
 * @threadsafety needs exclusive access to `into`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_recv(td_group *group, td_tensordict *into, int32_t src,
                        const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * As td_group_send(), and returns at once. td_future_result() gives the dictionary when it is sent;
 * td_future_cancel() ends the wait. Values that you write to the tensors meanwhile may or may not be
 * sent.
 *
 * @param group   borrowed
 * @param td      borrowed; the future keeps it
 * @param dst     another rank
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_send() returns for wrong arguments; the future has its other codes
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_isend(td_group *group, const td_tensordict *td, int32_t dst,
                         const td_group_call_options *TD_NULLABLE options,
                         td_future **result) TD_NOEXCEPT;

/**
 * As td_group_recv(), and returns at once. td_future_result() gives the dictionary when its values
 * are there.
 *
 * @param group   borrowed
 * @param into    borrowed; the future keeps it, and writes it on a thread of its own
 * @param src     another rank
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_recv() returns for wrong arguments; the future has its other codes
 * @threadsafety needs exclusive access to `into` until the future is done
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_irecv(td_group *group, td_tensordict *into, int32_t src,
                         const td_group_call_options *TD_NULLABLE options,
                         td_future **result) TD_NOEXCEPT;

/**
 * Sends a dictionary with its structure and non-tensor data in one buffer, to a rank that calls
 * td_group_recv_message(). The best form between programs of this library: sizes come first, and what
 * one of them sends cannot end the receiver.
 *
 * @param group   borrowed
 * @param td      borrowed
 * @param dst     another rank
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_INVALID (a name reserved by the format),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED (a tensor is not dense), TD_ERR_IO (the limit was reached,
 *         or the rank has ended)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_send_message(td_group *group, const td_tensordict *td, int32_t dst,
                                const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Receives a dictionary that td_group_send_message() sent. Nothing in it is trusted. A tensorclass
 * comes back as a dictionary.
 *
 * A message of more than some 32,000 bytes that is refused stays with its sender, whose call reaches
 * its limit; a shorter one has been taken. A rank that ends does not end a receive from any rank:
 * others may still send.
 *
 * @param group   borrowed
 * @param src     another rank; -1: any rank
 * @param options borrowed; NULL for the defaults
 * @param source  written on success: the rank that sent it; may be NULL
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_FORMAT (not a valid message), TD_ERR_CAPACITY
 *         (longer than `max_bytes`), TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_BUSY (a receive from
 *         another rank was given up and comes first), TD_ERR_IO (the limit was reached, or the rank
 *         has ended)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_recv_message(td_group *group, int32_t src,
                                const td_group_call_options *TD_NULLABLE options,
                                int32_t *TD_NULLABLE source, td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_group_send_message(), and returns at once. The dictionary is copied before.
 *
 * @param group   borrowed
 * @param td      borrowed
 * @param dst     another rank
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_send_message() returns for wrong arguments; the future has its other
 *         codes
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_isend_message(td_group *group, const td_tensordict *td, int32_t dst,
                                 const td_group_call_options *TD_NULLABLE options,
                                 td_future **result) TD_NOEXCEPT;

/**
 * As td_group_recv_message(), and returns at once. td_future_result() gives the dictionary.
 *
 * @param group   borrowed
 * @param src     another rank; -1: any rank
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_BUSY, TD_ERR_IO; the future has the other codes of
 *         td_group_recv_message()
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_irecv_message(td_group *group, int32_t src,
                                 const td_group_call_options *TD_NULLABLE options,
                                 td_future **result) TD_NOEXCEPT;

/**
 * Sends a dictionary with its structure and non-tensor data, as Python's `init_remote` does.
 *
 * @param group   borrowed
 * @param td      borrowed
 * @param dst     another rank, which calls td_group_from_remote_init() or Python's
 *                `from_remote_init`
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_INVALID (a name reserved by the format),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_IO
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_init_remote(td_group *group, const td_tensordict *td, int32_t dst,
                               const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Receives what td_group_init_remote() or Python's `init_remote` sends. A tensorclass comes back as a
 * dictionary.
 *
 * The three parts have one tag: a failure after the first of them closes the group.
 *
 * @param group   borrowed
 * @param src     another rank
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_FORMAT, TD_ERR_CAPACITY (longer than `max_bytes`),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_BUSY, TD_ERR_IO
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_from_remote_init(td_group *group, int32_t src,
                                    const td_group_call_options *TD_NULLABLE options,
                                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives a dictionary of one rank to all, with its structure and non-tensor data.
 *
 * @param group   borrowed
 * @param td      borrowed; NULL on ranks other than `src`
 * @param src     the rank that gives it
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure; on `src` a handle on `td`
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_INVALID, TD_ERR_CAPACITY (longer than
 *         `max_bytes`), TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_IO. All codes of what
 *         was received close the group: the ranks are no longer at the same place.
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_broadcast(td_group *group, const td_tensordict *TD_NULLABLE td, int32_t src,
                             const td_group_call_options *TD_NULLABLE options,
                             td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_group_broadcast(), and returns at once. td_future_result() gives the dictionary, on `src` a
 * handle on `td`.
 *
 * @param group   borrowed
 * @param td      borrowed; NULL on ranks other than `src`; copied before, so you may change it
 * @param src     the rank that gives it
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_broadcast() returns for wrong arguments; the future has its other
 *         codes
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_ibroadcast(td_group *group, const td_tensordict *TD_NULLABLE td, int32_t src,
                              const td_group_call_options *TD_NULLABLE options,
                              td_future **result) TD_NOEXCEPT;

/**
 * Makes the values of all ranks one, at one rank. All have the same keys, shapes and dtypes; in a group
 * with ranks in Python gloo may end the process otherwise.
 *
 * Half-precision numbers travel as float32, int16 as int32; of complex numbers only sums and averages
 * are made, and of bools the result is whether it is not 0. A rank that refuses a dictionary tells the
 * others, before anything is reduced. Python's ranks reduce bool and complex, but no half precision and
 * no int16.
 *
 * @param group   borrowed
 * @param td      borrowed; its values change on `dst`; unchanged on failure
 * @param dst     the rank that gets the result
 * @param op      how values become one
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_DTYPE (cannot be reduced so, here or on another rank;
 *         an average of whole numbers), TD_ERR_SHAPE (the ranks have other tensors, or call other
 *         functions), TD_ERR_UNSUPPORTED, TD_ERR_IO
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_reduce(td_group *group, td_tensordict *td, int32_t dst, td_group_op op,
                          const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * As td_group_reduce(), and returns at once. td_future_result() gives the dictionary: at `dst` when the
 * values are written, all at once and on success only; at other ranks when theirs have gone.
 *
 * @param group   borrowed
 * @param td      borrowed; the future keeps it, and writes it on a thread of its own on `dst`. What you
 *                write meanwhile is not sent, and is lost there
 * @param dst     the rank that gets the result
 * @param op      how values become one
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_reduce() returns for wrong arguments; the future has its other codes,
 *         and TD_ERR_KEY_NOT_FOUND and TD_ERR_SHAPE (`td` was changed meanwhile)
 * @threadsafety needs exclusive access to `td` until the future is done
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_ireduce(td_group *group, td_tensordict *td, int32_t dst, td_group_op op,
                           const td_group_call_options *TD_NULLABLE options,
                           td_future **result) TD_NOEXCEPT;

/**
 * Makes the values of all ranks one, at all ranks, as td_group_reduce(). In a group with ranks in Python
 * keys must be in the same order on all ranks.
 *
 * @param group   borrowed
 * @param td      borrowed; its values change; unchanged on failure
 * @param op      how values become one
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_DTYPE, TD_ERR_SHAPE (the ranks have other tensors, or
 *         call other functions), TD_ERR_UNSUPPORTED (also: TD_GROUP_FUSED with ranks in Python),
 *         TD_ERR_IO
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_all_reduce(td_group *group, td_tensordict *td, td_group_op op,
                              const td_group_call_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * As td_group_all_reduce(), and returns at once. td_future_result() gives the dictionary when its
 * values are written: all at once, and on success only. Other work can go on meanwhile.
 *
 * @param group   borrowed
 * @param td      borrowed; the future keeps it, and writes it on a thread of its own. What you write
 *                meanwhile is not sent, and is lost
 * @param op      how values become one
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_all_reduce() returns for wrong arguments; the future has its other
 *         codes, and TD_ERR_KEY_NOT_FOUND and TD_ERR_SHAPE (`td` was changed meanwhile)
 * @threadsafety needs exclusive access to `td` until the future is done
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_iall_reduce(td_group *group, td_tensordict *td, td_group_op op,
                               const td_group_call_options *TD_NULLABLE options,
                               td_future **result) TD_NOEXCEPT;

/**
 * Gives the dictionaries of all ranks to all. They may have different structures.
 *
 * @param group       borrowed
 * @param td          borrowed; that of this rank
 * @param options     borrowed; NULL for the defaults
 * @param results     new; one for each rank; free each with td_free(); all NULL on failure; may be
 *                    NULL if `results_cap` is 0
 * @param results_cap number of handles there is room for, at least the number of ranks; 0 only asks
 *                    how many there are, and sends nothing
 * @param results_len written; number of ranks
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL (nothing was sent), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_INVALID, TD_ERR_CAPACITY, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED,
 *         TD_ERR_IO
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_all_gather(td_group *group, const td_tensordict *td,
                              const td_group_call_options *TD_NULLABLE options,
                              td_tensordict **TD_NULLABLE results, size_t results_cap,
                              size_t *results_len) TD_NOEXCEPT;

/**
 * Gives each rank one of the dictionaries of one rank.
 *
 * @param group       borrowed
 * @param sources     borrowed; on `src` one for each rank; otherwise ignored
 * @param sources_len number of sources
 * @param src         the rank that gives them
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not one for each rank), TD_ERR_KEY_INVALID,
 *         TD_ERR_CAPACITY, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_IO
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_scatter(td_group *group, const td_tensordict *const *TD_NULLABLE sources,
                           size_t sources_len, int32_t src,
                           const td_group_call_options *TD_NULLABLE options,
                           td_tensordict **result) TD_NOEXCEPT;

/**
 * As td_group_scatter(), and returns at once. td_future_result() gives the part of this rank.
 *
 * @param group       borrowed
 * @param sources     borrowed; on `src` one for each rank, copied before; otherwise ignored
 * @param sources_len number of sources
 * @param src         the rank that gives them
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_future_free(), which cancels it; NULL on failure
 *
 * @return TD_OK, or what td_group_scatter() returns for wrong arguments; the future has its other codes
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_iscatter(td_group *group, const td_tensordict *const *TD_NULLABLE sources,
                            size_t sources_len, int32_t src,
                            const td_group_call_options *TD_NULLABLE options,
                            td_future **result) TD_NOEXCEPT;

/**
 * Stacks the dictionaries of all ranks along a new first dimension, at one rank. All ranks must be of
 * this library: Python gathers pickles of objects.
 *
 * @param group   borrowed
 * @param td      borrowed; that of this rank
 * @param dst     the rank that gets the stack
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure, and on ranks other than `dst`
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_INVALID, TD_ERR_CAPACITY, TD_ERR_FORMAT,
 *         TD_ERR_DTYPE, TD_ERR_KEY_NOT_FOUND and TD_ERR_SHAPE (they cannot be stacked),
 *         TD_ERR_UNSUPPORTED, TD_ERR_IO
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_group_gather_and_stack(td_group *group, const td_tensordict *td, int32_t dst,
                                    const td_group_call_options *TD_NULLABLE options,
                                    td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
