//! What can be asked of a dictionary as a whole, its lock, and copies.

use tensordict_sys as sys;

use crate::device::{Device, DeviceKind};
use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_list, sound, Result};
use crate::sizes::Sizes;

impl Dict {
    /// The batch size.
    pub fn batch_size(&self) -> Vec<i64> {
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        sound(read_list(0, |sizes, cap, dims| unsafe {
            sys::td_batch_size(self.raw(), sizes, cap, dims)
        }))
    }

    /// Changes the batch size. Nested dictionaries grow with it where theirs is shorter. Allowed when
    /// locked; either everything changes or nothing.
    #[track_caller]
    pub fn set_batch_size(&mut self, sizes: impl Sizes) -> Result<()> {
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        check(unsafe { sys::td_set_batch_size(self.raw_mut(), sizes.as_ptr(), sizes.len()) })
    }

    /// The device of its entries; `None` when they may live anywhere.
    pub fn device(&self) -> Option<Device> {
        let (mut kind, mut index) = (0, -1);
        // SAFETY: the handle is alive. The only failure is a device that has no number.
        match unsafe { sys::td_device(self.raw(), &mut kind, &mut index) } {
            sys::TD_OK => Device::from_raw(kind, index),
            _ => Some(Device::new(DeviceKind::Unknown(-1), None)),
        }
    }

    /// Forbids structural change here and in nested dictionaries. Values can still be written.
    #[track_caller]
    pub fn lock(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_lock(self.raw_mut()) })
    }

    /// Allows structural change again. Fails for a part of another dictionary that is locked.
    #[track_caller]
    pub fn unlock(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_unlock(self.raw_mut()) })
    }

    /// Whether structural change is forbidden.
    pub fn is_locked(&self) -> bool {
        self.flag(sys::td_is_locked)
    }

    /// Whether files, or memory that can be mapped, lie behind its tensors.
    pub fn is_memmap(&self) -> bool {
        self.flag(sys::td_is_memmap)
    }

    /// Whether no tensor and no other value stands anywhere in it.
    pub fn is_empty(&self) -> bool {
        self.flag(sys::td_is_empty)
    }

    fn flag(
        &self,
        ask: unsafe extern "C" fn(*const sys::td_tensordict, *mut i32) -> sys::td_status,
    ) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { ask(self.raw(), &mut answer) }));
        answer != 0
    }

    /// The bytes of all tensors at every level.
    pub fn nbytes(&self) -> usize {
        let mut bytes = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_nbytes(self.raw(), &mut bytes) }));
        bytes
    }

    /// Whether both speak of the same dictionary. In safe code they do only where one borrows the
    /// other: [`shallow_clone`](Self::shallow_clone) makes the exception.
    ///
    /// ```
    /// use tensordict::{Ellipsis, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("nested", TensorDict::new([2])?)?;
    /// assert!(td.dict("nested")?.is_same(td.dict("nested")?));
    /// assert!(!td.at(Ellipsis)?.is_same(&td));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn is_same(&self, other: impl AsRef<Dict>) -> bool {
        let mut answer = 0;
        // SAFETY: both handles are alive.
        sound(check(unsafe { sys::td_is_same(self.raw(), other.as_ref().raw(), &mut answer) }));
        answer != 0
    }

    /// Whether both have the same batch size, the same keys and equal tensors under each. Devices and
    /// locks do not count.
    #[track_caller]
    pub fn equal(&self, other: impl AsRef<Dict>) -> Result<bool> {
        let mut answer = 0;
        // SAFETY: both handles are alive.
        check(unsafe { sys::td_equal(self.raw(), other.as_ref().raw(), &mut answer) })?;
        Ok(answer != 0)
    }

    /// A new dictionary, unlocked, over the same tensors; nested dictionaries are new too.
    #[track_caller]
    pub fn shallow_copy(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_clone(self.raw(), sys::TD_CLONE_SHALLOW, result)
        })
    }

    /// A new dictionary, unlocked, with memory of its own.
    #[track_caller]
    pub fn deep_clone(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_clone(self.raw(), 0, result) })
    }

    /// A second handle on the same dictionary: a change through one is seen through the other.
    ///
    /// # Safety
    /// The two are not used from two threads at the same time.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// // SAFETY: both stay on this thread.
    /// let twin = unsafe { td.shallow_clone()? };
    /// td.set("x", Tensor::scalar(1.0f32)?)?;
    /// assert!(twin.contains("x"));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub unsafe fn shallow_clone(&self) -> Result<TensorDict> {
        self.share()
    }

    #[track_caller]
    pub(crate) fn share(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_dup(self.raw(), result) })
    }
}
