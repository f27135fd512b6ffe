/* tensordict/td_store.h: dictionaries in a Redis server, shared with others (C: td_store_open, td_store_from, td_store_get, …; Python: TensorDictStore). */
#ifndef TENSORDICT_TD_STORE_H
#define TENSORDICT_TD_STORE_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * A connection to one dictionary in a server that speaks Redis' protocol (Redis, Valkey, Dragonfly).
 *
 * It lies there as Python's TensorDictStore keeps it: either side reads what the other wrote. What you
 * get is a copy; what you set is there for everybody at once. All dictionaries below it have its batch
 * size. Not kept are names of dimensions, dictionaries without entries, and tensorclasses. Values that
 * Python has pickled are read if they are plain ones; nothing in them is ever run. A lazy stack of tensors
 * lies there as Python's LazyStackedTensorDictStore keeps it; where the elements of an entry differ in
 * shape, calls about one tensor for all of them fail with TD_ERR_SHAPE.
 *
 * Each call is one request and one answer wherever possible, however many entries it is about, and what
 * it reads is of one moment. A connection that breaks is made again once, and the call repeated; then
 * the call fails with TD_ERR_IO. If the server was emptied, every call that reads or sets entries fails with
 * TD_ERR_KEY_NOT_FOUND, and sets nothing. Every call may also fail with TD_ERR_FORMAT (the server holds, or
 * answers, what contradicts itself), TD_ERR_BUSY (it is loading its data; others kept changing what was
 * read) and TD_ERR_OUT_OF_MEMORY (its own memory is full, too).
 *
 * Calls of several threads take turns. After a fork() the child must open a store of its own.
 */
typedef struct td_store td_store;

/**
 * Options of td_store_open(), td_store_create(), td_store_from() and td_store_from_schema(). Set a
 * field after `struct_size` to 0 for its default.
 */
typedef struct td_store_options {
  uint32_t struct_size;                /**< sizeof(td_store_options) */
  int32_t port;                        /**< 0: 6379 */
  const char *TD_NULLABLE host;        /**< borrowed; NULL: "localhost" */
  const char *TD_NULLABLE unix_socket; /**< borrowed; a path, instead of host and port */
  const char *TD_NULLABLE username;    /**< borrowed; NULL: that of servers with one password */
  const char *TD_NULLABLE password;    /**< borrowed; NULL: none. No message shows it. Without `tls` it is
                                            sent as it is. */
  const char *TD_NULLABLE prefix;      /**< borrowed; NULL: "tensordict" */
  const char *TD_NULLABLE id;          /**< borrowed; which dictionary; NULL for a new one: a random id */
  int64_t db;                          /**< number of the server's database */
  int64_t timeout_ms;                  /**< most time to connect, and to answer; a megabyte that is moved
                                            buys another second; 0: 10,000; -1: waits for ever */
  uint64_t max_bytes;                  /**< most bytes of the answers to one call, which take at most half a
                                            gigabyte of memory beside them; 0: 16 GB */
  const char *TD_NULLABLE tls_ca;      /**< borrowed; file of the certificates, in PEM, that the server's
                                            must come from; NULL: those that the system trusts */
  const char *TD_NULLABLE tls_cert;    /**< borrowed; file of this client's certificate and those above
                                            it, in PEM; NULL: none */
  const char *TD_NULLABLE tls_key;     /**< borrowed; file of its key, in PEM, without a passphrase */
  const char *TD_NULLABLE tls_server_name; /**< borrowed; whose certificate the server must have; NULL:
                                            that of `host` */
  int32_t tls;                         /**< 1: the connection is encrypted (TLS 1.2 or newer), and the
                                            server's certificate checked; 0: neither */
  uint32_t reserved;                   /**< 0 */
} td_store_options;
#define TD_STORE_OPTIONS_INIT \
  {sizeof(td_store_options), \
   0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0}

/**
 * Opens an existing dictionary.
 *
 * @param options borrowed, with all it points to; `id` is needed
 * @param result  new; free with td_store_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (no dictionary of this id), TD_ERR_IO (no connection; wrong
 *         password; a certificate that is not trusted; no answer in time), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_UNSUPPORTED (this build has no TLS; another node of a cluster keeps the dictionary; a
 *         Sentinel), TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_open(const td_store_options *options, td_store **result) TD_NOEXCEPT;

/**
 * Makes a dictionary without entries.
 *
 * @param batch_size borrowed; NULL if `batch_dims` is 0
 * @param batch_dims number of batch dimensions
 * @param options    borrowed, with all it points to; NULL for the defaults
 * @param result     new; free with td_store_free(), which leaves the dictionary there; NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (the id is taken), TD_ERR_SHAPE (a negative size), TD_ERR_IO,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY, as td_store_open()
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_create(const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                          const td_store_options *TD_NULLABLE options,
                          td_store **result) TD_NOEXCEPT;

/**
 * Copies a dictionary to a server. After a failure nothing of it stays there.
 *
 * Tensors of all devices are kept as values of the CPU. A lazy stack of tensors stays one; one with
 * non-tensor values is stored as dense, and so are lazy stacks that are entries.
 *
 * @param td      borrowed
 * @param options borrowed, with all it points to; NULL for the defaults
 * @param result  new; free with td_store_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (the id is taken), TD_ERR_KEY_INVALID (a name with a dot),
 *         TD_ERR_CAPACITY (a tensor of more than 512 MB, or than the server keeps),
 *         TD_ERR_UNSUPPORTED (tensors that are not dense; a value for each row of a nested dictionary,
 *         without batch dimensions of the whole; keys of only some elements of a lazy stack),
 *         TD_ERR_DTYPE (elements of a lazy stack differ in dtype), TD_ERR_DEVICE (a meta tensor),
 *         TD_ERR_SHAPE, TD_ERR_IO, TD_ERR_INVALID_ARGUMENT, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY, as td_store_open()
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_from(const td_tensordict *td, const td_store_options *TD_NULLABLE options,
                        td_store **result) TD_NOEXCEPT;

/**
 * Makes a dictionary whose tensors are zeros, which the server itself makes: none are sent.
 *
 * @param text    borrowed; as td_schema() writes it
 * @param options borrowed, with all it points to; NULL for the defaults
 * @param result  new; free with td_store_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_FORMAT (no such text), TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID,
 *         TD_ERR_CAPACITY, TD_ERR_UNSUPPORTED, TD_ERR_DEVICE, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_IO,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY, as td_store_from()
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_from_schema(const char *text, const td_store_options *TD_NULLABLE options,
                               td_store **result) TD_NOEXCEPT;

/**
 * Closes a connection. The dictionary stays on the server; td_store_delete() removes it.
 *
 * @param store consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this handle
 */
TD_API(0, 2) void td_store_free(td_store *TD_NULLABLE store) TD_NOEXCEPT;

/**
 * Removes the dictionary from the server, with all its entries.
 *
 * The handle stays: its calls fail with TD_ERR_KEY_NOT_FOUND.
 *
 * @param store borrowed
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_delete(td_store *store) TD_NOEXCEPT;

/**
 * Gets the id by which others open the dictionary.
 *
 * @param store    borrowed
 * @param text     written when `text_cap` is large enough, with a zero byte at the end
 * @param text_cap room in `text`; 0 asks for the length only
 * @param length   length without the zero byte; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_id(const td_store *store, char *TD_NULLABLE text, size_t text_cap,
                      size_t *length) TD_NOEXCEPT;

/**
 * Gets the batch size, as it was when the dictionary was opened or last read as a whole.
 *
 * @param store     borrowed
 * @param sizes     written when `sizes_cap` is large enough
 * @param sizes_cap room in `sizes`; 0 asks for the number only
 * @param dims      number of batch dimensions; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_batch_size(const td_store *store, int64_t *TD_NULLABLE sizes, size_t sizes_cap,
                              size_t *dims) TD_NOEXCEPT;

/**
 * Gets the keys of all tensors and non-tensor values, at all levels, sorted.
 *
 * @param store  borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_IO, TD_ERR_FORMAT,
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_keys(const td_store *store, td_keys **result) TD_NOEXCEPT;

/**
 * Gets a copy of a tensor.
 *
 * @param store    borrowed
 * @param path     borrowed; names of the entry
 * @param path_len number of names
 * @param result   new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (no tensor), TD_ERR_KEY_INVALID,
 *         TD_ERR_SHAPE (elements of a lazy stack differ in shape), TD_ERR_DTYPE (this libtorch lacks its
 *         dtype), TD_ERR_UNSUPPORTED, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_get(const td_store *store, const char *const *path, size_t path_len,
                       td_tensor **result) TD_NOEXCEPT;

/**
 * Gets a non-tensor value as JSON text.
 *
 * @param store    borrowed
 * @param path     borrowed; names of the entry
 * @param path_len number of names
 * @param text     written when `text_cap` is large enough, with a zero byte at the end
 * @param text_cap room in `text`; 0 asks for the length only
 * @param length   length without the zero byte; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (a tensor, or a
 *         dictionary), TD_ERR_KEY_INVALID, TD_ERR_UNSUPPORTED (pickled, and no plain value),
 *         TD_ERR_DTYPE, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_get_non_tensor_json(const td_store *store, const char *const *path,
                                       size_t path_len, char *TD_NULLABLE text, size_t text_cap,
                                       size_t *length) TD_NOEXCEPT;

/**
 * Gets a copy of a nested dictionary.
 *
 * @param store    borrowed
 * @param path     borrowed; names of the dictionary
 * @param path_len number of names
 * @param result   new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (no dictionary), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (two entries are in the way of each other), TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_SHAPE, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_get_dict(const td_store *store, const char *const *path, size_t path_len,
                            td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets a copy of the whole dictionary.
 *
 * @param store  borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID,
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_SHAPE, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY, as td_store_get_dict()
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_load(const td_store *store, td_tensordict **result) TD_NOEXCEPT;

/**
 * Stores a tensor; replaces an existing entry.
 *
 * @param store    borrowed; unchanged on failure
 * @param path     borrowed; names of the entry; none holds a dot
 * @param path_len number of names
 * @param source   borrowed; its sizes begin with the batch size
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_LOCKED, TD_ERR_SHAPE,
 *         TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a dictionary is there, or a tensor on the way),
 *         TD_ERR_CAPACITY (more than 512 MB, or than the server keeps), TD_ERR_UNSUPPORTED (not dense),
 *         TD_ERR_DEVICE (on meta), TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_set(td_store *store, const char *const *path, size_t path_len,
                       const td_tensor *source) TD_NOEXCEPT;

/**
 * Stores a non-tensor value; replaces an existing entry.
 *
 * @param store    borrowed; unchanged on failure
 * @param path     borrowed; names of the entry; none holds a dot
 * @param path_len number of names
 * @param json     borrowed; JSON text
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_LOCKED, TD_ERR_FORMAT (no JSON),
 *         TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_UNSUPPORTED (a lazy stack), TD_ERR_IO,
 *         TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY, as td_store_set()
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_set_non_tensor_json(td_store *store, const char *const *path, size_t path_len,
                                       const char *json) TD_NOEXCEPT;

/**
 * Stores all entries of a dictionary below a path, in one request. Entries that it lacks stay.
 *
 * @param store    borrowed; unchanged on failure
 * @param path     borrowed; names of the dictionary; none holds a dot
 * @param path_len number of names
 * @param source   borrowed; its batch size begins with that of the store
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_LOCKED, TD_ERR_SHAPE,
 *         TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY, TD_ERR_CAPACITY,
 *         TD_ERR_UNSUPPORTED, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY, as td_store_from()
 * @threadsafety any number of threads; safe while others only read `source`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_set_dict(td_store *store, const char *const *path, size_t path_len,
                            const td_tensordict *source) TD_NOEXCEPT;

/**
 * Stores all entries of a dictionary, in one request: td_store_set_dict() for the whole.
 *
 * @param store  borrowed; unchanged on failure
 * @param source borrowed; its batch size begins with that of the store
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the dictionary is gone), TD_ERR_LOCKED, TD_ERR_SHAPE,
 *         TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY, TD_ERR_CAPACITY,
 *         TD_ERR_UNSUPPORTED, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY,
 *         TD_ERR_OUT_OF_MEMORY, as td_store_from()
 * @threadsafety any number of threads; safe while others only read `source`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_update(td_store *store, const td_tensordict *source) TD_NOEXCEPT;

/**
 * Writes values into an existing tensor. They are broadcast and converted. If another client replaces
 * the tensor meanwhile, the server refuses the write, and the call tries again with the new one.
 *
 * @param store    borrowed; unchanged on failure
 * @param path     borrowed; names of the entry
 * @param path_len number of names
 * @param source   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE, TD_ERR_KEY_INVALID,
 *         TD_ERR_CAPACITY, TD_ERR_UNSUPPORTED, TD_ERR_DEVICE, TD_ERR_DTYPE, TD_ERR_IO, TD_ERR_FORMAT,
 *         TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_set_inplace(td_store *store, const char *const *path, size_t path_len,
                               const td_tensor *source) TD_NOEXCEPT;

/**
 * Gets the part of a tensor that an index picks. If the first item is an integer, a slice, or positions
 * or a mask along the first dimension, only these rows are sent.
 *
 * @param store     borrowed
 * @param path      borrowed; names of the entry
 * @param path_len  number of names
 * @param items     borrowed; NULL if `items_len` is 0; for all dimensions of the tensor
 * @param items_len number of items
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_KEY_INVALID, TD_ERR_UNSUPPORTED (more than 250,000 runs of rows), TD_ERR_DTYPE,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_get_at(const td_store *store, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          td_tensor **result) TD_NOEXCEPT;

/**
 * Writes values into the part of a tensor that an index picks, as td_store_set_inplace(): only these
 * bytes are sent, and the server writes all of them at once.
 *
 * @param store     borrowed; unchanged on failure
 * @param path      borrowed; names of the entry
 * @param path_len  number of names
 * @param items     borrowed; NULL if `items_len` is 0; for all dimensions of the tensor
 * @param items_len number of items
 * @param source    borrowed; broadcast and converted
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_KEY_INVALID, TD_ERR_UNSUPPORTED (more than 250,000 ranges of bytes),
 *         TD_ERR_CAPACITY, TD_ERR_DEVICE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT, TD_ERR_IO,
 *         TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_set_at(td_store *store, const char *const *path, size_t path_len,
                          const td_index_item *TD_NULLABLE items, size_t items_len,
                          const td_tensor *source) TD_NOEXCEPT;

/**
 * Gets a copy of the part of the dictionary that an index picks, as td_index() would pick it. Rows are
 * read as td_store_get_at() reads them, of all entries in one request.
 *
 * @param store     borrowed
 * @param items     borrowed; NULL if `items_len` is 0
 * @param items_len number of items
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_KEY_NOT_FOUND (the dictionary is gone),
 *         TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_index(const td_store *store, const td_index_item *TD_NULLABLE items,
                         size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Removes an entry, or a nested dictionary with all its entries.
 *
 * @param store    borrowed; unchanged on failure
 * @param path     borrowed; names of the entry
 * @param path_len number of names
 *
 * @return TD_OK, TD_ERR_LOCKED, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_remove(td_store *store, const char *const *path, size_t path_len) TD_NOEXCEPT;

/**
 * Locks this handle: entries cannot be set or removed through it. Values are still written in place,
 * and others are not held up.
 *
 * @param store borrowed
 *
 * @return TD_OK
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_lock(td_store *store) TD_NOEXCEPT;

/**
 * Undoes td_store_lock().
 *
 * @param store borrowed
 *
 * @return TD_OK
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_unlock(td_store *store) TD_NOEXCEPT;

/**
 * Whether this handle is locked.
 *
 * @param store  borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_store_is_locked(const td_store *store, int32_t *result) TD_NOEXCEPT;

TD_END_C

#endif
