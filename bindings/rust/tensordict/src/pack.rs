//! All tensors of a dictionary side by side in one.

use std::ffi::CString;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{read_text, Error, Result};
use crate::tensor::Tensor;

/// Where [`Dict::pack`] puts each tensor: JSON with `keys`, `shapes`, `dim`, `nested`, `device`, `type`,
/// `offsets` and `numel`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackLayout(CString);

impl PackLayout {
    /// A layout from its JSON; `keys` and `shapes` are enough.
    #[track_caller]
    pub fn from_json(json: &str) -> Result<Self> {
        CString::new(json)
            .map(Self)
            .map_err(|_| Error::new(sys::TD_ERR_INVALID_ARGUMENT, "a layout with a NUL"))
    }

    /// The layout as JSON.
    pub fn json(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// A dictionary of views of a packed tensor, which may have another batch size than what was packed.
    #[track_caller]
    pub fn unpack(&self, packed: &Tensor) -> Result<TensorDict> {
        // SAFETY: the handle is alive and the text ends with a NUL.
        TensorDict::receive(|result| unsafe {
            sys::td_unpack(packed.raw(), self.0.as_ptr(), result)
        })
    }
}

impl Dict {
    /// The dimensions of each tensor behind the batch become one, and all stand side by side along `dim`,
    /// in the order of their keys, joined with dots.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs(
    ///     [2],
    ///     [("p", Tensor::from_slice(&[0f32, 1.0], [2])?), ("a", Tensor::from_slice(&[5f32, 6.0], [2])?)],
    /// )?;
    /// let (packed, layout) = td.pack(-1)?;
    /// assert_eq!(packed.to_vec::<f32>()?, [5.0, 0.0, 6.0, 1.0]);
    /// assert_eq!(layout.unpack(&packed)?.tensor("p")?.to_vec::<f32>()?, [0.0, 1.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn pack(&self, dim: i64) -> Result<(Tensor, PackLayout)> {
        let layout = self.pack_layout(dim)?;
        Ok((self.pack_as(&layout, dim)?, layout))
    }

    /// As [`pack`](Self::pack), in the order of a layout, which the dictionary must fit.
    #[track_caller]
    pub fn pack_as(&self, layout: &PackLayout, dim: i64) -> Result<Tensor> {
        // SAFETY: the handle is alive and the text ends with a NUL.
        Tensor::receive(|result| unsafe {
            sys::td_pack(self.raw(), dim, layout.0.as_ptr(), result)
        })
    }

    /// Where [`pack`](Self::pack) puts each tensor.
    #[track_caller]
    pub fn pack_layout(&self, dim: i64) -> Result<PackLayout> {
        // SAFETY: the handle is alive and the room is as large as it is said to be.
        let text = read_text(|text, cap, length| unsafe {
            sys::td_pack_layout(self.raw(), dim, text, cap, length)
        })?;
        PackLayout::from_json(&text)
    }
}
