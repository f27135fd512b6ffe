//! Dictionaries from one process to another, over whatever carries bytes.

use std::ffi::c_void;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use tensordict_sys as sys;

use crate::callback::{run, Failure};
use crate::dict::{Dict, TensorDict};
use crate::error::{check, Error, Result};
use crate::library;

/// What is accepted of a message, and how long it may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageOptions {
    raw: sys::td_message_options,
}

impl MessageOptions {
    /// The defaults: at most 2^30 bytes, 1,000 levels and 1,000,000 entries; no limit of time.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The longest message accepted, in bytes.
        max_bytes(bytes: u64) => raw.max_bytes;
        /// The deepest nesting accepted.
        max_depth(depth: u32) => raw.max_depth;
        /// The most entries accepted, all levels together.
        max_entries(entries: u32) => raw.max_entries;
    }

    /// For a whole message over a file descriptor; counted in milliseconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.raw.timeout_ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1);
        self
    }
}

// A reader or writer of the caller, and what it failed with.
struct Line<T> {
    end: T,
    failure: Option<Failure<io::Error>>,
}

impl<T> Line<T> {
    fn new(end: T) -> Self {
        Self { end, failure: None }
    }

    fn user(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    fn run(&mut self, call: impl FnOnce(&mut T) -> io::Result<()>) -> sys::td_status {
        match run(|| call(&mut self.end)) {
            Ok(()) => sys::TD_OK,
            Err(failure) => {
                let status = failure.tell();
                self.failure = Some(failure);
                status
            }
        }
    }

    /// What the caller's end failed with comes before the status.
    #[track_caller]
    fn settle<R>(self, answer: Result<R>) -> Result<R> {
        match self.failure {
            Some(failure) => Err(Error::new(sys::TD_ERR_IO, failure.into_error().to_string())),
            None => answer,
        }
    }
}

unsafe extern "C" fn write<W: Write>(
    user: *mut c_void,
    data: *const c_void,
    bytes: usize,
) -> sys::td_status {
    // SAFETY: `user` is our own and nobody else has it during the call.
    let line = unsafe { &mut *user.cast::<Line<&mut W>>() };
    if bytes == 0 {
        return sys::TD_OK;
    }
    // SAFETY: the library lends so many bytes for the call.
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
    line.run(|to| to.write_all(data))
}

unsafe extern "C" fn read<R: Read>(
    user: *mut c_void,
    data: *mut c_void,
    bytes: usize,
) -> sys::td_status {
    // SAFETY: `user` is our own and nobody else has it during the call.
    let line = unsafe { &mut *user.cast::<Line<&mut R>>() };
    if bytes == 0 {
        return sys::TD_OK;
    }
    // A reader may look at what it is given, so it must hold something.
    // SAFETY: the library lends so many bytes for the call.
    unsafe { std::ptr::write_bytes(data.cast::<u8>(), 0, bytes) };
    // SAFETY: as before.
    let data = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes) };
    line.run(|from| from.read_exact(data))
}

impl Dict {
    /// Writes a message that holds everything: its receiver needs nothing.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// let mut bytes = Vec::new();
    /// td.send(&mut bytes)?;
    /// assert!(TensorDict::recv(&mut bytes.as_slice())?.equal(&td)?);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn send<W: Write>(&self, to: &mut W) -> Result<()> {
        let mut line = Line::new(to);
        // SAFETY: the handle is alive; the line lives for the call.
        let (user, options) = (line.user(), std::ptr::null());
        let answer = check(unsafe { sys::td_send(self.raw(), options, Some(write::<W>), user) });
        line.settle(answer)
    }

    /// Sends over a socket or a pipe and waits until all is written. A partner that has gone is an error,
    /// not a signal.
    #[cfg(unix)]
    #[track_caller]
    pub fn send_fd(&self, to: impl AsFd, options: MessageOptions) -> Result<()> {
        let fd = to.as_fd().as_raw_fd();
        // SAFETY: the handle is alive; the descriptor is open during the call.
        check(unsafe { sys::td_send_fd(self.raw(), fd, &options.raw) })
    }

    /// Writes the values of a message into this dictionary, which has the same keys, shapes and dtypes and
    /// may be locked. Nothing is written before all has come and fits.
    #[track_caller]
    pub fn recv_into<R: Read>(&mut self, from: &mut R, options: MessageOptions) -> Result<()> {
        let mut line = Line::new(from);
        let (into, user) = (self.raw_mut(), line.user());
        // SAFETY: the handle is alive and ours alone; the rest lives for the call. The second handle on the
        // dictionary goes at once.
        let answer = TensorDict::receive(|result| unsafe {
            sys::td_recv(into, &options.raw, Some(read::<R>), user, result)
        });
        line.settle(answer.map(drop))
    }

    /// As [`recv_into`](Self::recv_into), over a socket or a pipe.
    #[cfg(unix)]
    #[track_caller]
    pub fn recv_fd_into(&mut self, from: impl AsFd, options: MessageOptions) -> Result<()> {
        let (fd, into) = (from.as_fd().as_raw_fd(), self.raw_mut());
        // SAFETY: as in `recv_into`.
        TensorDict::receive(|result| unsafe { sys::td_recv_fd(fd, into, &options.raw, result) })
            .map(drop)
    }
}

impl TensorDict {
    /// Reads a message, and not a byte behind it.
    #[track_caller]
    pub fn recv<R: Read>(from: &mut R) -> Result<Self> {
        Self::recv_with(from, MessageOptions::new())
    }

    /// As [`recv`](Self::recv), with options.
    #[track_caller]
    pub fn recv_with<R: Read>(from: &mut R, options: MessageOptions) -> Result<Self> {
        library::ready()?;
        let mut line = Line::new(from);
        let user = line.user();
        // SAFETY: line and options live for the call.
        let answer = Self::receive(|result| unsafe {
            sys::td_recv(std::ptr::null_mut(), &options.raw, Some(read::<R>), user, result)
        });
        line.settle(answer)
    }

    /// Receives over a socket or a pipe and waits until all has come.
    #[cfg(unix)]
    #[track_caller]
    pub fn recv_fd(from: impl AsFd, options: MessageOptions) -> Result<Self> {
        library::ready()?;
        let fd = from.as_fd().as_raw_fd();
        // SAFETY: the descriptor is open and the options live during the call.
        Self::receive(|result| unsafe {
            sys::td_recv_fd(fd, std::ptr::null_mut(), &options.raw, result)
        })
    }
}
