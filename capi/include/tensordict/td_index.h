/* tensordict/td_index.h: index expressions, for reading and writing (C: td_index, td_set_at, td_index_item; Python: td[index], td[index] = other). */
#ifndef TENSORDICT_TD_INDEX_H
#define TENSORDICT_TD_INDEX_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * The kind of an index item.
 */
typedef int32_t td_index_kind;
enum {
  TD_INDEX_INT = 1,      /**< start: the position; removes the dimension */
  TD_INDEX_SLICE = 2,    /**< start, stop and step as the flags say; step is at least 1 */
  TD_INDEX_ELLIPSIS = 3, /**< all dimensions that no other item covers; at most once */
  TD_INDEX_NONE = 4,     /**< a new dimension of size 1 */
  TD_INDEX_TENSOR = 5,   /**< tensor: integers, or a boolean mask that covers as many dimensions as
                              it has */
  TD_INDEX_BOOL = 6      /**< start: 1 for a new dimension of size 1, 0 for one of size 0 */
};

/**
 * Which numbers of a slice are given.
 */
typedef uint32_t td_index_flags;
enum {
  TD_INDEX_HAS_START = 1, /**< start is given; otherwise the slice starts at the beginning */
  TD_INDEX_HAS_STOP = 2,  /**< stop is given; otherwise the slice goes to the end */
  TD_INDEX_HAS_STEP = 4   /**< step is given; otherwise 1 */
};

/**
 * One item of an index. Its size stays 64 bytes in every release.
 */
typedef struct td_index_item {
  td_index_kind kind;                  /**< which fields are used */
  td_index_flags flags;                /**< for a slice; zero for other kinds */
  int64_t start;                       /**< negative counts from the end */
  int64_t stop;                        /**< negative counts from the end */
  int64_t step;                        /**< at least 1 */
  const td_tensor *TD_NULLABLE tensor; /**< borrowed; for TD_INDEX_TENSOR */
  uint64_t reserved[3];                /**< zero */
} td_index_item;

/**
 * Applies an index to the batch dimensions of every entry.
 *
 * Integers, slices, new dimensions and the ellipsis give views that share memory. Tensors and masks
 * copy. An index that changes nothing returns the same dictionary.
 *
 * @param td        borrowed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range, or too many items), TD_ERR_UNSUPPORTED (a kind that
 *         this version does not know), TD_ERR_INVALID_ARGUMENT (a reserved field is not zero)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_index(const td_tensordict *td, const td_index_item *TD_NULLABLE items,
                   size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary into another one at an index. Existing entries are written in place.
 *
 * Keys that `td` lacks are first created as zeros of the full batch size; of a lazy stack, only in
 * the elements that the index selects. Keys that `source` lacks stay unchanged. The whole write is
 * checked before the first value changes.
 *
 * The batch size of `source` may equal that of the indexed region, or its last sizes; then `source`
 * is expanded. With any other batch size, the entries of `source` must themselves begin with the
 * batch size of the region. So a source without batch dimensions is not expanded, but its entries
 * may be; of these, leading dimensions of size 1 that the region lacks are dropped, as in libtorch.
 * A lazy stack takes a source whose batch size broadcasts to that of the region, and no other: one
 * without batch dimensions is written whole into each selected element (since 0.3).
 *
 * @param td        borrowed; changed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed; see above for its batch size
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE (`source` does not fit the region), TD_ERR_LOCKED (a
 *         new key), TD_ERR_WRONG_ENTRY (a tensor on one side, a dictionary on the other)
 * @threadsafety needs exclusive access to `td`; other threads may read `source`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                    const td_tensordict *source) TD_NOEXCEPT;

/**
 * Writes one tensor, broadcast, into every tensor of a dictionary at an index. A scalar fills the
 * region.
 *
 * @param td        borrowed; its values change
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE (the sizes cannot be broadcast)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_fill_at(td_tensordict *td, const td_index_item *TD_NULLABLE items, size_t items_len,
                     const td_tensor *source) TD_NOEXCEPT;

/**
 * Indexes a tensor over all its dimensions, by the rules of td_index().
 *
 * @param tensor    borrowed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_UNSUPPORTED, TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_index(const td_tensor *tensor, const td_index_item *TD_NULLABLE items,
                          size_t items_len, td_tensor **result) TD_NOEXCEPT;

/**
 * Writes a tensor, broadcast and converted, into another tensor at an index.
 *
 * @param tensor    borrowed; changed
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param source    borrowed
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_SHAPE (the sizes cannot be broadcast)
 * @threadsafety needs exclusive access to `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_set_at(td_tensor *tensor, const td_index_item *TD_NULLABLE items,
                           size_t items_len, const td_tensor *source) TD_NOEXCEPT;

/**
 * Parses text into index items, as in Python: integers, slices, "...", "None", "True" and "False",
 * separated by commas, such as "..., ::2, None". Spaces do not matter. Text cannot hold tensors.
 *
 * @param text      borrowed; NUL-terminated; "" gives no items
 * @param items     written when all items fit
 * @param items_cap room in `items`, in items; 0 asks for their number only
 * @param items_len the number of items; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (the message points at the character), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_index_parse(const char *text, td_index_item *TD_NULLABLE items, size_t items_cap,
                         size_t *items_len) TD_NOEXCEPT;

TD_END_C

/* Shorthand: td_index_item at[] = {TD_I_INT(-1), TD_I_ELLIPSIS, TD_I_SLICE(0, 2)}; */
#if !defined(SWIG)
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
