//! Element types, and the Rust types that stand for them.

use std::fmt;

use tensordict_sys as sys;

use crate::error::text;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        /// The element type of a tensor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType {
            $($(#[$doc])* $name,)*
            /// A dtype of libtorch that has no number in the library.
            Other,
            /// A number that this version of the crate does not know.
            Unknown(i32),
        }

        impl DType {
            pub(crate) fn raw(self) -> sys::td_dtype {
                match self {
                    $(Self::$name => sys::$raw,)*
                    Self::Other => sys::TD_DTYPE_OTHER,
                    Self::Unknown(raw) => raw,
                }
            }

            pub(crate) fn from_raw(raw: sys::td_dtype) -> Self {
                match raw {
                    $(sys::$raw => Self::$name,)*
                    sys::TD_DTYPE_OTHER => Self::Other,
                    other => Self::Unknown(other),
                }
            }
        }
    };
}

dtypes! {
    /// 1 byte, unsigned.
    U8 = TD_DTYPE_UINT8,
    /// 1 byte.
    I8 = TD_DTYPE_INT8,
    /// 2 bytes.
    I16 = TD_DTYPE_INT16,
    /// 4 bytes.
    I32 = TD_DTYPE_INT32,
    /// 8 bytes.
    I64 = TD_DTYPE_INT64,
    /// IEEE half.
    F16 = TD_DTYPE_FLOAT16,
    /// IEEE single.
    F32 = TD_DTYPE_FLOAT32,
    /// IEEE double.
    F64 = TD_DTYPE_FLOAT64,
    /// Two halves.
    C32 = TD_DTYPE_COMPLEX32,
    /// Two singles.
    C64 = TD_DTYPE_COMPLEX64,
    /// Two doubles.
    C128 = TD_DTYPE_COMPLEX128,
    /// 1 byte, 0 or 1.
    Bool = TD_DTYPE_BOOL,
    /// The upper half of an IEEE single.
    BF16 = TD_DTYPE_BFLOAT16,
    /// 2 bytes, unsigned; libtorch 2.3 and newer.
    U16 = TD_DTYPE_UINT16,
    /// 4 bytes, unsigned; libtorch 2.3 and newer.
    U32 = TD_DTYPE_UINT32,
    /// 8 bytes, unsigned; libtorch 2.3 and newer.
    U64 = TD_DTYPE_UINT64,
}

impl DType {
    /// The bytes of one element; 0 when they are not known.
    pub fn size(self) -> usize {
        // SAFETY: any number is allowed.
        unsafe { sys::td_dtype_size(self.raw()) }
    }
}

/// The name as torch prints it.
///
/// ```
/// assert_eq!(tensordict::DType::F32.to_string(), "torch.float32");
/// ```
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: any number is allowed, and the text lives as long as the library.
        let name = unsafe { text(sys::td_dtype_name(self.raw())) };
        if name.is_empty() {
            write!(f, "dtype {}", self.raw())
        } else {
            f.write_str(&name)
        }
    }
}

/// The bits of an IEEE half, [`DType::F16`]. To calculate, convert the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(
    /// The bits.
    pub u16,
);

/// The bits of a bfloat16, [`DType::BF16`]. To calculate, convert the tensor.
///
/// ```
/// use tensordict::{DType, Tensor, BF16};
///
/// let t = Tensor::from_slice(&[BF16(0x3f80), BF16(0xc000)], [2])?;
/// assert_eq!(t.to(DType::F32)?.to_vec::<f32>()?, [1.0, -2.0]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BF16(
    /// The bits.
    pub u16,
);

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that lies in memory as a [`DType`] does. Implemented for the integers, `f32`, `f64`,
/// `bool`, [`F16`] and [`BF16`].
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype it stands for.
    const DTYPE: DType;

    /// Whether these bytes may be looked at as values of this type.
    #[doc(hidden)]
    fn valid(_bytes: &[u8]) -> bool {
        true
    }

    /// Makes valid what was copied from a tensor.
    #[doc(hidden)]
    fn tidy(_bytes: &mut [u8]) {}
}

macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}
elements!(
    u8: U8, i8: I8, i16: I16, i32: I32, i64: I64, f32: F32, f64: F64, F16: F16, BF16: BF16, u16: U16,
    u32: U32, u64: U64
);

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;

    /// Files and foreign memory may hold other bytes, and those are no `bool` in Rust.
    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| *byte < 2)
    }

    fn tidy(bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (*byte != 0).into();
        }
    }
}
