//! Lists of sizes, in the forms in which callers have them.

/// A number that can be a size or a dimension.
pub trait Size: Copy {
    #[doc(hidden)]
    fn size(self) -> i64;
}

macro_rules! size {
    ($($type:ty),*) => {$(
        impl Size for $type {
            fn size(self) -> i64 {
                // What does not fit is refused by the library as too large.
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}
size!(i32, i64, u32, u64, usize);

/// A list of sizes: `[3, 4]`, a slice, a `Vec`, or `()` for no dimension.
///
/// ```
/// use tensordict::TensorDict;
///
/// let rows = vec![1.0f32, 2.0].len();
/// assert_eq!(TensorDict::new([rows, 4])?.batch_size(), [2, 4]);
/// assert_eq!(TensorDict::new(())?.batch_size(), []);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub trait Sizes {
    #[doc(hidden)]
    fn sizes(&self) -> Vec<i64>;
}

impl Sizes for () {
    fn sizes(&self) -> Vec<i64> {
        Vec::new()
    }
}

impl<T: Size> Sizes for [T] {
    fn sizes(&self) -> Vec<i64> {
        self.iter().map(|size| size.size()).collect()
    }
}

impl<T: Size, const N: usize> Sizes for [T; N] {
    fn sizes(&self) -> Vec<i64> {
        self.as_slice().sizes()
    }
}

impl<T: Size> Sizes for Vec<T> {
    fn sizes(&self) -> Vec<i64> {
        self.as_slice().sizes()
    }
}

impl<S: Sizes + ?Sized> Sizes for &S {
    fn sizes(&self) -> Vec<i64> {
        (**self).sizes()
    }
}

/// The number of elements; `None` for a negative size or a product that does not fit.
pub(crate) fn count(sizes: &[i64]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |all, size| all.checked_mul(usize::try_from(*size).ok()?))
}
