//! Where tensors live.

use std::fmt;
use std::str::FromStr;

use tensordict_sys as sys;

use crate::error::{Error, Result};

/// The kind of a [`Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// Host memory.
    Cpu,
    /// CUDA, and ROCm builds of libtorch.
    Cuda,
    /// Apple Metal.
    Mps,
    /// Intel GPUs.
    Xpu,
    /// Shapes without memory.
    Meta,
    /// A kind that this version of the crate does not know.
    Unknown(i32),
}

/// A device: its kind and, where there may be several, its number.
///
/// ```
/// use tensordict::Device;
///
/// assert_eq!("cuda:1".parse::<Device>()?, Device::cuda(1));
/// assert_eq!(Device::cpu().to_string(), "cpu");
/// assert!(Device::cpu().is_available());
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    kind: DeviceKind,
    index: Option<u16>,
}

impl Device {
    /// A device of a kind; without a number the current one of that kind.
    pub const fn new(kind: DeviceKind, index: Option<u16>) -> Self {
        Self { kind, index }
    }

    /// Host memory.
    pub const fn cpu() -> Self {
        Self::new(DeviceKind::Cpu, None)
    }

    /// A CUDA device.
    pub const fn cuda(index: u16) -> Self {
        Self::new(DeviceKind::Cuda, Some(index))
    }

    /// Shapes without memory.
    pub const fn meta() -> Self {
        Self::new(DeviceKind::Meta, None)
    }

    /// Its kind.
    pub const fn kind(self) -> DeviceKind {
        self.kind
    }

    /// Its number; `None` for devices that have none.
    pub const fn index(self) -> Option<u16> {
        self.index
    }

    /// Whether libtorch here can use this kind of device.
    pub fn is_available(self) -> bool {
        // SAFETY: any number is allowed.
        unsafe { sys::td_device_available(self.raw().0) == 1 }
    }

    /// Whether libtorch here can use CUDA.
    pub fn cuda_available() -> bool {
        Self::cuda(0).is_available()
    }

    pub(crate) fn raw(self) -> (sys::td_device_type, i32) {
        let kind = match self.kind {
            DeviceKind::Cpu => sys::TD_DEVICE_CPU,
            DeviceKind::Cuda => sys::TD_DEVICE_CUDA,
            DeviceKind::Mps => sys::TD_DEVICE_MPS,
            DeviceKind::Xpu => sys::TD_DEVICE_XPU,
            DeviceKind::Meta => sys::TD_DEVICE_META,
            DeviceKind::Unknown(kind) => kind,
        };
        (kind, self.index.map_or(-1, i32::from))
    }

    /// No device is what dictionaries have whose entries may live anywhere.
    pub(crate) fn raw_or_none(device: Option<Self>) -> (sys::td_device_type, i32) {
        device.map_or((sys::TD_DEVICE_NONE, -1), Self::raw)
    }

    pub(crate) fn from_raw(kind: sys::td_device_type, index: i32) -> Option<Self> {
        let kind = match kind {
            sys::TD_DEVICE_NONE => return None,
            sys::TD_DEVICE_CPU => DeviceKind::Cpu,
            sys::TD_DEVICE_CUDA => DeviceKind::Cuda,
            sys::TD_DEVICE_MPS => DeviceKind::Mps,
            sys::TD_DEVICE_XPU => DeviceKind::Xpu,
            sys::TD_DEVICE_META => DeviceKind::Meta,
            other => DeviceKind::Unknown(other),
        };
        Some(Self::new(kind, u16::try_from(index).ok()))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Cpu => f.write_str("cpu")?,
            DeviceKind::Cuda => f.write_str("cuda")?,
            DeviceKind::Mps => f.write_str("mps")?,
            DeviceKind::Xpu => f.write_str("xpu")?,
            DeviceKind::Meta => f.write_str("meta")?,
            DeviceKind::Unknown(kind) => write!(f, "device kind {kind}")?,
        }
        self.index.map_or(Ok(()), |index| write!(f, ":{index}"))
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let message =
                format!("{text:?} is not a device; expected a text such as cpu or cuda:0");
            Error::new(sys::TD_ERR_DEVICE, message)
        };
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let kind = match name {
            "cpu" => DeviceKind::Cpu,
            "cuda" => DeviceKind::Cuda,
            "mps" => DeviceKind::Mps,
            "xpu" => DeviceKind::Xpu,
            "meta" => DeviceKind::Meta,
            _ => return Err(wrong()),
        };
        Ok(Self::new(kind, index))
    }
}
