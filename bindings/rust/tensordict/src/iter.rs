//! Iterators over keys and entries.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::entry::{EntryKind, Value};
use crate::error::{check, sound, Error, Result};
use crate::handle::Handle;
use crate::key::KeyPath;
use crate::select::ask_leaves;
use crate::tensor::Tensor;

/// Which keys [`Dict::keys_with`] lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeysOptions {
    raw: sys::td_keys_options,
}

impl KeysOptions {
    /// The keys of the first level, in the order in which they were set.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Also what lies deeper, a dictionary before its content.
        nested(nested: bool) => raw.include_nested;
        /// Only tensors.
        leaves_only(leaves_only: bool) => raw.leaves_only;
        /// Ordered by the names joined with dots.
        sorted(sorted: bool) => raw.sort;
        /// With [`leaves_only`](Self::leaves_only), non-tensor values too.
        include_non_tensor(include: bool) => raw.include_non_tensor;
        /// A dictionary after its content.
        contents_first(contents_first: bool) => raw.contents_first;
    }
}

/// A snapshot of keys: the dictionary may be changed while it is walked.
pub struct Keys {
    list: Handle<sys::td_keys>,
    next: usize,
    len: usize,
}

impl Keys {
    fn of(dict: &Dict, options: KeysOptions) -> Self {
        sound(Self::ask(dict, &options.raw))
    }

    #[track_caller]
    fn ask(dict: &Dict, options: &sys::td_keys_options) -> Result<Self> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the handle is alive, and a call that succeeds gives us the list.
        let list = unsafe {
            check(sys::td_keys_of(dict.raw(), options, &mut list))?;
            Handle::new(list)
        };
        Ok(Self::new(list))
    }

    pub(crate) fn new(list: Handle<sys::td_keys>) -> Self {
        // SAFETY: the list is alive.
        let len = unsafe { sys::td_keys_len(list.get()) };
        Self { list, next: 0, len }
    }

    fn next_position(&mut self) -> Option<usize> {
        let position = self.next;
        self.next += usize::from(position < self.len);
        (position < self.len).then_some(position)
    }

    fn key(&self, position: usize) -> KeyPath {
        let (mut path, mut length) = (std::ptr::null(), 0);
        // SAFETY: the list is alive, and the path is as long as it is said to be.
        unsafe {
            sound(check(sys::td_keys_at(self.list.get(), position, &mut path, &mut length)));
            KeyPath::read(path, length)
        }
    }

    /// The next key with the kind of its entry.
    pub(crate) fn next_with_kind(&mut self) -> Option<(KeyPath, EntryKind)> {
        let position = self.next_position()?;
        let mut kind = sys::TD_ENTRY_NONE;
        // SAFETY: the list is alive.
        sound(check(unsafe { sys::td_keys_kind_at(self.list.get(), position, &mut kind) }));
        Some((self.key(position), EntryKind::from_raw(kind)?))
    }
}

impl Iterator for Keys {
    type Item = KeyPath;

    fn next(&mut self) -> Option<KeyPath> {
        let position = self.next_position()?;
        Some(self.key(position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.len - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Keys {}

/// The entries of the first level; see [`Dict::items`].
pub struct Items<'a> {
    dict: &'a Dict,
    keys: Keys,
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<(KeyPath, Value<'a>)>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        let (key, kind) = self.keys.next_with_kind()?;
        let value = match kind {
            EntryKind::Tensor => self.dict.tensor(&key).map(Value::Tensor),
            EntryKind::Dict => self.dict.dict(&key).map(Value::Dict),
            EntryKind::NestedTensor => self.dict.nested_tensor(&key).map(Value::NestedTensor),
            _ => self.dict.non_tensor_json(&key).map(Value::NonTensor),
        };
        Some(value.map(|value| (key, value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The tensors of all levels; see [`Dict::leaves`].
pub struct Leaves<'a> {
    dict: &'a Dict,
    keys: Keys,
}

impl Iterator for Leaves<'_> {
    type Item = Result<(KeyPath, Tensor)>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        Some(self.dict.tensor(&key).map(|tensor| (key, tensor)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl ExactSizeIterator for Leaves<'_> {}

impl Dict {
    /// The keys of the first level.
    ///
    /// ```
    /// use tensordict::{KeysOptions, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("z", Tensor::scalar(1u8)?)?;
    /// td.set(("a", "x"), Tensor::scalar(2u8)?)?;
    /// assert_eq!(td.keys().collect::<Vec<_>>(), ["z", "a"]);
    ///
    /// let deep = KeysOptions::new().nested(true).leaves_only(true).sorted(true);
    /// assert_eq!(format!("{:?}", td.keys_with(deep).collect::<Vec<_>>()), r#"[("a", "x"), "z"]"#);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn keys(&self) -> Keys {
        self.keys_with(KeysOptions::new())
    }

    /// The keys that the options ask for.
    pub fn keys_with(&self, options: KeysOptions) -> Keys {
        Keys::of(self, options)
    }

    /// The keys that the options ask for, with a closure that decides which dictionaries and values
    /// that are no tensors count as leaves: these are listed, and not descended into.
    ///
    /// ```
    /// use tensordict::{KeysOptions, Result, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs((), [(("n", "b"), Tensor::scalar(2u8)?)])?;
    /// let leaves = KeysOptions::new().nested(true).leaves_only(true);
    /// let keys = td.keys_where(leaves, |key, _| -> Result<bool> { Ok(*key == "n") })?;
    /// assert_eq!(keys.collect::<Vec<_>>(), ["n"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn keys_where<E: From<Error>>(
        &self,
        options: KeysOptions,
        is_leaf: impl FnMut(&KeyPath, EntryKind) -> Result<bool, E>,
    ) -> Result<Keys, E> {
        ask_leaves(is_leaf, |callback, user| {
            Keys::ask(self, &sys::td_keys_options { is_leaf: callback, user, ..options.raw })
        })
    }

    /// The entries of the first level. One that cannot be read, such as an entry of a lazy stack whose
    /// tensors have several shapes, is an error, and the others follow.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict, Value};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("x", Tensor::scalar(1u8)?)?;
    /// td.set("nested", TensorDict::new(())?)?;
    /// let mut kinds = Vec::new();
    /// for entry in &td {
    ///     let (key, value) = entry?;
    ///     kinds.push((key.to_string(), matches!(value, Value::Dict(_))));
    /// }
    /// assert_eq!(kinds, [("x".into(), false), ("nested".into(), true)]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn items(&self) -> Items<'_> {
        Items { dict: self, keys: self.keys() }
    }

    /// The tensors of all levels, with their full keys; an error where one cannot be read, as in
    /// [`items`](Self::items).
    pub fn leaves(&self) -> Leaves<'_> {
        let options = KeysOptions::new().nested(true).leaves_only(true);
        Leaves { dict: self, keys: self.keys_with(options) }
    }
}

impl<'a> IntoIterator for &'a Dict {
    type Item = Result<(KeyPath, Value<'a>)>;
    type IntoIter = Items<'a>;

    fn into_iter(self) -> Items<'a> {
        self.items()
    }
}

impl<'a> IntoIterator for &'a TensorDict {
    type Item = Result<(KeyPath, Value<'a>)>;
    type IntoIter = Items<'a>;

    fn into_iter(self) -> Items<'a> {
        self.items()
    }
}
