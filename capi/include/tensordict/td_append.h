/* tensordict/td_append.h: folders that grow while others read them (C: td_writer_open_append, td_memmap_append, …; Python: no equivalent, but it loads them). */
#ifndef TENSORDICT_TD_APPEND_H
#define TENSORDICT_TD_APPEND_H

#include "tensordict/td_dict.h"
#include "tensordict/td_writer.h"

TD_BEGIN_C

/**
 * Where a growing writer writes. Shards are folders 0, 1, 2 … inside `dir`, each with its own
 * writer; `dir` loads as one lazy stack of them.
 */
typedef int32_t td_shard;
enum {
  TD_SHARD_NONE = 0, /**< `dir` itself */
  TD_SHARD_NEW = 1,  /**< a new shard */
  TD_SHARD_ANY = 2   /**< a shard without a writer, or a new one */
};

/**
 * How a folder grows. Set a field after `struct_size` to 0 for its default: a thread of the writer
 * publishes rows every 10 ms.
 */
typedef struct td_append_options {
  uint32_t struct_size;  /**< sizeof(td_append_options) */
  int32_t durable;       /**< 1: published rows are on the disk and survive a loss of power */
  int32_t checksums;     /**< 1: maintains the file `checksums`, see td_memmap_verify() */
  td_shard shard;        /**< for td_writer_open_append() */
  int64_t publish_rows;  /**< publishes after this many rows; 0: every 10 ms, or without a thread
                              every 1,000 rows, unless `publish_bytes` is set; -1: only when you
                              flush or close */
  int64_t publish_bytes; /**< publishes after this many bytes; 0: not by bytes */
  int64_t buffer_bytes;  /**< memory of a writer for rows not yet in a file, in bytes; 0: 16 MiB, or
                              1 MiB without a thread */
  int32_t background;    /**< 0 or 1: a thread of the writer writes to the files and publishes;
                              -1: td_writer_put() and td_writer_next() do */
  int32_t meta_ms;       /**< time in milliseconds after which other programs see rows that have
                              been published without a call of yours; 0: 1000; -1: only after you
                              flush or close */
  const char *const *TD_NULLABLE resume_at; /**< borrowed; path of the bool tensor that is true in the
                                                 last row of an episode, for td_writer_open_append();
                                                 see there */
  size_t resume_at_len;                     /**< number of names; 0: resumes after the last row */
} td_append_options;
#define TD_APPEND_OPTIONS_INIT {sizeof(td_append_options), 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0}

/**
 * Opens a writer without fixed capacity that appends to the rows of a folder. Use it with the
 * functions of td_writer.h.
 *
 * - A row is one element of the first batch dimension. Tensors that you do not put are zeros in
 *   that row.
 * - A thread takes completed rows to the files every 10 ms, also when it does not publish them:
 *   td_writer_put() and td_writer_next() never wait for a file, unless `buffer_bytes` are full.
 * - td_writer_flush() and td_writer_close() publish the completed rows: at any moment a reader that
 *   opens the folder sees all of them or none. While you write, the writer publishes by itself. This
 *   library sees such rows at once; other programs (Python, version 0.1) see them when you flush or
 *   close, or after `meta_ms`. With `durable` or `checksums`, the default publishes after `meta_ms`
 *   only. What `publish_rows` or `publish_bytes` asks for is seen by every reader at once if the
 *   folder has no nested dictionaries, or with `durable` or `checksums`.
 * - If the process is killed, only rows that no file has yet are lost: those of the last 10 ms, or
 *   without a thread, of the last `buffer_bytes`. Rows in the files that were not published count
 *   as `stored` in td_memmap_length(). The next writer, and td_memmap_append(), publish them and
 *   continue after them; td_memmap_truncate() keeps as many as you want. A program that resumes asks
 *   td_memmap_length() for the number of rows after it has opened its writer.
 * - With `resume_at`, the writer first drops the rows after the end of the last whole episode: after
 *   the last row in which each element of that tensor is true; without one, it drops all rows.
 * - An entry of `like` with a text for each row (td_set_texts()) takes texts by td_writer_put_text().
 *   The format keeps them in one list, which each publication writes anew, with all rows so far: by
 *   default after `meta_ms`, for readers of this library, too. If the process is killed, rows that were
 *   not published are lost with their texts. A list has at most 256 MiB (TD_ERR_CAPACITY).
 * - A failure of the thread is returned by td_writer_flush(), td_writer_close(), or td_writer_put()
 *   when the buffer is full; until then the thread tries again. td_writer_flush() and
 *   td_writer_close() wait for the thread. A child process made with fork() cannot use the writer;
 *   free it there.
 * - If td_writer_next() or td_writer_put() returns TD_ERR_IO because the disk is full, no row is
 *   lost, and the next call tries again. The row that td_writer_next() completed counts.
 * - td_writer_free() publishes too, but cannot report an error.
 * - Until version 0.2 the default was `background` -1 and `publish_rows` -1.
 *
 * @param dir     borrowed; UTF-8 path of a folder written by td_memmap() or Python, or of a new
 *                folder
 * @param like    borrowed; gives a new folder, without rows, its entries; only its non-tensor data
 *                keeps its values. An existing folder must have the same entries. NULL: the folder
 *                must exist
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_writer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_BUSY (another writer uses the folder), TD_ERR_SHAPE (no batch dimension, or
 *         sizes differ from `like`), TD_ERR_DTYPE, TD_ERR_KEY_NOT_FOUND and TD_ERR_WRONG_ENTRY
 *         (entries differ from `like`), TD_ERR_UNSUPPORTED (an entry cannot grow by rows),
 *         TD_ERR_FORMAT, TD_ERR_IO; of `resume_at`: TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID,
 *         TD_ERR_WRONG_ENTRY (no tensor), TD_ERR_DTYPE (not bool), TD_ERR_SHAPE (no element)
 * @threadsafety safe while other threads only read `like`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_writer_open_append(const char *dir, const td_tensordict *TD_NULLABLE like,
                                const td_append_options *TD_NULLABLE options,
                                td_writer **result) TD_NOEXCEPT;

/**
 * Gets the folder that a growing writer writes to: its shard, if it has one.
 *
 * @param writer   borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; 0 for a writer from
 *                 td_writer_open(); also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_folder(const td_writer *writer, char *TD_NULLABLE text, size_t text_cap,
                           size_t *length) TD_NOEXCEPT;

/**
 * Appends the rows of a dictionary to a folder in one step: a reader sees all of them or none, and
 * a failure changes nothing. A folder that is not there is made with these rows, as td_memmap()
 * does. Keys, dtypes and sizes must match the folder, except the number of
 * rows. Rows that an interrupted writer left come first, also if the call fails.
 *
 * Non-tensor data that differs becomes one value per row. The format of the folder keeps these in one
 * text, which each append copies: the cost grows with the length of this text.
 *
 * If the folder holds a lazy stack along the first dimension, the dictionary becomes its next
 * element. With checksums, no process may be writing to any of the elements.
 *
 * With checksums, the first call of a process for a folder reads and hashes the rows that are there,
 * and compares them with what was saved. The next ones hash new rows only, unless the files have
 * changed since (for the 8 folders that were appended to last). So does a writer, once it is open.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json, or of a new folder
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults; only `durable` and `checksums` are used
 *
 * @return TD_OK, TD_ERR_BUSY (another writer uses the folder), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_DEVICE, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_UNSUPPORTED (an entry
 *         cannot grow by rows), TD_ERR_FORMAT, TD_ERR_IO
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_append(const char *dir, const td_tensordict *td,
                           const td_append_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Keeps the first rows of a folder, or the first elements of a lazy stack, and frees the disk space
 * of the others. With more rows than are published, up to `stored` of td_memmap_length(), it
 * publishes those that an interrupted writer left. Elements are removed in one step; no process may
 * be writing to any of them.
 *
 * If this process maps more of a file than remains, the file keeps its length for now; the next
 * write or truncation cuts it once this process no longer maps it. Other programs that have the
 * folder loaded must not read the removed rows.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json
 * @param rows    number of rows to keep
 * @param options borrowed; NULL for the defaults; only `durable` and `checksums` are used
 *
 * @return TD_OK, TD_ERR_BUSY (another writer uses the folder), TD_ERR_INDEX (there are fewer
 *         rows), TD_ERR_UNSUPPORTED, TD_ERR_FORMAT (a file holds fewer rows), TD_ERR_IO
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_truncate(const char *dir, int64_t rows,
                             const td_append_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Gets the length of a folder without reading its values. If `stored` is larger than `rows`, a
 * writer is active, or was interrupted and left more rows. If it is smaller, files are damaged. In
 * both cases, td_memmap_truncate() can keep `stored` rows.
 *
 * @param dir    borrowed; UTF-8 path of a folder with a meta.json
 * @param rows   written on success; the published rows, or the elements of a lazy stack
 * @param stored written on success; whole rows that every file holds, with those that a writer left;
 *               NULL if you do not need it
 * @param spare  written on success; bytes after the published rows, in all files together; NULL if
 *               you do not need it
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension), TD_ERR_UNSUPPORTED, TD_ERR_FORMAT, TD_ERR_IO
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_length(const char *dir, int64_t *rows, int64_t *TD_NULLABLE stored,
                           int64_t *TD_NULLABLE spare) TD_NOEXCEPT;

TD_END_C

#endif
