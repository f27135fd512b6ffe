/* tensordict/td_append.h: folders that become longer while others read them (Python has none; it reads them). */
#ifndef TENSORDICT_TD_APPEND_H
#define TENSORDICT_TD_APPEND_H

#include "tensordict/td_dict.h"
#include "tensordict/td_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where a growing writer writes. Shards are folders 0, 1, 2 … inside `dir`, each with a writer of its
 * own; `dir` loads as one lazy stack of them.
 */
typedef int32_t td_shard;
enum {
  TD_SHARD_NONE = 0, /**< to `dir` itself */
  TD_SHARD_NEW = 1,  /**< to a shard that nobody has written to */
  TD_SHARD_ANY = 2   /**< to a shard that nobody writes to now, or a new one */
};

/**
 * How a folder grows. Zero in every field but the first means the default.
 */
typedef struct td_append_options {
  uint32_t struct_size;  /**< sizeof(td_append_options) */
  int32_t durable;       /**< 1: what is published is on the disk, and survives a loss of power */
  int32_t checksums;     /**< 1: the file `checksums` is kept, see td_memmap_verify() */
  td_shard shard;        /**< of td_writer_open_append() */
  int64_t publish_rows;  /**< a writer publishes after as many rows; 0: when it is flushed or closed */
  int64_t publish_bytes; /**< the same in bytes */
  int64_t buffer_bytes;  /**< memory of a writer for rows that are in no file yet; 0: 1 MiB */
} td_append_options;
#define TD_APPEND_OPTIONS_INIT {(uint32_t)sizeof(td_append_options), 0, 0, 0, 0, 0, 0}

/**
 * Opens a writer without fixed capacity over a folder, behind the rows that it has. The functions of
 * td_writer.h work on it.
 *
 * - A row is all that stands at one place of the first batch dimension. Tensors that were not put in a
 *   row are zeros there.
 * - td_writer_flush() and td_writer_close() publish the rows completed: readers that open the folder
 *   meet all of them, or the rows from before, at each moment. A process that is killed loses those not
 *   published, and the next writer goes on behind the others.
 * - When td_writer_next() or td_writer_put() returns TD_ERR_IO because the disk is full, no row is lost;
 *   they try again. The row that td_writer_next() has completed counts.
 * - td_writer_free() publishes too, but cannot say when that fails.
 *
 * @param dir     borrowed; UTF-8 path of a folder that td_memmap() or Python has written, or of one that
 *                is to be made
 * @param like    borrowed; its entries are those of a folder that is made, which has no rows at first;
 *                its values do not matter, but for those that are no tensors, which stay. A folder that
 *                is there must have the same. NULL: the folder must be there
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_writer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_BUSY (another writer works there), TD_ERR_SHAPE (no batch dimension, or other
 *         sizes than `like` has), TD_ERR_DTYPE, TD_ERR_KEY_NOT_FOUND and TD_ERR_WRONG_ENTRY (other
 *         entries), TD_ERR_UNSUPPORTED (something that cannot grow by rows), TD_ERR_FORMAT, TD_ERR_IO
 * @threadsafety safe beside calls that only read `like`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_writer_open_append(const char *dir, const td_tensordict *TD_NULLABLE like,
                                const td_append_options *TD_NULLABLE options,
                                td_writer **result) TD_NOEXCEPT;

/**
 * The folder that a growing writer writes to: its shard, if it has one.
 *
 * @param writer   borrowed
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL, 0 for a writer that td_writer_open() has given;
 *                 also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `writer`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_folder(const td_writer *writer, char *TD_NULLABLE text, size_t text_cap,
                           size_t *length) TD_NOEXCEPT;

/**
 * Adds the rows of a dictionary to a folder, in one step: a reader meets all of them or none, and a
 * failure changes nothing. Keys, dtypes and sizes must be those of the folder, but for the number of
 * rows; non-tensor values become one for each row where they differ.
 *
 * A folder with a lazy stack along the first dimension gets the dictionary as one more element.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults; `durable` and `checksums` count
 *
 * @return TD_OK, TD_ERR_BUSY (another writer works there), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_UNSUPPORTED, TD_ERR_FORMAT, TD_ERR_IO
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_append(const char *dir, const td_tensordict *td,
                           const td_append_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Keeps the first rows of a folder, or the first elements of a lazy stack, and gives back the room of
 * the others and of what an interrupted writer has left behind the end. With the number of rows that
 * the folder has it does only the latter.
 *
 * A file of which this process has more mapped stays as long as it is, and is cut when the folder is next
 * written to or truncated and nobody here has it mapped. Other programs that have the folder loaded must not
 * look at the rows that go.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json
 * @param rows    how many stay
 * @param options borrowed; NULL for the defaults; `durable` and `checksums` count
 *
 * @return TD_OK, TD_ERR_BUSY (another writer works there), TD_ERR_INDEX (more than there are),
 *         TD_ERR_UNSUPPORTED, TD_ERR_FORMAT (a file does not hold that many), TD_ERR_IO
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_truncate(const char *dir, int64_t rows,
                             const td_append_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * How long a folder is, without opening its values. `stored` differs from `rows` when a writer is at work
 * or was interrupted: more is behind the end. Less means that files are damaged, and is what
 * td_memmap_truncate() can keep.
 *
 * @param dir    borrowed; UTF-8 path of a folder with a meta.json
 * @param rows   written on success; rows that the folder says it has, or elements of a lazy stack
 * @param stored written on success; rows that each of its files holds; NULL when it does not matter
 * @param spare  written on success; bytes behind the end, all files together; NULL when it does not
 *               matter
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension), TD_ERR_UNSUPPORTED, TD_ERR_FORMAT, TD_ERR_IO
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_length(const char *dir, int64_t *rows, int64_t *TD_NULLABLE stored,
                           int64_t *TD_NULLABLE spare) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
