//! The C interface of libtensordict, one to one: same names, no ownership, no checks.
//!
//! `ffi.rs` is generated from the C headers and carries their text. Everything here is `unsafe` to
//! call; the crate `tensordict` is the one to use.

#![no_std]
#![allow(non_camel_case_types, non_upper_case_globals)]
#![allow(clippy::doc_lazy_continuation, clippy::too_many_arguments)]

#[rustfmt::skip] // as bindgen.py prints it
mod ffi;
pub use ffi::*;
