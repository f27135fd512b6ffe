//! Gradients of all tensors of a dictionary.

use std::ptr::null_mut;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};

/// How [`Dict::backward_with`] works.
#[derive(Clone, Copy, Default)]
pub struct BackwardOptions<'a> {
    raw: sys::td_backward_options,
    gradient: Option<&'a Dict>,
    inputs: Option<&'a Dict>,
}

impl<'a> BackwardOptions<'a> {
    /// The defaults: ones to begin with, all tensors receive gradients, the history is used up.
    pub fn new() -> Self {
        Self::default()
    }

    /// The gradient of each recorded tensor to begin with.
    pub fn gradient(mut self, gradient: &'a Dict) -> Self {
        self.gradient = Some(gradient);
        self
    }

    /// Only these tensors receive gradients.
    pub fn inputs(mut self, inputs: &'a Dict) -> Self {
        self.inputs = Some(inputs);
        self
    }

    setters! {
        /// Whether the history is kept for another call.
        retain_graph(retain: bool) => raw.retain_graph;
        /// Whether the gradients are recorded themselves. Keeps the history, too.
        create_graph(create: bool) => raw.create_graph;
    }
}

pub(crate) fn raw_or_null(dict: Option<&Dict>) -> *const sys::td_tensordict {
    dict.map_or(std::ptr::null(), Dict::raw)
}

impl Dict {
    /// Over the same memory, without the history. The lock is kept.
    #[track_caller]
    pub fn detach(&self) -> Result<TensorDict> {
        self.detached(sys::TD_DETACH_HISTORY)
    }

    /// As [`detach`](Self::detach), and libtorch does not learn of writes through the result: they are
    /// as if they had happened before anything was recorded.
    #[track_caller]
    pub fn data(&self) -> Result<TensorDict> {
        self.detached(sys::TD_DETACH_DATA)
    }

    #[track_caller]
    fn detached(&self, kind: sys::td_detach_kind) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_detach(self.raw(), kind, result) })
    }

    /// Takes the history from the tensors themselves. Allowed when locked.
    #[track_caller]
    pub fn detach_inplace(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_detach_inplace(self.raw_mut()) })
    }

    /// Switches the recording of gradients for every tensor, or for none if one cannot be.
    ///
    /// ```
    /// use tensordict::{ErrorKind, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("w", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// td.set_requires_grad(true)?;
    /// assert!(td.requires_grad() && !td.detach()?.requires_grad());
    /// td.set("count", Tensor::scalar(3i64)?)?;
    /// assert_eq!(td.set_requires_grad(true).unwrap_err().kind(), ErrorKind::DType);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_requires_grad(&mut self, required: bool) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_set_requires_grad(self.raw_mut(), required.into()) })
    }

    /// The gradients that the tensors have received, by the same keys; `None` when there are none.
    #[track_caller]
    pub fn grad(&self) -> Result<Option<TensorDict>> {
        let mut token = null_mut();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_grad(self.raw(), &mut token) })?;
        // SAFETY: the call gave the handle to us, if there is one.
        Ok((!token.is_null()).then(|| unsafe { TensorDict::from_raw(token) }))
    }

    /// Gives gradients to the tensors; those without an entry keep theirs. `None` takes all away.
    #[track_caller]
    pub fn set_grad(&mut self, gradients: Option<&Dict>) -> Result<()> {
        // SAFETY: the handles are alive, the first one is ours alone.
        check(unsafe { sys::td_set_grad(self.raw_mut(), raw_or_null(gradients)) })
    }

    /// Takes the gradients away before the next [`backward`](Self::backward) adds to them; with
    /// `set_to_none` false they stay and become zero.
    #[track_caller]
    pub fn zero_grad(&mut self, set_to_none: bool) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        let flags = if set_to_none { 0 } else { sys::TD_ZERO_GRAD_KEEP };
        check(unsafe { sys::td_zero_grad(self.raw_mut(), flags) })
    }

    /// Makes the gradients shorter if all together, as one vector, are longer than `max_norm`, and returns
    /// how long they were.
    #[track_caller]
    pub fn clip_grad_norm(&mut self, max_norm: f64) -> Result<f64> {
        let mut norm = 0.0;
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_clip_grad_norm(self.raw_mut(), max_norm, &mut norm) })?;
        Ok(norm)
    }

    /// Computes gradients of all tensors that are recorded and have one element.
    ///
    /// ```
    /// use tensordict::{set_grad_enabled, DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("w", Tensor::scalar(3.0f32)?)?;
    /// td.set_requires_grad(true)?;
    /// let before = set_grad_enabled(true);
    /// let loss = td.to(DType::F64)?;
    /// set_grad_enabled(before);
    /// loss.backward()?;
    /// assert_eq!(td.grad()?.unwrap().tensor("w")?.item::<f32>()?, 1.0);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn backward(&self) -> Result<()> {
        self.backward_with(&BackwardOptions::new())
    }

    /// As [`backward`](Self::backward), with options.
    #[track_caller]
    pub fn backward_with(&self, options: &BackwardOptions<'_>) -> Result<()> {
        let (gradient, inputs) = (raw_or_null(options.gradient), raw_or_null(options.inputs));
        // SAFETY: the handles are alive, the options live for the call.
        check(unsafe { sys::td_backward(self.raw(), gradient, inputs, &options.raw) })
    }
}
