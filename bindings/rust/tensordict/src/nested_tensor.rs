//! Tensors of different shapes as one entry.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::entry::IntoEntry;
use crate::error::{check, Result};
use crate::key::{Key, RawKey};
use crate::lazy::Padding;
use crate::tensor::Tensor;

/// A row of tensors that have as many dimensions and one dtype, and differ in sizes: an entry of a
/// dictionary (Python's nested tensor). It follows copies, conversions, an index along the batch and files;
/// whatever else meets it is refused.
///
/// ```
/// use tensordict::{NestedTensor, Tensor, TensorDict};
///
/// let parts = [Tensor::from_slice(&[1i64, 2], [2])?, Tensor::from_slice(&[3i64], [1])?];
/// let mut td = TensorDict::new([2])?;
/// td.set("x", NestedTensor::from_tensors(&parts)?)?;
/// assert_eq!(td.nested_tensor("x")?.part(1)?.to_vec::<i64>()?, [3]);
/// assert_eq!(td.at(0)?.tensor("x")?.to_vec::<i64>()?, [1, 2]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Debug)]
pub struct NestedTensor(TensorDict);

impl NestedTensor {
    pub(crate) fn new(owner: TensorDict) -> Self {
        NestedTensor(owner)
    }

    /// Over values that lie one part after the other, which are shared, and sizes: `i64` of shape
    /// `[parts, dimensions of a part]`.
    #[track_caller]
    pub fn from_values(values: &Tensor, sizes: &Tensor) -> Result<Self> {
        // SAFETY: the handles are alive.
        TensorDict::receive(|result| unsafe {
            sys::td_nested_tensor_create(values.raw(), sizes.raw(), result)
        })
        .map(Self::new)
    }

    /// With a copy of each of several tensors.
    #[track_caller]
    pub fn from_tensors<'a>(parts: impl IntoIterator<Item = &'a Tensor>) -> Result<Self> {
        let parts: Vec<_> = parts.into_iter().map(Tensor::raw).collect();
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_nested_tensor_from_tensors(parts.as_ptr(), parts.len(), result)
        })
        .map(Self::new)
    }

    /// All values in one dimension, which share memory, and the sizes of the parts, a copy.
    #[track_caller]
    pub fn tensors(&self) -> Result<(Tensor, Tensor)> {
        let mut sizes = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        let values = Tensor::receive(|values| unsafe {
            sys::td_nested_tensor_values(self.0.raw(), values, &mut sizes)
        })?;
        // SAFETY: the call succeeded and gave both handles to us.
        Ok((values, unsafe { Tensor::from_raw(sizes) }))
    }

    /// How many parts there are.
    #[track_caller]
    pub fn parts(&self) -> Result<usize> {
        Ok(self.tensors()?.1.shape()[0] as usize)
    }

    /// One part, which shares memory; negative positions count from the end.
    #[track_caller]
    pub fn part(&self, position: i64) -> Result<Tensor> {
        // SAFETY: the handle is alive.
        Tensor::receive(|result| unsafe {
            sys::td_nested_tensor_at(self.0.raw(), position, result)
        })
    }

    /// The parts as one tensor, each padded to the longest, and a mask that is true where there are values.
    #[track_caller]
    pub fn padded(&self, padding: Padding) -> Result<(Tensor, Tensor)> {
        let options = padding.raw(pad::PADDED);
        let mut mask = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        let values = Tensor::receive(|values| unsafe {
            sys::td_nested_tensor_to_padded(self.0.raw(), &options, values, &mut mask)
        })?;
        // SAFETY: the call succeeded and gave both handles to us.
        Ok((values, unsafe { Tensor::from_raw(mask) }))
    }
}

/// What `pad` of `td_padding_options` says.
pub(crate) mod pad {
    pub(crate) const REFUSED: i32 = 0;
    pub(crate) const PADDED: i32 = 1;
    pub(crate) const NESTED_TENSOR: i32 = 2;
}

impl IntoEntry for NestedTensor {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        (&self).put(dict, key)
    }
}

impl IntoEntry for &NestedTensor {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        // Each dictionary gets one of its own: a lock is noted in it.
        let own = self.0.shallow_copy()?;
        // SAFETY: the handles are alive, and the key is as long as it says. `own` was the only owner.
        check(unsafe { sys::td_set_dict(dict.raw_mut(), key.path(), key.len(), own.raw()) })
    }
}

impl Dict {
    /// Looks up a nested tensor. It shares memory with the entry and outlives it.
    #[track_caller]
    pub fn nested_tensor(&self, key: impl Key) -> Result<NestedTensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        let stored = TensorDict::receive(|result| unsafe {
            sys::td_get_nested_tensor(self.raw(), key.path(), key.len(), result)
        })?;
        // The stored one belongs to this dictionary, the result may go to another thread.
        stored.shallow_copy().map(NestedTensor::new)
    }

    /// As [`densify`](Self::densify), with a nested tensor in place of tensors whose shapes differ.
    #[track_caller]
    pub fn densify_nested_tensor(&self) -> Result<TensorDict> {
        let options = Padding::default().raw(pad::NESTED_TENSOR);
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_densify(self.raw(), &options, result) })
    }
}
