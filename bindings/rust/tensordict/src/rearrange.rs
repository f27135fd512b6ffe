//! Batch dimensions made of others, moved, and cut into parts.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Error, Result};
use crate::sizes::Sizes;

impl Dict {
    /// Makes one batch dimension of those from `start` to `end`, sharing memory where that is possible.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// let td = TensorDict::new([2, 3, 4])?;
    /// let flat = td.flatten(0, 1)?;
    /// assert_eq!(flat.batch_size(), [6, 4]);
    /// assert_eq!(flat.unflatten(0, [2, -1])?.batch_size(), [2, 3, 4]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn flatten(&self, start: i64, end: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_flatten(self.raw(), start, end, result) })
    }

    /// Makes several batch dimensions of one, sharing memory. One size may be -1.
    #[track_caller]
    pub fn unflatten(&self, dim: i64, sizes: impl Sizes) -> Result<TensorDict> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_unflatten(self.raw(), dim, sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// Moves batch dimensions to other places, sharing memory; the others keep their order.
    #[track_caller]
    pub fn movedim(&self, from: impl Sizes, to: impl Sizes) -> Result<TensorDict> {
        let (from, to) = (from.sizes(), to.sizes());
        if from.len() != to.len() {
            let text = format!("{} dimensions cannot move to {} places", from.len(), to.len());
            return Err(Error::new(sys::TD_ERR_SHAPE, text));
        }
        // SAFETY: the handle is alive, and both lists are as long as they are said to be.
        self.derive(|result| unsafe {
            sys::td_movedim(self.raw(), from.as_ptr(), to.as_ptr(), from.len(), result)
        })
    }

    /// `length` positions of a batch dimension from `start` on, sharing memory.
    #[track_caller]
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_narrow(self.raw(), dim, start, length, result) })
    }

    /// Adds batch dimensions of size 1 in front until there are so many, sharing memory.
    #[track_caller]
    pub fn atleast(&self, dims: usize) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_atleast(self.raw(), dims, result) })
    }

    /// Expands to the batch size of another dictionary, without using memory.
    #[track_caller]
    pub fn expand_as(&self, other: &Dict) -> Result<TensorDict> {
        self.expand(other.batch_size())
    }

    /// Parts of this length along a batch dimension, sharing memory; the last one may be shorter.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// let td = TensorDict::new([5])?;
    /// let lengths = |parts: Vec<TensorDict>| -> Vec<i64> {
    ///     parts.iter().map(|part| part.batch_size()[0]).collect()
    /// };
    /// assert_eq!(lengths(td.split(2, 0)?), [2, 2, 1]);
    /// assert_eq!(lengths(td.split_lengths([1, 4], 0)?), [1, 4]);
    /// assert_eq!(lengths(td.chunk(2, 0)?), [3, 2]);
    /// assert_eq!(lengths(td.tensor_split(3, 0)?), [2, 2, 1]);
    /// assert_eq!(lengths(td.split_at([1, -1], 0)?), [1, 3, 1]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn split(&self, length: i64, dim: i64) -> Result<Vec<TensorDict>> {
        self.parts(dim, sys::TD_SPLIT_LENGTH, &[length])
    }

    /// Parts of these lengths, which add up to the size of the dimension.
    #[track_caller]
    pub fn split_lengths(&self, lengths: impl Sizes, dim: i64) -> Result<Vec<TensorDict>> {
        self.parts(dim, sys::TD_SPLIT_LENGTHS, &lengths.sizes())
    }

    /// At most so many parts, of equal length but for the last.
    #[track_caller]
    pub fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<TensorDict>> {
        self.parts(dim, sys::TD_SPLIT_CHUNKS, &[chunks])
    }

    /// Exactly so many parts; the first of them may be longer by one.
    #[track_caller]
    pub fn tensor_split(&self, parts: i64, dim: i64) -> Result<Vec<TensorDict>> {
        self.parts(dim, sys::TD_SPLIT_PARTS, &[parts])
    }

    /// Parts that begin at these positions, and one in front of them.
    #[track_caller]
    pub fn split_at(&self, positions: impl Sizes, dim: i64) -> Result<Vec<TensorDict>> {
        self.parts(dim, sys::TD_SPLIT_POSITIONS, &positions.sizes())
    }

    #[track_caller]
    fn parts(
        &self,
        dim: i64,
        kind: sys::td_split_kind,
        numbers: &[i64],
    ) -> Result<Vec<TensorDict>> {
        let mut count = 0;
        let call = |results: *mut *mut sys::td_tensordict, room: usize, count: &mut usize| {
            // SAFETY: the handle is alive and the lists are as long as they are said to be.
            check(unsafe {
                let (list, len) = (numbers.as_ptr(), numbers.len());
                sys::td_split(self.raw(), dim, kind, list, len, results, room, count)
            })
        };
        call(std::ptr::null_mut(), 0, &mut count)?;
        let mut tokens = vec![std::ptr::null_mut(); count];
        if count > 0 {
            call(tokens.as_mut_ptr(), count, &mut count)?;
        }
        // SAFETY: the call succeeded and gave every handle to us.
        let parts = tokens.into_iter().map(|token| unsafe { TensorDict::from_raw(token) });
        parts.collect::<Vec<_>>().into_iter().map(TensorDict::alone).collect()
    }

    /// The memory of every tensor read as another dtype. Where that changes the length of a batch
    /// dimension, `batch_size` says what the batch size becomes.
    #[track_caller]
    pub fn view_dtype(&self, dtype: DType, batch_size: Option<&[i64]>) -> Result<TensorDict> {
        let sizes = batch_size.unwrap_or_default();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            let given = sys::TD_VIEW_DTYPE_HAS_SIZES * u32::from(batch_size.is_some());
            sys::td_view_dtype(self.raw(), dtype.raw(), given, sizes.as_ptr(), sizes.len(), result)
        })
    }

    /// As [`contiguous`](Self::contiguous); dimensions of size 1 get the strides of a dense tensor, too.
    #[track_caller]
    pub fn contiguous_canonical(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_contiguous_canonical(self.raw(), result) })
    }

    /// Whether all tensors lie densely.
    pub fn is_contiguous(&self) -> bool {
        let mut dense = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_is_contiguous(self.raw(), &mut dense) }).is_ok() && dense != 0
    }

    /// Puts what another dictionary has in place of what this one has: entries, batch size, device
    /// and names. With it any operation works in place.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs([4], [("x", Tensor::from_slice(&[1i64, 2, 3, 4], [4])?)])?;
    /// let square = td.reshape([2, 2])?;
    /// td.become_other(square)?;
    /// assert_eq!(td.batch_size(), [2, 2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn become_other(&mut self, other: TensorDict) -> Result<()> {
        // SAFETY: both handles are alive; the other one ends here, so nothing is held twice.
        check(unsafe { sys::td_become(self.raw_mut(), other.raw()) })
    }
}
