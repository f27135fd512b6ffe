//! Any operator of libtorch, by its name.

use std::borrow::Cow;
use std::ffi::CString;

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Error, Result};
use crate::operators::{is_checked, writes};
use crate::sizes::Sizes;
use crate::tensor::Tensor;

/// The tensor that an operator is called for, where it is not the first argument.
#[derive(Clone, Copy, Debug)]
pub struct Leaf;

/// The value of one argument of an operator.
#[derive(Clone)]
#[non_exhaustive]
pub enum CallValue<'a> {
    /// The tensor that the operator is called for.
    Leaf,
    /// The tensor of another dictionary under the same key.
    Dict(&'a Dict),
    /// This tensor, for every tensor of the dictionary.
    Tensor(&'a Tensor),
    /// An integer.
    Int(i64),
    /// A number.
    Double(f64),
    /// True or false.
    Bool(bool),
    /// Nothing, where the operator allows that.
    None,
    /// A text, such as the name of a memory format.
    Text(Cow<'a, str>),
    /// A dtype.
    DType(DType),
    /// A device.
    Device(Device),
    /// Integers.
    Ints(Cow<'a, [i64]>),
    /// Numbers.
    Doubles(Cow<'a, [f64]>),
    /// Truth values.
    Bools(Cow<'a, [bool]>),
}

macro_rules! from {
    ($($type:ty, $value:ident => $made:expr;)*) => {$(
        impl<'a> From<$type> for CallValue<'a> {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )*};
}
from! {
    Leaf, _leaf => Self::Leaf;
    &'a Dict, dict => Self::Dict(dict);
    &'a TensorDict, dict => Self::Dict(dict);
    &'a Tensor, tensor => Self::Tensor(tensor);
    i32, number => Self::Int(number.into());
    i64, number => Self::Int(number);
    f32, number => Self::Double(number.into());
    f64, number => Self::Double(number);
    bool, truth => Self::Bool(truth);
    &'a str, text => Self::Text(text.into());
    String, text => Self::Text(text.into());
    DType, dtype => Self::DType(dtype);
    Device, device => Self::Device(device);
    &'a [i64], numbers => Self::Ints(numbers.into());
    Vec<i64>, numbers => Self::Ints(numbers.into());
    &'a [f64], numbers => Self::Doubles(numbers.into());
    Vec<f64>, numbers => Self::Doubles(numbers.into());
    &'a [bool], truths => Self::Bools(truths.into());
    Vec<bool>, truths => Self::Bools(truths.into());
}

impl<const N: usize> From<[i64; N]> for CallValue<'_> {
    fn from(numbers: [i64; N]) -> Self {
        numbers.to_vec().into()
    }
}

impl<const N: usize> From<[f64; N]> for CallValue<'_> {
    fn from(numbers: [f64; N]) -> Self {
        numbers.to_vec().into()
    }
}

impl<const N: usize> From<[bool; N]> for CallValue<'_> {
    fn from(truths: [bool; N]) -> Self {
        truths.to_vec().into()
    }
}

impl<'a, T: Into<CallValue<'a>>> From<Option<T>> for CallValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// One argument of an operator; [`args!`](crate::args) makes lists of them.
#[derive(Clone)]
pub struct CallArgument<'a> {
    /// The name of the operator's argument, or `None`: it stands at its position.
    pub name: Option<&'a str>,
    /// What it is.
    pub value: CallValue<'a>,
}

impl<'a> CallArgument<'a> {
    /// At its position.
    pub fn new(value: impl Into<CallValue<'a>>) -> Self {
        Self { name: None, value: value.into() }
    }

    /// By its name.
    pub fn named(name: &'a str, value: impl Into<CallValue<'a>>) -> Self {
        Self { name: Some(name), value: value.into() }
    }
}

/// The arguments of [`Dict::call`]: values, and `name = value`.
///
/// ```
/// use tensordict::{args, Leaf};
///
/// assert_eq!(args![0.5, max = 1].len(), 2);
/// assert_eq!(args![2, Leaf][0].name, None);
/// ```
#[macro_export]
macro_rules! args {
    (@list [$($done:expr,)*]) => {
        ::std::vec::Vec::<$crate::CallArgument<'_>>::from([$($done,)*])
    };
    (@list [$($done:expr,)*] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::args!(
            @list [$($done,)* $crate::CallArgument::named(::std::stringify!($name), $value),]
            $($($rest)*)?
        )
    };
    (@list [$($done:expr,)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::args!(@list [$($done,)* $crate::CallArgument::new($value),] $($($rest)*)?)
    };
    ($($all:tt)*) => {
        $crate::args!(@list [] $($all)*)
    };
}

/// How [`Dict::call_with`] works.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    batch_size: Option<Vec<i64>>,
}

impl CallOptions {
    /// The defaults: results have the batch size of the dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// The batch size of the results, and of all dictionaries in them.
    pub fn batch_size(mut self, sizes: impl Sizes) -> Self {
        self.batch_size = Some(sizes.sizes());
        self
    }
}

// Arguments of the library, and what they point at.
struct RawArguments {
    raw: Vec<sys::td_call_argument>,
    _texts: Vec<CString>,
    _truths: Vec<Vec<i64>>,
}

impl RawArguments {
    #[track_caller]
    fn new(arguments: &[CallArgument<'_>]) -> Result<Self> {
        let mut all = Self { raw: Vec::new(), _texts: Vec::new(), _truths: Vec::new() };
        for argument in arguments {
            let mut raw = sys::td_call_argument::default();
            if let Some(name) = argument.name {
                raw.name = all.text(name)?;
            }
            all.fill(&mut raw, &argument.value)?;
            all.raw.push(raw);
        }
        Ok(all)
    }

    #[track_caller]
    fn fill(&mut self, raw: &mut sys::td_call_argument, value: &CallValue<'_>) -> Result<()> {
        raw.kind = match value {
            CallValue::Leaf => sys::TD_ARGUMENT_LEAF,
            CallValue::Dict(dict) => {
                raw.dict = dict.raw();
                sys::TD_ARGUMENT_DICT
            }
            CallValue::Tensor(tensor) => {
                raw.tensor = tensor.raw();
                sys::TD_ARGUMENT_TENSOR
            }
            CallValue::Int(number) => {
                raw.integer = *number;
                sys::TD_ARGUMENT_INT
            }
            CallValue::Double(number) => {
                raw.real = *number;
                sys::TD_ARGUMENT_DOUBLE
            }
            CallValue::Bool(truth) => {
                raw.integer = i64::from(*truth);
                sys::TD_ARGUMENT_BOOL
            }
            CallValue::None => sys::TD_ARGUMENT_NONE,
            CallValue::Text(text) => {
                raw.text = self.text(text)?;
                sys::TD_ARGUMENT_TEXT
            }
            CallValue::DType(dtype) => {
                raw.integer = dtype.raw().into();
                sys::TD_ARGUMENT_DTYPE
            }
            CallValue::Device(device) => {
                let (kind, index) = device.raw();
                (raw.integer, raw.device_index) = (kind.into(), index);
                sys::TD_ARGUMENT_DEVICE
            }
            CallValue::Ints(numbers) => {
                (raw.integers, raw.count) = (numbers.as_ptr(), numbers.len());
                sys::TD_ARGUMENT_INTS
            }
            CallValue::Doubles(numbers) => {
                (raw.reals, raw.count) = (numbers.as_ptr(), numbers.len());
                sys::TD_ARGUMENT_DOUBLES
            }
            CallValue::Bools(truths) => {
                let numbers: Vec<i64> = truths.iter().map(|truth| i64::from(*truth)).collect();
                (raw.integers, raw.count) = (numbers.as_ptr(), numbers.len());
                self._truths.push(numbers);
                sys::TD_ARGUMENT_BOOLS
            }
        };
        Ok(())
    }

    #[track_caller]
    fn text(&mut self, text: &str) -> Result<*const std::ffi::c_char> {
        let text = CString::new(text).map_err(|_| {
            Error::new(sys::TD_ERR_INVALID_ARGUMENT, format!("the text {text:?} holds a NUL"))
        })?;
        let pointer = text.as_ptr();
        self._texts.push(text);
        Ok(pointer)
    }
}

impl Dict {
    /// Calls an operator of libtorch for every tensor. The tensor is the first argument, unless
    /// [`Leaf`] stands elsewhere.
    ///
    /// The name is that of the operator, with an overload if another one than the first that takes the
    /// arguments is wanted: `"aten::add.Tensor"`. Without a namespace it is one of `aten`. What is not
    /// given has the operator's defaults. The operator must give one tensor for each, whose sizes begin
    /// with the batch size; see [`call_with`](Self::call_with).
    ///
    /// Not every operator of libtorch checks what it is given: some take tensors of indices and believe
    /// them, some leave memory as they found it. So safe code calls the operators of `aten` that are known
    /// to check all (element by element, reductions, products of matrices, shapes), and
    /// [`call_unchecked`](Self::call_unchecked) any other.
    ///
    /// ```
    /// use tensordict::{args, Leaf, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([3])?;
    /// td.set("x", Tensor::from_slice(&[-1.5f32, 0.5, 2.5], [3])?)?;
    /// let within = td.call("aten::clamp", args![0.0, max = 1.0])?;
    /// assert_eq!(within.tensor("x")?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    /// let sum = td.call("aten::add", args![&within, alpha = 2])?;
    /// assert_eq!(sum.tensor("x")?.to_vec::<f32>()?, [-1.5, 1.5, 4.5]);
    /// let powers = td.call("aten::pow", args![4, Leaf])?;
    /// assert_eq!(powers.tensor("x")?.to_vec::<f32>()?, [0.125, 2.0, 32.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn call<'a>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
    ) -> Result<TensorDict> {
        let mut results = self.call_with(name, arguments, &CallOptions::new())?;
        match (results.pop(), results.len()) {
            (Some(result), 0) => Ok(result),
            (_, more) => Err(Error::new(
                sys::TD_ERR_UNSUPPORTED,
                format!("{name} gives {} tensors: use call_with", more + 1),
            )),
        }
    }

    /// Calls an operator of libtorch that gives one or several tensors for each: as many dictionaries.
    #[track_caller]
    pub fn call_with<'a>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
        options: &CallOptions,
    ) -> Result<Vec<TensorDict>> {
        refuse_writer(name)?;
        self.call_operator(name, arguments, options, expect_checked)
    }

    /// As [`call_with`](Self::call_with), of any operator that does not write into its tensor, and of any
    /// namespace.
    ///
    /// # Safety
    /// The operator is given nothing that it does not check and that would lead it out of its tensors:
    /// mostly these are tensors of indices, offsets and lengths. Where it leaves memory uninitialised, the
    /// values are not read before they are written.
    ///
    /// ```
    /// use tensordict::{args, CallOptions, ErrorKind, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([4])?;
    /// td.set("x", Tensor::from_slice(&[1i64, 2, 3, 4], [4])?)?;
    /// let (sizes, strides) = ([4i64, 1], [1i64, 1]);
    /// assert_eq!(td.call("as_strided", args![sizes, strides]).unwrap_err().kind(), ErrorKind::Unsupported);
    /// // SAFETY: four elements that lie one behind the other are inside of `x`.
    /// let strided = unsafe {
    ///     td.call_unchecked("as_strided", args![sizes, strides], &CallOptions::new())?
    /// };
    /// assert_eq!(strided[0].tensor("x")?.shape(), [4, 1]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub unsafe fn call_unchecked<'a>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
        options: &CallOptions,
    ) -> Result<Vec<TensorDict>> {
        refuse_writer(name)?;
        self.call_operator(name, arguments, options, |_| Ok(()))
    }

    /// Calls an operator of libtorch that writes into its tensor, such as `"aten::mul_"`. When it fails
    /// for one of the tensors, nothing has been written. Allowed when locked.
    ///
    /// ```
    /// use tensordict::{args, Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1i64, 2], [2])?)?;
    /// td.call_("aten::mul_", args![3])?;
    /// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [3, 6]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn call_<'a>(
        &mut self,
        name: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
    ) -> Result<()> {
        expect_writer(name)?;
        expect_checked(name)?;
        self.call_writer(name, arguments)
    }

    /// As [`call_`](Self::call_), of any operator that writes into its tensor, and of any namespace.
    ///
    /// # Safety
    /// As for [`call_unchecked`](Self::call_unchecked).
    #[track_caller]
    pub unsafe fn call_unchecked_<'a>(
        &mut self,
        name: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
    ) -> Result<()> {
        expect_writer(name)?;
        self.call_writer(name, arguments)
    }

    #[track_caller]
    fn call_writer<'a>(
        &mut self,
        operator: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
    ) -> Result<()> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let mut list = RawArguments::new(&arguments)?;
        let name = list.text(operator)?;
        let raw = &list.raw;
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        check(unsafe { sys::td_call_inplace(self.raw_mut(), name, raw.as_ptr(), raw.len()) })
    }

    #[track_caller]
    fn call_operator<'a>(
        &self,
        operator: &str,
        arguments: impl IntoIterator<Item = CallArgument<'a>>,
        options: &CallOptions,
        allowed: fn(&str) -> Result<()>,
    ) -> Result<Vec<TensorDict>> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let mut list = RawArguments::new(&arguments)?;
        let name = list.text(operator)?;
        let sizes = options.batch_size.as_deref();
        let options = sys::td_call_options {
            has_batch_size: sizes.is_some().into(),
            batch_size: sizes.map_or(std::ptr::null(), <[i64]>::as_ptr),
            batch_dims: sizes.map_or(0, <[i64]>::len),
            ..Default::default()
        };
        let (raw, mut count) = (&list.raw, 0);
        let call = |results, cap, count: &mut usize| {
            // SAFETY: the handles are alive and the lists are as long as they are said to be.
            unsafe {
                sys::td_call(
                    self.raw(),
                    name,
                    raw.as_ptr(),
                    raw.len(),
                    &options,
                    results,
                    cap,
                    count,
                )
            }
        };
        // This holds the arguments against the schema, and calls nothing.
        check(call(std::ptr::null_mut(), 0, &mut count))?;
        allowed(operator)?;
        let mut tokens = vec![std::ptr::null_mut(); count];
        check(call(tokens.as_mut_ptr(), count, &mut count))?;
        // SAFETY: the call succeeded and gave every handle to us.
        let results: Vec<_> =
            tokens.into_iter().map(|token| unsafe { TensorDict::from_raw(token) }).collect();
        results.into_iter().map(TensorDict::alone).collect()
    }
}

#[track_caller]
fn expect_checked(operator: &str) -> Result<()> {
    if is_checked(operator) {
        return Ok(());
    }
    let message = format!(
        "{operator} is not known to check all that it is given: call_unchecked, which is unsafe, calls it"
    );
    Err(Error::new(sys::TD_ERR_UNSUPPORTED, message))
}

#[track_caller]
fn refuse_writer(name: &str) -> Result<()> {
    if !writes(name) {
        return Ok(());
    }
    let message = format!("{name} writes into the tensors: use call_");
    Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message))
}

#[track_caller]
fn expect_writer(name: &str) -> Result<()> {
    if writes(name) {
        return Ok(());
    }
    let message = format!("{name} does not write into the tensors: use call");
    Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message))
}
