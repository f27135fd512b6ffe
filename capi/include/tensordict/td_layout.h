/* tensordict/td_layout.h: arrays of C structs (C: td_from_structs, td_view_structs, td_to_structs; Python: from_struct_array, to_struct_array). */
#ifndef TENSORDICT_TD_LAYOUT_H
#define TENSORDICT_TD_LAYOUT_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * A member of a struct, and its entry in a dictionary.
 */
typedef struct td_member {
  const char *const *path;          /**< borrowed; one name per level, NUL-terminated UTF-8 */
  size_t path_len;                  /**< number of names, at least 1 */
  const int64_t *TD_NULLABLE sizes; /**< sizes of an array member; NULL only when dims is 0 */
  size_t dims;                      /**< number of sizes; 0 for a single number */
  size_t offset;                    /**< offset in the struct, in bytes */
  td_dtype dtype;                   /**< element type */
  int32_t reserved;                 /**< zero */
} td_member;

/* A member that is one number, in an initialiser:
 * TD_MEMBER(struct point, x, TD_DTYPE_FLOAT32, "position", "x"). */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_MEMBER(type, member, dtype, ...) \
  { TD_KEY(__VA_ARGS__), NULL, 0, offsetof(type, member), (dtype), 0 }
#endif

/**
 * Copies an array of structs into a dictionary with one tensor per member.
 *
 * @param data        borrowed; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must equal the number of structs times `item_bytes`
 * @param batch_size  borrowed; the number of structs, as sizes; NULL only when batch_dims is 0
 * @param batch_dims  number of sizes; 0 for a single struct
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (wrong sizes, or a member beyond the end of the struct),
 *         TD_ERR_DTYPE, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (two members with one path)
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_from_structs(const void *TD_NULLABLE data, size_t bytes,
                          const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member *TD_NULLABLE members,
                          size_t members_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Views an array of structs as a dictionary, without a copy.
 *
 * The library calls `release(user)` exactly once, from any thread, when the last tensor over the
 * structs is gone, or when this call fails.
 *
 * @param data        consumed; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must equal the number of structs times `item_bytes`
 * @param batch_size  borrowed; the number of structs, as sizes; NULL only when batch_dims is 0
 * @param batch_dims  number of sizes; 0 for a single struct
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 * @param release     NULL if there is nothing to release
 * @param user        passed to `release`
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, as for
 *         td_from_structs(); TD_ERR_UNSUPPORTED (a member is not aligned to its element size)
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_view_structs(void *TD_NULLABLE data, size_t bytes,
                          const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member *TD_NULLABLE members,
                          size_t members_len, td_release_fn TD_NULLABLE release,
                          void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * Copies entries of a dictionary into an array of structs, one per element of the batch. Works from
 * any device. Bytes between the members stay unchanged; entries without a member are skipped.
 *
 * @param td          borrowed
 * @param data        written; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must equal the number of elements of the batch times
 *                    `item_bytes`
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE (an entry does not match its member),
 *         TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_structs(const td_tensordict *td, void *TD_NULLABLE data, size_t bytes,
                        size_t item_bytes, const td_member *TD_NULLABLE members,
                        size_t members_len) TD_NOEXCEPT;

TD_END_C

#endif
