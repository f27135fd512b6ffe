//! Results that are made of rows of a dictionary, in new memory.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{Error, Result};
use crate::key::{Key, RawKey};
use crate::sizes::Sizes;
use crate::tensor::Tensor;

impl Dict {
    /// The content as often along each batch dimension as its count says.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// assert_eq!(td.repeat([2])?.tensor("x")?.to_vec::<i64>()?, [1, 2, 1, 2]);
    /// assert_eq!(td.flip([0])?.tensor("x")?.to_vec::<i64>()?, [2, 1]);
    /// assert_eq!(td.pad([1, 0], 9.0)?.tensor("x")?.to_vec::<i64>()?, [9, 1, 2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat(&self, counts: impl Sizes) -> Result<TensorDict> {
        self.repeated(&counts.sizes(), false)
    }

    /// As [`repeat`](Self::repeat); fewer counts speak of the last dimensions, and for more dimensions
    /// are added in front.
    #[track_caller]
    pub fn tile(&self, counts: impl Sizes) -> Result<TensorDict> {
        self.repeated(&counts.sizes(), true)
    }

    #[track_caller]
    fn repeated(&self, counts: &[i64], tile: bool) -> Result<TensorDict> {
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            let flags = sys::TD_REPEAT_TILE * u32::from(tile);
            sys::td_repeat(self.raw(), counts.as_ptr(), counts.len(), flags, result)
        })
    }

    /// Each position of a batch dimension repeated: one number for all, or one for each.
    #[track_caller]
    pub fn repeat_interleave(&self, repeats: &Tensor, dim: i64) -> Result<TensorDict> {
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe {
            sys::td_repeat_interleave(self.raw(), repeats.raw(), dim, result)
        })
    }

    /// Moves positions along batch dimensions; those that leave at the end come in at the start.
    #[track_caller]
    pub fn roll(&self, shifts: impl Sizes, dims: impl Sizes) -> Result<TensorDict> {
        let (shifts, dims) = (shifts.sizes(), dims.sizes());
        if shifts.len() != dims.len() {
            let text = format!("roll has {} shifts for {} dimensions", shifts.len(), dims.len());
            return Err(Error::new(sys::TD_ERR_SHAPE, text));
        }
        // SAFETY: the handle is alive, and both lists are as long as they are said to be.
        self.derive(|result| unsafe {
            sys::td_roll(self.raw(), shifts.as_ptr(), dims.as_ptr(), shifts.len(), result)
        })
    }

    /// Rolls the batch as if it were flat.
    #[track_caller]
    pub fn roll_flat(&self, shift: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive, and there is one shift.
        self.derive(|result| unsafe {
            sys::td_roll(self.raw(), &shift, std::ptr::null(), 1, result)
        })
    }

    /// Turns batch dimensions round.
    #[track_caller]
    pub fn flip(&self, dims: impl Sizes) -> Result<TensorDict> {
        let dims = dims.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe { sys::td_flip(self.raw(), dims.as_ptr(), dims.len(), result) })
    }

    /// Turns the first batch dimension round.
    #[track_caller]
    pub fn flipud(&self) -> Result<TensorDict> {
        self.flip([0])
    }

    /// Turns the second batch dimension round.
    #[track_caller]
    pub fn fliplr(&self) -> Result<TensorDict> {
        self.flip([1])
    }

    /// Turns the plane of two batch dimensions by 90 degrees, `times` times, from the first towards the
    /// second.
    #[track_caller]
    pub fn rot90(&self, times: i64, dims: (i64, i64)) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_rot90(self.raw(), times, dims.0, dims.1, result) })
    }

    /// Picks a position of one batch dimension for each position of the others.
    #[track_caller]
    pub fn gather(&self, dim: i64, index: &Tensor) -> Result<TensorDict> {
        // SAFETY: the handles are alive.
        self.derive(|result| unsafe { sys::td_gather(self.raw(), dim, index.raw(), result) })
    }

    /// Adds positions before and behind: a pair for each batch dimension, from the first on; negative
    /// ones cut off.
    #[track_caller]
    pub fn pad(&self, widths: impl Sizes, value: f64) -> Result<TensorDict> {
        let widths = widths.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        self.derive(|result| unsafe {
            sys::td_pad(self.raw(), widths.as_ptr(), widths.len(), value, result)
        })
    }

    /// A mask of the positions of a batch dimension that another dictionary has too, as far as one
    /// tensor tells.
    #[track_caller]
    pub fn isin(&self, reference: &Dict, key: impl Key, dim: i64) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        Tensor::receive(|result| unsafe {
            sys::td_isin(self.raw(), reference.raw(), key.path(), key.len(), dim, result)
        })
    }

    /// Leaves out positions of a batch dimension whose value in one tensor has occurred before; also
    /// says which positions are left.
    #[track_caller]
    pub fn remove_duplicates(&self, key: impl Key, dim: i64) -> Result<(TensorDict, Tensor)> {
        let key = RawKey::new(&key)?;
        let mut positions = std::ptr::null_mut();
        // SAFETY: the handle is alive, and the key is as long as it says.
        let kept = TensorDict::receive(|result| unsafe {
            let (path, len) = (key.path(), key.len());
            sys::td_remove_duplicates(self.raw(), path, len, dim, result, &mut positions)
        })?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok((kept, unsafe { Tensor::from_raw(positions) }))
    }

    /// Groups the rows of the first batch dimension by the value of an entry. Gives the values, sorted, in a
    /// dictionary with this entry alone, and the rows of each.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let ids = Tensor::from_slice(&[2i64, 0, 2], [3])?;
    /// let td = TensorDict::from_pairs([3], [("id", ids)])?;
    /// let (values, groups) = td.group_by("id")?;
    /// assert_eq!(values.tensor("id")?.to_vec::<i64>()?, [0, 2]);
    /// assert_eq!(groups[1].batch_size(), [2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn group_by(&self, key: impl Key) -> Result<(TensorDict, Vec<TensorDict>)> {
        let key = RawKey::new(&key)?;
        let rows = self.batch_size().first().map_or(0, |&rows| usize::try_from(rows).unwrap_or(0));
        let (mut count, mut tokens) = (0, vec![std::ptr::null_mut(); rows]);
        // SAFETY: the handle is alive, and the lists are as long as they are said to be.
        let values = TensorDict::receive(|result| unsafe {
            let (path, len, room) = (key.path(), key.len(), tokens.len());
            sys::td_group_by(self.raw(), path, len, result, tokens.as_mut_ptr(), room, &mut count)
        })?;
        tokens.truncate(count);
        // SAFETY: the call succeeded and gave every handle to us.
        let groups = tokens.into_iter().map(|token| unsafe { TensorDict::from_raw(token) });
        Ok((values, groups.collect()))
    }
}
