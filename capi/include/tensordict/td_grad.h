/* tensordict/td_grad.h: gradients of all tensors (Python: requires_grad_, grad, detach, zero_grad; torch.autograd.backward). */
#ifndef TENSORDICT_TD_GRAD_H
#define TENSORDICT_TD_GRAD_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What td_detach() leaves behind.
 */
typedef int32_t td_detach_kind;
enum {
  TD_DETACH_HISTORY = 0, /**< the history; libtorch still learns of writes through the result */
  TD_DETACH_DATA = 1     /**< it does not learn of them either: Python's `.data` */
};

/**
 * A dictionary over the same memory, of tensors that no history is recorded for. The lock is kept.
 *
 * @param td     borrowed
 * @param kind   one of TD_DETACH_
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such kind)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_detach(const td_tensordict *td, td_detach_kind kind,
                    td_tensordict **result) TD_NOEXCEPT;

/**
 * Takes the history from the tensors themselves. Allowed when locked.
 *
 * @param td borrowed; its tensors change
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (a tensor is a view of another one that is recorded)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_detach_inplace(td_tensordict *td) TD_NOEXCEPT;

/**
 * Switches the recording of gradients for every tensor. Allowed when locked. Whether any is recorded:
 * td_measure().
 *
 * @param td       borrowed; its tensors change; all, or none on failure
 * @param required 1 or 0
 *
 * @return TD_OK, TD_ERR_DTYPE (a tensor is neither floating nor complex), TD_ERR_TORCH (one was computed
 *         from others and cannot be switched off: detach it)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_requires_grad(td_tensordict *td, int32_t required) TD_NOEXCEPT;

/**
 * The gradients that the tensors have received, under the same keys. Entries without one are missing.
 *
 * @param td     borrowed
 * @param result new; free with td_free(); NULL on failure, and also with TD_OK when no tensor has a
 *               gradient
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_grad(const td_tensordict *td, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives gradients to the tensors. Those without an entry in `source` keep theirs.
 *
 * @param td     borrowed; its tensors change; all that are named, or none on failure
 * @param source borrowed; NULL takes all gradients away
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE (a gradient is not as
 *         the entry of its key)
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_set_grad(td_tensordict *td, const td_tensordict *TD_NULLABLE source) TD_NOEXCEPT;

/**
 * What td_zero_grad() does with gradients.
 */
typedef uint32_t td_zero_grad_flags;
enum {
  TD_ZERO_GRAD_KEEP = 1 /**< they stay and become zero */
};

/**
 * Takes the gradients away, or fills them with zeros, before the next td_backward() adds to them.
 *
 * @param td    borrowed; its gradients change
 * @param flags 0 takes them away (Python's `set_to_none = True`), or TD_ZERO_GRAD_KEEP
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (unknown flags)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_zero_grad(td_tensordict *td, td_zero_grad_flags flags) TD_NOEXCEPT;

/**
 * How td_backward() works. Zero in every field but the first means the default.
 */
typedef struct td_backward_options {
  uint32_t struct_size; /**< sizeof(td_backward_options) */
  int32_t retain_graph; /**< 1: the history is kept for another call; so it is with create_graph */
  int32_t create_graph; /**< 1: the gradients are recorded themselves */
  int32_t reserved;     /**< zero */
} td_backward_options;
#define TD_BACKWARD_OPTIONS_INIT {(uint32_t)sizeof(td_backward_options), 0, 0, 0}

/**
 * Computes gradients of all tensors that are recorded, and adds them up where these were computed from.
 *
 * What was to be recorded must have been computed after td_set_grad_enabled(1).
 *
 * @param td       borrowed; others are left out
 * @param gradient borrowed; the gradient of each recorded tensor to begin with; NULL for ones, when each
 *                 has one element
 * @param inputs   borrowed; only its tensors receive gradients; NULL for all that can
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_SHAPE (a gradient does not fit, or is needed), TD_ERR_KEY_NOT_FOUND (there is
 *         none for an entry), TD_ERR_TORCH (nothing is recorded; the history was used up)
 * @threadsafety needs all tensors that receive gradients for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_backward(const td_tensordict *td, const td_tensordict *TD_NULLABLE gradient,
                      const td_tensordict *TD_NULLABLE inputs,
                      const td_backward_options *TD_NULLABLE options) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
