//! What can go wrong, and how a status of the library becomes a [`Result`].

use std::ffi::{c_char, CStr};
use std::fmt;
use std::panic::Location;

use tensordict_sys as sys;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A pointer that must not be NULL was.
    NullArgument,
    /// A handle that the library does not know.
    BadHandle,
    /// A value outside its range.
    InvalidArgument,
    /// Memory of the caller that is too small.
    BufferTooSmall,
    /// No entry under this key.
    Key,
    /// An empty key, or a name that cannot be one.
    KeyInvalid,
    /// The key runs through an entry that is in the way.
    KeyExists,
    /// A dictionary where a tensor was asked for, or the like.
    WrongEntry,
    /// The dictionary is locked.
    Locked,
    /// A dictionary would come to lie inside itself.
    Cycle,
    /// Sizes that do not fit.
    Shape,
    /// An index out of range, or of a form that is not allowed.
    Index,
    /// A dtype that does not fit or is not supported.
    DType,
    /// A device that does not exist or does not fit.
    Device,
    /// The operating system refused.
    Io,
    /// Files that are not a valid dictionary.
    Format,
    /// Another writer is at work on the same files.
    Busy,
    /// Host memory is used up.
    OutOfMemory,
    /// Accelerator memory is used up.
    DeviceOutOfMemory,
    /// A writer has no row left.
    Capacity,
    /// Not offered by this build or version of the library.
    Unsupported,
    /// This crate, the library or libtorch is of a version that does not fit.
    Version,
    /// A callback failed.
    Callback,
    /// libtorch failed, with no nearer meaning.
    Torch,
    /// A defect of the library.
    Internal,
    /// A status that this version of the crate does not know.
    Unknown,
}

impl ErrorKind {
    fn of(status: sys::td_status) -> Self {
        match status {
            sys::TD_ERR_NULL_ARGUMENT => Self::NullArgument,
            sys::TD_ERR_BAD_HANDLE => Self::BadHandle,
            sys::TD_ERR_INVALID_ARGUMENT => Self::InvalidArgument,
            sys::TD_ERR_BUFFER_TOO_SMALL => Self::BufferTooSmall,
            sys::TD_ERR_KEY_NOT_FOUND => Self::Key,
            sys::TD_ERR_KEY_INVALID => Self::KeyInvalid,
            sys::TD_ERR_KEY_EXISTS => Self::KeyExists,
            sys::TD_ERR_WRONG_ENTRY => Self::WrongEntry,
            sys::TD_ERR_LOCKED => Self::Locked,
            sys::TD_ERR_CYCLE => Self::Cycle,
            sys::TD_ERR_SHAPE => Self::Shape,
            sys::TD_ERR_INDEX => Self::Index,
            sys::TD_ERR_DTYPE => Self::DType,
            sys::TD_ERR_DEVICE => Self::Device,
            sys::TD_ERR_IO => Self::Io,
            sys::TD_ERR_FORMAT => Self::Format,
            sys::TD_ERR_BUSY => Self::Busy,
            sys::TD_ERR_OUT_OF_MEMORY => Self::OutOfMemory,
            sys::TD_ERR_DEVICE_OUT_OF_MEMORY => Self::DeviceOutOfMemory,
            sys::TD_ERR_CAPACITY => Self::Capacity,
            sys::TD_ERR_UNSUPPORTED => Self::Unsupported,
            sys::TD_ERR_VERSION => Self::Version,
            sys::TD_ERR_CALLBACK => Self::Callback,
            sys::TD_ERR_TORCH => Self::Torch,
            sys::TD_ERR_INTERNAL => Self::Internal,
            _ => Self::Unknown,
        }
    }
}

/// Why a call failed: one line of text, a kind to match on, and the line of the caller.
///
/// ```
/// use tensordict::{ErrorKind, TensorDict};
///
/// let td = TensorDict::new([3])?;
/// let error = td.get("missing").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Key);
/// assert_eq!(error.name(), "TD_ERR_KEY_NOT_FOUND");
/// assert!(error.message().contains("missing"));
/// assert_eq!(error.location().file(), file!());
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone)]
pub struct Error {
    status: sys::td_status,
    function: String,
    message: String,
    location: &'static Location<'static>,
}

impl Error {
    /// An error found on this side, before the library was asked.
    #[cold]
    #[track_caller]
    pub(crate) fn new(status: sys::td_status, message: impl Into<String>) -> Self {
        let location = Location::caller();
        Self { status, function: String::new(), message: message.into(), location }
    }

    /// The last failing call of this thread. To be made before any other call.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn last(status: sys::td_status) -> Self {
        // SAFETY: both texts live until the next failing call of this thread and are copied here.
        let (known, function, message) = unsafe {
            (
                sys::td_last_error_code(),
                text(sys::td_last_error_function()),
                text(sys::td_last_error_message()),
            )
        };
        if known == status {
            Self { status, function, message, location: Location::caller() }
        } else {
            Self::new(status, "")
        }
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::of(self.status)
    }

    /// The number that the library gave.
    pub fn status(&self) -> i32 {
        self.status
    }

    /// The name of that number, such as `TD_ERR_LOCKED`.
    pub fn name(&self) -> String {
        // SAFETY: any number is allowed, and the answer is a text that lives as long as the library.
        unsafe { text(sys::td_status_name(self.status)) }
    }

    /// The function of the library that failed; empty when the library was not asked.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// One line that says what was asked and what was found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The line that called this crate.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            f.write_str(&self.name())
        } else {
            f.write_str(&self.message)
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.name(), self.message, self.location)
    }
}

impl std::error::Error for Error {}

/// Turns a status into a result.
#[inline]
#[track_caller]
pub(crate) fn check(status: sys::td_status) -> Result<()> {
    if status == sys::TD_OK {
        Ok(())
    } else {
        Err(Error::last(status))
    }
}

/// For questions that fail only when a handle is broken, which a value of this crate never is.
#[track_caller]
pub(crate) fn sound<T>(answer: Result<T>) -> T {
    match answer {
        Ok(value) => value,
        Err(error) => panic!("{error:?}"),
    }
}

/// Copies a text of the library; NULL gives an empty one.
///
/// # Safety
/// `text` is NULL or ends with a NUL and stays as it is during the call.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Asks for a text: with room for most, and again where it takes more. Too little room is an exception over
/// there, which costs more than all else.
#[track_caller]
pub(crate) fn read_text(
    ask: impl Fn(*mut c_char, usize, *mut usize) -> sys::td_status,
) -> Result<String> {
    let (mut room, mut length) = ([0u8; 128], 0);
    let mut more = Vec::new();
    let text = match ask(room.as_mut_ptr().cast(), room.len(), &mut length) {
        sys::TD_ERR_BUFFER_TOO_SMALL => {
            more.resize(length + 1, 0u8);
            check(ask(more.as_mut_ptr().cast(), more.len(), &mut length))?;
            &more[..length]
        }
        status => {
            check(status)?;
            &room[..length]
        }
    };
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Asks for a list, as [`read_text`] does.
#[track_caller]
pub(crate) fn read_list<T: Copy>(
    empty: T,
    ask: impl Fn(*mut T, usize, *mut usize) -> sys::td_status,
) -> Result<Vec<T>> {
    let (mut room, mut length) = ([empty; 8], 0);
    match ask(room.as_mut_ptr(), room.len(), &mut length) {
        sys::TD_ERR_BUFFER_TOO_SMALL => {
            let mut list = vec![empty; length];
            check(ask(list.as_mut_ptr(), list.len(), &mut length))?;
            list.truncate(length);
            Ok(list)
        }
        status => check(status).map(|()| room[..length].to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lists_of_any_length_are_read() {
        for length in [0usize, 1, 7, 8, 9, 126, 127, 128, 129, 1000] {
            let all: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
            let ask = |end: usize| {
                let all = all.clone();
                move |into: *mut u8, cap: usize, found: *mut usize| unsafe {
                    *found = all.len();
                    if cap < all.len() + end {
                        return sys::TD_ERR_BUFFER_TOO_SMALL;
                    }
                    std::ptr::copy_nonoverlapping(all.as_ptr(), into, all.len());
                    sys::TD_OK
                }
            };
            assert_eq!(read_list(0u8, ask(0)).unwrap(), all);
            let text = ask(1);
            let text = read_text(|into, cap, found| text(into.cast(), cap, found));
            assert_eq!(text.unwrap().as_bytes(), all);
        }
        assert!(read_list(0u8, |_, _, _| sys::TD_ERR_LOCKED).is_err());
        assert!(read_text(|_, _, _| sys::TD_ERR_LOCKED).is_err());
    }

    #[test]
    fn every_status_has_a_kind_of_its_own() {
        let statuses = [
            (sys::TD_ERR_NULL_ARGUMENT, "TD_ERR_NULL_ARGUMENT"),
            (sys::TD_ERR_BAD_HANDLE, "TD_ERR_BAD_HANDLE"),
            (sys::TD_ERR_INVALID_ARGUMENT, "TD_ERR_INVALID_ARGUMENT"),
            (sys::TD_ERR_BUFFER_TOO_SMALL, "TD_ERR_BUFFER_TOO_SMALL"),
            (sys::TD_ERR_KEY_NOT_FOUND, "TD_ERR_KEY_NOT_FOUND"),
            (sys::TD_ERR_KEY_INVALID, "TD_ERR_KEY_INVALID"),
            (sys::TD_ERR_KEY_EXISTS, "TD_ERR_KEY_EXISTS"),
            (sys::TD_ERR_WRONG_ENTRY, "TD_ERR_WRONG_ENTRY"),
            (sys::TD_ERR_LOCKED, "TD_ERR_LOCKED"),
            (sys::TD_ERR_CYCLE, "TD_ERR_CYCLE"),
            (sys::TD_ERR_SHAPE, "TD_ERR_SHAPE"),
            (sys::TD_ERR_INDEX, "TD_ERR_INDEX"),
            (sys::TD_ERR_DTYPE, "TD_ERR_DTYPE"),
            (sys::TD_ERR_DEVICE, "TD_ERR_DEVICE"),
            (sys::TD_ERR_IO, "TD_ERR_IO"),
            (sys::TD_ERR_FORMAT, "TD_ERR_FORMAT"),
            (sys::TD_ERR_BUSY, "TD_ERR_BUSY"),
            (sys::TD_ERR_OUT_OF_MEMORY, "TD_ERR_OUT_OF_MEMORY"),
            (sys::TD_ERR_DEVICE_OUT_OF_MEMORY, "TD_ERR_DEVICE_OUT_OF_MEMORY"),
            (sys::TD_ERR_CAPACITY, "TD_ERR_CAPACITY"),
            (sys::TD_ERR_UNSUPPORTED, "TD_ERR_UNSUPPORTED"),
            (sys::TD_ERR_VERSION, "TD_ERR_VERSION"),
            (sys::TD_ERR_CALLBACK, "TD_ERR_CALLBACK"),
            (sys::TD_ERR_TORCH, "TD_ERR_TORCH"),
            (sys::TD_ERR_INTERNAL, "TD_ERR_INTERNAL"),
        ];
        let mut kinds = std::collections::HashSet::new();
        for (status, name) in statuses {
            let error = Error::new(status, "");
            assert_eq!((error.name().as_str(), error.to_string().as_str()), (name, name));
            assert!(error.kind() != ErrorKind::Unknown && kinds.insert(error.kind()), "{name}");
        }
        assert_eq!(Error::new(-7777, "").kind(), ErrorKind::Unknown);
    }
}
