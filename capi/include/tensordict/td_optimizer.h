/* tensordict/td_optimizer.h: gradient descent on a dictionary of parameters (C: td_optimizer_create, td_optimizer_step, …; Python: torch.optim). */
#ifndef TENSORDICT_TD_OPTIMIZER_H
#define TENSORDICT_TD_OPTIMIZER_H

#include "tensordict/td_grad.h"

TD_BEGIN_C

/**
 * An optimiser: it changes parameters along their gradients and remembers what it needs for that.
 */
typedef struct td_optimizer td_optimizer;

/**
 * Which rule an optimiser follows.
 */
typedef int32_t td_optimizer_kind;
enum {
  TD_OPTIMIZER_SGD = 0,  /**< stochastic gradient descent; torch.optim.SGD */
  TD_OPTIMIZER_ADAM = 1, /**< torch.optim.Adam */
  TD_OPTIMIZER_ADAMW = 2 /**< torch.optim.AdamW: Adam with decoupled weight decay */
};

/**
 * Flags of td_optimizer_create().
 */
typedef uint32_t td_optimizer_flags;
enum {
  TD_OPTIMIZER_NESTEROV = 1, /**< SGD: Nesterov momentum; needs `momentum`, and no `dampening` */
  TD_OPTIMIZER_AMSGRAD = 2   /**< Adam and AdamW: the AMSGrad variant */
};

/**
 * Options of td_optimizer_create(). A number of 0 is 0, not its default: start from
 * TD_OPTIMIZER_OPTIONS_INIT. It has Python's defaults, except that AdamW's weight_decay is 0.01
 * there.
 */
typedef struct td_optimizer_options {
  uint32_t struct_size;     /**< sizeof(td_optimizer_options) */
  td_optimizer_flags flags; /**< variants */
  double lr;                /**< learning rate, ≥ 0 */
  double weight_decay;      /**< ≥ 0 */
  double momentum;          /**< SGD: ≥ 0 */
  double dampening;         /**< SGD: ≥ 0 */
  double beta1;             /**< Adam and AdamW: 0 ≤ beta1 < 1 */
  double beta2;             /**< Adam and AdamW: 0 ≤ beta2 < 1 */
  double eps;               /**< Adam and AdamW: ≥ 0 */
} td_optimizer_options;
#define TD_OPTIMIZER_OPTIONS_INIT \
  {sizeof(td_optimizer_options), 0, 1e-3, 0, 0, 0, 0.9, 0.999, 1e-8}

/**
 * Makes an optimiser of those tensors of a dictionary that require gradients.
 *
 * It keeps these tensors, not the dictionary: td_module_params() gives those of a module. After
 * td_module_set_params() the module has others, and needs another optimiser. A tensor that stands in
 * several places is one parameter.
 *
 * @param params  borrowed; entries that require no gradients, such as buffers, are left alone
 * @param kind    a TD_OPTIMIZER_ constant
 * @param options borrowed; NULL for Python's defaults of that kind; fields of other kinds are
 *                ignored
 * @param result  new; free with td_optimizer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no tensor requires gradients; a number is out of range;
 *         an unknown kind or flag), TD_ERR_TORCH (a parameter was computed from other tensors),
 *         TD_ERR_UNSUPPORTED (a parameter is complex, or lies in a lazy stack)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_create(const td_tensordict *params, td_optimizer_kind kind,
                              const td_optimizer_options *TD_NULLABLE options,
                              td_optimizer **result) TD_NOEXCEPT;

/**
 * Frees an optimiser. The parameters stay.
 *
 * @param optimizer consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 2) void td_optimizer_free(td_optimizer *TD_NULLABLE optimizer) TD_NOEXCEPT;

/**
 * Changes each parameter that has a gradient, in place, by one step. td_backward() gives gradients.
 *
 * @param optimizer borrowed
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (a sparse gradient), TD_ERR_TORCH (a parameter cannot be written
 *         in place)
 * @threadsafety needs exclusive access to the parameters
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_step(td_optimizer *optimizer) TD_NOEXCEPT;

/**
 * Removes the gradients of the parameters, or sets them to zero, before the next td_backward() adds
 * to them.
 *
 * @param optimizer borrowed
 * @param flags     0 removes them; or TD_ZERO_GRAD_KEEP
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (unknown flags)
 * @threadsafety needs exclusive access to the parameters
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_zero_grad(td_optimizer *optimizer, td_zero_grad_flags flags) TD_NOEXCEPT;

/**
 * Gets the learning rate.
 *
 * @param optimizer borrowed
 * @param result    the learning rate
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_lr(const td_optimizer *optimizer, double *result) TD_NOEXCEPT;

/**
 * Sets the learning rate, for a schedule of yours.
 *
 * @param optimizer borrowed
 * @param lr        ≥ 0
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT
 * @threadsafety needs exclusive access to `optimizer`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_set_lr(td_optimizer *optimizer, double lr) TD_NOEXCEPT;

/**
 * Gets what the optimiser remembers, for a checkpoint: in the place of each parameter a dictionary
 * with "momentum_buffer" (SGD with momentum), or "step", "exp_avg", "exp_avg_sq" and, with
 * TD_OPTIMIZER_AMSGRAD, "max_exp_avg_sq". Parameters that no step has changed are left out.
 *
 * @param optimizer borrowed
 * @param result    new; free with td_free(); without batch size; its tensors are those of the
 *                  optimiser, which the next step changes: clone it to keep it; NULL on failure
 *
 * @return TD_OK
 * @threadsafety needs exclusive access to `optimizer`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_state(const td_optimizer *optimizer, td_tensordict **result) TD_NOEXCEPT;

/**
 * Replaces what the optimiser remembers. Parameters that are not in `state` start anew.
 *
 * @param optimizer borrowed; unchanged on failure
 * @param state     borrowed; as td_optimizer_state() gives it; its values are copied
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (an entry of a parameter is missing), TD_ERR_KEY_INVALID (an
 *         entry belongs to no parameter, or to another kind of optimiser), TD_ERR_WRONG_ENTRY,
 *         TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT ("step" is no number of steps)
 * @threadsafety needs exclusive access to `optimizer`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_optimizer_load_state(td_optimizer *optimizer, const td_tensordict *state) TD_NOEXCEPT;

TD_END_C

#endif
