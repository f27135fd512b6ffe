//! A closure over every entry.

use std::ffi::{c_char, c_void, CString};

use tensordict_sys as sys;

use crate::callback::{run, settle, Failure};
use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, Error, Result};
use crate::key::KeyPath;
use crate::sizes::Sizes;
use crate::tensor::Tensor;

/// What becomes of dictionaries in which no entry is left, the outermost one among them.
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

/// How [`Dict::apply_with`] and [`Dict::apply_entries`] work.
#[derive(Debug, Default)]
pub struct ApplyOptions {
    filter_empty: FilterEmpty,
    propagate_lock: bool,
    call_on_nested: bool,
    fill_missing: bool,
    default: Option<Tensor>,
    batch_size: Option<Vec<i64>>,
    device: Option<Device>,
    names: Option<Vec<Option<String>>>,
}

impl ApplyOptions {
    /// The defaults: see [`FilterEmpty::Emptied`]; the result is not locked.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What becomes of empty dictionaries.
        filter_empty(filter: FilterEmpty) => filter_empty;
        /// Whether the result is locked if the source is.
        propagate_lock(propagate: bool) => propagate_lock;
        /// Whether [`Dict::apply_entries`] gives nested dictionaries as they are.
        call_on_nested(call: bool) => call_on_nested;
    }

    /// What stands for entries that other dictionaries lack: [`ApplyEntry::Missing`].
    pub fn allow_missing(mut self) -> Self {
        self.fill_missing = true;
        self
    }

    /// What stands for tensors that other dictionaries lack.
    pub fn default_value(mut self, value: Tensor) -> Self {
        self.fill_missing = true;
        self.default = Some(value);
        self
    }

    /// The batch size of each dictionary of the result.
    pub fn batch_size(mut self, sizes: impl Sizes) -> Self {
        self.batch_size = Some(sizes.sizes());
        self
    }

    /// The device of the result, to which values move.
    pub fn device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    /// Names of the batch dimensions of the result; `None` for one without.
    pub fn names<'a>(mut self, names: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        self.names = Some(names.into_iter().map(|name| name.map(str::to_owned)).collect());
        self
    }

    /// Calls with the options of the library, which borrow from these.
    #[track_caller]
    fn raw<T>(&self, call: impl FnOnce(&sys::td_apply_options) -> Result<T>) -> Result<T> {
        let (device_type, device_index) = Device::raw_or_none(self.device);
        let names = self.names.as_deref().map(raw_names).transpose()?;
        let pointers = names.as_ref().map_or(Vec::new(), |names| {
            names
                .iter()
                .map(|name| name.as_ref().map_or(std::ptr::null(), |n| n.as_ptr()))
                .collect()
        });
        let sizes = self.batch_size.as_deref();
        call(&sys::td_apply_options {
            filter_empty: match self.filter_empty {
                FilterEmpty::Emptied => sys::TD_FILTER_EMPTY_DEFAULT,
                FilterEmpty::Always => sys::TD_FILTER_EMPTY_YES,
                FilterEmpty::Never => sys::TD_FILTER_EMPTY_NO,
            },
            propagate_lock: self.propagate_lock.into(),
            call_on_nested: self.call_on_nested.into(),
            fill_missing: self.fill_missing.into(),
            has_batch_size: sizes.is_some().into(),
            device_type,
            device_index,
            batch_size: sizes.map_or(std::ptr::null(), <[i64]>::as_ptr),
            batch_dims: sizes.map_or(0, <[i64]>::len),
            names: if names.is_some() { pointers.as_ptr() } else { std::ptr::null() },
            names_len: pointers.len(),
            default_value: self.default.as_ref().map_or(std::ptr::null(), Tensor::raw),
            ..Default::default()
        })
    }
}

#[track_caller]
fn raw_names(names: &[Option<String>]) -> Result<Vec<Option<CString>>> {
    let invalid =
        |name| Error::new(sys::TD_ERR_INVALID_ARGUMENT, format!("the name {name:?} holds a NUL"));
    names
        .iter()
        .map(|name| {
            name.as_ref().map(|n| CString::new(n.as_str()).map_err(|_| invalid(n))).transpose()
        })
        .collect()
}

/// What a dictionary has under a key, as [`Dict::apply_entries`] gives it to its closure.
#[derive(Debug)]
pub enum ApplyEntry {
    /// A tensor, which shares memory with the entry.
    Tensor(Tensor),
    /// A dictionary of its own over the same tensors.
    Dict(TensorDict),
    /// Nothing; see [`ApplyOptions::allow_missing`].
    Missing,
}

impl ApplyEntry {
    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<Tensor> for ApplyEntry {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<TensorDict> for ApplyEntry {
    fn from(td: TensorDict) -> Self {
        Self::Dict(td)
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
        self.apply_all(|_, tensor| f(tensor))
    }

    /// As [`apply`](Self::apply), with the full key of each tensor.
    #[track_caller]
    pub fn map_named<E: From<Error>>(
        &self,
        mut f: impl FnMut(&KeyPath, &Tensor) -> Result<Tensor, E>,
    ) -> Result<TensorDict, E> {
        self.apply_all(|key, tensor| f(key, tensor))
    }

    #[track_caller]
    fn apply_all<E: From<Error>>(
        &self,
        mut f: impl FnMut(&KeyPath, &Tensor) -> Result<Tensor, E>,
    ) -> Result<TensorDict, E> {
        // Nothing is dropped, so something is left.
        let options = ApplyOptions::new();
        Ok(self.apply_with(options, |key, tensor| f(key, tensor).map(Some))?.expect("a dictionary"))
    }

    /// As [`map_named`](Self::map_named), with options; entries for which the closure gives `None` are
    /// dropped. When nothing is left the result is `None`.
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
    /// assert_eq!(kept.unwrap().keys().collect::<Vec<_>>(), ["keep"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_with<E: From<Error>>(
        &self,
        options: ApplyOptions,
        f: impl FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
    ) -> Result<Option<TensorDict>, E> {
        self.walk(&options, std::ptr::null_mut(), f)
    }

    /// Puts what a closure makes of each tensor under the same keys of another dictionary, which keeps
    /// its other entries.
    #[track_caller]
    pub fn apply_into<E: From<Error>>(
        &self,
        out: &mut Dict,
        f: impl FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
    ) -> Result<(), E> {
        let out = out.raw_mut();
        self.walk(&ApplyOptions::new(), out, f).map(drop)
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
        let td = self.raw_mut();
        calling(
            |_: &KeyPath, tensor: &Tensor| f(tensor).map(Some),
            |callback, user| {
                // SAFETY: the handle is alive and ours alone; `user` is used during this call only.
                check(unsafe { sys::td_apply_inplace(td, std::ptr::null(), callback, user) })
            },
        )
    }

    /// A dictionary of what a closure makes of each entry and of the entries of other dictionaries under
    /// the same key; `None` drops it. Keys that only others have are passed over.
    ///
    /// ```
    /// use tensordict::{ApplyOptions, Result, Tensor, TensorDict};
    ///
    /// let one = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// let other = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[10i64, 20], [2])?)])?;
    /// let both = one.apply_entries(&[&other], ApplyOptions::new(), |_, entries| -> Result<_> {
    ///     let values: Vec<i64> = entries[1].as_tensor().unwrap().to_vec()?;
    ///     Ok(Some(Tensor::from_vec(values, [2])?.into()))
    /// })?;
    /// assert_eq!(both.unwrap().tensor("x")?.to_vec::<i64>()?, [10, 20]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_entries<E: From<Error>>(
        &self,
        others: &[&Dict],
        options: ApplyOptions,
        f: impl FnMut(&KeyPath, Vec<ApplyEntry>) -> Result<Option<ApplyEntry>, E>,
    ) -> Result<Option<TensorDict>, E> {
        let others: Vec<_> = others.iter().map(|other| other.raw()).collect();
        calling_entries(f, |callback, user| {
            options.raw(|options| {
                let (list, len) = (others.as_ptr(), others.len());
                // SAFETY: the handles are alive, the list is as long as it is said to be, and `user` is
                // used during this call only.
                TensorDict::receive_some(|result| unsafe {
                    sys::td_apply_entries(self.raw(), list, len, options, callback, user, result)
                })
            })
        })
    }

    /// Writes what a closure makes of each entry and of those of other dictionaries into that entry.
    #[track_caller]
    pub fn apply_entries_inplace<E: From<Error>>(
        &mut self,
        others: &[&Dict],
        options: ApplyOptions,
        f: impl FnMut(&KeyPath, Vec<ApplyEntry>) -> Result<Option<ApplyEntry>, E>,
    ) -> Result<(), E> {
        let others: Vec<_> = others.iter().map(|other| other.raw()).collect();
        let td = self.raw_mut();
        calling_entries(f, |callback, user| {
            options.raw(|options| {
                let (list, len) = (others.as_ptr(), others.len());
                // SAFETY: as in `apply_entries`, and the dictionary is ours alone.
                check(unsafe {
                    sys::td_apply_entries_inplace(td, list, len, options, callback, user)
                })
            })
        })
    }

    #[track_caller]
    fn walk<F, E>(
        &self,
        options: &ApplyOptions,
        out: *mut sys::td_tensordict,
        f: F,
    ) -> Result<Option<TensorDict>, E>
    where
        F: FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
        E: From<Error>,
    {
        calling(f, |callback, user| {
            options.raw(|options| {
                let options = sys::td_apply_options { out, ..*options };
                // SAFETY: the handles are alive, and `user` is used during this call only.
                TensorDict::receive_some(|result| unsafe {
                    sys::td_apply(self.raw(), &options, callback, user, result)
                })
            })
        })
    }
}

/// Gives a closure to a call that asks it for each tensor.
#[track_caller]
fn calling<T, F, E>(
    f: F,
    call: impl FnOnce(sys::td_apply_fn, *mut c_void) -> Result<T>,
) -> Result<T, E>
where
    F: FnMut(&KeyPath, &Tensor) -> Result<Option<Tensor>, E>,
    E: From<Error>,
{
    let mut walk = Walk { f, failure: None };
    let user: *mut Walk<F, E> = &mut walk;
    let answer = call(Some(visit::<F, E>), user.cast());
    settle(walk.failure, answer)
}

/// The same for each entry.
#[track_caller]
fn calling_entries<T, F, E>(
    f: F,
    call: impl FnOnce(sys::td_apply_entry_fn, *mut c_void) -> Result<T>,
) -> Result<T, E>
where
    F: FnMut(&KeyPath, Vec<ApplyEntry>) -> Result<Option<ApplyEntry>, E>,
    E: From<Error>,
{
    let mut walk = Walk { f, failure: None };
    let user: *mut Walk<F, E> = &mut walk;
    let answer = call(Some(visit_entry::<F, E>), user.cast());
    settle(walk.failure, answer)
}

pub(crate) struct Walk<F, E> {
    pub(crate) f: F,
    pub(crate) failure: Option<Failure<E>>,
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
    let answer = run(|| {
        // SAFETY: the library lends path and tensor for the time of this call.
        let (key, tensor) = unsafe { (KeyPath::read(path, path_len), Tensor::lent(source)) };
        (walk.f)(&key, &tensor)
    });
    match answer {
        Ok(tensor) => {
            let token = tensor.map_or(std::ptr::null_mut(), Tensor::into_raw);
            // SAFETY: the library takes the handle that is stored here.
            unsafe { *result = token };
            sys::TD_OK
        }
        Err(failure) => park(walk, failure),
    }
}

/// # Safety
/// As a `td_apply_entry_fn`, with a [`Walk`] as `user`.
pub(crate) unsafe extern "C" fn visit_entry<F, E>(
    user: *mut c_void,
    entry: *const sys::td_apply_entry,
    tensor: *mut *mut sys::td_tensor,
    dict: *mut *mut sys::td_tensordict,
) -> sys::td_status
where
    F: FnMut(&KeyPath, Vec<ApplyEntry>) -> Result<Option<ApplyEntry>, E>,
    E: From<Error>,
{
    // SAFETY: as in `visit`.
    let walk = unsafe { &mut *user.cast::<Walk<F, E>>() };
    let answer = run(|| {
        // SAFETY: the library lends the entry and all it points to for the time of this call.
        let (key, sources) = unsafe { read_entry(&*entry)? };
        (walk.f)(&key, sources)
    });
    match answer {
        Ok(made) => {
            // SAFETY: the library takes the handle that is stored here.
            unsafe {
                match made {
                    Some(ApplyEntry::Tensor(made)) => *tensor = made.into_raw(),
                    Some(ApplyEntry::Dict(made)) => *dict = made.into_raw(),
                    Some(ApplyEntry::Missing) | None => (),
                }
            }
            sys::TD_OK
        }
        Err(failure) => park(walk, failure),
    }
}

/// # Safety
/// The entry and all it points to are alive.
unsafe fn read_entry(entry: &sys::td_apply_entry) -> Result<(KeyPath, Vec<ApplyEntry>)> {
    let read = |k: usize| {
        if entry.kind == sys::TD_ENTRY_DICT {
            // SAFETY: the list is as long as it is said to be.
            let source = unsafe { *entry.dicts.add(k) };
            if source.is_null() {
                return Ok(ApplyEntry::Missing);
            }
            // SAFETY: the handle is alive. What it stands for belongs to this walk alone.
            TensorDict::receive(|result| unsafe { sys::td_dup(source, result) })
                .map(ApplyEntry::Dict)
        } else {
            // SAFETY: as above.
            let source = unsafe { *entry.tensors.add(k) };
            if source.is_null() {
                return Ok(ApplyEntry::Missing);
            }
            // SAFETY: the handle is alive.
            Tensor::receive(|result| unsafe { sys::td_tensor_dup(source, result) })
                .map(ApplyEntry::Tensor)
        }
    };
    let sources = (0..entry.sources_len).map(read).collect::<Result<_>>()?;
    // SAFETY: as promised by the caller.
    Ok((unsafe { KeyPath::read(entry.path, entry.path_len) }, sources))
}

fn park<F, E>(walk: &mut Walk<F, E>, failure: Failure<E>) -> sys::td_status {
    let status = failure.tell();
    walk.failure = Some(failure);
    status
}
