/* tensordict/td_layout.h: arrays of structs as dictionaries, and back (Python: from_struct_array, to_struct_array). */
#ifndef TENSORDICT_TD_LAYOUT_H
#define TENSORDICT_TD_LAYOUT_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A member of a struct, and the entry that it is in a dictionary.
 */
typedef struct td_member {
  const char *const *path;        /**< one name for each level, NUL-terminated UTF-8 */
  size_t path_len;                /**< number of names, at least 1 */
  const int64_t *TD_NULLABLE sizes; /**< of an array; NULL when dims is 0 */
  size_t dims;                    /**< 0 for a number */
  size_t offset;                  /**< bytes from the begin of the struct */
  td_dtype dtype;                 /**< element type */
  int32_t reserved;               /**< zero */
} td_member;

/* A number: TD_MEMBER(struct point, x, TD_DTYPE_FLOAT32, "position", "x") inside an initialiser. */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_MEMBER(type, member, dtype, ...) \
  { TD_KEY(__VA_ARGS__), NULL, 0, offsetof(type, member), (dtype), 0 }
#endif

/**
 * Copies an array of structs into a dictionary: a tensor of its own for each member.
 *
 * @param data        borrowed; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must be the number of structs times `item_bytes`
 * @param batch_size  borrowed; how many structs there are; NULL only when batch_dims is 0
 * @param batch_dims  number of sizes; 0 for a single struct
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (sizes that do not fit, a member beyond the end of the struct),
 *         TD_ERR_DTYPE, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (two members of one path)
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_from_structs(const void *TD_NULLABLE data, size_t bytes,
                          const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member *TD_NULLABLE members,
                          size_t members_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Shows an array of structs as a dictionary: tensors over the structs themselves, without a copy.
 *
 * `release(user)` is called exactly once, from any thread, when the last tensor over the structs is gone,
 * and also when this call fails.
 *
 * @param data        consumed; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must be the number of structs times `item_bytes`
 * @param batch_size  borrowed; how many structs there are; NULL only when batch_dims is 0
 * @param batch_dims  number of sizes; 0 for a single struct
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 * @param release     NULL when nothing is to be released
 * @param user        passed to `release`
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, as for
 *         td_from_structs(); TD_ERR_UNSUPPORTED (a member does not lie at multiples of its element size)
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_view_structs(void *TD_NULLABLE data, size_t bytes,
                          const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member *TD_NULLABLE members,
                          size_t members_len, td_release_fn TD_NULLABLE release,
                          void *TD_NULLABLE user, td_tensordict **result) TD_NOEXCEPT;

/**
 * Copies entries of a dictionary into an array of structs, one for each element of the batch. From any
 * device. Bytes between the members, and other entries, stay as they are.
 *
 * @param td          borrowed
 * @param data        written; may be NULL when `bytes` is 0
 * @param bytes       size of `data`; must be the number of elements of the batch times `item_bytes`
 * @param item_bytes  bytes from one struct to the next
 * @param members     borrowed; NULL only when members_len is 0
 * @param members_len number of members
 *
 * @return TD_OK, TD_ERR_SHAPE, TD_ERR_DTYPE (an entry is not as its member), TD_ERR_KEY_NOT_FOUND,
 *         TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_to_structs(const td_tensordict *td, void *TD_NULLABLE data, size_t bytes,
                        size_t item_bytes, const td_member *TD_NULLABLE members,
                        size_t members_len) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
