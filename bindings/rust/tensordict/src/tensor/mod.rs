//! Tensors: what can be asked of one, and what makes another of it.

mod data;
mod dlpack;
mod make;

pub use dlpack::{Dlpack, DlpackForm};

use std::fmt;
use std::mem::ManuallyDrop;

use tensordict_sys as sys;

use crate::convert::Target;
use crate::device::{Device, DeviceKind};
use crate::dtype::DType;
use crate::error::{check, read_list, read_text, sound, Result};
use crate::handle::Handle;
use crate::index::{Indices, RawIndex};
use crate::sizes::count;

/// A tensor of libtorch: a handle that is cheap to make, on memory that is shared and counted.
///
/// Several tensors may share memory, as in torch: what [`TensorDict`](crate::TensorDict) gives,
/// views of it, and [`shallow_clone`](Self::shallow_clone). A change through one is seen through all.
/// A tensor may be sent to another thread. While one thread writes to shared memory, or changes a tensor
/// that it shares (`set_requires_grad`), no other may touch it: the program sees to that, as the crate
/// cannot. [`is_uniquely_owned`](Self::is_uniquely_owned) tells what is safe to send without a thought.
///
/// ```
/// use tensordict::{i, DType, Ellipsis, Tensor};
///
/// let t = Tensor::from_vec(vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 3])?;
/// assert_eq!((t.shape(), t.dtype()), (vec![2, 3], DType::F32));
/// assert_eq!(t.at(i![Ellipsis, 1])?.to_vec::<f32>()?, [1.0, 4.0]);
/// # Ok::<(), tensordict::Error>(())
/// ```
///
/// It is not `Sync`:
///
/// ```compile_fail,E0277
/// fn shared_by_threads<T: Sync>() {}
/// shared_by_threads::<tensordict::Tensor>();
/// ```
pub struct Tensor {
    handle: Handle<sys::td_tensor>,
}

impl Tensor {
    /// # Safety
    /// As for [`Handle::new`].
    pub(crate) unsafe fn from_raw(token: *mut sys::td_tensor) -> Self {
        // SAFETY: as promised by the caller.
        Self { handle: unsafe { Handle::new(token) } }
    }

    /// A tensor that somebody else owns.
    ///
    /// # Safety
    /// `token` stays alive as long as the result is used.
    pub(crate) unsafe fn lent(token: *const sys::td_tensor) -> ManuallyDrop<Self> {
        // SAFETY: as promised by the caller; the owner frees it, this does not.
        ManuallyDrop::new(unsafe { Self::from_raw(token.cast_mut()) })
    }

    /// Gives up the ownership.
    pub(crate) fn into_raw(self) -> *mut sys::td_tensor {
        ManuallyDrop::new(self).raw_mut()
    }

    pub(crate) fn raw(&self) -> *const sys::td_tensor {
        self.handle.get()
    }

    pub(crate) fn raw_mut(&mut self) -> *mut sys::td_tensor {
        self.handle.get_mut()
    }

    /// Receives a tensor from a call of the library.
    #[track_caller]
    pub(crate) fn receive(
        call: impl FnOnce(*mut *mut sys::td_tensor) -> sys::td_status,
    ) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(unsafe { Self::from_raw(token) })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        let mut dtype = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_dtype(self.raw(), &mut dtype) }));
        DType::from_raw(dtype)
    }

    /// Where the values lie.
    pub fn device(&self) -> Device {
        let (mut kind, mut index) = (0, -1);
        // SAFETY: the handle is alive. The only failure is a device that has no number.
        let status = unsafe { sys::td_tensor_device(self.raw(), &mut kind, &mut index) };
        let known = if status == sys::TD_OK { Device::from_raw(kind, index) } else { None };
        known.unwrap_or(Device::new(DeviceKind::Unknown(-1), None))
    }

    /// The sizes.
    pub fn shape(&self) -> Vec<i64> {
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        sound(read_list(0, |sizes, cap, dims| unsafe {
            sys::td_tensor_sizes(self.raw(), sizes, cap, dims)
        }))
    }

    /// The strides, in elements.
    pub fn strides(&self) -> Vec<i64> {
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        sound(read_list(0, |strides, cap, dims| unsafe {
            sys::td_tensor_strides(self.raw(), strides, cap, dims)
        }))
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        count(&self.shape()).unwrap_or(usize::MAX)
    }

    /// The bytes of all elements, whether or not they lie densely.
    pub fn nbytes(&self) -> usize {
        let mut bytes = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_nbytes(self.raw(), &mut bytes) }));
        bytes
    }

    /// Whether the elements lie densely in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_is_contiguous(self.raw(), &mut answer) }));
        answer != 0
    }

    /// Whether nobody else holds this tensor or its memory: no other handle, dictionary or view. Never so
    /// for memory that others may have mapped, too: a file, or memory that is shared with other processes.
    pub fn is_uniquely_owned(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_is_uniquely_owned(self.raw(), &mut answer) }));
        answer != 0
    }

    /// Whether this tensor, or the one it is a view of, lies in a file or nameless memory that the
    /// library has mapped. Two mappings of one file share memory without knowing of each other.
    pub fn is_memmap(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_is_memmap(self.raw(), &mut answer) }));
        answer != 0
    }

    /// Whether operations on this tensor are recorded for gradients.
    pub fn requires_grad(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_tensor_requires_grad(self.raw(), &mut answer) }));
        answer != 0
    }

    /// Switches the recording of gradients for this tensor.
    #[track_caller]
    pub fn set_requires_grad(&mut self, required: bool) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_tensor_set_requires_grad(self.raw_mut(), required.into()) })
    }

    /// A second handle on the same tensor.
    #[track_caller]
    pub fn shallow_clone(&self) -> Result<Self> {
        // SAFETY: the handle is alive.
        Self::receive(|result| unsafe { sys::td_tensor_dup(self.raw(), result) })
    }

    /// The same values in memory of its own.
    #[track_caller]
    pub fn deep_clone(&self) -> Result<Self> {
        // SAFETY: the handle is alive.
        Self::receive(|result| unsafe { sys::td_tensor_clone(self.raw(), result) })
    }

    /// The same values lying densely: the same tensor when they already do, else a copy.
    #[track_caller]
    pub fn contiguous(&self) -> Result<Self> {
        // SAFETY: the handle is alive.
        Self::receive(|result| unsafe { sys::td_tensor_contiguous(self.raw(), result) })
    }

    /// Converts to another dtype, another device, or both; shares memory when nothing changes.
    ///
    /// ```
    /// use tensordict::{DType, Device, Tensor};
    ///
    /// let t = Tensor::from_slice(&[1u8, 2], [2])?;
    /// assert_eq!(t.to(DType::F64)?.to_vec::<f64>()?, [1.0, 2.0]);
    /// assert_eq!(t.to((Device::cpu(), DType::I64))?.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to(&self, target: impl Into<Target>) -> Result<Self> {
        let target = target.into();
        let dtype = target.dtype.unwrap_or(DType::Other).raw();
        let (kind, index) = Device::raw_or_none(target.device);
        // SAFETY: the handle is alive.
        Self::receive(|result| unsafe { sys::td_tensor_to(self.raw(), dtype, kind, index, result) })
    }

    /// Whether both have the same dtype, device, sizes and values; NaN equals nothing.
    #[track_caller]
    pub fn equal(&self, other: &Tensor) -> Result<bool> {
        let mut answer = 0;
        // SAFETY: both handles are alive.
        check(unsafe { sys::td_tensor_equal(self.raw(), other.raw(), &mut answer) })?;
        Ok(answer != 0)
    }

    /// Reads a part: a view that shares memory, or a copy where the index holds a tensor.
    #[track_caller]
    pub fn at<'a>(&self, index: impl Indices<'a>) -> Result<Self> {
        let index = RawIndex::new(index);
        // SAFETY: the handle is alive, and the list of items is as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_tensor_index(self.raw(), index.items(), index.len(), result)
        })
    }

    /// Writes a tensor, broadcast and converted, into a part.
    ///
    /// ```
    /// use tensordict::{i, DType, Step as _, Tensor};
    ///
    /// let mut t = Tensor::zeros([5], DType::I64)?;
    /// t.set_at(i![(0..).step(2)], &Tensor::scalar(7i32)?)?;
    /// assert_eq!(t.to_vec::<i64>()?, [7, 0, 7, 0, 7]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_at<'a>(&mut self, index: impl Indices<'a>, source: &Tensor) -> Result<()> {
        let index = RawIndex::new(index);
        // SAFETY: the handles are alive, and the list of items is as long as it is said to be.
        check(unsafe {
            sys::td_tensor_set_at(self.raw_mut(), index.items(), index.len(), source.raw())
        })
    }
}

/// The line that a dictionary prints for this tensor.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        let line = read_text(|text, cap, length| unsafe {
            sys::td_tensor_to_string(self.raw(), text, cap, length)
        });
        f.write_str(&line.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
