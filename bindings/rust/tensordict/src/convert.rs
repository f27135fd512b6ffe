//! To another device, to another dtype.

use tensordict_sys as sys;

use crate::device::{Device, DeviceKind};
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, read_list, sound, Result};
use crate::gradient::raw_or_null;
use crate::key::KeyPath;
use crate::select::RawKeys;

/// Where `to` goes: a [`Device`], a [`DType`], or a pair of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Kinds of dtypes, joined with `|`: which tensors get another dtype.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DTypeKinds(sys::td_to_kinds);

impl DTypeKinds {
    /// Floating-point dtypes.
    pub const FLOATING: Self = Self(sys::TD_TO_KINDS_FLOATING);
    /// Complex dtypes.
    pub const COMPLEX: Self = Self(sys::TD_TO_KINDS_COMPLEX);
    /// Integer dtypes, without bool.
    pub const INTEGER: Self = Self(sys::TD_TO_KINDS_INTEGER);
    /// Bool.
    pub const BOOL: Self = Self(sys::TD_TO_KINDS_BOOL);
}

impl std::ops::BitOr for DTypeKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// How [`Dict::to_with`] works.
#[derive(Clone, Copy, Default)]
pub struct ToOptions<'a> {
    raw: sys::td_to_options,
    like: Option<&'a Dict>,
    keys: &'a [KeyPath],
}

impl<'a> ToOptions<'a> {
    /// The defaults: copies are waited for.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether not to wait for copies.
        non_blocking(non_blocking: bool) => raw.non_blocking;
        /// Whether copies go through pinned memory; without another device that is where they stay.
        pin(pin: bool) => raw.pin_memory;
    }

    /// Only tensors of these dtypes get another dtype.
    ///
    /// ```
    /// use tensordict::{DType, DTypeKinds, Tensor, TensorDict, ToOptions};
    ///
    /// let td = TensorDict::from_pairs((), [("x", Tensor::scalar(1f32)?), ("i", Tensor::scalar(1i64)?)])?;
    /// let half = td.to_with(DType::F16, &ToOptions::new().kinds(DTypeKinds::FLOATING))?;
    /// assert_eq!(half.tensor("x")?.dtype(), DType::F16);
    /// assert_eq!(half.tensor("i")?.dtype(), DType::I64);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn kinds(mut self, kinds: DTypeKinds) -> Self {
        self.raw.kinds = kinds.0;
        self
    }

    /// Only these entries, and what is below them: `&keys!["a", ("n", "b")]`.
    pub fn keys(mut self, keys: &'a [KeyPath]) -> Self {
        self.keys = keys;
        self
    }

    /// The device of a dictionary, and the dtype that all its tensors have, where nothing else is said.
    pub fn like(mut self, like: &'a Dict) -> Self {
        self.like = Some(like);
        self
    }

    // The options with a list of keys, which must live as long.
    fn raw_with(&self, keys: &RawKeys) -> sys::td_to_options {
        sys::td_to_options { keys: keys.list(), keys_len: keys.len(), ..self.raw }
    }

    /// Each tensor becomes as the one of the same key in a dictionary. Meta tensors give only a dtype.
    pub fn each_like(mut self, like: &'a Dict) -> Self {
        self.raw.each_like = 1;
        self.like(like)
    }
}

impl Dict {
    /// As [`to`](Self::to), with options. The target may be nothing: `Target::default()`.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict, Target, ToOptions};
    ///
    /// let a = TensorDict::from_pairs((), [("x", Tensor::scalar(1i32)?)])?;
    /// let b = TensorDict::from_pairs((), [("x", Tensor::scalar(0.5f64)?)])?;
    /// let c = a.to_with(Target::default(), &ToOptions::new().like(&b))?;
    /// assert_eq!(c.tensor("x")?.dtype(), DType::F64);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to_with(
        &self,
        target: impl Into<Target>,
        options: &ToOptions<'_>,
    ) -> Result<TensorDict> {
        let target = target.into();
        let keys = RawKeys::new(options.keys)?;
        let raw = options.raw_with(&keys);
        // SAFETY: the handles are alive, the options live for the call.
        self.derive(|result| unsafe { self.convert(target, options.like, &raw, result) })
    }

    /// As [`to_with`](Self::to_with), but the tensors of this dictionary itself are replaced.
    #[track_caller]
    pub fn to_inplace(&mut self, target: impl Into<Target>, options: &ToOptions<'_>) -> Result<()> {
        let target = target.into();
        let dtype = target.dtype.map_or(sys::TD_DTYPE_OTHER, DType::raw);
        let (kind, index) = Device::raw_or_none(target.device);
        let (td, like) = (self.raw_mut(), raw_or_null(options.like));
        let keys = RawKeys::new(options.keys)?;
        let raw = options.raw_with(&keys);
        // SAFETY: the handles are alive, the options live for the call.
        check(unsafe { sys::td_to_inplace(td, like, dtype, kind, index, &raw) })
    }

    unsafe fn convert(
        &self,
        target: Target,
        like: Option<&Dict>,
        options: &sys::td_to_options,
        result: *mut *mut sys::td_tensordict,
    ) -> sys::td_status {
        let dtype = target.dtype.map_or(sys::TD_DTYPE_OTHER, DType::raw);
        let (kind, index) = Device::raw_or_none(target.device);
        let like = raw_or_null(like);
        // SAFETY: as promised by the caller.
        unsafe { sys::td_to(self.raw(), like, dtype, kind, index, options, result) }
    }

    /// The same values in pinned memory, from which copies to an accelerator are quicker.
    #[track_caller]
    pub fn pin_memory(&self) -> Result<TensorDict> {
        self.to_with(Target::default(), &ToOptions::new().pin(true))
    }

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
            _ => self.to_with(target, &ToOptions::new()),
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

    /// Sets the device, here and in nested dictionaries, to the one that all tensors lie on; to none
    /// if they do not agree. Nothing moves.
    #[track_caller]
    pub fn auto_device(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_auto_device(self.raw_mut()) })
    }

    /// Tells the allocator that work on a stream of an accelerator uses all tensors. `stream` is
    /// libtorch's number; of CUDA also the address of a `cudaStream_t`.
    #[track_caller]
    pub fn record_stream(&self, device: Device, stream: i64) -> Result<()> {
        let (kind, index) = device.raw();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_record_stream(self.raw(), kind, index, stream) })
    }

    /// The dtype that all tensors have; `None` when they differ or there are none.
    pub fn dtype(&self) -> Option<DType> {
        match self.measure(sys::TD_MEASURE_DTYPE) as sys::td_dtype {
            sys::TD_DTYPE_OTHER => None,
            dtype => Some(DType::from_raw(dtype)),
        }
    }

    /// Whether all tensors are of a floating dtype.
    pub fn is_floating_point(&self) -> bool {
        self.measure(sys::TD_MEASURE_IS_FLOATING_POINT) != 0
    }

    /// Whether any tensor is recorded for gradients.
    pub fn requires_grad(&self) -> bool {
        self.measure(sys::TD_MEASURE_REQUIRES_GRAD) != 0
    }

    /// Whether all tensors lie in pinned memory.
    pub fn is_pinned(&self) -> bool {
        self.measure(sys::TD_MEASURE_IS_PINNED) != 0
    }

    /// Whether the device of the dictionary is the CPU; `false` when it has none.
    pub fn is_cpu(&self) -> bool {
        self.device().map(Device::kind) == Some(DeviceKind::Cpu)
    }

    /// Whether the device of the dictionary is a CUDA device; `false` when it has none.
    pub fn is_cuda(&self) -> bool {
        self.device().map(Device::kind) == Some(DeviceKind::Cuda)
    }

    /// How many numbers all tensors hold. A tensor that stands in two places counts twice, unless
    /// `count_duplicates` is false.
    pub fn param_count(&self, count_duplicates: bool) -> usize {
        let kind =
            if count_duplicates { sys::TD_MEASURE_ELEMENTS } else { sys::TD_MEASURE_ELEMENTS_ONCE };
        self.measure(kind) as usize
    }

    /// The bytes of all tensors and of their gradients, counted as by
    /// [`param_count`](Self::param_count).
    pub fn bytes(&self, count_duplicates: bool) -> usize {
        let kind =
            if count_duplicates { sys::TD_MEASURE_BYTES } else { sys::TD_MEASURE_BYTES_ONCE };
        self.measure(kind) as usize
    }

    fn measure(&self, kind: sys::td_measure_kind) -> i64 {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_measure(self.raw(), kind, &mut answer) }));
        answer
    }

    /// The address of each tensor, in the order of the leaves; with `storage` that of the memory it is
    /// a view of.
    #[track_caller]
    pub fn data_pointers(&self, storage: bool) -> Result<Vec<i64>> {
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        read_list(0, |addresses, cap, count| unsafe {
            let flags = sys::TD_DATA_POINTERS_STORAGE * u32::from(storage);
            sys::td_data_pointers(self.raw(), flags, addresses, cap, count)
        })
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
