/* tensordict/td_memmap.h: dictionaries saved to folders and mapped from them (C: td_memmap, td_memmap_load, …; Python: memmap, memmap_, load_memmap, MemoryMappedTensor). */
#ifndef TENSORDICT_TD_MEMMAP_H
#define TENSORDICT_TD_MEMMAP_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Whether a dictionary is saved as an archive: one zip file of the files that a folder would hold.
 */
typedef int32_t td_archive;
enum {
  TD_ARCHIVE_BY_NAME = 0, /**< if the name ends with ".tdz" */
  TD_ARCHIVE_YES = 1,     /**< an archive, whatever the name is */
  TD_ARCHIVE_NO = 2       /**< a folder, whatever the name is */
};

/**
 * How an archive stores tensors.
 */
typedef int32_t td_compression;
enum {
  TD_COMPRESSION_STORED = 0, /**< uncompressed; td_memmap_load() reads them without a copy */
  TD_COMPRESSION_DEFLATE = 1 /**< compressed; td_memmap_load() inflates them */
};

/**
 * How a dictionary is saved. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_memmap_options {
  uint32_t struct_size;          /**< sizeof(td_memmap_options) */
  int32_t num_threads;           /**< number of threads that write; 0 and 1: the calling thread */
  int32_t copy_existing;         /**< 1: copies tensors that are mapped from another folder */
  int32_t fail_if_exists;        /**< 1: fails if a file exists, instead of overwriting it */
  int32_t verbatim_names;        /**< 1: keys become file names as they are, without escapes */
  td_archive archive;            /**< an archive instead of a folder, see td_archive.h; not in place */
  td_compression compression;    /**< for tensors in an archive; not with td_memmap_like() */
  int32_t dense_sub_tensordicts; /**< 1: saves the values of a sub-tensordict; 0: with its whole
                                      parent */
  int32_t durable;               /**< 1: returns when everything is on the disk, including its name */
  int32_t checksums;             /**< 1: also writes checksums for td_memmap_verify(); folders only.
                                      Each byte is hashed once, while it is written: a few percent
                                      of the time of a save */
} td_memmap_options;
#define TD_MEMMAP_OPTIONS_INIT {sizeof(td_memmap_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * How a folder is loaded. Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_load_options {
  uint32_t struct_size;                   /**< sizeof(td_load_options) */
  td_device_type device_type;             /**< device of the tensors; TD_DEVICE_META opens no file of
                                               values */
  int32_t device_index;                   /**< index among the devices of that type; -1 for the current
                                               one */
  int32_t private_mapping;                /**< 1: writes to the tensors do not reach the files */
  int32_t verbatim_names;                 /**< 1: file names are the keys as they are, without escapes */
  uint32_t max_depth;                     /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;                   /**< most accepted entries, at all levels; 0: 1,000,000 */
  int32_t write_through;                  /**< 1: writes to the tensors of an archive reach the file */
  const char *const *TD_NULLABLE subpath; /**< borrowed; path of a nested dictionary, to load only this
                                               one */
  size_t subpath_len;                     /**< number of names; 0 loads everything */
  int32_t num_threads;                    /**< number of threads that read the tensors of a folder or an
                                               archive; 0 and 1: the calling thread */
} td_load_options;
#define TD_LOAD_OPTIONS_INIT \
  {sizeof(td_load_options), 0, -1, 0, 0, 0, 0, 0, NULL, 0, 0}

/**
 * Saves a dictionary to a folder and returns a dictionary mapped from it.
 *
 * The result is locked and on the CPU, and writes to its tensors reach the files. `td` does not
 * change.
 *
 * A path that ends with ".tdz" makes an archive. The result is then that of td_memmap_load():
 * unlocked, and writes to it stay in this process.
 *
 * @param td      borrowed
 * @param dir     borrowed; UTF-8 path, created if missing; NULL maps anonymous memory
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name cannot be stored), TD_ERR_DTYPE (a dtype
 *         cannot be stored)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap(const td_tensordict *td, const char *TD_NULLABLE dir,
                    const td_memmap_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Saves a dictionary to a folder and maps its own tensors from there. The dictionary becomes locked
 * and is on the CPU. Python: memmap_.
 *
 * @param td      borrowed; changed; unchanged on failure
 * @param dir     borrowed; UTF-8 path, created if missing; NULL maps anonymous memory
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name cannot be stored), TD_ERR_DTYPE (a dtype
 *         cannot be stored)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_inplace(td_tensordict *td, const char *TD_NULLABLE dir,
                            const td_memmap_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Creates and maps a folder with the sizes and dtypes of a dictionary, filled with zeros. With an
 * expanded dictionary you can pre-allocate a data set of any size. An archive is not locked, and
 * writes to it reach the file; see td_memmap_write_archive_checksums().
 *
 * @param td      borrowed; its values are not used
 * @param dir     borrowed; UTF-8 path, created if missing; NULL maps anonymous memory
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name cannot be stored), TD_ERR_DTYPE (a dtype
 *         cannot be stored)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_like(const td_tensordict *td, const char *TD_NULLABLE dir,
                         const td_memmap_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Maps a folder that this library or Python's tensordict wrote. Python: load_memmap.
 *
 * The result is not locked. Writes to it reach the files that are writable; read-only files are
 * mapped privately. An archive is mapped once: uncompressed, aligned tensors are views of the
 * mapping; others are copied or inflated. Writes to them stay in this process unless you set
 * `write_through`, which a compressed archive refuses (TD_ERR_UNSUPPORTED).
 *
 * Each tensor of a folder takes one of the mappings that the system allows per process
 * (vm.max_map_count, mostly 65,530). Near that limit, privately mapped tensors of up to 1 MiB are
 * read into memory instead. If writes must reach the files, loading fails.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json, or of an archive
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (not a valid folder or archive), TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_DEVICE (no such device), TD_ERR_OUT_OF_MEMORY (too many
 *         mappings)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_load(const char *dir, const td_load_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets the folder of a dictionary from td_memmap(), td_memmap_inplace(), td_memmap_like() or
 * td_memmap_load().
 *
 * @param td       borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; 0 if there is no folder; also
 *                 written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_saved_path(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                        size_t *length) TD_NOEXCEPT;

/**
 * Waits until everything written to mapped tensors is on the disk. Ignores tensors without a file.
 *
 * @param td borrowed
 *
 * @return TD_OK, TD_ERR_IO
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_flush(const td_tensordict *td) TD_NOEXCEPT;

TD_END_C

#endif
