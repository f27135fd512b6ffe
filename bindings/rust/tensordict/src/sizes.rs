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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_list() {
        assert_eq!([3i32, -1].sizes(), [3, -1]);
        assert_eq!([3usize, 4].sizes(), [3, 4]);
        assert_eq!(vec![3u32, 4].sizes(), [3, 4]);
        assert_eq!([3i64, 4][..].sizes(), [3, 4]);
        assert_eq!(().sizes(), []);
        assert_eq!([usize::MAX].sizes(), [i64::MAX]);
    }

    #[test]
    fn products_that_do_not_fit_are_none() {
        assert_eq!(count(&[]), Some(1));
        assert_eq!(count(&[3, 0, 4]), Some(0));
        assert_eq!(count(&[3, -1]), None);
        assert_eq!(count(&[i64::MAX, 3]), None);
    }
}
