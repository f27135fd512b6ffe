//! The values of a tensor, in and out.

use tensordict_sys as sys;

use super::Tensor;
use crate::device::DeviceKind;
use crate::dtype::Element;
use crate::error::{check, Error, Result};

impl Tensor {
    /// Copies the values out, in row-major order, from any device.
    ///
    /// ```
    /// use tensordict::{ErrorKind, Tensor};
    ///
    /// let t = Tensor::from_slice(&[true, false], [2])?;
    /// assert_eq!(t.to_vec::<bool>()?, [true, false]);
    /// assert_eq!(t.to_vec::<u8>().unwrap_err().kind(), ErrorKind::DType);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>()?;
        let count = self.nbytes() / std::mem::size_of::<T>();
        let mut values = Vec::<T>::with_capacity(count);
        // SAFETY: there is room for `count` values, and they are all written.
        unsafe {
            self.copy_out(values.as_mut_ptr(), count)?;
            values.set_len(count);
        }
        Ok(values)
    }

    /// Copies the values into a slice of just that length.
    #[track_caller]
    pub fn copy_to_slice<T: Element>(&self, values: &mut [T]) -> Result<()> {
        self.expect_dtype::<T>()?;
        // SAFETY: the slice is as long as it says.
        unsafe { self.copy_out(values.as_mut_ptr(), values.len()) }
    }

    /// The bytes of the values, in row-major order; for every dtype.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; self.nbytes()];
        // SAFETY: the handle is alive and the memory is as large as it is said to be.
        check(unsafe {
            sys::td_tensor_copy_to(self.raw(), bytes.as_mut_ptr().cast(), bytes.len())
        })?;
        Ok(bytes)
    }

    /// The value of a tensor that holds just one.
    ///
    /// ```
    /// use tensordict::Tensor;
    ///
    /// let t = Tensor::from_slice(&[1.5f32, 2.5], [2])?;
    /// assert_eq!(t.at(1)?.item::<f32>()?, 2.5);
    /// assert!(t.item::<f32>().is_err());
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec::<T>()?.as_slice() {
            [value] => Ok(*value),
            values => {
                let message = format!("item needs one element, the tensor has {}", values.len());
                Err(Error::new(sys::TD_ERR_SHAPE, message))
            }
        }
    }

    /// Overwrites the values with those of a slice of just that length, on any device.
    #[track_caller]
    pub fn copy_from_slice<T: Element>(&mut self, values: &[T]) -> Result<()> {
        self.expect_dtype::<T>()?;
        let bytes = std::mem::size_of_val(values);
        // SAFETY: the handle is alive and the memory is as large as it is said to be.
        check(unsafe { sys::td_tensor_copy_from(self.raw_mut(), values.as_ptr().cast(), bytes) })
    }

    /// Overwrites the values with those of another tensor, broadcast and converted to this dtype.
    #[track_caller]
    pub fn copy_from(&mut self, source: &Tensor) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::td_tensor_copy(self.raw_mut(), source.raw()) })
    }

    /// The address of the first element; NULL for no elements and on the meta device.
    ///
    /// It is valid as long as a tensor over this memory is.
    #[track_caller]
    pub fn data_ptr(&self) -> Result<*mut std::ffi::c_void> {
        let mut data = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_tensor_data(self.raw(), &mut data) })?;
        Ok(data)
    }

    /// Looks at the values in place, on the CPU.
    ///
    /// # Safety
    /// As long as the slice lives, nobody writes to the memory: no other tensor over it, no thread,
    /// no other process that has mapped the same file.
    #[track_caller]
    pub unsafe fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let (data, count) = self.plain_memory::<T>()?;
        // SAFETY: the memory is dense, of this type, and alive as long as `self`.
        Ok(unsafe { std::slice::from_raw_parts(data, count) })
    }

    /// Looks at the values in place and lets them be changed. Safe, and therefore possible only for
    /// a tensor that is dense, on the CPU, [held by nobody else](Self::is_uniquely_owned), and neither
    /// mapped from a file nor shared with other processes.
    ///
    /// ```
    /// use tensordict::{DType, ErrorKind, Tensor};
    ///
    /// let mut t = Tensor::zeros([3], DType::F32)?;
    /// t.as_mut_slice::<f32>()?[1] = 4.0;
    /// assert_eq!(t.to_vec::<f32>()?, [0.0, 4.0, 0.0]);
    ///
    /// let view = t.at(1..)?;
    /// assert_eq!(t.as_mut_slice::<f32>().unwrap_err().kind(), ErrorKind::InvalidArgument);
    /// # drop(view);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        let (data, count) = self.plain_memory::<T>()?;
        if !self.is_uniquely_owned() {
            let message = "as_mut_slice needs a tensor whose memory nobody else holds";
            return Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message));
        }
        // SAFETY: the memory is dense, of this type, and nobody else can reach it while `self` is
        // borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(data.cast_mut(), count) })
    }

    /// # Safety
    /// `values` has room for `count` values.
    #[track_caller]
    unsafe fn copy_out<T: Element>(&self, values: *mut T, count: usize) -> Result<()> {
        let bytes = count * std::mem::size_of::<T>();
        // SAFETY: the handle is alive; the room is promised by the caller. After the copy all bytes
        // are written, and `tidy` sees them as bytes.
        unsafe {
            check(sys::td_tensor_copy_to(self.raw(), values.cast(), bytes))?;
            T::tidy(std::slice::from_raw_parts_mut(values.cast(), bytes));
        }
        Ok(())
    }

    #[track_caller]
    fn plain_memory<T: Element>(&self) -> Result<(*const T, usize)> {
        self.expect_dtype::<T>()?;
        if self.device().kind() != DeviceKind::Cpu {
            let message = format!("the tensor is on {}, not on the CPU", self.device());
            return Err(Error::new(sys::TD_ERR_DEVICE, message));
        }
        if !self.is_contiguous() {
            let message = "the values do not lie densely; contiguous() makes a copy that does";
            return Err(Error::new(sys::TD_ERR_SHAPE, message));
        }
        let (data, count) = (self.data_ptr()?.cast_const().cast::<T>(), self.numel());
        if count == 0 {
            return Ok((std::ptr::NonNull::dangling().as_ptr(), 0));
        }
        if data.align_offset(std::mem::align_of::<T>()) != 0 {
            let message = format!("the values lie at {data:p}, which is not aligned for the type");
            return Err(Error::new(sys::TD_ERR_UNSUPPORTED, message));
        }
        // SAFETY: the memory is dense and alive as long as `self`; bytes may hold anything.
        if !T::valid(unsafe { std::slice::from_raw_parts(data.cast(), self.nbytes()) }) {
            let message = format!("the memory holds bytes that are not a value of {}", T::DTYPE);
            return Err(Error::new(sys::TD_ERR_DTYPE, message));
        }
        Ok((data, count))
    }

    #[track_caller]
    fn expect_dtype<T: Element>(&self) -> Result<()> {
        let found = self.dtype();
        if found == T::DTYPE {
            return Ok(());
        }
        let message = format!("the tensor is of {found}, not of {}", T::DTYPE);
        Err(Error::new(sys::TD_ERR_DTYPE, message))
    }
}

/// Copies the values out, as [`Tensor::to_vec`] does.
impl<T: Element> TryFrom<&Tensor> for Vec<T> {
    type Error = Error;

    #[track_caller]
    fn try_from(tensor: &Tensor) -> Result<Self> {
        tensor.to_vec()
    }
}
