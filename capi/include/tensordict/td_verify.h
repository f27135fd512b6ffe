/* tensordict/td_verify.h: whether a folder, an archive or a file is whole, by checksums (Python has none). */
#ifndef TENSORDICT_TD_VERIFY_H
#define TENSORDICT_TD_VERIFY_H

#include "tensordict/td_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What is wrong with a file.
 */
typedef int32_t td_damage_kind;
enum {
  TD_DAMAGE_MISSING = 1,     /**< a file or folder that is named is not there */
  TD_DAMAGE_SHORT = 2,       /**< a file holds fewer bytes than it must */
  TD_DAMAGE_CHANGED = 3,     /**< the bytes are not those that the checksum was taken of */
  TD_DAMAGE_NOT_COVERED = 4, /**< there are checksums, and none of all of this file */
  TD_DAMAGE_FORMAT = 5,      /**< it says what cannot be */
  TD_DAMAGE_REFUSED = 6,     /**< a link, a pipe or the like in the place of a file or folder */
  TD_DAMAGE_UNREADABLE = 7   /**< the system cannot read it */
};

/**
 * One file that is damaged.
 */
typedef struct td_damage {
  uint32_t struct_size; /**< of the library; fields may be added at the end */
  td_damage_kind kind;  /**< what is wrong */
  const char *path;     /**< borrowed; UTF-8, relative to the folder */
  const char *message;  /**< borrowed; one line for people */
  uint64_t expected;    /**< bytes that it must hold, or that must be covered; 0: not known */
  uint64_t found;       /**< bytes that it holds, or that are covered; 0: not known */
} td_damage;

/**
 * Is told of each file that is damaged, on the thread that called, sorted by path. It must not unwind
 * (no exception, panic or longjmp). Returning anything but TD_OK ends the work.
 *
 * @param user   `user` of the options
 * @param damage borrowed; gone when the function has returned
 */
typedef td_status (*td_damage_fn)(void *TD_NULLABLE user, const td_damage *damage);

/**
 * How td_memmap_verify() and td_memmap_write_checksums() work. Zero in every field but the first means the
 * default.
 */
typedef struct td_verify_options {
  uint32_t struct_size; /**< sizeof(td_verify_options) */
  int32_t num_threads;  /**< how many threads read; 0 and 1: the calling one */
  td_damage_fn TD_NULLABLE damage;     /**< td_memmap_verify() only */
  void *TD_NULLABLE user;              /**< passed to `damage` */
  td_progress_fn TD_NULLABLE progress; /**< is told how many bytes of how many have been read */
  void *TD_NULLABLE progress_user;     /**< passed to `progress` */
} td_verify_options;
#define TD_VERIFY_OPTIONS_INIT {(uint32_t)sizeof(td_verify_options), 0, NULL, NULL, NULL, NULL}

/**
 * Checks a folder: all that td_memmap_load() would check, and, where it was saved with checksums, every
 * byte that they cover. It goes on behind what is damaged, and opens nothing outside of the folder. Of an
 * archive, each entry is held against its checksum.
 *
 * That something is damaged is no failure of the call.
 *
 * @param dir     borrowed; UTF-8 path of a folder or an archive
 * @param options borrowed; NULL for the defaults
 * @param damaged how many files are damaged; 0 on failure
 *
 * @return TD_OK, TD_ERR_IO (no such folder), TD_ERR_BUSY (it was replaced again and again meanwhile),
 *         TD_ERR_CALLBACK, or what a callback returned if it is a code of the library or at most -10000
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_memmap_verify(const char *dir, const td_verify_options *TD_NULLABLE options,
                           size_t *damaged) TD_NOEXCEPT;

/**
 * Gives a folder checksums of what it holds now: a file `checksums`, which "xxh128sum -c" reads, too.
 *
 * @param dir     borrowed; UTF-8 path of a folder
 * @param options borrowed; NULL for the defaults; `damage` must be NULL
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (it is damaged), TD_ERR_BUSY (another writer is at work there),
 *         TD_ERR_CALLBACK, or what a callback returned if it is a code of the library or at most -10000
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_write_checksums(const char *dir,
                                    const td_verify_options *TD_NULLABLE options) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
