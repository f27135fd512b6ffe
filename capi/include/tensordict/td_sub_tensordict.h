/* tensordict/td_sub_tensordict.h: a part that writes through to the whole (Python: _SubTensorDict, _get_sub_tensordict). */
#ifndef TENSORDICT_TD_SUB_TENSORDICT_H
#define TENSORDICT_TD_SUB_TENSORDICT_H

#include "tensordict/td_index.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A sub-tensordict. What is read is looked up there each time; what is written
 * goes to that part, also where index tensors or masks pick it.
 *
 * A key that the dictionary behind does not have yet is made there with zeros of the full batch
 * size. An entry that is there cannot be replaced through the sub-tensordict, only written in place. The sub-tensordict
 * keeps the dictionary alive; it is locked when that is, and cannot be locked itself. The index is its
 * own: tensors are copied. When the batch size behind it changes so that the index gives another part,
 * calls end with TD_ERR_SHAPE.
 *
 * @param td        borrowed; changed by what is written to the sub-tensordict
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_UNSUPPORTED, TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_sub_tensordict(const td_tensordict *td, const td_index_item *TD_NULLABLE items,
                            size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * The dictionary behind a sub-tensordict; of a sub-tensordict on a sub-tensordict the one that both are parts of.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (no sub-tensordict)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_sub_tensordict_parent(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
