/* tensordict/td_sub_tensordict.h: sub-tensordicts, which write through to their parent (C: td_sub_tensordict, td_sub_tensordict_parent; Python: _SubTensorDict, _get_sub_tensordict). */
#ifndef TENSORDICT_TD_SUB_TENSORDICT_H
#define TENSORDICT_TD_SUB_TENSORDICT_H

#include "tensordict/td_index.h"

TD_BEGIN_C

/**
 * Creates a sub-tensordict: it reads entries of its parent at an index, each time you ask, and
 * writes to the parent at that index, also where index tensors or masks select it.
 *
 * A new key is created in the parent, as zeros of the full batch size; of a lazy stack, in every
 * element. You cannot replace an
 * existing entry through the sub-tensordict, only write into it. The sub-tensordict keeps its
 * parent alive. It is locked if its parent is; you cannot lock it itself. It copies the tensors of
 * the index. If the parent's batch size changes so that the index would select another region,
 * calls return TD_ERR_SHAPE.
 *
 * @param td        borrowed; the parent; writes to the sub-tensordict change it
 * @param items     borrowed; NULL only when items_len is 0
 * @param items_len number of items
 * @param result    new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX (out of range, or too many items), TD_ERR_UNSUPPORTED (an item of
 *         unknown kind), TD_ERR_INVALID_ARGUMENT (a reserved field is not zero)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_sub_tensordict(const td_tensordict *td, const td_index_item *TD_NULLABLE items,
                            size_t items_len, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets the parent of a sub-tensordict. For a sub-tensordict of a sub-tensordict it is the
 * dictionary that both read. Python: get_parent_tensordict.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_WRONG_ENTRY (not a sub-tensordict)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_sub_tensordict_parent(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
