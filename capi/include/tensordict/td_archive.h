/* tensordict/td_archive.h: archives, td_memmap() folders as one zip file, .tdz (C: td_memmap_pack, td_memmap_unpack; Python: pack_memmap, unpack_memmap). */
#ifndef TENSORDICT_TD_ARCHIVE_H
#define TENSORDICT_TD_ARCHIVE_H

#include "tensordict/td_memmap.h"

TD_BEGIN_C

/**
 * Options of td_memmap_pack() and td_memmap_unpack(). Set a field after `struct_size` to 0 for its
 * default.
 */
typedef struct td_memmap_pack_options {
  uint32_t struct_size;       /**< sizeof(td_memmap_pack_options) */
  td_compression compression; /**< how tensors are stored; ignored by td_memmap_unpack() */
  int32_t fail_if_exists;     /**< 1: fails if the archive, or the folder, already exists */
  int32_t durable;            /**< 1: returns when everything is on the disk */
} td_memmap_pack_options;
#define TD_MEMMAP_PACK_OPTIONS_INIT {sizeof(td_memmap_pack_options), 0, 0, 0}

/**
 * Packs a folder that td_memmap() or Python's tensordict wrote into one archive. Any zip program
 * can read it, and td_memmap_load() opens it. Each uncompressed tensor begins at a multiple of 64
 * bytes. An existing file is replaced once the new one is complete.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json
 * @param file    borrowed; UTF-8 path of the archive; missing parent folders are created
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_BUSY (the folder changed meanwhile), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_pack(const char *dir, const char *file,
                         const td_memmap_pack_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Unpacks an archive into a folder, which td_memmap_load() opens. Writes nothing outside the
 * folder, whatever names the archive holds. The folder appears complete or not at all.
 *
 * @param file    borrowed; UTF-8 path of an archive
 * @param dir     borrowed; UTF-8 path of a new or empty folder
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (not an archive, damaged, or a name that leaves the
 *         folder), TD_ERR_UNSUPPORTED (encrypted, or another compression), TD_ERR_BUSY (another
 *         writer uses the folder), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_unpack(const char *file, const char *dir,
                           const td_memmap_pack_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Tells whether td_memmap_load() would open a file as an archive: a zip file with a meta.json at
 * its top.
 *
 * @param file   borrowed; UTF-8 path; the file need not exist
 * @param result written on success; 1 or 0
 *
 * @return TD_OK, TD_ERR_IO (the file is unreadable)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_is_archive(const char *file, int32_t *result) TD_NOEXCEPT;

/**
 * Recomputes the checksums of an archive after you wrote to its tensors. td_memmap_load() does not
 * check those of uncompressed tensors; td_memmap_unpack() and other programs do. Python:
 * refresh_archive_checksums.
 *
 * @param file borrowed; UTF-8 path of an archive
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_UNSUPPORTED
 * @threadsafety needs exclusive access to the archive
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_write_archive_checksums(const char *file) TD_NOEXCEPT;

TD_END_C

#endif
