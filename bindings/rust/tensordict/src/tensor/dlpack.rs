//! DLPack: tensors of other libraries, without a copy. The structures are those of `dlpack.h`.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use tensordict_sys as sys;
use tensordict_sys::{DLManagedTensor, DLManagedTensorVersioned};

use super::Tensor;
use crate::error::{check, Result};
use crate::library;

/// A DLPack structure that a tensor was lent as, with the way to give it back: dropped, it calls the
/// deleter. A receiver that takes it over gets the pointer of [`into_raw`](Self::into_raw).
///
/// ```
/// use tensordict::Tensor;
///
/// let t = Tensor::from_slice(&[1.0f32, 2.0], [2])?;
/// let lent = t.to_dlpack()?;
/// assert!(!t.is_uniquely_owned());
/// drop(lent); // nobody wanted it
/// assert!(t.is_uniquely_owned());
///
/// // SAFETY: the structure is valid and used by nobody else.
/// let back = unsafe { Tensor::from_dlpack(t.to_dlpack()?.into_raw())? };
/// assert_eq!(back.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Debug)]
pub struct Dlpack<T: DlpackForm = DLManagedTensorVersioned>(NonNull<T>);

/// The forms of DLPack: [`DLManagedTensorVersioned`], and the older [`DLManagedTensor`].
pub trait DlpackForm: Sized + sealed::Form {}

impl DlpackForm for DLManagedTensorVersioned {}
impl DlpackForm for DLManagedTensor {}

mod sealed {
    pub trait Form {
        /// # Safety
        /// `own` is valid and not used again.
        unsafe fn delete(own: *mut Self);
    }
}

type Deleter<T> = Option<unsafe extern "C" fn(*mut T)>;

// The structures up to their deleters.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    manager: *mut c_void,
    deleter: Deleter<DLManagedTensorVersioned>,
}

#[repr(C)]
struct Legacy {
    data: *mut c_void,
    device: [i32; 2],
    dims: i32,
    dtype: [u8; 4],
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
    manager: *mut c_void,
    deleter: Deleter<DLManagedTensor>,
}

impl sealed::Form for DLManagedTensorVersioned {
    unsafe fn delete(own: *mut Self) {
        // SAFETY: as promised by the caller; the structure begins as `Versioned` does.
        unsafe {
            if let Some(deleter) = (*own.cast::<Versioned>()).deleter {
                deleter(own);
            }
        }
    }
}

impl sealed::Form for DLManagedTensor {
    unsafe fn delete(own: *mut Self) {
        // SAFETY: as promised by the caller; the structure is a `Legacy`.
        unsafe {
            if let Some(deleter) = (*own.cast::<Legacy>()).deleter {
                deleter(own);
            }
        }
    }
}

impl<T: DlpackForm> Dlpack<T> {
    /// Receives a structure from a call of the library.
    #[track_caller]
    fn receive(call: impl FnOnce(*mut *mut T) -> sys::td_status) -> Result<Self> {
        let mut lent = std::ptr::null_mut();
        check(call(&mut lent))?;
        Ok(Self(NonNull::new(lent).expect("a call that succeeds gives a structure")))
    }

    /// The structure, to look at while this lives.
    pub fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// Hands the structure over: whoever receives it calls its deleter, once.
    pub fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).0.as_ptr()
    }
}

impl<T: DlpackForm> Drop for Dlpack<T> {
    fn drop(&mut self) {
        // SAFETY: the structure was made by the library and handed over to nobody.
        unsafe { T::delete(self.0.as_ptr()) }
    }
}

// SAFETY: it holds a tensor, and the deleter may be called on any thread.
unsafe impl<T: DlpackForm> Send for Dlpack<T> {}

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
    /// the result is dropped, or whoever received its pointer has called the deleter.
    #[track_caller]
    pub fn to_dlpack(&self) -> Result<Dlpack> {
        // SAFETY: the handle is alive.
        Dlpack::receive(|lent| unsafe { sys::td_tensor_to_dlpack(self.raw(), lent) })
    }

    /// Lends the tensor as a DLPack tensor of the older, unversioned form.
    #[track_caller]
    pub fn to_dlpack_legacy(&self) -> Result<Dlpack<DLManagedTensor>> {
        // SAFETY: the handle is alive.
        Dlpack::receive(|lent| unsafe { sys::td_tensor_to_dlpack_legacy(self.raw(), lent) })
    }
}
