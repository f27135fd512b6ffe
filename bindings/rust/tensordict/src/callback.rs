//! What closures fail with: carried past the frames of the library.

use std::any::Any;
use std::ffi::CString;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use tensordict_sys as sys;

use crate::error::Error;

/// An error of the closure, or what it panicked with.
pub(crate) enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

impl<E> Failure<E> {
    /// Back on our side: the error, or the panic goes on.
    pub(crate) fn into_error(self) -> E {
        match self {
            Self::Error(error) => error,
            Self::Panic(payload) => resume_unwind(payload),
        }
    }

    /// Leaves a text for C callers between the closure and us, and gives the status that goes with it.
    pub(crate) fn tell(&self) -> sys::td_status {
        let text = match self {
            Self::Error(_) => "a closure returned an error",
            Self::Panic(payload) => payload
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("a closure panicked"),
        };
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the text ends with a NUL and is copied.
        unsafe { sys::td_set_error(sys::TD_ERR_CALLBACK, text.as_ptr()) };
        sys::TD_ERR_CALLBACK
    }
}

/// Runs a closure; nothing unwinds out of this function.
pub(crate) fn run<T, E>(call: impl FnOnce() -> Result<T, E>) -> Result<T, Failure<E>> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(answer) => answer.map_err(Failure::Error),
        Err(payload) => Err(Failure::Panic(payload)),
    }
}

/// What became of a call that ran closures: their failure comes before the status.
pub(crate) fn settle<T, E: From<Error>>(
    failure: Option<Failure<E>>,
    answer: Result<T, Error>,
) -> Result<T, E> {
    match failure {
        Some(failure) => Err(failure.into_error()),
        None => answer.map_err(E::from),
    }
}
