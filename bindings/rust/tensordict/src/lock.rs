//! Locked, or unlocked, for a while.

use std::ops::{Deref, DerefMut};

use crate::dict::Dict;
use crate::error::Result;

/// A dictionary that is locked, or unlocked, as long as this lives; then it is again what it was, however
/// the scope is left.
pub struct LockGuard<'a> {
    dict: &'a mut Dict,
    before: bool,
}

impl Dict {
    /// Locks the dictionary for a while.
    ///
    /// ```
    /// use tensordict::{ErrorKind, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// {
    ///     let mut fixed = td.locked()?;
    ///     assert_eq!(fixed.set("n", TensorDict::new([2])?).unwrap_err().kind(), ErrorKind::Locked);
    /// }
    /// td.set("n", TensorDict::new([2])?)?;
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn locked(&mut self) -> Result<LockGuard<'_>> {
        let before = self.is_locked();
        self.lock()?;
        Ok(LockGuard { dict: self, before })
    }

    /// Unlocks the dictionary for a while. The flags of mapped, shared and consolidated dictionaries go with
    /// the lock and do not come back. An error for a part of another one that is locked.
    #[track_caller]
    pub fn unlocked(&mut self) -> Result<LockGuard<'_>> {
        let before = self.is_locked();
        self.unlock()?;
        Ok(LockGuard { dict: self, before })
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // What was locked meanwhile by a dictionary around it stays locked.
        let _ = if self.before { self.dict.lock() } else { self.dict.unlock() };
    }
}

impl Deref for LockGuard<'_> {
    type Target = Dict;

    fn deref(&self) -> &Dict {
        self.dict
    }
}

impl DerefMut for LockGuard<'_> {
    fn deref_mut(&mut self) -> &mut Dict {
        self.dict
    }
}
