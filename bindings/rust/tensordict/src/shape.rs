//! Operations on the batch dimensions, and on several dictionaries at once.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::joins::Sources;
use crate::sizes::Sizes;

impl Dict {
    /// The same entries under another batch size, sharing memory. One size may be -1.
    ///
    /// ```
    /// use tensordict::{DType, ErrorKind, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2, 3])?;
    /// td.set("x", Tensor::zeros([2, 3, 4], DType::F32)?)?;
    /// assert_eq!(td.view([-1])?.tensor("x")?.shape(), [6, 4]);
    /// assert_eq!(td.view([7]).unwrap_err().kind(), ErrorKind::Shape);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn view(&self, sizes: impl Sizes) -> Result<TensorDict> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_view(self.raw(), sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// As [`view`](Self::view), but copies where a view is not possible.
    #[track_caller]
    pub fn reshape(&self, sizes: impl Sizes) -> Result<TensorDict> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_reshape(self.raw(), sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// Reorders the first batch dimensions, sharing memory.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// assert_eq!(TensorDict::new([2, 3, 4])?.permute([2, 0, 1])?.batch_size(), [4, 2, 3]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn permute(&self, order: impl Sizes) -> Result<TensorDict> {
        let order = order.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_permute(self.raw(), order.as_ptr(), order.len(), result)
        })
    }

    /// Swaps two batch dimensions, sharing memory. Negative ones count from the end.
    #[track_caller]
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_transpose(self.raw(), dim0, dim1, result) })
    }

    /// Removes a batch dimension if its size is 1, sharing memory.
    #[track_caller]
    pub fn squeeze(&self, dim: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_squeeze(self.raw(), dim, result) })
    }

    /// Removes all batch dimensions of size 1, sharing memory.
    #[track_caller]
    pub fn squeeze_all(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_squeeze_all(self.raw(), result) })
    }

    /// Adds a batch dimension of size 1, sharing memory.
    #[track_caller]
    pub fn unsqueeze(&self, dim: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_unsqueeze(self.raw(), dim, result) })
    }

    /// Repeats dimensions of size 1, and adds dimensions in front, without using memory.
    #[track_caller]
    pub fn expand(&self, sizes: impl Sizes) -> Result<TensorDict> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_expand(self.raw(), sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// With all tensors lying densely: those that already do are shared, others copied.
    #[track_caller]
    pub fn contiguous(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_contiguous(self.raw(), result) })
    }

    /// Takes the dictionary apart along a batch dimension; the parts share memory.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[5i32, 6], [2])?)?;
    /// let parts = td.unbind(0)?;
    /// assert_eq!(parts[1].tensor("x")?.item::<i32>()?, 6);
    /// assert!(TensorDict::stack(&parts, 0)?.equal(&td)?);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn unbind(&self, dim: i64) -> Result<Vec<TensorDict>> {
        let mut count = 0;
        let none = std::ptr::null_mut();
        // SAFETY: the handle is alive; no room is offered and only the number is written.
        match unsafe { sys::td_unbind(self.raw(), dim, none, 0, &mut count) } {
            sys::TD_ERR_BUFFER_TOO_SMALL => {}
            status => check(status)?,
        }
        let mut tokens = vec![std::ptr::null_mut(); count];
        if count > 0 {
            // SAFETY: the handle is alive and the list is as long as it is said to be.
            check(unsafe {
                sys::td_unbind(self.raw(), dim, tokens.as_mut_ptr(), count, &mut count)
            })?;
        }
        // SAFETY: the call succeeded and gave every handle to us.
        let parts = tokens.into_iter().map(|token| unsafe { TensorDict::from_raw(token) });
        parts.collect::<Vec<_>>().into_iter().map(TensorDict::alone).collect()
    }
}

impl TensorDict {
    /// Joins dictionaries of the same keys and sizes along a new batch dimension, in new memory.
    #[track_caller]
    pub fn stack<D: AsRef<Dict>>(
        sources: impl IntoIterator<Item = D>,
        dim: i64,
    ) -> Result<TensorDict> {
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        // Of non-tensor values, a stack holds those of the sources.
        Self::receive(|result| unsafe {
            sys::td_stack(sources.as_ptr(), sources.len(), dim, result)
        })?
        .alone()
    }

    /// Joins dictionaries of the same keys along a batch dimension they have, in new memory.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[5i32, 6], [2])?)?;
    /// let all = TensorDict::cat([&td, &td], 0)?;
    /// assert_eq!(all.tensor("x")?.to_vec::<i32>()?, [5, 6, 5, 6]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn cat<D: AsRef<Dict>>(
        sources: impl IntoIterator<Item = D>,
        dim: i64,
    ) -> Result<TensorDict> {
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        // Lazy stacks are joined by sharing their elements.
        Self::receive(|result| unsafe {
            sys::td_cat(sources.as_ptr(), sources.len(), dim, result)
        })?
        .alone()
    }
}
