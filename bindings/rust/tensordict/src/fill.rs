//! The same structure with other values, and how near two dictionaries are.

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Result};
use crate::sizes::Sizes;

/// What the tensors of [`Dict::like`] and [`Dict::new_filled`] hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Whatever the memory holds.
    Empty,
    /// 0.
    Zeros,
    /// 1.
    Ones,
    /// This value, converted to the dtype of each tensor.
    Value(f64),
    /// Evenly from 0 to 1.
    Rand,
    /// Normally, around 0 with deviation 1.
    Randn,
}

/// How [`Dict::like`] and [`Dict::new_filled`] make tensors.
#[derive(Clone, Copy, Debug, Default)]
pub struct FillOptions {
    dtype: Option<DType>,
    device: Option<Device>,
}

impl FillOptions {
    /// The defaults: each tensor keeps its dtype and its device.
    pub fn new() -> Self {
        Self::default()
    }

    /// The dtype of all tensors.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// The device of all tensors.
    pub fn device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    fn raw(self, fill: Fill) -> (sys::td_like_kind, sys::td_like_options) {
        let (kind, value) = match fill {
            Fill::Empty => (sys::TD_LIKE_EMPTY, 0.0),
            Fill::Zeros => (sys::TD_LIKE_ZEROS, 0.0),
            Fill::Ones => (sys::TD_LIKE_ONES, 0.0),
            Fill::Value(value) => (sys::TD_LIKE_FULL, value),
            Fill::Rand => (sys::TD_LIKE_RAND, 0.0),
            Fill::Randn => (sys::TD_LIKE_RANDN, 0.0),
        };
        let (device_type, device_index) = Device::raw_or_none(self.device);
        let dtype = self.dtype.map_or(sys::TD_DTYPE_OTHER, DType::raw);
        (
            kind,
            sys::td_like_options { dtype, device_type, device_index, value, ..Default::default() },
        )
    }
}

/// How [`Dict::difference`] compares.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloseOptions {
    raw: sys::td_allclose_options,
}

impl CloseOptions {
    /// The defaults: what suits each dtype; NaN is close to NaN; keys must be the same.
    pub fn new() -> Self {
        Self::default()
    }

    /// The differences that are allowed: a part of the other value, and what comes on top of that.
    pub fn tolerance(mut self, relative: f64, absolute: f64) -> Self {
        self.raw.has_tolerance = 1;
        self.raw.relative = relative;
        self.raw.absolute = absolute;
        self
    }

    /// Whether NaN is close to NaN.
    pub fn equal_nan(mut self, equal: bool) -> Self {
        self.raw.nan_differs = (!equal).into();
        self
    }

    /// Whether only keys are compared that both have.
    pub fn common_keys(mut self, common: bool) -> Self {
        self.raw.common_keys = common.into();
        self
    }
}

impl Dict {
    /// The same structure and batch size with other values, in new memory; locked if this is.
    ///
    /// ```
    /// use tensordict::{DType, Fill, FillOptions, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// assert_eq!(td.zeros_like()?.tensor("x")?.to_vec::<i64>()?, [0, 0]);
    /// let halves = td.like(Fill::Value(0.5), FillOptions::new().dtype(DType::F32))?;
    /// assert_eq!(halves.tensor("x")?.to_vec::<f32>()?, [0.5, 0.5]);
    /// assert_eq!(td.new_filled([3], Fill::Ones, FillOptions::new())?.batch_size(), [3]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn like(&self, fill: Fill, options: FillOptions) -> Result<TensorDict> {
        let (kind, raw) = options.raw(fill);
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_like(self.raw(), kind, &raw, result) })
    }

    /// The same structure, filled with 0.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<TensorDict> {
        self.like(Fill::Zeros, FillOptions::new())
    }

    /// The same structure, filled with 1.
    #[track_caller]
    pub fn ones_like(&self) -> Result<TensorDict> {
        self.like(Fill::Ones, FillOptions::new())
    }

    /// The same structure under another batch size with other values; what lies behind the batch
    /// dimensions stays.
    #[track_caller]
    pub fn new_filled(
        &self,
        sizes: impl Sizes,
        fill: Fill,
        options: FillOptions,
    ) -> Result<TensorDict> {
        let sizes = sizes.sizes();
        let (kind, raw) = options.raw(fill);
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_like_sized(self.raw(), kind, sizes.as_ptr(), sizes.len(), &raw, result)
        })
    }

    /// Whether keys, batch sizes, shapes, dtypes and devices are those of another dictionary, and values
    /// nearly so.
    #[track_caller]
    pub fn all_close(&self, other: &Dict) -> Result<bool> {
        Ok(self.difference(other, CloseOptions::new())?.is_none())
    }

    /// Where two dictionaries differ first by more than is allowed, as a text; `None` if they do not.
    ///
    /// ```
    /// use tensordict::{CloseOptions, Tensor, TensorDict};
    ///
    /// let one = TensorDict::from_pairs([1], [("x", Tensor::from_slice(&[1.0f32], [1])?)])?;
    /// let two = TensorDict::from_pairs([1], [("x", Tensor::from_slice(&[1.5f32], [1])?)])?;
    /// let text = one.difference(&two, CloseOptions::new())?.unwrap();
    /// assert_eq!(text, "\"x\" differs: root mean square difference 0.5");
    /// assert!(one.difference(&two, CloseOptions::new().tolerance(0.0, 1.0))?.is_none());
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn difference(&self, other: &Dict, options: CloseOptions) -> Result<Option<String>> {
        let (mut close, mut length) = (0, 0);
        let mut text = vec![0u8; 512];
        loop {
            // SAFETY: the handles are alive, and the text is as long as it is said to be.
            let status = unsafe {
                let (to, room) = (text.as_mut_ptr().cast(), text.len());
                let raw = &options.raw;
                sys::td_allclose(self.raw(), other.raw(), raw, &mut close, to, room, &mut length)
            };
            if status != sys::TD_ERR_BUFFER_TOO_SMALL {
                check(status)?;
                text.truncate(length);
                let text = String::from_utf8_lossy(&text).into_owned();
                return Ok((close == 0).then_some(text));
            }
            text.resize(length + 1, 0);
        }
    }
}
