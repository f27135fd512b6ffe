//! Gradient descent on a dictionary of parameters.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Result};
use crate::handle::Handle;

/// Which rule an [`Optimizer`] follows, with Python's defaults.
#[derive(Clone, Copy, Debug)]
pub struct OptimizerKind {
    kind: sys::td_optimizer_kind,
    raw: sys::td_optimizer_options,
}

impl OptimizerKind {
    fn new(kind: sys::td_optimizer_kind) -> Self {
        Self { kind, raw: Default::default() }
    }

    /// Stochastic gradient descent.
    pub fn sgd() -> Self {
        Self::new(sys::TD_OPTIMIZER_SGD)
    }

    /// Adam.
    pub fn adam() -> Self {
        Self::new(sys::TD_OPTIMIZER_ADAM)
    }

    /// AdamW: Adam with decoupled weight decay, 0.01 by default.
    pub fn adamw() -> Self {
        Self::new(sys::TD_OPTIMIZER_ADAMW).weight_decay(0.01)
    }

    setters! {
        /// The learning rate.
        lr(lr: f64) => raw.lr;
        /// How strongly parameters are drawn to zero.
        weight_decay(decay: f64) => raw.weight_decay;
        /// Adam and AdamW: what is added to the denominator.
        eps(eps: f64) => raw.eps;
    }

    /// SGD: momentum, and how much of each new gradient it leaves out.
    pub fn momentum(mut self, momentum: f64, dampening: f64) -> Self {
        self.raw.momentum = momentum;
        self.raw.dampening = dampening;
        self
    }

    /// SGD: Nesterov momentum.
    pub fn nesterov(mut self) -> Self {
        self.raw.flags |= sys::TD_OPTIMIZER_NESTEROV;
        self
    }

    /// Adam and AdamW: how slowly the means of gradients and of their squares change.
    pub fn betas(mut self, first: f64, second: f64) -> Self {
        self.raw.beta1 = first;
        self.raw.beta2 = second;
        self
    }

    /// Adam and AdamW: the AMSGrad variant.
    pub fn amsgrad(mut self) -> Self {
        self.raw.flags |= sys::TD_OPTIMIZER_AMSGRAD;
        self
    }
}

/// Changes the tensors of a dictionary that require gradients along their gradients.
///
/// ```
/// use tensordict::{set_grad_enabled, Optimizer, OptimizerKind, Tensor, TensorDict};
///
/// let mut params = TensorDict::from_pairs((), [("w", Tensor::scalar(1.0f64)?)])?;
/// params.set_requires_grad(true)?;
/// let mut optimizer = Optimizer::new(&params, OptimizerKind::sgd().lr(0.25))?;
/// let before = set_grad_enabled(true);
/// params.pow(2)?.backward()?;
/// set_grad_enabled(before);
/// optimizer.step()?;
/// assert_eq!(params.tensor("w")?.item::<f64>()?, 0.5);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Optimizer {
    handle: Handle<sys::td_optimizer>,
}

impl Optimizer {
    /// Keeps these tensors, not the dictionary. [`params`](crate::TensorDictModule::params) gives those of a
    /// module.
    #[track_caller]
    pub fn new(params: &Dict, kind: OptimizerKind) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        // SAFETY: the handle and the options are alive.
        check(unsafe { sys::td_optimizer_create(params.raw(), kind.kind, &kind.raw, &mut token) })?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Self { handle: unsafe { Handle::new(token) } })
    }

    /// Changes each parameter that has a gradient, in place.
    #[track_caller]
    pub fn step(&mut self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_optimizer_step(self.handle.get_mut()) })
    }

    /// Removes the gradients of the parameters, or fills them with zeros.
    #[track_caller]
    pub fn zero_grad(&mut self, set_to_none: bool) -> Result<()> {
        let flags = if set_to_none { 0 } else { sys::TD_ZERO_GRAD_KEEP };
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_optimizer_zero_grad(self.handle.get_mut(), flags) })
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        let mut lr = 0.0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_optimizer_lr(self.handle.get(), &mut lr) }));
        lr
    }

    /// Another learning rate, for a schedule.
    #[track_caller]
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_optimizer_set_lr(self.handle.get_mut(), lr) })
    }

    /// A copy of what the optimiser remembers, for a checkpoint: in the place of each parameter a dictionary.
    #[track_caller]
    pub fn state(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_optimizer_state(self.handle.get(), result) })?
            .deep_clone()
    }

    /// Takes a state in place of its own. Parameters that are not in it start anew.
    #[track_caller]
    pub fn load_state(&mut self, state: &Dict) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_optimizer_load_state(self.handle.get_mut(), state.raw()) })
    }
}

impl std::fmt::Debug for Optimizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Optimizer(lr {})", self.lr())
    }
}
