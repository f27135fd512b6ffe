//! Masks over the batch decide which values are taken or written.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::sizes::Sizes;
use crate::tensor::Tensor;

impl Dict {
    /// What a mask over the leading batch dimensions picks, in new memory.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs([3], [("x", Tensor::from_slice(&[1i64, 2, 3], [3])?)])?;
    /// let mask = Tensor::from_slice(&[true, false, true], [3])?;
    /// assert_eq!(td.masked_select(&mask)?.tensor("x")?.to_vec::<i64>()?, [1, 3]);
    /// td.masked_fill_inplace(&mask, &Tensor::scalar(0i64)?)?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [0, 2, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn masked_select(&self, mask: &Tensor) -> Result<TensorDict> {
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe { sys::td_masked_select(self.raw(), mask.raw(), result) })
    }

    /// A copy in which every tensor has a value where a mask is true.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: &Tensor) -> Result<TensorDict> {
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe {
            sys::td_masked_fill(self.raw(), mask.raw(), value.raw(), result)
        })
    }

    /// Writes a value into every tensor where a mask is true. Allowed when locked.
    #[track_caller]
    pub fn masked_fill_inplace(&mut self, mask: &Tensor, value: &Tensor) -> Result<()> {
        // SAFETY: the handles are alive, and this one is ours alone.
        check(unsafe { sys::td_masked_fill_inplace(self.raw_mut(), mask.raw(), value.raw()) })
    }

    /// Values of this dictionary where a condition over the batch is true, those of another elsewhere.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let one = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// let two = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[3i64, 4], [2])?)])?;
    /// let condition = Tensor::from_slice(&[true, false], [2])?;
    /// assert_eq!(one.where_dict(&condition, &two, None)?.tensor("x")?.to_vec::<i64>()?, [1, 4]);
    /// let nine = Tensor::scalar(9i64)?;
    /// assert_eq!(one.where_value(&condition, &nine)?.tensor("x")?.to_vec::<i64>()?, [1, 9]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn where_dict(
        &self,
        condition: &Tensor,
        other: &Dict,
        pad: Option<&Tensor>,
    ) -> Result<TensorDict> {
        let pad = pad.map_or(std::ptr::null(), Tensor::raw);
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe {
            sys::td_where(self.raw(), condition.raw(), other.raw(), pad, result)
        })
    }

    /// Values of this dictionary where a condition over the batch is true, one value elsewhere.
    #[track_caller]
    pub fn where_value(&self, condition: &Tensor, value: &Tensor) -> Result<TensorDict> {
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe {
            sys::td_where(self.raw(), condition.raw(), std::ptr::null(), value.raw(), result)
        })
    }
}

impl Tensor {
    /// Adds dimensions behind and expands to a shape, sharing memory: a mask over the batch becomes one
    /// over a whole tensor.
    #[track_caller]
    pub fn expand_right(&self, sizes: impl Sizes) -> Result<Tensor> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        Tensor::receive(|result| unsafe {
            sys::td_tensor_expand_right(self.raw(), sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// As [`expand_right`](Self::expand_right), to the shape of another tensor.
    #[track_caller]
    pub fn expand_as_right(&self, other: &Tensor) -> Result<Tensor> {
        self.expand_right(other.shape())
    }
}
