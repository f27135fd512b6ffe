/* tensordict/td_memmap.h: dictionaries mapped from folders (Python: MemoryMappedTensor, memmap, memmap_, load_memmap). */
#ifndef TENSORDICT_TD_MEMMAP_H
#define TENSORDICT_TD_MEMMAP_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Whether a dictionary is stored in one file, a zip archive of the files that a folder would have.
 */
typedef int32_t td_archive;
enum {
  TD_ARCHIVE_BY_NAME = 0, /**< when the name ends with ".tdz" */
  TD_ARCHIVE_YES = 1,     /**< whatever its name is */
  TD_ARCHIVE_NO = 2       /**< a folder, whatever its name is */
};

/**
 * How the tensors in an archive are stored.
 */
typedef int32_t td_compression;
enum {
  TD_COMPRESSION_STORED = 0, /**< as they are: they are read without a copy */
  TD_COMPRESSION_DEFLATE = 1 /**< compressed: they are inflated when the archive is opened */
};

/**
 * How a dictionary is stored. Zero in every field but the first means the default.
 */
typedef struct td_memmap_options {
  uint32_t struct_size;       /**< sizeof(td_memmap_options) */
  int32_t num_threads;        /**< how many threads write; 0 and 1: the calling one */
  int32_t copy_existing;      /**< 1: tensors that are mapped from another folder are copied */
  int32_t fail_if_exists;     /**< 1: a file that is there already is an error, not overwritten */
  int32_t verbatim_names;     /**< 1: file names are the keys as they are, not escaped */
  td_archive archive;         /**< one file instead of a folder, see td_archive.h; not in place */
  td_compression compression; /**< of the tensors in an archive; not with td_memmap_like() */
  int32_t dense_sub_tensordicts;      /**< 1: a sub-tensordict is saved as what it reads; 0: with all behind it */
  int32_t durable;            /**< 1: waits until all of it is on the disk, its name included */
  int32_t checksums;          /**< 1: a file with checksums for td_memmap_verify(); folders only */
} td_memmap_options;
#define TD_MEMMAP_OPTIONS_INIT {(uint32_t)sizeof(td_memmap_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * How a folder is read. Zero in every field but the first means the default.
 */
typedef struct td_load_options {
  uint32_t struct_size;       /**< sizeof(td_load_options) */
  td_device_type device_type; /**< where the tensors go; TD_DEVICE_META opens no file of values */
  int32_t device_index;       /**< which device of that kind; -1 for the current one */
  int32_t private_mapping;    /**< 1: what is written to the tensors does not reach the files */
  int32_t verbatim_names;     /**< 1: file names are the keys as they are, not escaped */
  uint32_t max_depth;         /**< deepest nesting accepted; 0: 1,000 */
  uint32_t max_entries;       /**< most entries accepted, all levels together; 0: 1,000,000 */
  int32_t write_through;      /**< 1: what is written to tensors of an archive reaches the file */
  const char *const *TD_NULLABLE subpath; /**< borrowed; names of a nested dictionary: it alone is read */
  size_t subpath_len;                     /**< number of names; 0: all is read */
} td_load_options;
#define TD_LOAD_OPTIONS_INIT \
  {(uint32_t)sizeof(td_load_options), 0, -1, 0, 0, 0, 0, 0, NULL, 0}

/**
 * Saves a dictionary to a folder and gives one that is mapped from it.
 *
 * The result is locked, lies on the CPU and writes through to the files. `td` is left alone.
 *
 * A path that ends with ".tdz" becomes an archive, and the result is what td_memmap_load() makes of it:
 * not locked, and what is written to it stays in this process.
 *
 * @param td      borrowed
 * @param dir     borrowed; UTF-8 path, made if missing; NULL maps memory that has no name
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name that cannot be stored), TD_ERR_DTYPE
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap(const td_tensordict *td, const char *TD_NULLABLE dir,
                    const td_memmap_options *TD_NULLABLE options,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Saves a dictionary to a folder and maps its own tensors from there: it becomes locked and lies on
 * the CPU.
 *
 * @param td      borrowed; changed; left as it was on failure
 * @param dir     borrowed; UTF-8 path, made if missing; NULL maps memory that has no name
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name that cannot be stored), TD_ERR_DTYPE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_inplace(td_tensordict *td, const char *TD_NULLABLE dir,
                            const td_memmap_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Makes a folder of the sizes and dtypes of a dictionary, filled with zeros, and maps it. With an
 * expanded dictionary this pre-allocates a data set of any size. Of an archive it is not locked, and what
 * is written to it reaches the file; see td_memmap_write_archive_checksums().
 *
 * @param td      borrowed; its values do not matter
 * @param dir     borrowed; UTF-8 path, made if missing; NULL maps memory that has no name
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name that cannot be stored), TD_ERR_DTYPE
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_like(const td_tensordict *td, const char *TD_NULLABLE dir,
                         const td_memmap_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Maps a folder that this library or Python's tensordict has written.
 *
 * The result is not locked. Files that can be written are mapped so that writes reach them; others
 * privately. An archive is mapped once: tensors that are stored and aligned lie in the mapping, others are
 * copied or inflated. What is written to them stays in this process unless `write_through` is given, which
 * a compressed archive refuses (TD_ERR_UNSUPPORTED).
 *
 * Each tensor of a folder takes one of the mappings that the system allows a process (vm.max_map_count, mostly
 * 65,530). Near that limit, tensors of up to 1 MiB that are mapped privately are read into memory instead;
 * where writes must reach the files, loading fails (TD_ERR_OUT_OF_MEMORY).
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json, or of an archive
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_DEVICE,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_load(const char *dir, const td_load_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * The folder behind a dictionary. Given after td_memmap(), td_memmap_inplace(), td_memmap_like() and
 * td_memmap_load().
 *
 * @param td       borrowed
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL, 0 when there is no folder; also written with
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_saved_path(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                        size_t *length) TD_NOEXCEPT;

/**
 * Waits until what was written to mapped tensors is on the disk. Tensors without a file do not count.
 *
 * @param td borrowed
 *
 * @return TD_OK, TD_ERR_IO
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_flush(const td_tensordict *td) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
