//! Parts of a dictionary, read and written.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::index::{Indices, RawIndex};
use crate::tensor::Tensor;

impl Dict {
    /// Reads a part: the index is applied to the batch dimensions of every entry.
    ///
    /// Numbers, ranges, new dimensions and the ellipsis give views that share memory; tensors and
    /// masks copy. The forms of an index are those of [`i!`](crate::i!).
    ///
    /// ```
    /// use tensordict::{i, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([4])?;
    /// td.set("x", Tensor::from_vec(vec![0i64, 10, 20, 30], [4])?)?;
    /// let picked = Tensor::from_slice(&[3i64, 0], [2])?;
    /// assert_eq!(td.at(-1)?.tensor("x")?.item::<i64>()?, 30);
    /// assert_eq!(td.at(1..3)?.tensor("x")?.to_vec::<i64>()?, [10, 20]);
    /// assert_eq!(td.at(&picked)?.tensor("x")?.to_vec::<i64>()?, [30, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn at<'a>(&self, index: impl Indices<'a>) -> Result<TensorDict> {
        let index = RawIndex::new(index);
        // SAFETY: the handle is alive, and the list of items is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_index(self.raw(), index.items(), index.len(), result)
        })
    }

    /// Writes a dictionary into a part, in place. A key that is new here is made with zeros of the
    /// full batch size first; keys that `source` does not have are left alone.
    ///
    /// ```
    /// use tensordict::{i, DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([3])?;
    /// td.set("x", Tensor::zeros([3], DType::I64)?)?;
    /// let row = TensorDict::from_pairs((), [("x", Tensor::scalar(5i64)?)])?;
    /// td.set_at(i![1], &row)?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [0, 5, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_at<'a>(&mut self, index: impl Indices<'a>, source: impl AsRef<Dict>) -> Result<()> {
        let source = source.as_ref().raw();
        let index = RawIndex::new(index);
        // SAFETY: the handles are alive, and the list of items is as long as it is said to be.
        check(unsafe { sys::td_set_at(self.raw_mut(), index.items(), index.len(), source) })
    }

    /// Writes a tensor, broadcast, into a part of every tensor; one without dimensions fills.
    #[track_caller]
    pub fn fill_at<'a>(&mut self, index: impl Indices<'a>, source: &Tensor) -> Result<()> {
        let index = RawIndex::new(index);
        // SAFETY: the handles are alive, and the list of items is as long as it is said to be.
        check(unsafe { sys::td_fill_at(self.raw_mut(), index.items(), index.len(), source.raw()) })
    }
}

/// Here too, and not on [`Dict`] alone, so that the source may be made of the dictionary itself.
impl TensorDict {
    /// As [`Dict::set_at`].
    #[track_caller]
    pub fn set_at<'a>(&mut self, index: impl Indices<'a>, source: impl AsRef<Dict>) -> Result<()> {
        Dict::set_at(self, index, source)
    }

    /// As [`Dict::fill_at`].
    #[track_caller]
    pub fn fill_at<'a>(&mut self, index: impl Indices<'a>, source: &Tensor) -> Result<()> {
        Dict::fill_at(self, index, source)
    }
}
