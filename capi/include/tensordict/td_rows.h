/* tensordict/td_rows.h: operations that rearrange rows into new memory (C: td_repeat, td_gather, td_pad, …; Python: repeat, gather, roll, flip, pad, pad_sequence, unpad_sequence). */
#ifndef TENSORDICT_TD_ROWS_H
#define TENSORDICT_TD_ROWS_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * Flags of td_repeat().
 */
typedef uint32_t td_repeat_flags;
enum {
  TD_REPEAT_TILE = 1 /**< torch.tile: fewer counts are for the last dimensions; more counts add
                          dimensions in front; the result has no names */
};

/**
 * Repeats the content along each batch dimension, in new memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param counts borrowed; repetitions for each dimension, 0 or more; NULL only when dims is 0
 * @param dims   number of counts; equals the number of batch dimensions
 * @param flags  0, or TD_REPEAT_TILE
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a wrong number of counts, or a negative one), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_repeat(const td_tensordict *td, const int64_t *TD_NULLABLE counts, size_t dims,
                    td_repeat_flags flags, td_tensordict **result) TD_NOEXCEPT;

/**
 * Repeats each position of a batch dimension, in new memory. The result is locked if `td` is.
 *
 * @param td      borrowed; without batch dimensions it counts as one element
 * @param repeats borrowed; integers: one number, or one per position
 * @param dim     negative counts from the end
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_SHAPE (a wrong number of repeats),
 *         TD_ERR_DTYPE (not integers), TD_ERR_INVALID_ARGUMENT (a negative number),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_repeat_interleave(const td_tensordict *td, const td_tensor *repeats, int64_t dim,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * Shifts positions along batch dimensions, in new memory. Positions that leave at the end come back
 * at the start. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param shifts borrowed; number of positions to shift towards the end; NULL only when dims is 0
 * @param along  borrowed; the dimension of each shift; negative ones count from the end; NULL (with
 *               one shift) rolls the flattened batch
 * @param dims   number of shifts
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (`along` is NULL without exactly one
 *         shift)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_roll(const td_tensordict *td, const int64_t *TD_NULLABLE shifts,
                  const int64_t *TD_NULLABLE along, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Reverses batch dimensions, in new memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param order  borrowed; the dimensions; negative ones count from the end; NULL only when dims is
 *               0
 * @param dims   number of dimensions
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (a dimension is repeated)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_flip(const td_tensordict *td, const int64_t *TD_NULLABLE order, size_t dims,
                  td_tensordict **result) TD_NOEXCEPT;

/**
 * Rotates the plane of two batch dimensions by 90 degrees, from `dim0` towards `dim1`, in new
 * memory.
 *
 * @param td     borrowed
 * @param times  number of rotations; negative rotates the other way; a multiple of 4 returns the
 *               same dictionary
 * @param dim0   negative counts from the end
 * @param dim1   negative counts from the end
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (the same dimension twice)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_rot90(const td_tensordict *td, int64_t times, int64_t dim0, int64_t dim1,
                   td_tensordict **result) TD_NOEXCEPT;

/**
 * Picks one position of a batch dimension for each position of the others, like torch.gather.
 *
 * @param td     borrowed
 * @param dim    negative counts from the end
 * @param index  borrowed; integers, none negative; not longer than the batch in dimensions other
 *               than `dim`; its shape is the batch size of the result
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range), TD_ERR_SHAPE (`index` does not match the batch size),
 *         TD_ERR_DTYPE (not integers), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_gather(const td_tensordict *td, int64_t dim, const td_tensor *index,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Adds positions before and behind batch dimensions and fills them with a value.
 *
 * Names stay, but not that of a lazy stack's dimension alone. Non-tensor data is null at the new
 * positions.
 *
 * @param td     borrowed
 * @param sizes  borrowed; a pair per dimension, from the first on: positions before, positions
 *               behind; negative ones cut off; NULL only when dims is 0
 * @param dims   number of sizes; even
 * @param value  the padding, converted to the dtype of each tensor
 * @param result new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (an odd number of sizes, too many, or a cut larger than the
 *         dimension), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pad(const td_tensordict *td, const int64_t *TD_NULLABLE sizes, size_t dims,
                 double value, td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_pad_sequence(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_pad_sequence_options {
  uint32_t struct_size;                 /**< sizeof(td_pad_sequence_options) */
  int32_t left;                         /**< 1: the padding stands before the data */
  int64_t dim;                          /**< the dimension of each tensor to pad; negative counts from
                                             its end */
  double value;                         /**< the padding, converted to the dtype of each tensor */
  const char *const *TD_NULLABLE masks; /**< borrowed; paths for the masks, one per tensor, true where
                                             there was a value; NULL: no masks */
  size_t masks_len;                     /**< number of names in `masks` */
  const td_key *TD_NULLABLE keys;       /**< borrowed; tensors with a padding of their own; NULL: none */
  const double *TD_NULLABLE values;     /**< borrowed; the padding of each of `keys` */
  size_t keys_len;                      /**< number of `keys` and of `values` */
} td_pad_sequence_options;
#define TD_PAD_SEQUENCE_OPTIONS_INIT \
  {sizeof(td_pad_sequence_options), 0, 0, 0.0, NULL, 0, NULL, NULL, 0}

/**
 * Stacks dictionaries along a new first dimension, and pads each tensor to the longest.
 *
 * The result has the entries that all sources have. A lazy stack is read as dense. A batch dimension
 * grows with the tensors that are padded along it; non-tensor data is null there. A mask has the
 * batch size of the result, and the padded dimension last if that is a feature dimension.
 *
 * @param sources     borrowed
 * @param sources_len at least 1
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no source), TD_ERR_SHAPE (a tensor lacks that dimension,
 *         or other sizes differ), TD_ERR_KEY_INVALID, TD_ERR_KEY_NOT_FOUND (a key of `keys`),
 *         TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY (a tensor in one source, data in another),
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read the sources
 */
TD_API(0, 1) TD_MUST_USE
td_status td_pad_sequence(const td_tensordict *const *sources, size_t sources_len,
                          const td_pad_sequence_options *TD_NULLABLE options,
                          td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_unpad_sequence(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_unpad_sequence_options {
  uint32_t struct_size;                    /**< sizeof(td_unpad_sequence_options) */
  uint32_t reserved;                       /**< zero */
  int64_t dim;                             /**< the padded dimension of each sample's tensors; negative
                                                counts from the end */
  const td_tensor *TD_NULLABLE mask;       /**< borrowed; bools [samples, positions], true where there
                                                is a value, for all tensors; NULL: none */
  const td_tensordict *TD_NULLABLE masks;  /**< borrowed; a mask for each tensor under its key; NULL:
                                                none */
} td_unpad_sequence_options;
#define TD_UNPAD_SEQUENCE_OPTIONS_INIT \
  {sizeof(td_unpad_sequence_options), 0, 0, NULL, NULL}

/**
 * Takes the padding away that td_pad_sequence() added: a lazy stack of the samples along dimension
 * 0, each as long as its mask says, which share memory with `td`.
 *
 * Without `mask` and `masks`, the entry "masks" of `td` has a mask for each tensor, and is not in
 * the result. If all tensors are padded along a batch dimension, the samples' batch sizes shrink.
 *
 * @param td      borrowed; the first batch dimension is that of the samples
 * @param options borrowed; NULL for the defaults
 * @param result  new, unlocked; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension, or a mask of another shape), TD_ERR_DTYPE (a mask
 *         that holds no bools), TD_ERR_KEY_NOT_FOUND (no mask), TD_ERR_INDEX (a tensor lacks that
 *         dimension), TD_ERR_INVALID_ARGUMENT (`mask` and `masks`, or a mask with a hole)
 * @threadsafety safe while other threads only read `td` and the masks
 */
TD_API(0, 3) TD_MUST_USE
td_status td_unpad_sequence(const td_tensordict *td,
                            const td_unpad_sequence_options *TD_NULLABLE options,
                            td_tensordict **result) TD_NOEXCEPT;

/**
 * Makes a mask of the positions of a batch dimension that also occur in another dictionary,
 * compared by one tensor.
 *
 * @param td        borrowed
 * @param reference borrowed; has the same number of batch dimensions
 * @param path      borrowed; the tensor to compare
 * @param path_len  number of names
 * @param dim       negative counts from the end
 * @param result    new; a mask of one dimension; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX (dim
 *         out of range), TD_ERR_SHAPE (the tensors differ in sizes beside `dim`)
 * @threadsafety safe while other threads only read both
 */
TD_API(0, 1) TD_MUST_USE
td_status td_isin(const td_tensordict *td, const td_tensordict *reference,
                  const char *const *path, size_t path_len, int64_t dim,
                  td_tensor **result) TD_NOEXCEPT;

/**
 * Removes the positions of a batch dimension whose value in one tensor occurred before. The result
 * is in the order of these values.
 *
 * @param td        borrowed
 * @param path      borrowed; the tensor to compare
 * @param path_len  number of names
 * @param dim       negative counts from the end
 * @param result    new; free with td_free(); NULL on failure
 * @param positions new; the positions that remain, int64; free with td_tensor_free(); NULL on
 *                  failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_INDEX (dim
 *         out of range), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_remove_duplicates(const td_tensordict *td, const char *const *path, size_t path_len,
                               int64_t dim, td_tensordict **result,
                               td_tensor **positions) TD_NOEXCEPT;

/**
 * Groups the rows of the first batch dimension by the value of an entry, a tensor or non-tensor
 * data. The rows of a group stand in the order of `td`. Groups are sorted by their values; rows of
 * several numbers are compared one number after the other. NaN equals nothing: each is a group of
 * its own, behind the others.
 *
 * Pass `results_cap` 0 to get only values and number. There are at most as many groups as rows.
 *
 * @param td          borrowed
 * @param path        borrowed; the entry
 * @param path_len    number of names
 * @param values      new; a dictionary with this entry alone, a row for each group; free with
 *                    td_free(); NULL on failure
 * @param results     new; free each with td_free(); all NULL on failure, and behind the last
 * @param results_cap room in `results`, in handles
 * @param count       the number of groups; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (a dictionary or a
 *         nested tensor, or values that cannot be compared, such as 1 and "b"), TD_ERR_DTYPE (complex
 *         numbers), TD_ERR_SHAPE (no batch dimension), TD_ERR_DEVICE (a meta tensor),
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_group_by(const td_tensordict *td, const char *const *path, size_t path_len,
                      td_tensordict **values, td_tensordict **TD_NULLABLE results,
                      size_t results_cap, size_t *count) TD_NOEXCEPT;

TD_END_C

#endif
