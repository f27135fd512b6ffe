//! Entries of another dictionary into this one, and single entries written.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::index::{Indices, RawIndex};
use crate::key::{Key, KeyPath, RawKey};
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// What [`Dict::update_with`] does with existing tensors, and with new ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpdateMode {
    /// The tensors of the source are stored, in place of those that were there.
    #[default]
    Store,
    /// Values are written into existing tensors; new entries are stored.
    InPlace,
    /// Values are written; every entry of the source must be there.
    Strict,
}

/// How [`Dict::update_with`] works.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    raw: Flags,
    keys: Option<Vec<KeyPath>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    mode: UpdateMode,
    clone: bool,
    whole_dicts: bool,
    update_batch_size: bool,
    ignore_lock: bool,
}

impl UpdateOptions {
    /// The defaults: tensors are stored, dictionaries merged.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What is stored and what is written.
        mode(mode: UpdateMode) => raw.mode;
        /// Whether what is stored are copies.
        clone_values(clone: bool) => raw.clone;
        /// Whether dictionaries replace one another instead of being merged.
        whole_dicts(whole: bool) => raw.whole_dicts;
        /// Whether the batch size of the source is taken over too; the source must then have all keys.
        update_batch_size(update: bool) => raw.update_batch_size;
        /// Whether entries change even if the dictionary is locked.
        ignore_lock(ignore: bool) => raw.ignore_lock;
    }

    /// Only these entries of the source, and what lies below them.
    pub fn keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.keys = Some(keys.into_iter().map(KeyPath::new).collect());
        self
    }
}

impl Dict {
    /// Stores the tensors of another dictionary here. Dictionaries that both have are merged.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs((), [("a", Tensor::scalar(1i64)?)])?;
    /// let newer = TensorDict::from_pairs((), [(("n", "b"), Tensor::scalar(2i64)?)])?;
    /// td.update(&newer)?;
    /// assert_eq!(td.tensor(("n", "b"))?.item::<i64>()?, 2);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn update(&mut self, source: impl AsRef<Dict>) -> Result<()> {
        self.update_with(source, UpdateOptions::new())
    }

    /// Writes the values of another dictionary into the tensors that are here. Every entry of the
    /// source must be here; nothing is written otherwise. Allowed when locked.
    #[track_caller]
    pub fn update_inplace(&mut self, source: impl AsRef<Dict>) -> Result<()> {
        self.update_with(source, UpdateOptions::new().mode(UpdateMode::Strict))
    }

    /// As [`update`](Self::update), with options.
    #[track_caller]
    pub fn update_with(&mut self, source: impl AsRef<Dict>, options: UpdateOptions) -> Result<()> {
        let source = source.as_ref();
        let flags = options.raw;
        let keys = RawKeys::new(options.keys.iter().flatten())?;
        let (list, keys_len) = (keys.list(), keys.len());
        let raw = sys::td_update_options {
            mode: match flags.mode {
                UpdateMode::Store => sys::TD_UPDATE_STORE,
                UpdateMode::InPlace => sys::TD_UPDATE_INPLACE,
                UpdateMode::Strict => sys::TD_UPDATE_STRICT,
            },
            clone: flags.clone.into(),
            whole_dicts: flags.whole_dicts.into(),
            update_batch_size: flags.update_batch_size.into(),
            ignore_lock: flags.ignore_lock.into(),
            has_keys: options.keys.is_some().into(),
            keys: list,
            keys_len,
            ..Default::default()
        };
        // What is stored becomes ours alone: nested dictionaries of a copy, over the same tensors.
        let copy = match flags.mode {
            UpdateMode::Strict => None,
            _ => Some(source.shallow_copy()?),
        };
        let source = copy.as_deref().unwrap_or(source);
        // SAFETY: the handles are alive, and the keys are as many as they are said to be.
        check(unsafe { sys::td_update(self.raw_mut(), source.raw(), &raw) })
    }

    /// A dictionary of its own with the entries of this one and those of another, over the same tensors.
    #[track_caller]
    pub fn replace(&self, source: impl AsRef<Dict>) -> Result<TensorDict> {
        let mut copy = self.shallow_copy()?;
        copy.update(source)?;
        Ok(copy)
    }

    /// Writes the values of another dictionary into a part of the entries that are here; each is
    /// broadcast on its own. Every entry of the source must be here. Allowed when locked.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs([3], [("x", Tensor::zeros([3, 2], DType::I64)?)])?;
    /// td.update_at(1, &TensorDict::from_pairs((), [("x", Tensor::scalar(7i64)?)])?)?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [0, 0, 7, 7, 0, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn update_at<'a>(
        &mut self,
        index: impl Indices<'a>,
        source: impl AsRef<Dict>,
    ) -> Result<()> {
        self.write_at(index, source.as_ref(), false)
    }

    /// As [`update_at`](Self::update_at), for sizes that agree and an index that gives a view: nothing is
    /// broadcast, and no tensor is part of the index.
    #[track_caller]
    pub fn copy_at<'a>(&mut self, index: impl Indices<'a>, source: impl AsRef<Dict>) -> Result<()> {
        self.write_at(index, source.as_ref(), true)
    }

    #[track_caller]
    fn write_at<'a>(&mut self, index: impl Indices<'a>, source: &Dict, exact: bool) -> Result<()> {
        let index = RawIndex::new(index);
        // SAFETY: the handles are alive, and the list of items is as long as it is said to be.
        check(unsafe {
            let (items, len) = (index.items(), index.len());
            let flags = sys::TD_UPDATE_AT_EXACT * u32::from(exact);
            sys::td_update_at(self.raw_mut(), items, len, source.raw(), flags)
        })
    }

    /// Writes the values of a tensor into the one that is stored, or stores it when nothing is there.
    #[track_caller]
    pub fn write(&mut self, key: impl Key, source: &Tensor) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_write_or_set(self.raw_mut(), key.path(), key.len(), source.raw()) })
    }

    /// Writes a value, broadcast, into a tensor, or into all tensors of a nested dictionary. Allowed
    /// when locked.
    #[track_caller]
    pub fn fill_entry(&mut self, key: impl Key, source: &Tensor) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_fill_entry(self.raw_mut(), key.path(), key.len(), source.raw()) })
    }

    /// A part of a tensor. The index counts from its first dimension and may go beyond the batch.
    ///
    /// ```
    /// use tensordict::{i, Tensor, TensorDict};
    ///
    /// let x = Tensor::from_slice(&[1i64, 2, 3, 4], [2, 2])?;
    /// let mut td = TensorDict::from_pairs([2], [("x", x)])?;
    /// assert_eq!(td.tensor_at("x", i![.., 1])?.to_vec::<i64>()?, [2, 4]);
    /// td.set_tensor_at("x", i![.., 1], &Tensor::scalar(0i64)?)?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [1, 0, 3, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn tensor_at<'a>(&self, key: impl Key, index: impl Indices<'a>) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        let index = RawIndex::new(index);
        let (items, len) = (index.items(), index.len());
        // SAFETY: the handle is alive; key and index are as long as they say.
        Tensor::receive(|result| unsafe {
            sys::td_get_entry_at(self.raw(), key.path(), key.len(), items, len, result)
        })
    }

    /// Writes into a part of a tensor; the values are broadcast. Allowed when locked.
    #[track_caller]
    pub fn set_tensor_at<'a>(
        &mut self,
        key: impl Key,
        index: impl Indices<'a>,
        source: &Tensor,
    ) -> Result<()> {
        let key = RawKey::new(&key)?;
        let index = RawIndex::new(index);
        let (items, len) = (index.items(), index.len());
        // SAFETY: the handles are alive; key and index are as long as they say.
        check(unsafe {
            sys::td_set_entry_at(self.raw_mut(), key.path(), key.len(), items, len, source.raw())
        })
    }

    /// The tensor under a key; when nothing is there, `value` is stored first.
    #[track_caller]
    pub fn get_or_set(&mut self, key: impl Key, value: &Tensor) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        Tensor::receive(|result| unsafe {
            sys::td_get_or_set(self.raw_mut(), key.path(), key.len(), value.raw(), result)
        })
    }

    /// As [`get_or_set`](Self::get_or_set), with a value that is made only when nothing is there.
    #[track_caller]
    pub fn get_or_set_with(
        &mut self,
        key: impl Key,
        make: impl FnOnce() -> Result<Tensor>,
    ) -> Result<Tensor> {
        if self.kind(&key)?.is_none() {
            self.set(&key, make()?)?;
        }
        self.tensor(key)
    }
}
