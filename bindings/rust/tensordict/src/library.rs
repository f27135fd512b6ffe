//! The library itself: version, log, gradients, open handles.

use std::ffi::{c_char, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::OnceLock;

use tensordict_sys as sys;

use crate::error::{text, Error, Result};

/// Whether the library that is loaded fits this crate. Every value begins with a call of this.
#[track_caller]
pub(crate) fn ready() -> Result<()> {
    static FITS: OnceLock<bool> = OnceLock::new();
    // SAFETY: may be called at any time.
    if *FITS.get_or_init(|| unsafe { sys::td_supports_abi(sys::TD_ABI_VERSION) } == 1) {
        return Ok(());
    }
    let found = format!(
        "this crate needs a library that supports ABI {}, libtensordict {} has ABI {}",
        sys::TD_ABI_VERSION,
        version(),
        abi_version()
    );
    Err(Error::new(sys::TD_ERR_VERSION, found))
}

/// The version of the library that is loaded, such as `"0.3.0"`.
pub fn version() -> String {
    // SAFETY: the text lives as long as the library.
    unsafe { text(sys::td_version()) }
}

/// The version of the libtorch that is loaded, such as `"1.13.1"`.
pub fn torch_version() -> String {
    // SAFETY: the text lives as long as the library.
    unsafe { text(sys::td_torch_version()) }
}

/// The ABI number of the library that is loaded.
pub fn abi_version() -> i32 {
    // SAFETY: may be called at any time.
    unsafe { sys::td_abi_version() }
}

/// How many handles of the library are open in this process; for tests that look for leaks.
///
/// Exact only while no other thread makes or drops values.
pub fn live_handles() -> i64 {
    // SAFETY: may be called at any time.
    unsafe { sys::td_debug_live_handles() }
}

/// Whether calls of this thread record gradients; off at first. Gives the value before.
///
/// ```
/// assert!(!tensordict::set_grad_enabled(true));
/// assert!(tensordict::set_grad_enabled(false));
/// ```
pub fn set_grad_enabled(enabled: bool) -> bool {
    // SAFETY: may be called at any time.
    unsafe { sys::td_set_grad_enabled(enabled.into()) != 0 }
}

/// How grave a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LogLevel {
    /// For developers of the library.
    Debug,
    /// Worth knowing.
    Info,
    /// Something was done that the caller may not expect.
    Warning,
}

impl LogLevel {
    fn of(level: sys::td_log_level) -> Self {
        match level {
            sys::TD_LOG_DEBUG => Self::Debug,
            sys::TD_LOG_INFO => Self::Info,
            _ => Self::Warning,
        }
    }
}

type Logger = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// Sets the function that receives the log of the library, which is silent without one.
///
/// To be called once at start. The function may be called from any thread, must not call this
/// crate, and is dropped when another takes its place. A panic in it is swallowed.
///
/// ```
/// tensordict::set_log(|level, line| eprintln!("{level:?}: {line}"));
/// tensordict::clear_log();
/// ```
pub fn set_log(logger: impl Fn(LogLevel, &str) + Send + Sync + 'static) {
    let logger: Box<Logger> = Box::new(Box::new(logger));
    // SAFETY: the box is given back to `drop_logger` exactly once.
    unsafe { sys::td_set_log(Some(write_line), Box::into_raw(logger).cast(), Some(drop_logger)) }
}

/// Makes the library silent again.
pub fn clear_log() {
    // SAFETY: no function needs no data.
    unsafe { sys::td_set_log(None, std::ptr::null_mut(), None) }
}

unsafe extern "C" fn write_line(
    user: *mut c_void,
    level: sys::td_log_level,
    message: *const c_char,
) {
    // SAFETY: `user` is the box of `set_log`, which lives until `drop_logger`.
    let logger = unsafe { &*user.cast::<Logger>() };
    // SAFETY: the library passes a text that ends with a NUL.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let _ = catch_unwind(AssertUnwindSafe(|| logger(LogLevel::of(level), &message)));
}

unsafe extern "C" fn drop_logger(user: *mut c_void) {
    // SAFETY: `user` is the box of `set_log`, and this is its only release.
    let logger = unsafe { Box::from_raw(user.cast::<Logger>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(logger)));
}
