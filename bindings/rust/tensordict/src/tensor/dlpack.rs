//! DLPack: tensors of other libraries, without a copy. The structures are those of `dlpack.h`.

use tensordict_sys as sys;
use tensordict_sys::{DLManagedTensor, DLManagedTensorVersioned};

use super::Tensor;
use crate::error::{check, Result};
use crate::library;

impl Tensor {
    /// Takes over a DLPack tensor of version 1, without a copy; memory marked read-only is copied.
    ///
    /// # Safety
    /// `source` points at a valid structure that nobody else uses from now on, whatever this
    /// returns, and its memory is not written by others.
    #[track_caller]
    pub unsafe fn from_dlpack(source: *mut DLManagedTensorVersioned) -> Result<Self> {
        library::ready()?;
        // SAFETY: as promised by the caller.
        Self::receive(|result| unsafe { sys::td_tensor_from_dlpack(source, result) })
    }

    /// Takes over a DLPack tensor of the older, unversioned form, without a copy.
    ///
    /// # Safety
    /// As for [`from_dlpack`](Self::from_dlpack).
    #[track_caller]
    pub unsafe fn from_dlpack_legacy(source: *mut DLManagedTensor) -> Result<Self> {
        library::ready()?;
        // SAFETY: as promised by the caller.
        Self::receive(|result| unsafe { sys::td_tensor_from_dlpack_legacy(source, result) })
    }

    /// Lends the tensor as a DLPack tensor of version 1, without a copy. Its memory stays alive until
    /// the deleter of the structure is called, which is for the receiver to do, once.
    #[track_caller]
    pub fn to_dlpack(&self) -> Result<*mut DLManagedTensorVersioned> {
        let mut lent = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_tensor_to_dlpack(self.raw(), &mut lent) })?;
        Ok(lent)
    }

    /// Lends the tensor as a DLPack tensor of the older, unversioned form.
    #[track_caller]
    pub fn to_dlpack_legacy(&self) -> Result<*mut DLManagedTensor> {
        let mut lent = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_tensor_to_dlpack_legacy(self.raw(), &mut lent) })?;
        Ok(lent)
    }
}
