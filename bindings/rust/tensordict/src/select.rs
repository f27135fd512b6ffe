//! A part of the keys, flattened and nested keys, several dictionaries in one.

use std::ffi::{c_char, c_void, CString};

use tensordict_sys as sys;

use crate::apply::{visit_entry, ApplyEntry, Walk};
use crate::callback::{run, settle, Failure};
use crate::dict::{Dict, TensorDict};
use crate::entry::EntryKind;
use crate::error::{check, Error, Result};
use crate::key::{Key, KeyPath, RawKey};
use crate::tensor::Tensor;

/// A list of keys of different forms, for [`Dict::select`] and its like.
///
/// ```
/// use tensordict::keys;
///
/// let wanted = keys!["a", ("n", "b")];
/// assert_eq!(wanted[1], ("n", "b"));
/// ```
#[macro_export]
macro_rules! keys {
    ($($key:expr),* $(,)?) => {
        <[_]>::into_vec(::std::boxed::Box::<[$crate::KeyPath]>::from([$($crate::KeyPath::new($key)),*]))
    };
}

/// A list of keys in the form that the library takes.
pub(crate) struct RawKeys {
    _keys: Vec<RawKey>,
    list: Vec<sys::td_key>,
}

impl RawKeys {
    #[track_caller]
    pub(crate) fn new<K: Key>(keys: impl IntoIterator<Item = K>) -> Result<Self> {
        let keys = keys.into_iter().map(|key| RawKey::new(&key)).collect::<Result<Vec<_>>>()?;
        let list =
            keys.iter().map(|key| sys::td_key { path: key.path(), path_len: key.len() }).collect();
        Ok(Self { _keys: keys, list })
    }

    pub(crate) fn list(&self) -> *const sys::td_key {
        self.list.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// The keys of one of the dictionaries that [`Dict::split_keys`] makes.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    keys: Vec<KeyPath>,
    names: Option<Vec<KeyPath>>,
}

impl KeySet {
    /// These keys.
    pub fn new<K: Key>(keys: impl IntoIterator<Item = K>) -> Self {
        Self { keys: keys.into_iter().map(KeyPath::new).collect(), names: None }
    }

    /// Pairs of a key and what the entry is called in the result.
    pub fn renamed<K: Key, N: Key>(pairs: impl IntoIterator<Item = (K, N)>) -> Self {
        let (keys, names) =
            pairs.into_iter().map(|(key, name)| (KeyPath::new(key), KeyPath::new(name))).unzip();
        Self { keys, names: Some(names) }
    }
}

/// How [`Dict::split_keys`] works.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitKeysOptions {
    raw: sys::td_split_keys_options,
}

impl SplitKeysOptions {
    /// The defaults: every key must be there.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether keys that are not there are passed over.
        ignore_missing(ignore: bool) => raw.ignore_missing;
        /// Whether every result has all nested dictionaries, empty or not.
        keep_structure(keep: bool) => raw.keep_structure;
        /// Whether the rest keeps nested dictionaries that lost all entries.
        keep_emptied(keep: bool) => raw.keep_emptied;
    }
}

type Choose = unsafe extern "C" fn(
    *const sys::td_tensordict,
    *const sys::td_key,
    usize,
    *const sys::td_select_options,
    *mut *mut sys::td_tensordict,
) -> sys::td_status;

impl Dict {
    /// Only these entries, in this order, in a new dictionary over the same tensors.
    ///
    /// ```
    /// use tensordict::{keys, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("a", Tensor::scalar(1u8)?)?;
    /// td.set(("n", "b"), Tensor::scalar(2u8)?)?;
    /// td.set(("n", "c"), Tensor::scalar(3u8)?)?;
    /// assert!(!td.select(keys!["a", ("n", "b")])?.contains(("n", "c")));
    /// assert_eq!(td.exclude(["n"])?.keys().collect::<Vec<_>>(), ["a"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn select<K: Key>(&self, keys: impl IntoIterator<Item = K>) -> Result<TensorDict> {
        self.choose(sys::td_select, keys, false)
    }

    /// As [`select`](Self::select), passing over keys that are not there.
    #[track_caller]
    pub fn select_present<K: Key>(&self, keys: impl IntoIterator<Item = K>) -> Result<TensorDict> {
        self.choose(sys::td_select, keys, true)
    }

    /// Keeps only these entries.
    #[track_caller]
    pub fn select_inplace<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<()> {
        let keys = RawKeys::new(keys)?;
        let (td, options) = (self.raw_mut(), std::ptr::null());
        // SAFETY: the handle is alive and ours alone, and the keys are as many as they are said to be.
        check(unsafe { sys::td_select_inplace(td, keys.list(), keys.len(), options) })
    }

    /// All entries but these, in a new dictionary over the same tensors. Keys that are not there are
    /// passed over.
    #[track_caller]
    pub fn exclude<K: Key>(&self, keys: impl IntoIterator<Item = K>) -> Result<TensorDict> {
        self.choose(sys::td_exclude, keys, true)
    }

    /// Removes these entries, all in one pass.
    #[track_caller]
    pub fn exclude_inplace<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<()> {
        let keys = RawKeys::new(keys)?;
        let (td, options) = (self.raw_mut(), std::ptr::null());
        // SAFETY: as above.
        check(unsafe { sys::td_exclude_inplace(td, keys.list(), keys.len(), options) })
    }

    #[track_caller]
    fn choose<K: Key>(
        &self,
        call: Choose,
        keys: impl IntoIterator<Item = K>,
        ignore_missing: bool,
    ) -> Result<TensorDict> {
        let keys = RawKeys::new(keys)?;
        let options =
            sys::td_select_options { ignore_missing: ignore_missing.into(), ..Default::default() };
        // SAFETY: the handle is alive, and the keys are as many as they are said to be.
        TensorDict::receive(|result| unsafe {
            call(self.raw(), keys.list(), keys.len(), &options, result)
        })
    }

    /// One dictionary for each set of keys, and the rest as the last one.
    ///
    /// ```
    /// use tensordict::{keys, KeySet, SplitKeysOptions, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("a", Tensor::scalar(1u8)?)?;
    /// td.set(("n", "b"), Tensor::scalar(2u8)?)?;
    /// let sets = [KeySet::renamed([("a", "z")])];
    /// let parts = td.split_keys(&sets, SplitKeysOptions::new())?;
    /// assert_eq!(parts[0].keys().collect::<Vec<_>>(), ["z"]);
    /// assert_eq!(parts[1].keys().collect::<Vec<_>>(), ["n"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn split_keys(
        &self,
        sets: &[KeySet],
        options: SplitKeysOptions,
    ) -> Result<Vec<TensorDict>> {
        split(sets, |list, len, results, room, count| {
            // SAFETY: the handle is alive, and all lists are as long as they are said to be.
            unsafe { sys::td_split_keys(self.raw(), list, len, &options.raw, results, room, count) }
        })
    }

    /// Takes these entries out, into a new dictionary. Nested dictionaries that lose all entries go.
    #[track_caller]
    pub fn separate<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<TensorDict> {
        let (td, options) = (self.raw_mut(), std::ptr::null());
        let parts = split(&[KeySet::new(keys)], |list, len, results, room, count| {
            // SAFETY: the handle is alive and ours alone; all lists are as long as they are said to be.
            unsafe { sys::td_split_keys_inplace(td, list, len, options, results, room, count) }
        });
        // The second one is a second handle on this dictionary, and goes.
        Ok(parts?.swap_remove(0))
    }

    /// Everything on one level, under the names of its path joined with a separator.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs((), [(("n", "b"), Tensor::scalar(2u8)?)])?;
    /// td.flatten_keys_inplace(".")?;
    /// assert_eq!(td.keys().collect::<Vec<_>>(), ["n.b"]);
    /// assert!(td.unflatten_keys(".")?.contains(("n", "b")));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn flatten_keys(&self, separator: &str) -> Result<TensorDict> {
        let options = sys::td_flatten_keys_options::default();
        flatten(self.raw(), separator, &options)
    }

    /// As [`flatten_keys`](Self::flatten_keys); dictionaries for which `is_leaf` holds stay whole.
    #[track_caller]
    pub fn flatten_keys_until<E: From<Error>>(
        &self,
        separator: &str,
        is_leaf: impl FnMut(&KeyPath) -> Result<bool, E>,
    ) -> Result<TensorDict, E> {
        let mut is_leaf = is_leaf;
        ask_leaves(
            |key, _| is_leaf(key),
            |callback, user| {
                let options =
                    sys::td_flatten_keys_options { is_leaf: callback, user, ..Default::default() };
                flatten(self.raw(), separator, &options)
            },
        )
    }

    /// As [`flatten_keys`](Self::flatten_keys), of this dictionary itself.
    #[track_caller]
    pub fn flatten_keys_inplace(&mut self, separator: &str) -> Result<()> {
        let (td, separator) = (self.raw_mut(), separator_text(separator)?);
        // SAFETY: the handle is alive and ours alone, and the text ends with a NUL.
        check(unsafe { sys::td_flatten_keys_inplace(td, separator.as_ptr(), std::ptr::null()) })
    }

    /// Takes names that hold the separator apart, into nested dictionaries.
    #[track_caller]
    pub fn unflatten_keys(&self, separator: &str) -> Result<TensorDict> {
        let separator = separator_text(separator)?;
        // SAFETY: the handle is alive, and the text ends with a NUL.
        TensorDict::receive(|result| unsafe {
            sys::td_unflatten_keys(self.raw(), separator.as_ptr(), result)
        })
    }

    /// As [`unflatten_keys`](Self::unflatten_keys), of this dictionary itself.
    #[track_caller]
    pub fn unflatten_keys_inplace(&mut self, separator: &str) -> Result<()> {
        let (td, separator) = (self.raw_mut(), separator_text(separator)?);
        // SAFETY: as above, and it is ours alone.
        check(unsafe { sys::td_unflatten_keys_inplace(td, separator.as_ptr()) })
    }

    /// A dictionary of the same batch size and device without entries.
    #[track_caller]
    pub fn empty_like(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_empty_like(self.raw(), 0, result) })
    }

    /// A dictionary with the same nested dictionaries, without tensors and other values.
    #[track_caller]
    pub fn skeleton(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_empty_like(self.raw(), sys::TD_EMPTY_LIKE_RECURSE, result)
        })
    }

    /// Removes the nested dictionaries in which nothing stands, at any depth.
    #[track_caller]
    pub fn remove_empty(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_remove_empty(self.raw_mut()) })
    }

    /// The same without the non-tensor values, in a new dictionary over the same tensors.
    #[track_caller]
    pub fn filter_non_tensor(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_filter_non_tensor(self.raw(), result) })
    }
}

impl TensorDict {
    /// A dictionary without batch dimensions that has one tensor under all of these keys.
    #[track_caller]
    pub fn from_keys<K: Key>(
        keys: impl IntoIterator<Item = K>,
        value: &Tensor,
    ) -> Result<TensorDict> {
        Self::from_pairs((), keys.into_iter().map(|key| (key, value)))
    }

    /// The entries of several dictionaries in one. Where several have an entry, that of the first one
    /// stays.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let one = TensorDict::from_pairs((), [("a", Tensor::scalar(1u8)?)])?;
    /// let two = TensorDict::from_pairs((), [("b", Tensor::scalar(2u8)?)])?;
    /// assert_eq!(TensorDict::merge(&[&one, &two])?.keys().len(), 2);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn merge(sources: &[&Dict]) -> Result<TensorDict> {
        merge(sources, None, std::ptr::null_mut())
    }

    /// As [`merge`](Self::merge); where all have a tensor, what a closure makes of them stands.
    #[track_caller]
    pub fn merge_with<E: From<Error>>(
        sources: &[&Dict],
        mut f: impl FnMut(&KeyPath, Vec<Tensor>) -> Result<Tensor, E>,
    ) -> Result<TensorDict, E> {
        let combine = |key: &KeyPath, entries: Vec<ApplyEntry>| {
            let tensors = entries.into_iter().filter_map(|entry| match entry {
                ApplyEntry::Tensor(tensor) => Some(tensor),
                _ => None,
            });
            f(key, tensors.collect()).map(|made| Some(made.into()))
        };
        merge_calling(sources, combine)
    }
}

#[track_caller]
fn merge_calling<F, E>(sources: &[&Dict], f: F) -> Result<TensorDict, E>
where
    F: FnMut(&KeyPath, Vec<ApplyEntry>) -> Result<Option<ApplyEntry>, E>,
    E: From<Error>,
{
    let mut walk = Walk { f, failure: None };
    let user: *mut Walk<F, E> = &mut walk;
    let answer = merge(sources, Some(visit_entry::<F, E>), user.cast());
    settle(walk.failure, answer)
}

#[track_caller]
fn merge(
    sources: &[&Dict],
    callback: sys::td_apply_entry_fn,
    user: *mut c_void,
) -> Result<TensorDict> {
    let sources: Vec<_> = sources.iter().map(|source| source.raw()).collect();
    // SAFETY: the handles are alive, the list is as long as it is said to be, and the callback, if
    // any, is called with `user` during this call only.
    TensorDict::receive(|result| unsafe {
        sys::td_merge(sources.as_ptr(), sources.len(), callback, user, result)
    })
}

#[track_caller]
fn split(
    sets: &[KeySet],
    call: impl FnOnce(
        *const sys::td_key_set,
        usize,
        *mut *mut sys::td_tensordict,
        usize,
        *mut usize,
    ) -> sys::td_status,
) -> Result<Vec<TensorDict>> {
    let raw = |keys: &[KeyPath]| RawKeys::new(keys.iter());
    let keys = sets.iter().map(|set| raw(&set.keys)).collect::<Result<Vec<_>>>()?;
    let names = sets
        .iter()
        .map(|set| set.names.as_deref().map(raw).transpose())
        .collect::<Result<Vec<_>>>()?;
    let list: Vec<_> = keys
        .iter()
        .zip(&names)
        .map(|(keys, names)| sys::td_key_set {
            keys: keys.list(),
            names: names.as_ref().map_or(std::ptr::null(), RawKeys::list),
            keys_len: keys.len(),
        })
        .collect();
    let mut results = vec![std::ptr::null_mut(); sets.len() + 1];
    let mut count = 0;
    let room = results.len();
    check(call(list.as_ptr(), list.len(), results.as_mut_ptr(), room, &mut count))?;
    // SAFETY: the call succeeded and gave the handles to us.
    Ok(results.into_iter().map(|token| unsafe { TensorDict::from_raw(token) }).collect())
}

#[track_caller]
fn separator_text(separator: &str) -> Result<CString> {
    CString::new(separator).map_err(|_| {
        Error::new(sys::TD_ERR_KEY_INVALID, format!("the separator {separator:?} holds a NUL"))
    })
}

#[track_caller]
fn flatten(
    td: *const sys::td_tensordict,
    separator: &str,
    options: &sys::td_flatten_keys_options,
) -> Result<TensorDict> {
    let separator = separator_text(separator)?;
    // SAFETY: the handle is alive, and the text ends with a NUL.
    TensorDict::receive(|result| unsafe {
        sys::td_flatten_keys(td, separator.as_ptr(), options, result)
    })
}

/// Gives a closure to a call that asks what counts as a leaf.
#[track_caller]
pub(crate) fn ask_leaves<T, F, E>(
    f: F,
    call: impl FnOnce(sys::td_leaf_fn, *mut c_void) -> Result<T>,
) -> Result<T, E>
where
    F: FnMut(&KeyPath, EntryKind) -> Result<bool, E>,
    E: From<Error>,
{
    let mut asked = Asked { f, failure: None };
    let user: *mut Asked<F, E> = &mut asked;
    let answer = call(Some(is_leaf::<F, E>), user.cast());
    settle(asked.failure, answer)
}

struct Asked<F, E> {
    f: F,
    failure: Option<Failure<E>>,
}

unsafe extern "C" fn is_leaf<F, E>(
    user: *mut c_void,
    path: *const *const c_char,
    path_len: usize,
    kind: sys::td_entry_kind,
    answer: *mut i32,
) -> sys::td_status
where
    F: FnMut(&KeyPath, EntryKind) -> Result<bool, E>,
{
    // SAFETY: `user` is what the call that is under way was given, which nothing else uses meanwhile.
    let asked = unsafe { &mut *user.cast::<Asked<F, E>>() };
    let said = run(|| {
        // SAFETY: the library lends the path for the time of this call.
        let key = unsafe { KeyPath::read(path, path_len) };
        (asked.f)(&key, EntryKind::from_raw(kind).unwrap_or(EntryKind::Unknown(kind)))
    });
    match said {
        Ok(leaf) => {
            // SAFETY: the library reads the answer here.
            unsafe { *answer = leaf.into() };
            sys::TD_OK
        }
        Err(failure) => {
            let status = failure.tell();
            asked.failure = Some(failure);
            status
        }
    }
}
