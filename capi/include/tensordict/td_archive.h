/* tensordict/td_archive.h: a folder of td_memmap() as one zip file, .tdz (Python: pack_memmap, unpack_memmap). */
#ifndef TENSORDICT_TD_ARCHIVE_H
#define TENSORDICT_TD_ARCHIVE_H

#include "tensordict/td_memmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How files go into an archive and out of it. Zero in every field but the first means the default.
 */
typedef struct td_memmap_pack_options {
  uint32_t struct_size;       /**< sizeof(td_memmap_pack_options) */
  td_compression compression; /**< of the tensors; says nothing when unpacking */
  int32_t fail_if_exists;     /**< 1: an archive, or a folder, that is there already is an error */
  int32_t durable;            /**< 1: returns when all of it is on the disk */
} td_memmap_pack_options;
#define TD_MEMMAP_PACK_OPTIONS_INIT {(uint32_t)sizeof(td_memmap_pack_options), 0, 0, 0}

/**
 * Packs a folder that td_memmap() or Python's tensordict has written into one archive, as Python's
 * pack_memmap() does: any program that reads zip files reads it, td_memmap_load() opens it. Each tensor
 * that is not compressed begins at a multiple of 64 bytes. A file that was there is replaced once the new
 * one is whole.
 *
 * @param dir     borrowed; UTF-8 path of a folder with a meta.json
 * @param file    borrowed; UTF-8 path of the archive; the folders above it are made
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_BUSY (the folder was changed meanwhile), TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_pack(const char *dir, const char *file,
                         const td_memmap_pack_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Unpacks an archive into a folder, which td_memmap_load() opens. Nothing is written outside of it,
 * whatever the names in the archive are, and it is there as a whole or not at all.
 *
 * @param file    borrowed; UTF-8 path of an archive
 * @param dir     borrowed; UTF-8 path of a folder that is not there yet, or is empty
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (no archive, damaged, or a name that leads elsewhere),
 *         TD_ERR_UNSUPPORTED (encrypted, or compressed otherwise), TD_ERR_BUSY (another writer is there),
 *         TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_unpack(const char *file, const char *dir,
                           const td_memmap_pack_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Whether a path is that of a file that td_memmap_load() takes for an archive: a zip file with a meta.json
 * at its top.
 *
 * @param file   borrowed; UTF-8 path; there need be nothing
 * @param result 1 or 0
 *
 * @return TD_OK, TD_ERR_IO (it cannot be read)
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_is_archive(const char *file, int32_t *result) TD_NOEXCEPT;

/**
 * Computes the checksums of an archive anew, after its tensors were written to. td_memmap_load() does not
 * look at those of tensors that lie open; td_memmap_unpack() and other programs do.
 *
 * @param file borrowed; UTF-8 path of an archive
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_UNSUPPORTED
 * @threadsafety needs the archive for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_memmap_write_archive_checksums(const char *file) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
