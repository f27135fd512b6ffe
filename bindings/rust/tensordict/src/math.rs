//! Arithmetic, comparison, logic and reductions of every tensor.

use std::marker::PhantomData;
use std::ops;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Result};
use crate::key::{Key, RawKey};
use crate::sizes::Size;
use crate::tensor::Tensor;

/// What stands beside a dictionary in an operation: another dictionary, tensor by tensor; a number or a
/// tensor without dimensions, for all values; any other tensor, broadcast against the batch size and
/// along the features.
///
/// ```
/// use tensordict::{Tensor, TensorDict};
///
/// let mut td = TensorDict::new([2])?;
/// td.set("a", Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?)?;
/// let twice = (&td * 2)?;
/// let sum = (&twice - &td)?;
/// assert!(sum.eq(&td)?.all()?);
/// let rows = td.mul(&Tensor::from_slice(&[1.0f32, 10.0], [2])?)?;
/// assert_eq!(rows.tensor("a")?.to_vec::<f32>()?, [1.0, 2.0, 30.0, 40.0]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub(crate) raw: sys::td_operand,
    borrowed: PhantomData<&'a Dict>,
}

impl Operand<'_> {
    fn new(raw: sys::td_operand) -> Self {
        Self { raw, borrowed: PhantomData }
    }
}

impl<'a> From<&'a Dict> for Operand<'a> {
    fn from(dict: &'a Dict) -> Self {
        Self::new(sys::td_operand {
            kind: sys::TD_OPERAND_DICT,
            dict: dict.raw(),
            ..Default::default()
        })
    }
}

impl<'a> From<&'a TensorDict> for Operand<'a> {
    fn from(dict: &'a TensorDict) -> Self {
        Self::from(&**dict)
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::new(sys::td_operand {
            kind: sys::TD_OPERAND_TENSOR,
            tensor: tensor.raw(),
            ..Default::default()
        })
    }
}

macro_rules! number {
    ($kind:ident, $field:ident, $($type:ty),*) => {$(
        impl From<$type> for Operand<'_> {
            fn from(number: $type) -> Self {
                Self::new(sys::td_operand {
                    kind: sys::$kind,
                    $field: number.into(),
                    ..Default::default()
                })
            }
        }
    )*};
}
number!(TD_OPERAND_INT, integer, i32, i64, u32);
number!(TD_OPERAND_DOUBLE, real, f32, f64);
number!(TD_OPERAND_BOOL, integer, bool);

/// What becomes of keys that only one of two dictionaries has.
#[derive(Clone, Copy, Default)]
pub enum Missing<'a> {
    /// An error.
    #[default]
    Error,
    /// They take no part.
    Intersect,
    /// This tensor without dimensions stands for what is missing.
    Default(&'a Tensor),
}

/// What is reduced, and how.
///
/// ```
/// use tensordict::{DType, Reduce, Tensor, TensorDict};
///
/// let mut td = TensorDict::new([2])?;
/// td.set("a", Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?)?;
/// assert_eq!(td.sum(())?.tensor("a")?.item::<f32>()?, 10.0); // all of each tensor
/// assert_eq!(td.sum(0)?.tensor("a")?.to_vec::<f32>()?, [4.0, 6.0]); // a batch dimension
/// assert_eq!(td.sum(Reduce::features())?.tensor("a")?.to_vec::<f32>()?, [3.0, 7.0]);
/// let kept = td.mean(Reduce::dims([0]).keepdim(true).dtype(DType::F64))?;
/// assert_eq!(kept.batch_size(), [1]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reduce {
    raw: sys::td_reduce_options,
    dims: Vec<i64>,
}

// The pointer inside is null whenever one of these is at rest.
impl Reduce {
    /// Batch and features: one value for each tensor.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Some batch dimensions; negative ones count from the end.
    pub fn dims<D: Size>(dims: impl IntoIterator<Item = D>) -> Self {
        let mut reduce = Self { dims: dims.into_iter().map(D::size).collect(), ..Self::default() };
        reduce.raw.over = sys::TD_REDUCE_OVER_DIMS;
        reduce
    }

    /// The features: one value for each element of the batch.
    pub fn features() -> Self {
        let mut reduce = Self::default();
        reduce.raw.over = sys::TD_REDUCE_OVER_FEATURES;
        reduce
    }

    setters! {
        /// Whether dimensions stay, of size 1.
        keepdim(keep: bool) => raw.keepdim;
        /// Degrees of freedom that `std` and `var` take off; 1 unless said.
        correction(correction: i64) => raw.correction;
        /// Which quantile, 0 to 1.
        q(q: f64) => raw.q;
    }

    /// The dtype of the computation and its result.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.raw.dtype = dtype.raw();
        self
    }

    /// How a quantile between two values is found.
    pub fn interpolation(mut self, interpolation: Interpolation) -> Self {
        self.raw.interpolation = interpolation as sys::td_interpolation;
        self
    }

    fn call<T>(&self, call: impl FnOnce(&sys::td_reduce_options) -> T) -> T {
        let mut raw = self.raw;
        raw.dims = self.dims.as_ptr();
        raw.dims_len = self.dims.len();
        call(&raw)
    }
}

impl From<()> for Reduce {
    fn from((): ()) -> Self {
        Self::everything()
    }
}

macro_rules! dimension {
    ($($type:ty),*) => {$(
        impl From<$type> for Reduce {
            fn from(dim: $type) -> Self {
                Self::dims([dim])
            }
        }
    )*};
}
dimension!(i32, i64, usize);

impl<D: Size, const N: usize> From<[D; N]> for Reduce {
    fn from(dims: [D; N]) -> Self {
        Self::dims(dims)
    }
}

/// How a quantile between two values is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Interpolation {
    /// On the line between them.
    Linear = sys::TD_INTERPOLATION_LINEAR,
    /// The lower one.
    Lower = sys::TD_INTERPOLATION_LOWER,
    /// The higher one.
    Higher = sys::TD_INTERPOLATION_HIGHER,
    /// Half way.
    Midpoint = sys::TD_INTERPOLATION_MIDPOINT,
    /// The nearer one.
    Nearest = sys::TD_INTERPOLATION_NEAREST,
}

fn binary_options(missing: Missing<'_>, alpha: f64) -> sys::td_binary_options {
    let (missing, fallback) = match missing {
        Missing::Error => (sys::TD_MISSING_ERROR, std::ptr::null()),
        Missing::Intersect => (sys::TD_MISSING_INTERSECT, std::ptr::null()),
        Missing::Default(tensor) => (sys::TD_MISSING_DEFAULT, tensor.raw()),
    };
    sys::td_binary_options { missing, alpha, fallback, ..Default::default() }
}

impl Dict {
    #[track_caller]
    pub(crate) fn unary(&self, op: sys::td_unary_op) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_unary(self.raw(), op, result) })
    }

    #[track_caller]
    pub(crate) fn unary_inplace(&mut self, op: sys::td_unary_op) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_unary_inplace(self.raw_mut(), op) })
    }

    #[track_caller]
    pub(crate) fn binary(&self, op: sys::td_binary_op, other: Operand<'_>) -> Result<TensorDict> {
        self.binary_with(op, other, Missing::Error, 1.0)
    }

    #[track_caller]
    pub(crate) fn binary_with(
        &self,
        op: sys::td_binary_op,
        other: Operand<'_>,
        missing: Missing<'_>,
        alpha: f64,
    ) -> Result<TensorDict> {
        let options = binary_options(missing, alpha);
        // SAFETY: the handles are alive.
        TensorDict::receive(|result| unsafe {
            sys::td_binary(self.raw(), op, &other.raw, &options, result)
        })
    }

    #[track_caller]
    pub(crate) fn binary_inplace(
        &mut self,
        op: sys::td_binary_op,
        other: Operand<'_>,
    ) -> Result<()> {
        let options = sys::td_binary_options::default();
        // SAFETY: the handles are alive, the first one is ours alone.
        check(unsafe { sys::td_binary_inplace(self.raw_mut(), op, &other.raw, &options) })
    }

    #[track_caller]
    fn ternary(
        &self,
        op: sys::td_ternary_op,
        b: Option<Operand<'_>>,
        c: Option<Operand<'_>>,
        value: f64,
    ) -> Result<TensorDict> {
        let (b, c) = (raw_or_null(&b), raw_or_null(&c));
        // SAFETY: the handles are alive.
        TensorDict::receive(|result| unsafe {
            sys::td_ternary(self.raw(), op, b, c, value, result)
        })
    }

    #[track_caller]
    fn ternary_inplace(
        &mut self,
        op: sys::td_ternary_op,
        b: Option<Operand<'_>>,
        c: Option<Operand<'_>>,
        value: f64,
    ) -> Result<()> {
        let (b, c) = (raw_or_null(&b), raw_or_null(&c));
        // SAFETY: the handles are alive, the first one is ours alone.
        check(unsafe { sys::td_ternary_inplace(self.raw_mut(), op, b, c, value) })
    }

    /// `self + weight * (end - self)`.
    #[track_caller]
    pub fn lerp<'a, 'b>(
        &self,
        end: impl Into<Operand<'a>>,
        weight: impl Into<Operand<'b>>,
    ) -> Result<TensorDict> {
        self.ternary(sys::TD_TERNARY_LERP, Some(end.into()), Some(weight.into()), 1.0)
    }

    /// As [`lerp`](Self::lerp), into the tensors.
    #[track_caller]
    pub fn lerp_inplace<'a, 'b>(
        &mut self,
        end: impl Into<Operand<'a>>,
        weight: impl Into<Operand<'b>>,
    ) -> Result<()> {
        self.ternary_inplace(sys::TD_TERNARY_LERP, Some(end.into()), Some(weight.into()), 1.0)
    }

    /// `self + value * b * c`.
    #[track_caller]
    pub fn addcmul<'a, 'b>(
        &self,
        b: impl Into<Operand<'a>>,
        c: impl Into<Operand<'b>>,
        value: f64,
    ) -> Result<TensorDict> {
        self.ternary(sys::TD_TERNARY_ADDCMUL, Some(b.into()), Some(c.into()), value)
    }

    /// As [`addcmul`](Self::addcmul), into the tensors.
    #[track_caller]
    pub fn addcmul_inplace<'a, 'b>(
        &mut self,
        b: impl Into<Operand<'a>>,
        c: impl Into<Operand<'b>>,
        value: f64,
    ) -> Result<()> {
        self.ternary_inplace(sys::TD_TERNARY_ADDCMUL, Some(b.into()), Some(c.into()), value)
    }

    /// `self + value * b / c`.
    #[track_caller]
    pub fn addcdiv<'a, 'b>(
        &self,
        b: impl Into<Operand<'a>>,
        c: impl Into<Operand<'b>>,
        value: f64,
    ) -> Result<TensorDict> {
        self.ternary(sys::TD_TERNARY_ADDCDIV, Some(b.into()), Some(c.into()), value)
    }

    /// As [`addcdiv`](Self::addcdiv), into the tensors.
    #[track_caller]
    pub fn addcdiv_inplace<'a, 'b>(
        &mut self,
        b: impl Into<Operand<'a>>,
        c: impl Into<Operand<'b>>,
        value: f64,
    ) -> Result<()> {
        self.ternary_inplace(sys::TD_TERNARY_ADDCDIV, Some(b.into()), Some(c.into()), value)
    }

    /// Between two bounds; see [`clamp_min`](Self::clamp_min) and [`clamp_max`](Self::clamp_max) for one.
    #[track_caller]
    pub fn clamp<'a, 'b>(
        &self,
        min: impl Into<Operand<'a>>,
        max: impl Into<Operand<'b>>,
    ) -> Result<TensorDict> {
        self.ternary(sys::TD_TERNARY_CLAMP, Some(min.into()), Some(max.into()), 1.0)
    }

    /// As [`clamp`](Self::clamp), into the tensors.
    #[track_caller]
    pub fn clamp_inplace<'a, 'b>(
        &mut self,
        min: impl Into<Operand<'a>>,
        max: impl Into<Operand<'b>>,
    ) -> Result<()> {
        self.ternary_inplace(sys::TD_TERNARY_CLAMP, Some(min.into()), Some(max.into()), 1.0)
    }

    #[track_caller]
    pub(crate) fn reduce(&self, op: sys::td_reduce_op, over: Reduce) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        over.call(|options| {
            TensorDict::receive(|result| unsafe { sys::td_reduce(self.raw(), op, options, result) })
        })
    }

    #[track_caller]
    pub(crate) fn reduce_leaves(&self, op: sys::td_reduce_op, over: Reduce) -> Result<Tensor> {
        // SAFETY: the handle is alive.
        over.call(|options| {
            Tensor::receive(|result| unsafe {
                sys::td_reduce_leaves(self.raw(), op, options, result)
            })
        })
    }

    #[track_caller]
    pub(crate) fn reduce_pair(
        &self,
        op: sys::td_reduce_op,
        over: Reduce,
    ) -> Result<(TensorDict, TensorDict)> {
        let mut positions = std::ptr::null_mut();
        // SAFETY: the handle is alive.
        let values = over.call(|options| {
            TensorDict::receive(|result| unsafe {
                sys::td_reduce_pair(self.raw(), op, options, result, &mut positions)
            })
        })?;
        // SAFETY: the call succeeded and gave this handle to us, too.
        Ok((values, unsafe { TensorDict::from_raw(positions) }))
    }

    /// Whether all elements of all tensors are not 0; true without tensors.
    #[track_caller]
    pub fn all(&self) -> Result<bool> {
        let mut truth = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_all(self.raw(), &mut truth) })?;
        Ok(truth != 0)
    }

    /// Whether any element of any tensor is not 0; false without tensors.
    #[track_caller]
    pub fn any(&self) -> Result<bool> {
        let mut truth = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_any(self.raw(), &mut truth) })?;
        Ok(truth != 0)
    }

    /// Writes 0 into all tensors. Allowed when locked.
    #[track_caller]
    pub fn zero_inplace(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_zero(self.raw_mut()) })
    }

    /// Writes one number into a tensor, or into all of a nested dictionary. Allowed when locked.
    #[track_caller]
    pub fn fill_inplace<'a>(&mut self, key: impl Key, value: impl Into<Operand<'a>>) -> Result<()> {
        let path = RawKey::new(&key)?;
        let value = value.into();
        // SAFETY: the handles are alive, the first one is ours alone; the names live until the end.
        check(unsafe { sys::td_fill(self.raw_mut(), path.path(), path.len(), &value.raw) })
    }
}

fn raw_or_null(operand: &Option<Operand<'_>>) -> *const sys::td_operand {
    operand.as_ref().map_or(std::ptr::null(), |operand| &operand.raw)
}

// Operators stand on references, as a result is a new dictionary, and give what the methods give.
macro_rules! operator {
    ($trait:ident, $method:ident, $named:ident) => {
        impl<'b, T: Into<Operand<'b>>> ops::$trait<T> for &Dict {
            type Output = Result<TensorDict>;

            #[track_caller]
            fn $method(self, other: T) -> Self::Output {
                Dict::$named(self, other)
            }
        }

        impl<'b, T: Into<Operand<'b>>> ops::$trait<T> for &TensorDict {
            type Output = Result<TensorDict>;

            #[track_caller]
            fn $method(self, other: T) -> Self::Output {
                Dict::$named(self, other)
            }
        }
    };
}
operator!(Add, add, add);
operator!(Sub, sub, sub);
operator!(Mul, mul, mul);
operator!(Div, div, div);
operator!(Rem, rem, rem);
operator!(BitAnd, bitand, bitwise_and);
operator!(BitOr, bitor, bitwise_or);
operator!(BitXor, bitxor, bitwise_xor);

macro_rules! operator_of_one {
    ($trait:ident, $method:ident, $named:ident) => {
        impl ops::$trait for &Dict {
            type Output = Result<TensorDict>;

            #[track_caller]
            fn $method(self) -> Self::Output {
                Dict::$named(self)
            }
        }

        impl ops::$trait for &TensorDict {
            type Output = Result<TensorDict>;

            #[track_caller]
            fn $method(self) -> Self::Output {
                Dict::$named(self)
            }
        }
    };
}
operator_of_one!(Neg, neg, neg);
operator_of_one!(Not, not, bitwise_not);

macro_rules! operator_of_number {
    ($trait:ident, $method:ident, $named:ident, $($number:ty),*) => {$(
        impl ops::$trait<&TensorDict> for $number {
            type Output = Result<TensorDict>;

            #[track_caller]
            fn $method(self, other: &TensorDict) -> Self::Output {
                Dict::$named(other, self)
            }
        }
    )*};
}
operator_of_number!(Add, add, add, i64, f64);
operator_of_number!(Sub, sub, rsub, i64, f64);
operator_of_number!(Mul, mul, mul, i64, f64);
operator_of_number!(Div, div, rdiv, i64, f64);
