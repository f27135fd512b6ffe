//! A closure over every tensor.

use std::any::Any;
use std::ffi::{c_char, c_void, CString};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{Error, Result};
use crate::key::KeyPath;
use crate::tensor::Tensor;

/// What becomes of dictionaries in which no entry is left. The root always stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterEmpty {
    /// Dropped if they lost all entries, kept if they were empty before.
    #[default]
    Emptied,
    /// Dropped.
    Always,
    /// Kept.
    Never,
}

/// How [`Dict::apply_with`] works.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    raw: sys::td_apply_options,
}

impl ApplyOptions {
    /// The defaults: see [`FilterEmpty::Emptied`]; the result is not locked.
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of empty dictionaries.
    pub fn filter_empty(mut self, filter: FilterEmpty) -> Self {
        self.raw.filter_empty = match filter {
            FilterEmpty::Emptied => sys::TD_FILTER_EMPTY_DEFAULT,
            FilterEmpty::Always => sys::TD_FILTER_EMPTY_YES,
            FilterEmpty::Never => sys::TD_FILTER_EMPTY_NO,
        };
        self
    }

    /// Whether the result is locked if the source is.
    pub fn propagate_lock(mut self, propagate: bool) -> Self {
        self.raw.propagate_lock = propagate.into();
        self
    }
}

impl Dict {
    /// A dictionary of what a closure makes of each tensor, in the order of the keys.
    ///
    /// An `Err` of the closure ends the walk and comes back as it is, and so does a panic. The error
    /// may be of any type that can hold an [`Error`].
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// let floats = td.apply(|t| t.to(DType::F32))?;
    /// assert_eq!(floats.tensor("x")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn apply<E: From<Error>>(
        &self,
        mut f: impl FnMut(&Tensor) -> Result<Tensor, E>,
    ) -> Result<TensorDict, E> {
        self.apply_with(ApplyOptions::new(), |_, tensor| f(tensor).map(Some))
    }

    /// As [`apply`](Self::apply), with the full key of each tensor.
    #[track_caller]
    pub fn map_named<E: From<Error>>(
        &self,
        mut f: impl FnMut(&KeyPath, &Tensor) -> Result<Tensor, E>,
    ) -> Result<TensorDict, E> {
        self.apply_with(ApplyOptions::new(), |key, tensor| f(key, tensor).map(Some))
    }

    /// As [`map_named`](Self::map_named), with options; entries for which the closure gives `None` are
    /// dropped.
    ///
    /// ```
    /// use tensordict::{ApplyOptions, Result, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("keep", Tensor::scalar(1u8)?)?;
    /// td.set("drop", Tensor::scalar(2u8)?)?;
    /// let kept = td.apply_with(ApplyOptions::new(), |key, t| -> Result<_> {
    ///     Ok(if *key == "keep" { Some(t.shallow_clone()?) } else { None })
    /// })?;
    /// assert_eq!(kept.keys().collect::<Vec<_>>(), ["keep"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_with<E: From<Error>>(
        &self,
        options: ApplyOptions,
        f: impl FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
    ) -> Result<TensorDict, E> {
        self.walk(&options.raw, f)
    }

    /// Writes what a closure makes of each tensor into that tensor. Allowed when locked.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// td.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype()))?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i32>()?, [0, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_inplace<E: From<Error>>(
        &mut self,
        mut f: impl FnMut(&Tensor) -> Result<Tensor, E>,
    ) -> Result<(), E> {
        let options = sys::td_apply_options { inplace: 1, ..Default::default() };
        self.walk(&options, |_, tensor| f(tensor).map(Some)).map(drop)
    }

    #[track_caller]
    fn walk<F, E>(&self, options: &sys::td_apply_options, f: F) -> Result<TensorDict, E>
    where
        F: FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
        E: From<Error>,
    {
        let mut walk = Walk { f, failure: None };
        let user: *mut Walk<F, E> = &mut walk;
        // SAFETY: the handle is alive, and `visit` is called with `user` during this call only.
        let answer = TensorDict::receive(|result| unsafe {
            sys::td_apply(self.raw(), options, Some(visit::<F, E>), user.cast(), result)
        });
        match (walk.failure, answer) {
            (Some(Failure::Panic(payload)), _) => resume_unwind(payload),
            (Some(Failure::Error(error)), _) => Err(error),
            (None, answer) => answer.map_err(E::from),
        }
    }
}

struct Walk<F, E> {
    f: F,
    failure: Option<Failure<E>>,
}

enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

unsafe extern "C" fn visit<F, E>(
    user: *mut c_void,
    path: *const *const c_char,
    path_len: usize,
    source: *const sys::td_tensor,
    result: *mut *mut sys::td_tensor,
) -> sys::td_status
where
    F: FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
{
    // SAFETY: `user` is the Walk of the call that is under way, which nothing else uses meanwhile.
    let walk = unsafe { &mut *user.cast::<Walk<F, E>>() };
    let failure = match catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the library lends path and tensor for the time of this call.
        let (key, tensor) = unsafe { (KeyPath::read(path, path_len), Tensor::lent(source)) };
        (walk.f)(&key, &tensor)
    })) {
        Ok(Ok(tensor)) => {
            let token = tensor.map_or(std::ptr::null_mut(), Tensor::into_raw);
            // SAFETY: the library takes the handle that is stored here.
            unsafe { *result = token };
            return sys::TD_OK;
        }
        Ok(Err(error)) => Failure::Error(error),
        Err(payload) => Failure::Panic(payload),
    };
    tell(&failure);
    walk.failure = Some(failure);
    sys::TD_ERR_CALLBACK
}

/// Leaves a text for C callers between the closure and us; the failure itself is parked in the Walk.
fn tell<E>(failure: &Failure<E>) {
    let text = match failure {
        Failure::Error(_) => "a closure returned an error",
        Failure::Panic(payload) => payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a closure panicked"),
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the text ends with a NUL and is copied.
    unsafe { sys::td_set_error(sys::TD_ERR_CALLBACK, text.as_ptr()) }
}
