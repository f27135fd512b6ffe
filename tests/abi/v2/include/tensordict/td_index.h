/* tensordict/td_index.h: index expressions, for reading and for writing. */
#ifndef TENSORDICT_TD_INDEX_H
#define TENSORDICT_TD_INDEX_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The kind of one item of an index.
 */
typedef int32_t td_index_kind;
enum {
  TD_INDEX_INT = 1,      /**< start: the position; removes the dimension */
  TD_INDEX_SLICE = 2,    /**< start, stop and step where the flags say so; step at least 1 */
  TD_INDEX_ELLIPSIS = 3, /**< all dimensions that no other item speaks of; at most once */
  TD_INDEX_NONE = 4,     /**< a new dimension of size 1 */
  TD_INDEX_TENSOR = 5,   /**< tensor: integers, or a boolean mask over as many dimensions as it has */
  TD_INDEX_BOOL = 6      /**< start: 1 for a new dimension of size 1, 0 for one of size 0 */
};

/**
 * Which of the numbers of a slice are given.
 */
typedef uint32_t td_index_flags;
enum {
  TD_INDEX_HAS_START = 1, /**< start is given; else from the beginning */
  TD_INDEX_HAS_STOP = 2,  /**< stop is given; else to the end */
  TD_INDEX_HAS_STEP = 4   /**< step is given; else 1 */
};

/**
 * One item of an index. 64 bytes, for ever.
 */
typedef struct td_index_item {
  td_index_kind kind;                  /**< which of the fields count */
  td_index_flags flags;                /**< for a slice; zero otherwise */
  int64_t start;                       /**< negative counts from the end */
  int64_t stop;                        /**< negative counts from the end */
  int64_t step;                        /**< at least 1 */
  const td_tensor *TD_NULLABLE tensor; /**< borrowed; for TD_INDEX_TENSOR */
  uint64_t reserved[3];                /**< zero */
} td_index_item;

/**
 * Reads a part of a dictionary: the index is applied to the batch dimensions of every entry.
 *
 * Integers, slices, new dimensions and the ellipsis give views that share memory; tensors and masks
 * copy. An index that changes nothing gives the same dictionary.
 *
 * @param td        borrowed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_UNSUPPORTED (a kind unknown to this version),
 *         TD_ERR_INVALID_ARGUMENT (a reserved field that is not zero)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_index(const td_tensordict *td, const td_index_item *TD_NULLABLE items,
                   size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary into a part of another one. Existing entries are written in place.
 *
 * A key that `td` does not have yet is made with zeros of the full batch size first. Keys of `td`
 * that `source` does not have are left alone. Checked as a whole before the first value is written.
 *
 * The batch size of `source` may be that of the part, or the last sizes of it: then `source` is expanded.
 * With any other one, the entries of `source` must begin with the batch size of the part, which is read
 * instead of its own. So a source without batch dimensions is not expanded, whereas its entries may be.
 *
 * @param td        borrowed; changed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed; its batch size as said above
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE, TD_ERR_LOCKED (a new key), TD_ERR_WRONG_ENTRY
 * @threadsafety needs the dictionary for itself; safe beside calls that only read `source`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                    const td_tensordict *source) TD_NOEXCEPT;

/**
 * Writes one tensor, broadcast, into a part of every tensor of a dictionary. A tensor without
 * dimensions fills.
 *
 * @param td        borrowed; its values change
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_fill_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                     const td_tensor *source) TD_NOEXCEPT;

/**
 * Reads a part of a tensor; the same rules as td_index(), over all its dimensions.
 *
 * @param tensor    borrowed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_UNSUPPORTED, TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_index(const td_tensor *tensor, const td_index_item *TD_NULLABLE items,
                          size_t items_len, td_tensor **result) TD_NOEXCEPT;

/**
 * Writes a tensor, broadcast and converted, into a part of another one.
 *
 * @param tensor    borrowed; changed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE
 * @threadsafety needs `tensor` for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_set_at(td_tensor *tensor, const td_index_item *TD_NULLABLE items,
                           size_t items_len, const td_tensor *source) TD_NOEXCEPT;

/**
 * Turns text into index items: integers, slices, "...", "None" and "True" / "False", separated by
 * commas, as in Python: "..., ::2, None". Blanks do not count. Tensors cannot be written as text.
 *
 * @param text      borrowed; NUL-terminated; "" gives no item
 * @param items     written when all items fit
 * @param items_cap how many items `items` can take; 0 asks for their number only
 * @param items_len the number of items; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (the message points at the character), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_index_parse(const char *text, td_index_item *TD_NULLABLE items, size_t items_cap,
                         size_t *items_len) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* C99 sugar: td_index_item at[] = {TD_I_INT(-1), TD_I_ELLIPSIS, TD_I_SLICE(0, 2)}; */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_I_INT(position) {TD_INDEX_INT, 0, (position), 0, 0, NULL, {0, 0, 0}}
#define TD_I_ALL {TD_INDEX_SLICE, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_SLICE(first, past) \
  {TD_INDEX_SLICE, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP, (first), (past), 0, NULL, {0, 0, 0}}
#define TD_I_FROM(first) {TD_INDEX_SLICE, TD_INDEX_HAS_START, (first), 0, 0, NULL, {0, 0, 0}}
#define TD_I_UNTIL(past) {TD_INDEX_SLICE, TD_INDEX_HAS_STOP, 0, (past), 0, NULL, {0, 0, 0}}
#define TD_I_STEP(first, past, by)                                                            \
  {TD_INDEX_SLICE, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP, (first), (past), \
   (by), NULL, {0, 0, 0}}
#define TD_I_ELLIPSIS {TD_INDEX_ELLIPSIS, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_NONE {TD_INDEX_NONE, 0, 0, 0, 0, NULL, {0, 0, 0}}
#define TD_I_TENSOR(handle) {TD_INDEX_TENSOR, 0, 0, 0, 0, (handle), {0, 0, 0}}
#define TD_I_BOOL(truth) {TD_INDEX_BOOL, 0, (truth), 0, 0, NULL, {0, 0, 0}}
#endif

#endif
