//! To another device, to another dtype.

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Result};

/// Where `to` goes: a [`Device`], a [`DType`], or a pair of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub(crate) device: Option<Device>,
    pub(crate) dtype: Option<DType>,
}

impl From<Device> for Target {
    fn from(device: Device) -> Self {
        Self { device: Some(device), dtype: None }
    }
}

impl From<DType> for Target {
    fn from(dtype: DType) -> Self {
        Self { device: None, dtype: Some(dtype) }
    }
}

impl From<(Device, DType)> for Target {
    fn from((device, dtype): (Device, DType)) -> Self {
        Self { device: Some(device), dtype: Some(dtype) }
    }
}

impl Dict {
    /// On another device, where what is set later moves too, or with all tensors of another dtype.
    /// The lock is kept. Tensors that fit already are shared.
    ///
    /// ```
    /// use tensordict::{DType, Device, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// let here = td.to((Device::cpu(), DType::F32))?;
    /// assert_eq!(here.device(), Some(Device::cpu()));
    /// assert_eq!(here.tensor("x")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to(&self, target: impl Into<Target>) -> Result<TensorDict> {
        let target = target.into();
        match (target.device, target.dtype) {
            (Some(device), None) => self.to_device(device, None),
            (None, Some(dtype)) => self.to_dtype(dtype),
            (Some(device), Some(dtype)) => self.to_device(device, None)?.to_dtype(dtype),
            (None, None) => self.shallow_copy(),
        }
    }

    /// On another device, without waiting for the copies.
    #[track_caller]
    pub fn to_non_blocking(&self, device: Device) -> Result<TensorDict> {
        let options = sys::td_to_options { non_blocking: 1, ..Default::default() };
        self.to_device(device, Some(options))
    }

    /// Forgets the device, here and in nested dictionaries. Nothing moves. Allowed when locked.
    #[track_caller]
    pub fn clear_device(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_clear_device(self.raw_mut()) })
    }

    #[track_caller]
    fn to_device(&self, to: Device, options: Option<sys::td_to_options>) -> Result<TensorDict> {
        let (kind, index) = to.raw();
        let options = options.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the handle is alive; the options are NULL or live for the call.
        self.derive(|result| unsafe { sys::td_to_device(self.raw(), kind, index, options, result) })
    }

    #[track_caller]
    fn to_dtype(&self, dtype: DType) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_to_dtype(self.raw(), dtype.raw(), result) })
    }
}
