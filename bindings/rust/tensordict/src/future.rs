//! Work that goes on while the program does something else.

use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Result};
use crate::handle::Handle;
use crate::memmap::{Folder, MemmapOptions};

/// Work on a thread of the library that gives a dictionary, or `()` if it only sends one. Dropped, it waits for the
/// end of the work.
///
/// ```
/// use tensordict::{MemmapOptions, Tensor, TensorDict};
///
/// # let dir = std::env::temp_dir().join(format!("td-doc-future-{}", std::process::id()));
/// let mut td = TensorDict::new([2])?;
/// td.set("x", Tensor::from_slice(&[1i64, 2], [2])?)?;
/// let saving = td.memmap_start(Some(&dir), MemmapOptions::new())?;
/// td.set("y", Tensor::from_slice(&[3i64, 4], [2])?)?; // is not saved
/// let saved = saving.into_result()?;
/// assert!(saved.contains("x") && !saved.contains("y"));
/// # drop(saved);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Future<T = TensorDict>(Handle<sys::td_future>, PhantomData<fn() -> T>);

// SAFETY: every call with a shared handle may be made on several threads at once.
unsafe impl<T> Sync for Future<T> {}

impl<T> Future<T> {
    /// Whether the work is done, well or not.
    pub fn is_done(&self) -> bool {
        self.ask(0)
    }

    /// Waits for the end of the work.
    pub fn wait(&self) {
        self.ask(-1);
    }

    /// Waits for the end of the work for some time, and says whether it was reached.
    pub fn wait_timeout(&self, time: Duration) -> bool {
        self.ask(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// How many steps are done, and of how many; of a dictionary that is saved these are tensors. The
    /// second number is 0 while it is being worked out.
    pub fn progress(&self) -> (usize, usize) {
        let (mut done, mut total) = (0, 0);
        // SAFETY: the handle is alive, and a call that succeeds writes both numbers.
        sound(check(unsafe { sys::td_future_progress(self.0.get(), &mut done, &mut total) }));
        (done, total)
    }

    /// Tells the work to end: [`into_result`](Self::into_result) then gives an error, unless it was done. Transfers of a
    /// [`Group`](crate::Group) can be cancelled; saves cannot.
    #[track_caller]
    pub fn cancel(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_future_cancel(self.0.get()) })
    }

    /// # Safety
    /// The token came from a call that succeeded, and has no other owner.
    pub(crate) unsafe fn from_raw(token: *mut sys::td_future) -> Self {
        // SAFETY: as promised by the caller.
        Self(unsafe { Handle::new(token) }, PhantomData)
    }

    fn ask(&self, timeout_ms: i64) -> bool {
        let mut done = 0;
        // SAFETY: the handle is alive, and a call that succeeds writes the answer.
        sound(check(unsafe { sys::td_future_wait(self.0.get(), timeout_ms, &mut done) }));
        done != 0
    }

    #[track_caller]
    fn result(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive. Who calls this sees to it that the dictionary has one owner.
        TensorDict::receive(|result| unsafe { sys::td_future_result(self.0.get(), result) })
    }
}

impl Future {
    /// Waits and gives the dictionary, or why the work has failed.
    ///
    /// The dictionary has one owner, so a future gives it once:
    ///
    /// ```compile_fail,E0382
    /// # fn twice(saving: tensordict::Future) -> tensordict::Result<()> {
    /// let one = saving.into_result()?;
    /// let two = saving.into_result()?;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn into_result(self) -> Result<TensorDict> {
        // The future, which holds the dictionary too, ends with this call.
        self.result()
    }
}

impl Future<()> {
    /// Waits until the dictionary is sent, or says why it is not.
    #[track_caller]
    pub fn into_result(self) -> Result<()> {
        // It is the dictionary of the caller, who keeps it.
        self.result().map(drop)
    }
}

impl<T> std::fmt::Debug for Future<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (done, total) = self.progress();
        write!(f, "Future({done} of {total})")
    }
}

impl Dict {
    /// As [`memmap_with`](Self::memmap_with), on a thread of the library: this call returns at once. What is
    /// saved is the dictionary as it is now; values that are written into its tensors before the work is
    /// done may be saved or not.
    #[track_caller]
    pub fn memmap_start(&self, dir: Option<&Path>, options: MemmapOptions) -> Result<Future> {
        let dir = Folder::new(dir)?;
        let mut token = std::ptr::null_mut();
        // SAFETY: the handle is alive; folder and options live for the call, and a call that succeeds gives
        // us the future.
        unsafe {
            check(sys::td_memmap_async(self.raw(), dir.text(), &options.raw, &mut token))?;
            Ok(Future::from_raw(token))
        }
    }
}
