//! Indices: positions, ranges, new dimensions, the ellipsis, masks and index tensors.

use std::marker::PhantomData;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::str::FromStr;

use tensordict_sys as sys;

use crate::error::{read_list, Error, Result};
use crate::library;
use crate::sizes::Size;
use crate::tensor::Tensor;

/// `...` of Python: all dimensions that no other item speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ellipsis;

/// `None` of Python: a new dimension of size 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAxis;

/// One item of an index. Made with `From` of a number, a range, a `bool`, [`Ellipsis`], [`NewAxis`] or
/// a `&Tensor`; most easily by [`i!`](crate::i!).
#[derive(Clone, Copy)]
pub struct Index<'a> {
    raw: sys::td_index_item,
    tensor: PhantomData<&'a Tensor>,
}

impl Index<'_> {
    fn of_kind(kind: sys::td_index_kind, start: i64) -> Self {
        Self { raw: sys::td_index_item { kind, start, ..Default::default() }, tensor: PhantomData }
    }

    fn slice(start: Option<i64>, stop: Option<i64>) -> Self {
        let mut item = Self::of_kind(sys::TD_INDEX_SLICE, start.unwrap_or(0));
        item.raw.stop = stop.unwrap_or(0);
        item.raw.flags = if start.is_some() { sys::TD_INDEX_HAS_START } else { 0 }
            | if stop.is_some() { sys::TD_INDEX_HAS_STOP } else { 0 };
        item
    }

    /// `..=-1` reaches the end, which a stop of 0 would not say.
    fn inclusive(start: Option<i64>, last: i64) -> Self {
        Self::slice(start, if last == -1 { None } else { Some(last.saturating_add(1)) })
    }
}

macro_rules! positions {
    ($($type:ty),*) => {$(
        impl From<$type> for Index<'_> {
            fn from(position: $type) -> Self {
                Self::of_kind(sys::TD_INDEX_INT, position.size())
            }
        }
    )*};
}
positions!(i32, i64, u32, u64, usize);

impl From<bool> for Index<'_> {
    fn from(truth: bool) -> Self {
        Self::of_kind(sys::TD_INDEX_BOOL, truth.into())
    }
}

impl From<Ellipsis> for Index<'_> {
    fn from(_: Ellipsis) -> Self {
        Self::of_kind(sys::TD_INDEX_ELLIPSIS, 0)
    }
}

impl From<NewAxis> for Index<'_> {
    fn from(_: NewAxis) -> Self {
        Self::of_kind(sys::TD_INDEX_NONE, 0)
    }
}

impl<'a> From<&'a Tensor> for Index<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        let mut item = Self::of_kind(sys::TD_INDEX_TENSOR, 0);
        item.raw.tensor = tensor.raw();
        item
    }
}

impl From<RangeFull> for Index<'_> {
    fn from(_: RangeFull) -> Self {
        Self::slice(None, None)
    }
}

impl<T: Size> From<Range<T>> for Index<'_> {
    fn from(range: Range<T>) -> Self {
        Self::slice(Some(range.start.size()), Some(range.end.size()))
    }
}

impl<T: Size> From<RangeFrom<T>> for Index<'_> {
    fn from(range: RangeFrom<T>) -> Self {
        Self::slice(Some(range.start.size()), None)
    }
}

impl<T: Size> From<RangeTo<T>> for Index<'_> {
    fn from(range: RangeTo<T>) -> Self {
        Self::slice(None, Some(range.end.size()))
    }
}

impl<T: Size> From<RangeInclusive<T>> for Index<'_> {
    fn from(range: RangeInclusive<T>) -> Self {
        Self::inclusive(Some(range.start().size()), range.end().size())
    }
}

impl<T: Size> From<RangeToInclusive<T>> for Index<'_> {
    fn from(range: RangeToInclusive<T>) -> Self {
        Self::inclusive(None, range.end.size())
    }
}

/// Gives a range a step, as in `(0..10).step(2)`, which is `0:10:2` of Python.
pub trait Step {
    /// Every `step`-th position; a step is at least 1.
    fn step(self, step: i64) -> Index<'static>;
}

macro_rules! steps {
    ($($range:ty),*) => {$(
        impl<T: Size> Step for $range {
            fn step(self, step: i64) -> Index<'static> {
                Index::from(self).by(step)
            }
        }
    )*};
}
steps!(Range<T>, RangeFrom<T>, RangeTo<T>, RangeInclusive<T>, RangeToInclusive<T>);

impl Step for RangeFull {
    fn step(self, step: i64) -> Index<'static> {
        Index::from(self).by(step)
    }
}

impl Index<'static> {
    fn by(mut self, step: i64) -> Self {
        self.raw.step = step;
        self.raw.flags |= sys::TD_INDEX_HAS_STEP;
        self
    }
}

/// What `at` and `set_at` take: one item, as in `td.at(0)`, or the list that [`i!`](crate::i!) makes.
pub trait Indices<'a> {
    #[doc(hidden)]
    fn items(&self) -> Vec<Index<'a>>;
}

impl<'a, T: Clone> Indices<'a> for T
where
    Index<'a>: From<T>,
{
    fn items(&self) -> Vec<Index<'a>> {
        vec![Index::from(self.clone())]
    }
}

impl<'a, const N: usize> Indices<'a> for [Index<'a>; N] {
    fn items(&self) -> Vec<Index<'a>> {
        self.to_vec()
    }
}

impl<'a> Indices<'a> for &[Index<'a>] {
    fn items(&self) -> Vec<Index<'a>> {
        self.to_vec()
    }
}

/// An index read from text, in Python's notation.
///
/// ```
/// use tensordict::{IndexList, TensorDict};
///
/// let td = TensorDict::new([4, 6])?;
/// let index: IndexList = "..., ::2, None".parse()?;
/// assert_eq!(index.len(), 3);
/// assert_eq!(td.at(&index)?.batch_size(), [4, 3, 1]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone)]
pub struct IndexList(Vec<Index<'static>>);

impl IndexList {
    /// How many items it holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for IndexList {
    type Err = Error;

    #[track_caller]
    fn from_str(text: &str) -> Result<Self> {
        library::ready()?;
        let Ok(text) = std::ffi::CString::new(text) else {
            return Err(Error::new(sys::TD_ERR_INDEX, format!("the index {text:?} holds a NUL")));
        };
        // SAFETY: the text ends with a NUL, and the list is as long as it is said to be.
        let items = read_list(sys::td_index_item::default(), |items, cap, len| unsafe {
            sys::td_index_parse(text.as_ptr(), items, cap, len)
        })?;
        Ok(Self(items.into_iter().map(|raw| Index { raw, tensor: PhantomData }).collect()))
    }
}

impl<'a> Indices<'a> for &IndexList {
    fn items(&self) -> Vec<Index<'a>> {
        self.0.clone()
    }
}

impl<'a> Indices<'a> for IndexList {
    fn items(&self) -> Vec<Index<'a>> {
        self.0.clone()
    }
}

/// An index in the form that the library takes.
pub(crate) struct RawIndex<'a> {
    items: Vec<sys::td_index_item>,
    tensors: PhantomData<&'a Tensor>,
}

impl<'a> RawIndex<'a> {
    pub(crate) fn new(index: impl Indices<'a>) -> Self {
        let items = index.items().into_iter().map(|item| item.raw).collect();
        Self { items, tensors: PhantomData }
    }

    pub(crate) fn items(&self) -> *const sys::td_index_item {
        self.items.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}

/// An index, item by item: numbers, ranges (with a step too), `bool`, [`Ellipsis`], [`NewAxis`] and
/// `&Tensor`. `..` is `:` of Python, [`Ellipsis`] is `...`.
///
/// ```
/// use tensordict::{i, Ellipsis, NewAxis, Step as _, Tensor, TensorDict};
///
/// let td = TensorDict::new([3, 4])?;
/// let mask = Tensor::from_slice(&[true, false, true], [3])?;
/// assert_eq!(td.at(i![0])?.batch_size(), [4]);
/// assert_eq!(td.at(i![.., -2..])?.batch_size(), [3, 2]);
/// assert_eq!(td.at(i![(1..).step(2), Ellipsis, NewAxis])?.batch_size(), [1, 4, 1]);
/// assert_eq!(td.at(i![&mask, 1..=2])?.batch_size(), [2, 2]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[macro_export]
macro_rules! i {
    () => {{
        let nothing: [$crate::Index<'static>; 0] = [];
        nothing
    }};
    ($($item:expr),+ $(,)?) => {
        // As an index, 1..-1 is not empty.
        [$(#[allow(clippy::reversed_empty_ranges)] $crate::Index::from($item)),+]
    };
}
