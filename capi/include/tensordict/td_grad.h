/* tensordict/td_grad.h: gradients (C: td_backward, td_grad, td_detach, td_set_requires_grad; Python: requires_grad_, grad, detach, zero_grad, torch.autograd.backward). */
#ifndef TENSORDICT_TD_GRAD_H
#define TENSORDICT_TD_GRAD_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * What td_detach() detaches.
 */
typedef int32_t td_detach_kind;
enum {
  TD_DETACH_HISTORY = 0, /**< the autograd history; libtorch still tracks writes through the result */
  TD_DETACH_DATA = 1     /**< also the tracking of writes: Python's `.data` */
};

/**
 * Detaches every tensor from its autograd history, sharing memory. The result is locked if `td` is.
 *
 * @param td     borrowed
 * @param kind   one of TD_DETACH_
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_detach(const td_tensordict *td, td_detach_kind kind,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Detaches the tensors themselves. Works on a locked dictionary. Python: detach_.
 *
 * @param td borrowed; its tensors change
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (a tensor is a view of a tensor with history)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_detach_inplace(td_tensordict *td) TD_NOEXCEPT;

/**
 * Turns the recording of gradients on or off for every tensor. Works on a locked dictionary.
 * td_measure() tells whether any tensor requires gradients. Python: requires_grad_.
 *
 * @param td       borrowed; all its tensors change; on failure none
 * @param required 1 or 0
 *
 * @return TD_OK, TD_ERR_DTYPE (a tensor is neither floating-point nor complex), TD_ERR_TORCH (a
 *         tensor was computed from others; detach it first)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_requires_grad(td_tensordict *td, int32_t required) TD_NOEXCEPT;

/**
 * Gets the gradients of the tensors, under the same keys. Entries without a gradient are left out.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure, and with TD_OK if no tensor has a
 *               gradient
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_grad(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Sets the gradients of the tensors. Tensors without an entry in `source` keep theirs.
 *
 * @param td     borrowed; all tensors that `source` names change; on failure none
 * @param source borrowed; NULL removes all gradients
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (`td` has no such tensor), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_DEVICE (a gradient does not match its tensor)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_grad(td_tensordict *td, const td_tensordict *TD_NULLABLE source) TD_NOEXCEPT;

/**
 * Flags of td_zero_grad().
 */
typedef uint32_t td_zero_grad_flags;
enum {
  TD_ZERO_GRAD_KEEP = 1 /**< sets gradients to zero; otherwise they are removed */
};

/**
 * Removes the gradients, or sets them to zero, before the next td_backward() adds to them.
 *
 * @param td    borrowed; its gradients change
 * @param flags 0 removes them (Python's `set_to_none = True`); or TD_ZERO_GRAD_KEEP
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (unknown flags)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_zero_grad(td_tensordict *td, td_zero_grad_flags flags) TD_NOEXCEPT;

/**
 * Makes the gradients shorter if all together, as one vector, are longer than `max_norm`: keeps one bad
 * batch from spoiling the parameters. Python: torch.nn.utils.clip_grad_norm_.
 *
 * @param td       borrowed; the gradients of its tensors change; those without one are left alone
 * @param max_norm the longest they may be, ≥ 0
 * @param norm     written on success: how long they were, 0 without gradients; may be NULL
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`max_norm`), TD_ERR_UNSUPPORTED (a nested tensor, or a sparse
 *         gradient)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_clip_grad_norm(td_tensordict *td, double max_norm,
                            double *TD_NULLABLE norm) TD_NOEXCEPT;

/**
 * Options of td_backward(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_backward_options {
  uint32_t struct_size; /**< sizeof(td_backward_options) */
  int32_t retain_graph; /**< 1: keeps the graph for another call; `create_graph` does too */
  int32_t create_graph; /**< 1: records the gradients themselves */
  int32_t reserved;     /**< zero */
} td_backward_options;
#define TD_BACKWARD_OPTIONS_INIT {sizeof(td_backward_options), 0, 0, 0}

/**
 * Computes gradients of all tensors that require them, and accumulates them in the tensors that
 * these were computed from.
 *
 * Compute what you want gradients of after td_set_grad_enabled(1).
 *
 * @param td       borrowed; tensors that require no gradients are skipped
 * @param gradient borrowed; the gradient to start from, for each of these tensors; NULL for ones,
 *                 if each has one element
 * @param inputs   borrowed; only its tensors receive gradients; NULL for all
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_SHAPE (a gradient does not match, or is required), TD_ERR_KEY_NOT_FOUND
 *         (`gradient` lacks an entry), TD_ERR_TORCH (no tensor requires gradients, or the graph was
 *         already freed)
 * @threadsafety needs exclusive access to all tensors that receive gradients
 */
TD_API(0, 1) TD_MUST_USE
td_status td_backward(const td_tensordict *td, const td_tensordict *TD_NULLABLE gradient,
                      const td_tensordict *TD_NULLABLE inputs,
                      const td_backward_options *TD_NULLABLE options) TD_NOEXCEPT;

TD_END_C

#endif
