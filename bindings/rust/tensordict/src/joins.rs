//! Dictionaries joined where `stack` and `cat` are not enough.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::key::{Key, RawKey};
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// How tensors are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Along a new dimension.
    Stack,
    /// Along a dimension that they have.
    Cat,
}

impl Join {
    fn raw(self) -> sys::td_join_kind {
        match self {
            Join::Stack => sys::TD_JOIN_STACK,
            Join::Cat => sys::TD_JOIN_CAT,
        }
    }
}

/// Several dictionaries as C takes them. Owners that came by value end with this.
pub(crate) struct Sources<D> {
    _owners: Vec<D>,
    tokens: Vec<*const sys::td_tensordict>,
}

impl<D: AsRef<Dict>> Sources<D> {
    pub(crate) fn new(sources: impl IntoIterator<Item = D>) -> Self {
        let owners: Vec<D> = sources.into_iter().collect();
        let tokens = owners.iter().map(|source| source.as_ref().raw()).collect();
        Sources { _owners: owners, tokens }
    }

    pub(crate) fn as_ptr(&self) -> *const *const sys::td_tensordict {
        self.tokens.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }
}

impl TensorDict {
    /// As [`stack`](Self::stack), but where dictionaries differ in keys or shapes a lazy stack takes
    /// the place of the dense one, there and nowhere else.
    #[track_caller]
    pub fn maybe_dense_stack(
        sources: impl IntoIterator<Item = TensorDict>,
        dim: i64,
    ) -> Result<TensorDict> {
        // The owners end with this call, so that a lazy stack alone has what they had.
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_maybe_dense_stack(sources.as_ptr(), sources.len(), dim, result)
        })
    }
}

impl Dict {
    /// Writes a stack into existing tensors; with `strict` all keys must be on both sides.
    ///
    /// ```
    /// use tensordict::{Join, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// let mut both = TensorDict::stack([&td, &td], 0)?.zeros_like()?;
    /// both.join_from(Join::Stack, [&td, &td], 0, true)?;
    /// assert_eq!(both.tensor("x")?.to_vec::<i64>()?, [1, 2, 1, 2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn join_from<D: AsRef<Dict>>(
        &mut self,
        join: Join,
        sources: impl IntoIterator<Item = D>,
        dim: i64,
        strict: bool,
    ) -> Result<()> {
        let sources = Sources::new(sources);
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        check(unsafe {
            let (list, len) = (sources.as_ptr(), sources.len());
            let flags = sys::TD_JOIN_INTO_STRICT * u32::from(strict);
            sys::td_join_into(self.raw_mut(), join.raw(), list, len, dim, flags)
        })
    }

    /// Joins tensors into a new entry; they are removed unless they are kept.
    ///
    /// ```
    /// use tensordict::{Join, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1i64, 2], [2])?)?;
    /// td.set("y", Tensor::from_slice(&[3i64, 4], [2])?)?;
    /// td.join_entries(Join::Stack, ["x", "y"], "xy", 1, false)?;
    /// assert_eq!(td.tensor("xy")?.to_vec::<i64>()?, [1, 3, 2, 4]);
    /// assert_eq!(td.keys().collect::<Vec<_>>(), ["xy"]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn join_entries<K: Key>(
        &mut self,
        join: Join,
        keys: impl IntoIterator<Item = K>,
        key: impl Key,
        dim: i64,
        keep: bool,
    ) -> Result<()> {
        let (keys, key) = (RawKeys::new(keys)?, RawKey::new(&key)?);
        // SAFETY: the handle is alive and the lists are as long as they are said to be.
        check(unsafe {
            let (list, len) = (keys.list(), keys.len());
            let (path, path_len) = (key.path(), key.len());
            sys::td_join_entries(
                self.raw_mut(),
                join.raw(),
                list,
                len,
                path,
                path_len,
                dim,
                sys::TD_JOIN_ENTRIES_KEEP * u32::from(keep),
            )
        })
    }

    /// Joins all tensors into one, in the order of the keys, or of their names.
    #[track_caller]
    pub fn join_tensors(&self, join: Join, dim: i64, sorted: bool) -> Result<Tensor> {
        // SAFETY: the handle is alive.
        Tensor::receive(|result| unsafe {
            let flags = sys::TD_JOIN_TENSORS_SORTED * u32::from(sorted);
            sys::td_join_tensors(self.raw(), join.raw(), dim, flags, result)
        })
    }
}
