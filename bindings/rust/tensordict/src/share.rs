//! Dictionaries in memory that other processes see too.

use std::ffi::CString;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_text, Error, Result};
use crate::library;

impl Dict {
    /// Moves all tensors to one piece of shared memory; the dictionary becomes locked.
    ///
    /// Other processes see what is written to the tensors: those that are forked from this one later, and
    /// those that open the dictionary by its [name](Self::shared_name). The memory has no file and goes with
    /// the last process that has it.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// td.share_memory()?;
    /// let name = td.shared_name()?; // for another process
    /// let seen = TensorDict::open_shared(&name)?;
    /// assert!(seen.equal(&td)? && seen.is_shared()? && seen.is_locked());
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn share_memory(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_share_memory(self.raw_mut()) })
    }

    /// Whether it is flagged as shared: by [`share_memory`](Self::share_memory) and not unlocked since, or
    /// because it lies on a CUDA device. An error for a lazy stack of which only some elements are.
    #[track_caller]
    pub fn is_shared(&self) -> Result<bool> {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_is_shared(self.raw(), &mut answer) })?;
        Ok(answer != 0)
    }

    /// The name by which another process of the same user opens this dictionary, as long as the process
    /// that shared it runs and has a handle on it.
    #[track_caller]
    pub fn shared_name(&self) -> Result<String> {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        read_text(|text, cap, length| unsafe { sys::td_shared_name(self.raw(), text, cap, length) })
    }
}

impl TensorDict {
    /// Opens what another process has shared: its tensors are the very same memory.
    #[track_caller]
    pub fn open_shared(name: &str) -> Result<Self> {
        library::ready()?;
        let Ok(text) = CString::new(name) else {
            let message = format!("{name:?} is not the name of shared memory");
            return Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message));
        };
        // SAFETY: the text lives for the call.
        Self::receive(|result| unsafe { sys::td_shared_open(text.as_ptr(), result) })
    }
}
