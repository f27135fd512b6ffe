/* tensordict/td_verify.h: checks a folder, an archive or a file for damage, by checksums (C: td_memmap_verify, td_memmap_write_checksums; Python: no equivalent). */
#ifndef TENSORDICT_TD_VERIFY_H
#define TENSORDICT_TD_VERIFY_H

#include "tensordict/td_map.h"

TD_BEGIN_C

/**
 * What is wrong with a file.
 */
typedef int32_t td_damage_kind;
enum {
  TD_DAMAGE_MISSING = 1,     /**< a file or folder is missing */
  TD_DAMAGE_SHORT = 2,       /**< a file is too short */
  TD_DAMAGE_CHANGED = 3,     /**< the bytes do not match the checksum */
  TD_DAMAGE_NOT_COVERED = 4, /**< there are checksums, but not for the whole of this file */
  TD_DAMAGE_FORMAT = 5,      /**< the content is invalid */
  TD_DAMAGE_REFUSED = 6,     /**< a link, a pipe or the like instead of a file or folder */
  TD_DAMAGE_UNREADABLE = 7   /**< the system cannot read it */
};

/**
 * One damaged file.
 */
typedef struct td_damage {
  uint32_t struct_size; /**< size in the library; later releases may add fields at the end */
  td_damage_kind kind;  /**< what is wrong */
  const char *path;     /**< borrowed; UTF-8, relative to the folder */
  const char *message;  /**< borrowed; one line of text for people */
  uint64_t expected;    /**< bytes that it must hold, or that checksums must cover; 0: unknown */
  uint64_t found;       /**< bytes that it holds, or that checksums cover; 0: unknown */
} td_damage;

/**
 * Your function, called for each damaged file, on the calling thread, sorted by path. It must not
 * unwind (no exception, panic or longjmp). If it returns anything but TD_OK, the check ends.
 *
 * @param user   the `user` of the options
 * @param damage borrowed; valid until the function returns
 */
typedef td_status (*td_damage_fn)(void *TD_NULLABLE user, const td_damage *damage);

/**
 * Options of td_memmap_verify() and td_memmap_write_checksums(). Set a field after `struct_size` to
 * 0 for its default.
 */
typedef struct td_verify_options {
  uint32_t struct_size;                /**< sizeof(td_verify_options) */
  int32_t num_threads;                 /**< number of threads that read; 0 and 1: the calling thread */
  td_damage_fn TD_NULLABLE damage;     /**< for td_memmap_verify() only */
  void *TD_NULLABLE user;              /**< passed to `damage` */
  td_progress_fn TD_NULLABLE progress; /**< gets the number of bytes read, and of all bytes */
  void *TD_NULLABLE progress_user;     /**< passed to `progress` */
} td_verify_options;
#define TD_VERIFY_OPTIONS_INIT {sizeof(td_verify_options), 0, NULL, NULL, NULL, NULL}

/**
 * Checks a folder: everything that td_memmap_load() checks and, if it was saved with checksums,
 * every byte that they cover. It continues after damage, and follows no link below the folder. In
 * an archive it checks each entry against its checksum.
 *
 * Damage is not an error of the call: look at `damaged`. Reads every byte of the files: the time is
 * that of reading them.
 *
 * @param dir     borrowed; UTF-8 path of a folder or an archive
 * @param options borrowed; NULL for the defaults
 * @param damaged number of damaged files; 0 on failure
 *
 * @return TD_OK, TD_ERR_IO (no such folder), TD_ERR_BUSY (the folder was replaced again and again
 *         meanwhile), or the code that a callback returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_verify(const char *dir, const td_verify_options *TD_NULLABLE options,
                           size_t *damaged) TD_NOEXCEPT;

/**
 * Writes checksums of the current content of a folder into its file `checksums`. "xxh128sum -c" can
 * read it too.
 *
 * @param dir     borrowed; UTF-8 path of a folder
 * @param options borrowed; NULL for the defaults; `damage` must be NULL
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (the folder is damaged), TD_ERR_BUSY (another writer uses
 *         the folder), or the code that a callback returned; TD_ERR_CALLBACK if that code is
 *         unknown
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_write_checksums(const char *dir,
                                    const td_verify_options *TD_NULLABLE options) TD_NOEXCEPT;

TD_END_C

#endif
