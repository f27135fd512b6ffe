//! Entries: set, looked up, removed.

use tensordict_sys as sys;

use crate::dict::{Dict, DictMut, DictRef, TensorDict};
use crate::error::{check, read_text, Error, Result};
use crate::key::{Key, KeyPath, RawKey};
use crate::nested_tensor::NestedTensor;
use crate::tensor::Tensor;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A tensor.
    Tensor,
    /// A nested dictionary.
    Dict,
    /// A non-tensor value, such as a text.
    NonTensor,
    /// Tensors of different shapes.
    NestedTensor,
    /// A kind that this version of the crate does not know.
    Unknown(i32),
}

impl EntryKind {
    pub(crate) fn from_raw(kind: sys::td_entry_kind) -> Option<Self> {
        match kind {
            sys::TD_ENTRY_NONE => None,
            sys::TD_ENTRY_TENSOR => Some(Self::Tensor),
            sys::TD_ENTRY_DICT => Some(Self::Dict),
            sys::TD_ENTRY_NON_TENSOR => Some(Self::NonTensor),
            sys::TD_ENTRY_NESTED_TENSOR => Some(Self::NestedTensor),
            other => Some(Self::Unknown(other)),
        }
    }
}

/// An entry that was looked up.
#[derive(Debug)]
pub enum Value<'a> {
    /// A tensor, which shares memory with the entry.
    Tensor(Tensor),
    /// A nested dictionary, borrowed from the outer one.
    Dict(DictRef<'a>),
    /// A non-tensor value, as JSON text.
    NonTensor(String),
    /// Tensors of different shapes, which share memory with the entry.
    NestedTensor(NestedTensor),
}

impl Value<'_> {
    /// The tensor, if it is one.
    pub fn into_tensor(self) -> Option<Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// What can be set: a [`Tensor`] or `&Tensor`, which is shared; a [`TensorDict`], which becomes part of
/// the dictionary; a `&TensorDict` or `&Dict`, of which a shallow copy does.
pub trait IntoEntry {
    #[doc(hidden)]
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()>;
}

impl IntoEntry for &Tensor {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_set(dict.raw_mut(), key.path(), key.len(), self.raw()) })
    }
}

impl IntoEntry for Tensor {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        (&self).put(dict, key)
    }
}

impl IntoEntry for TensorDict {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        // SAFETY: the handles are alive, and the key is as long as it says. `self` was the only
        // owner of what becomes a part of `dict`.
        check(unsafe { sys::td_set_dict(dict.raw_mut(), key.path(), key.len(), self.raw()) })
    }
}

impl IntoEntry for &Dict {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        self.shallow_copy()?.put(dict, key)
    }
}

impl IntoEntry for &TensorDict {
    #[track_caller]
    fn put(self, dict: &mut Dict, key: &RawKey) -> Result<()> {
        (**self).put(dict, key)
    }
}

impl Dict {
    /// Stores a tensor or a dictionary, replacing what was there. Missing dictionaries on the way are
    /// made. The tensor is shared, unless the device of the dictionary asks for a move.
    #[track_caller]
    pub fn set(&mut self, key: impl Key, value: impl IntoEntry) -> Result<()> {
        value.put(self, &RawKey::new(&key)?)
    }

    /// Writes the values of a tensor, broadcast and converted, into the tensor that is stored. Allowed
    /// when locked.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::zeros([2, 2], DType::F32)?)?;
    /// td.lock()?;
    /// td.set_inplace("x", &Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// assert_eq!(td.tensor("x")?.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_inplace(&mut self, key: impl Key, source: &Tensor) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_set_inplace(self.raw_mut(), key.path(), key.len(), source.raw()) })
    }

    /// Looks up an entry of any kind.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict, Value};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set(("nested", "x"), Tensor::from_slice(&[1u8, 2], [2])?)?;
    /// match td.get("nested")? {
    ///     Value::Dict(nested) => assert_eq!(nested.tensor("x")?.to_vec::<u8>()?, [1, 2]),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn get(&self, key: impl Key) -> Result<Value<'_>> {
        match self.kind(&key)? {
            Some(EntryKind::Dict) => Ok(Value::Dict(self.dict(key)?)),
            Some(EntryKind::NonTensor) => Ok(Value::NonTensor(self.non_tensor_json(key)?)),
            Some(EntryKind::NestedTensor) => Ok(Value::NestedTensor(self.nested_tensor(key)?)),
            Some(EntryKind::Unknown(kind)) => {
                let message = format!("{} is an entry of kind {kind}", KeyPath::new(key));
                Err(Error::new(sys::TD_ERR_UNSUPPORTED, message))
            }
            // The library knows best why there is nothing.
            Some(EntryKind::Tensor) | None => Ok(Value::Tensor(self.tensor(key)?)),
        }
    }

    /// Looks up a tensor. It shares memory with the entry and outlives it.
    #[track_caller]
    pub fn tensor(&self, key: impl Key) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        Tensor::receive(|result| unsafe { sys::td_get(self.raw(), key.path(), key.len(), result) })
    }

    /// Looks up a nested dictionary: the one inside, not a copy.
    #[track_caller]
    pub fn dict(&self, key: impl Key) -> Result<DictRef<'_>> {
        Ok(DictRef::new(self.nested(key)?))
    }

    /// Looks up a nested dictionary to change it.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("nested", TensorDict::new([2])?)?;
    /// td.dict_mut("nested")?.set("x", Tensor::from_slice(&[1u8, 2], [2])?)?;
    /// assert!(td.contains(("nested", "x")));
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn dict_mut(&mut self, key: impl Key) -> Result<DictMut<'_>> {
        Ok(DictMut::new(self.nested(key)?))
    }

    #[track_caller]
    fn nested(&self, key: impl Key) -> Result<TensorDict> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        TensorDict::receive(|result| unsafe {
            sys::td_get_dict(self.raw(), key.path(), key.len(), result)
        })
    }

    /// Looks up a non-tensor value (a text, a number, a list …), as JSON text.
    #[track_caller]
    pub fn non_tensor_json(&self, key: impl Key) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and text are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_get_non_tensor_json(self.raw(), key.path(), key.len(), text, cap, length)
        })
    }

    /// The entry under a key; `None` if there is none.
    #[track_caller]
    pub fn kind(&self, key: impl Key) -> Result<Option<EntryKind>> {
        let key = RawKey::new(&key)?;
        let mut kind = sys::TD_ENTRY_NONE;
        // SAFETY: the handle is alive, and the key is as long as it says.
        check(unsafe { sys::td_get_kind(self.raw(), key.path(), key.len(), &mut kind) })?;
        Ok(EntryKind::from_raw(kind))
    }

    /// Whether a key has an entry; `false` also for an invalid key.
    pub fn contains(&self, key: impl Key) -> bool {
        matches!(self.kind(key), Ok(Some(_)))
    }

    /// Removes an entry. Dictionaries on the way stay, empty or not.
    #[track_caller]
    pub fn remove(&mut self, key: impl Key) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        check(unsafe { sys::td_remove(self.raw_mut(), key.path(), key.len()) })
    }
}

/// What is also here and not on [`Dict`] alone, so that the value may be made of the dictionary itself:
/// through a dereference the borrow would begin too early.
impl TensorDict {
    /// As [`Dict::set`].
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i32, 2], [2])?)])?;
    /// td.set("y", td.tensor("x")?.to(DType::F32)?)?;
    /// assert_eq!(td.tensor("y")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set(&mut self, key: impl Key, value: impl IntoEntry) -> Result<()> {
        Dict::set(self, key, value)
    }

    /// As [`Dict::set_inplace`].
    #[track_caller]
    pub fn set_inplace(&mut self, key: impl Key, source: &Tensor) -> Result<()> {
        Dict::set_inplace(self, key, source)
    }
}
