//! Tensors from values and from memory of the caller.

use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

use tensordict_sys as sys;

use super::Tensor;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::library;
use crate::sizes::{count, Sizes};

impl Tensor {
    /// Moves a `Vec` into a tensor, without a copy.
    ///
    /// ```
    /// use tensordict::{ErrorKind, Tensor};
    ///
    /// let t = Tensor::from_vec(vec![1i64, 2, 3, 4], [2, 2])?;
    /// assert_eq!(t.to_vec::<i64>()?, [1, 2, 3, 4]);
    /// let error = Tensor::from_vec(vec![1i64, 2, 3], [2, 2]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Shape);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn from_vec<T: Element>(values: Vec<T>, sizes: impl Sizes) -> Result<Self> {
        let sizes = sizes.sizes();
        expect_count(values.len(), &sizes)?;
        let mut values = Box::new(values);
        let data: *mut c_void = values.as_mut_ptr().cast();
        let owner = Box::into_raw(values).cast();
        // SAFETY: the vector holds as many values as the sizes say and lives until `drop_box`.
        unsafe {
            Self::from_blob(data, T::DTYPE, &sizes, None, Device::cpu(), Some(drop_box::<T>), owner)
        }
    }

    /// Copies values into a tensor.
    #[track_caller]
    pub fn from_slice<T: Element>(values: &[T], sizes: impl Sizes) -> Result<Self> {
        // SAFETY: an element has no padding, so all its bytes may be read.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast(), std::mem::size_of_val(values))
        };
        Self::from_bytes(bytes, T::DTYPE, sizes)
    }

    /// Copies bytes into a tensor, for dtypes such as [`DType::C64`] that have no [`Element`].
    #[track_caller]
    pub fn from_bytes(bytes: &[u8], dtype: DType, sizes: impl Sizes) -> Result<Self> {
        library::ready()?;
        let sizes = sizes.sizes();
        // SAFETY: both lists are as long as they are said to be.
        Self::receive(|result| unsafe {
            let data = bytes.as_ptr().cast();
            let dtype = dtype.raw();
            sys::td_tensor_from_data(data, bytes.len(), sizes.as_ptr(), sizes.len(), dtype, result)
        })
    }

    /// A tensor without dimensions.
    #[track_caller]
    pub fn scalar<T: Element>(value: T) -> Result<Self> {
        Self::from_slice(&[value], ())
    }

    /// A tensor of zeros on the CPU.
    #[track_caller]
    pub fn zeros(sizes: impl Sizes, dtype: DType) -> Result<Self> {
        Self::zeros_on(sizes, dtype, Device::cpu())
    }

    /// A tensor of zeros on a device.
    #[track_caller]
    pub fn zeros_on(sizes: impl Sizes, dtype: DType, device: Device) -> Result<Self> {
        library::ready()?;
        let sizes = sizes.sizes();
        let (kind, index) = device.raw();
        // SAFETY: the list of sizes is as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_tensor_zeros(sizes.as_ptr(), sizes.len(), dtype.raw(), kind, index, result)
        })
    }

    /// Wraps memory of the caller, without a copy. `release(user)` is called once, from any thread,
    /// when the last tensor over the memory is gone, and also when this call fails.
    ///
    /// # Safety
    /// `data` is as large as sizes and strides say, holds valid values, and nothing else writes to it
    /// until `release` is called. `release` must not unwind.
    #[track_caller]
    pub unsafe fn from_blob(
        data: *mut c_void,
        dtype: DType,
        sizes: &[i64],
        strides: Option<&[i64]>,
        device: Device,
        release: sys::td_release_fn,
        user: *mut c_void,
    ) -> Result<Self> {
        let refused = match (library::ready(), strides) {
            (Err(error), _) => Some(error),
            (Ok(()), Some(strides)) if strides.len() != sizes.len() => {
                let message = format!("{} strides for {} sizes", strides.len(), sizes.len());
                Some(Error::new(sys::TD_ERR_SHAPE, message))
            }
            _ => None,
        };
        if let Some(error) = refused {
            if let Some(release) = release {
                // SAFETY: the caller allows this one call.
                unsafe { release(user) };
            }
            return Err(error);
        }
        let (kind, index) = device.raw();
        let steps = strides.map_or(null(), <[i64]>::as_ptr);
        // SAFETY: the lists are as long as they are said to be; the rest is promised by the caller.
        Self::receive(|result| unsafe {
            let (raw, dims) = (dtype.raw(), sizes.len());
            let at = sizes.as_ptr();
            sys::td_tensor_from_blob(data, at, steps, dims, raw, kind, index, release, user, result)
        })
    }

    /// Lends memory to a tensor for the time of a call, without a copy.
    ///
    /// The tensor, its views and dictionaries that hold it must be gone when the closure is; if one
    /// was kept, there is no way to go on safely and the process is aborted.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut frame = [1.0f32, 2.0, 3.0];
    /// let sum: f32 = Tensor::lend(&mut frame, [3], |t| {
    ///     let mut td = TensorDict::new([3])?;
    ///     td.set("frame", t)?;
    ///     td.fill_at(0, &Tensor::scalar(10.0f32)?)?;
    ///     Ok(t.to_vec::<f32>()?.iter().sum())
    /// })?;
    /// assert_eq!((sum, frame[0]), (15.0, 10.0));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn lend<T: Element, R>(
        values: &mut [T],
        sizes: impl Sizes,
        body: impl FnOnce(&Tensor) -> Result<R>,
    ) -> Result<R> {
        let sizes = sizes.sizes();
        expect_count(values.len(), &sizes)?;
        let returned = AtomicI32::new(0);
        let guard = Lent(&returned);
        let (data, flag) = (values.as_mut_ptr().cast(), returned.as_ptr().cast());
        // SAFETY: the memory and the flag outlive every tensor over them, or `guard` aborts.
        let tensor = unsafe {
            let release = Some(sys::td_release_set_flag as unsafe extern "C" fn(*mut c_void));
            Self::from_blob(data, T::DTYPE, &sizes, None, Device::cpu(), release, flag)?
        };
        let answer = catch_unwind(AssertUnwindSafe(|| body(&tensor)));
        drop(tensor);
        drop(guard);
        // The closure may have written bytes that are no value of T, through another dtype.
        // SAFETY: no tensor is over the memory any more.
        T::tidy(unsafe {
            std::slice::from_raw_parts_mut(
                values.as_mut_ptr().cast(),
                std::mem::size_of_val(values),
            )
        });
        answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Refuses to end before the memory that was lent is back.
struct Lent<'a>(&'a AtomicI32);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.0.load(Ordering::Acquire) != 1 {
            eprintln!("tensordict: a tensor over memory that was lent was kept; see Tensor::lend");
            std::process::abort();
        }
    }
}

#[track_caller]
fn expect_count(found: usize, sizes: &[i64]) -> Result<()> {
    if count(sizes) == Some(found) {
        return Ok(());
    }
    let message = format!("{found} values do not make a tensor of sizes {sizes:?}");
    Err(Error::new(sys::TD_ERR_SHAPE, message))
}

unsafe extern "C" fn drop_box<T>(owner: *mut c_void) {
    // SAFETY: `owner` is the box of `from_vec`, and this is its only release. The elements are
    // plain numbers, so nothing here can panic.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<T>>()) });
}
