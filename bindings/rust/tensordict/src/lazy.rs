//! Dictionaries side by side that are stacked when read, and sub-tensordicts.

use tensordict_sys as sys;

use crate::dict::{Dict, DictMut, DictRef, TensorDict};
use crate::error::{check, Result};
use crate::handle::Handle;
use crate::index::{Index, Indices, RawIndex};
use crate::iter::Keys;
use crate::joins::Sources;
use crate::key::{Key, RawKey};
use crate::nested_tensor::pad;
use crate::tensor::Tensor;

/// What kind of dictionary stands behind a handle. All kinds take all calls, with few exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DictKind {
    /// Holds its tensors.
    Dense,
    /// A list of dictionaries, stacked when an entry is read.
    Lazy,
    /// A sub-tensordict.
    SubTensorDict,
    /// A non-tensor value, a nested tensor, or a kind that this version of the crate does not know.
    Other(i32),
}

/// How tensors of different shapes become one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Padding {
    /// What shorter tensors are padded with, converted to the dtype of each.
    pub value: f64,
    /// Padding stands in front, not behind.
    pub left: bool,
}

impl Padding {
    pub(crate) fn raw(self, pad: i32) -> sys::td_padding_options {
        sys::td_padding_options {
            pad,
            left: self.left.into(),
            value: self.value,
            ..sys::td_padding_options::default()
        }
    }
}

/// Tensors one after the other along their first dimension.
#[derive(Debug)]
pub struct Jagged {
    /// All rows.
    pub values: Tensor,
    /// Where the rows of each element begin: `i64`, one more than there are elements.
    pub offsets: Tensor,
}

impl TensorDict {
    /// Puts dictionaries side by side without copying: an entry is stacked when it is read. They may
    /// differ in keys and in the shapes of tensors; the keys are those that all of them have.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let one = TensorDict::from_pairs((), [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// let two = TensorDict::from_pairs((), [("x", Tensor::from_slice(&[3i64], [1])?)])?;
    /// let both = TensorDict::lazy_stack([one, two], 0)?;
    /// assert!(both.tensor("x").is_err()); // of two shapes
    /// let padded = both.padded("x", Default::default())?;
    /// assert_eq!(padded.to_vec::<i64>()?, [1, 2, 3, 0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn lazy_stack(
        sources: impl IntoIterator<Item = TensorDict>,
        dim: i64,
    ) -> Result<TensorDict> {
        // The owners end with this call, so that the stack alone has what they had.
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_lazy_stack(sources.as_ptr(), sources.len(), dim, result)
        })
    }
}

impl Dict {
    /// What kind of dictionary this is.
    #[track_caller]
    pub fn dict_kind(&self) -> Result<DictKind> {
        let mut kind = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_kind(self.raw(), &mut kind) })?;
        Ok(match kind {
            sys::TD_DICT_DENSE => DictKind::Dense,
            sys::TD_DICT_LAZY_STACK => DictKind::Lazy,
            sys::TD_DICT_SUB_TENSORDICT => DictKind::SubTensorDict,
            other => DictKind::Other(other),
        })
    }

    /// The dimension of a lazy stack and the number of its elements.
    #[track_caller]
    pub fn lazy_info(&self) -> Result<(i64, usize)> {
        let (mut dim, mut elements) = (0, 0);
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_lazy_info(self.raw(), &mut dim, &mut elements) })?;
        Ok((dim, elements))
    }

    /// One dictionary of a lazy stack, as long as the stack is borrowed.
    #[track_caller]
    pub fn element(&self, position: i64) -> Result<DictRef<'_>> {
        Ok(DictRef::new(self.element_owner(position)?))
    }

    /// One dictionary of a lazy stack that can be changed.
    #[track_caller]
    pub fn element_mut(&mut self, position: i64) -> Result<DictMut<'_>> {
        Ok(DictMut::new(self.element_owner(position)?))
    }

    #[track_caller]
    fn element_owner(&self, position: i64) -> Result<TensorDict> {
        let (dim, _) = self.lazy_info()?;
        let mut items = vec![Index::from(..); dim as usize];
        items.push(position.into());
        let index = RawIndex::new(items.as_slice());
        // SAFETY: the handle is alive, and the list is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_index(self.raw(), index.items(), index.len(), result)
        })
    }

    /// Puts a dictionary into a lazy stack, in front of the one at a position.
    #[track_caller]
    pub fn lazy_insert(&mut self, position: i64, source: TensorDict) -> Result<()> {
        // SAFETY: the handles are alive, this one ours alone.
        check(unsafe { sys::td_lazy_insert(self.raw_mut(), position, source.raw()) })
    }

    /// Appends dictionaries to a lazy stack: all of them, or none.
    #[track_caller]
    pub fn lazy_extend(&mut self, sources: impl IntoIterator<Item = TensorDict>) -> Result<()> {
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        check(unsafe { sys::td_lazy_extend(self.raw_mut(), sources.as_ptr(), sources.len()) })
    }

    /// The keys that some dictionaries of a lazy stack have and others lack.
    #[track_caller]
    pub fn exclusive_keys(&self) -> Result<Keys> {
        let mut token = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_lazy_exclusive_keys(self.raw(), &mut token) })?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Keys::new(unsafe { Handle::new(token) }))
    }

    /// The tensors of a key of a lazy stack as one, each padded to the longest.
    #[track_caller]
    pub fn padded(&self, key: impl Key, padding: Padding) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        let options = padding.raw(pad::PADDED);
        // SAFETY: the handle is alive, and the key is as long as it says.
        Tensor::receive(|result| unsafe {
            sys::td_lazy_get_padded(self.raw(), key.path(), key.len(), &options, result)
        })
    }

    /// The tensors of a key of a lazy stack one after the other, and where each begins.
    #[track_caller]
    pub fn jagged(&self, key: impl Key) -> Result<Jagged> {
        let key = RawKey::new(&key)?;
        let mut offsets = std::ptr::null_mut();
        // SAFETY: the handle is alive, and the key is as long as it says.
        let values = Tensor::receive(|values| unsafe {
            sys::td_lazy_get_jagged(self.raw(), key.path(), key.len(), values, &mut offsets)
        })?;
        // SAFETY: the call succeeded and gave both handles to us.
        Ok(Jagged { values, offsets: unsafe { Tensor::from_raw(offsets) } })
    }

    /// The parts along a dimension as a lazy stack, sharing memory.
    #[track_caller]
    pub fn to_lazy_stack(&self, dim: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_to_lazy_stack(self.raw(), dim, result) })
    }

    /// The same content without lazy stacks and sub-tensordicts at any level. Without padding, shapes that
    /// differ are an error.
    #[track_caller]
    pub fn densify(&self, padding: Option<Padding>) -> Result<TensorDict> {
        let options = padding.unwrap_or_default().raw(if padding.is_some() {
            pad::PADDED
        } else {
            pad::REFUSED
        });
        // SAFETY: the handle is alive.
        self.derive(|result| unsafe { sys::td_densify(self.raw(), &options, result) })
    }

    /// A sub-tensordict: what is written to it reaches the part, also where tensors or masks pick it.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::from_pairs([3], [("x", Tensor::from_slice(&[1i64, 2, 3], [3])?)])?;
    /// let rows = Tensor::from_slice(&[2i64, 0], [2])?;
    /// let mut part = td.sub_tensordict(&rows)?;
    /// part.set_inplace("x", &Tensor::from_slice(&[30i64, 10], [2])?)?;
    /// drop(part);
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [10, 2, 30]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn sub_tensordict<'a>(&mut self, index: impl Indices<'a>) -> Result<DictMut<'_>> {
        let index = RawIndex::new(index);
        // SAFETY: the handle is alive, and the list of items is as long as it is said to be.
        Ok(DictMut::new(TensorDict::receive(|result| unsafe {
            sys::td_sub_tensordict(self.raw(), index.items(), index.len(), result)
        })?))
    }

    /// The dictionary behind a sub-tensordict.
    #[track_caller]
    pub fn sub_tensordict_parent(&self) -> Result<DictRef<'_>> {
        // SAFETY: the handle is alive.
        Ok(DictRef::new(TensorDict::receive(|result| unsafe {
            sys::td_sub_tensordict_parent(self.raw(), result)
        })?))
    }
}
