//! Entries taken out, moved and made; what is known of them.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::entry::EntryKind;
use crate::error::{check, read_list, sound, ErrorKind, Result};
use crate::handle::Handle;
use crate::iter::Keys;
use crate::key::{Key, KeyPath, RawKey};
use crate::nested_tensor::NestedTensor;
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// An entry that was taken out of a dictionary.
#[derive(Debug)]
pub enum OwnedValue {
    /// A tensor.
    Tensor(Tensor),
    /// A dictionary, which is now on its own.
    Dict(TensorDict),
    /// A non-tensor value, as JSON text.
    NonTensor(String),
    /// Tensors of different shapes.
    NestedTensor(NestedTensor),
}

impl OwnedValue {
    /// The tensor, if it is one.
    pub fn into_tensor(self) -> Option<Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The dictionary, if it is one.
    pub fn into_dict(self) -> Option<TensorDict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// # Safety
    /// A call that succeeded gave the handles to us: one of them is not NULL. A non-tensor value
    /// comes in a dictionary that holds it under `name`.
    unsafe fn take(
        tensor: *mut sys::td_tensor,
        dict: *mut sys::td_tensordict,
        kind: Option<EntryKind>,
        name: &str,
    ) -> Result<Self> {
        if !tensor.is_null() {
            // SAFETY: as promised by the caller.
            return Ok(Self::Tensor(unsafe { Tensor::from_raw(tensor) }));
        }
        // SAFETY: as promised by the caller.
        let dict = unsafe { TensorDict::from_raw(dict) };
        match kind {
            Some(EntryKind::Dict) => Ok(Self::Dict(dict)),
            Some(EntryKind::NestedTensor) => Ok(Self::NestedTensor(NestedTensor::new(dict))),
            _ => dict.non_tensor_json(name).map(Self::NonTensor),
        }
    }
}

impl Dict {
    /// Removes an entry and gives it.
    ///
    /// ```
    /// use tensordict::{ErrorKind, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs((), [("a", Tensor::scalar(1i64)?)])?;
    /// assert_eq!(td.pop("a")?.into_tensor().unwrap().item::<i64>()?, 1);
    /// assert_eq!(td.pop("a").unwrap_err().kind(), ErrorKind::Key);
    /// assert!(td.try_pop("a")?.is_none());
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn pop(&mut self, key: impl Key) -> Result<OwnedValue> {
        let raw = RawKey::new(&key)?;
        let (mut kind, mut tensor, mut dict) =
            (sys::TD_ENTRY_NONE, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        unsafe {
            let td = self.raw_mut();
            check(sys::td_pop(td, raw.path(), raw.len(), &mut kind, &mut tensor, &mut dict))?;
            let names = key.names();
            OwnedValue::take(tensor, dict, EntryKind::from_raw(kind), names[names.len() - 1])
        }
    }

    /// As [`pop`](Self::pop); `None` when nothing stands there.
    #[track_caller]
    pub fn try_pop(&mut self, key: impl Key) -> Result<Option<OwnedValue>> {
        match self.kind(&key)? {
            None => Ok(None),
            Some(_) => self.pop(key).map(Some),
        }
    }

    /// Removes the entry of the first level that was set last, and gives it with its key; `None` when
    /// nothing is left.
    #[track_caller]
    pub fn pop_last(&mut self) -> Result<Option<(KeyPath, OwnedValue)>> {
        let (mut key, mut tensor, mut dict) =
            (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the handle is alive and ours alone; a call that succeeds gives us the results.
        unsafe {
            match check(sys::td_pop_last(self.raw_mut(), &mut key, &mut tensor, &mut dict)) {
                Err(error) if error.kind() == ErrorKind::Key => return Ok(None),
                answer => answer?,
            }
            let entry = Keys::new(Handle::new(key)).next_with_kind();
            entry
                .map(|(key, kind)| {
                    let value = OwnedValue::take(tensor, dict, Some(kind), &key.names()[0])?;
                    Ok((key, value))
                })
                .transpose()
        }
    }

    /// Makes an empty dictionary under a key, replacing what was there.
    #[track_caller]
    pub fn create_nested(&mut self, key: impl Key) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        check(unsafe { sys::td_create_nested(self.raw_mut(), key.path(), key.len()) })
    }

    /// Moves an entry to another key, replacing what was there. Missing dictionaries on the way are made.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs((), [("a", Tensor::scalar(1i64)?)])?;
    /// td.rename_key("a", ("n", "b"))?;
    /// assert!(td.contains(("n", "b")) && !td.contains("a"));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn rename_key(&mut self, key: impl Key, to: impl Key) -> Result<()> {
        self.move_key(&RawKey::new(&key)?, &RawKey::new(&to)?, false)
    }

    /// As [`rename_key`](Self::rename_key), but fails when something stands there.
    #[track_caller]
    pub fn rename_key_safe(&mut self, key: impl Key, to: impl Key) -> Result<()> {
        self.move_key(&RawKey::new(&key)?, &RawKey::new(&to)?, true)
    }

    #[track_caller]
    fn move_key(&mut self, key: &RawKey, to: &RawKey, safe: bool) -> Result<()> {
        // SAFETY: the handle is alive and ours alone, and the keys are as long as they say.
        check(unsafe {
            let (td, flags) = (self.raw_mut(), sys::TD_RENAME_KEY_SAFE * u32::from(safe));
            sys::td_rename_key(td, key.path(), key.len(), to.path(), to.len(), flags)
        })
    }

    /// A dictionary over the same tensors in which several entries have other keys, all at once: two may
    /// change places. With `strict` all keys must exist.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs((), [("a", Tensor::scalar(1i64)?), ("b", Tensor::scalar(2i64)?)])?;
    /// let other = td.rename_keys([("a", "b"), ("b", "a")], true)?;
    /// assert_eq!(other.tensor("a")?.item::<i64>()?, 2);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn rename_keys<K: Key, N: Key>(
        &self,
        pairs: impl IntoIterator<Item = (K, N)>,
        strict: bool,
    ) -> Result<TensorDict> {
        let (keys, new_keys): (Vec<K>, Vec<N>) = pairs.into_iter().unzip();
        let (keys, new_keys) = (RawKeys::new(keys)?, RawKeys::new(new_keys)?);
        let flags = sys::TD_RENAME_KEYS_IGNORE_MISSING * u32::from(!strict);
        // SAFETY: the handle is alive, and the lists have equally many keys.
        TensorDict::receive(|result| unsafe {
            let (from, to, len) = (keys.list(), new_keys.list(), keys.len());
            sys::td_rename_keys(self.raw(), from, to, len, flags, result)
        })
    }

    /// Removes all entries.
    #[track_caller]
    pub fn clear(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_clear(self.raw_mut()) })
    }

    /// How many dictionaries lie around the deepest tensor or other value, this one not counted.
    pub fn depth(&self) -> usize {
        let mut depth = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_depth(self.raw(), &mut depth) }));
        depth
    }

    /// The sizes of a tensor, or the batch size of any other entry.
    #[track_caller]
    pub fn entry_shape(&self, key: impl Key) -> Result<Vec<i64>> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and list are as long as they are said to be.
        read_list(0, |sizes, cap, dims| unsafe {
            sys::td_get_sizes(self.raw(), key.path(), key.len(), sizes, cap, dims)
        })
    }

    /// Sets the longest batch size with which all entries begin, of at most `max_dims` dimensions, in
    /// nested dictionaries too.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new(())?;
    /// td.set("a", Tensor::zeros([3, 4, 5], DType::F32)?)?;
    /// td.set("b", Tensor::zeros([3, 4], DType::F32)?)?;
    /// td.auto_batch_size(None)?;
    /// assert_eq!(td.batch_size(), [3, 4]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn auto_batch_size(&mut self, max_dims: Option<usize>) -> Result<()> {
        self.set_auto_batch_size(max_dims, false)
    }

    /// As [`auto_batch_size`](Self::auto_batch_size), leaving alone nested dictionaries that have
    /// `max_dims` dimensions already.
    #[track_caller]
    pub fn auto_batch_size_keeping(&mut self, max_dims: usize) -> Result<()> {
        self.set_auto_batch_size(Some(max_dims), true)
    }

    #[track_caller]
    fn set_auto_batch_size(&mut self, max_dims: Option<usize>, keep: bool) -> Result<()> {
        let dims = max_dims.map_or(-1, |dims| i64::try_from(dims).unwrap_or(i64::MAX));
        // SAFETY: the handle is alive and ours alone.
        check(unsafe {
            let flags = sys::TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT * u32::from(keep);
            sys::td_auto_batch_size(self.raw_mut(), dims, flags)
        })
    }
}
