/* tensordict/td_pack.h: all tensors of a dictionary in one (C: td_pack, td_pack_layout, td_unpack; Python: pack, PackLayout). */
#ifndef TENSORDICT_TD_PACK_H
#define TENSORDICT_TD_PACK_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Packs all tensors of a dictionary into one, such as all observations into the input of a network.
 * The dimensions of each tensor behind the batch become one, and all stand side by side: columns, in
 * the order of the keys, whose names are joined with dots and compared byte by byte.
 *
 * @param td     borrowed; its tensors have one dtype and one device
 * @param dim    where the columns stand among the batch dimensions; negative counts from behind the
 *               last: -1 is behind all
 * @param layout borrowed; JSON text of td_pack_layout(): the order of the columns, which `td` must
 *               fit; NULL: that of `td`
 * @param result new, contiguous; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (dim out of range), TD_ERR_DTYPE (different dtypes), TD_ERR_DEVICE,
 *         TD_ERR_WRONG_ENTRY (non-tensor data), TD_ERR_UNSUPPORTED (a nested tensor), TD_ERR_SHAPE
 *         (elements of a lazy stack that differ, or other shapes or another dim than in `layout`),
 *         TD_ERR_KEY_NOT_FOUND (other keys than in `layout`), TD_ERR_FORMAT,
 *         TD_ERR_INVALID_ARGUMENT (`layout` is not a layout), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_pack(const td_tensordict *td, int64_t dim, const char *TD_NULLABLE layout,
                  td_tensor **result) TD_NOEXCEPT;

/**
 * Gets where td_pack() puts each tensor of a dictionary, as JSON: `keys` (the names of each, in the
 * order of the columns), `shapes` (of each, without the batch dimensions), `dim` (from the end),
 * `nested` (dictionaries inside, with `key`, `batch` beyond that of `td`, and `type` of a
 * tensorclass), `device`, `type`, `offsets` (the first column of each) and `numel` (their number).
 * td_pack() and td_unpack() need `keys` and `shapes` alone. Pass `text_cap` 0 to get only the
 * length.
 *
 * @param td       borrowed
 * @param dim      as for td_pack()
 * @param text     written, with a NUL, if there is room
 * @param text_cap room in `text`, in bytes
 * @param length   the length without the NUL; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INDEX, TD_ERR_WRONG_ENTRY, TD_ERR_UNSUPPORTED,
 *         TD_ERR_SHAPE
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_pack_layout(const td_tensordict *td, int64_t dim, char *TD_NULLABLE text,
                         size_t text_cap, size_t *length) TD_NOEXCEPT;

/**
 * Makes a dictionary of a packed tensor, such as the output of a network. Its tensors share memory
 * with `packed`. Its batch size is that of `packed` without the columns, which may be another one
 * than that of the dictionary that was packed. It has the device of `packed` if the layout has one.
 *
 * @param packed borrowed
 * @param layout borrowed; JSON text of td_pack_layout()
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (no such dimension), TD_ERR_SHAPE (another number of columns),
 *         TD_ERR_FORMAT, TD_ERR_INVALID_ARGUMENT (`layout` is not a layout), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS
 * @threadsafety safe while other threads only read `packed`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_unpack(const td_tensor *packed, const char *layout,
                    td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
