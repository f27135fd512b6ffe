//! Tensors of random numbers, and generators of them.

use tensordict_sys as sys;

use crate::dtype::DType;
use crate::error::{check, Result};
use crate::handle::Handle;
use crate::library;
use crate::sizes::Sizes;
use crate::tensor::Tensor;

/// A generator of random numbers. The same seed gives the same numbers as in Python, with the same version
/// of libtorch.
///
/// ```
/// use tensordict::{Generator, Tensor};
///
/// let order = |seed| -> tensordict::Result<_> {
///     Tensor::randperm(100, Some(&mut Generator::new(seed)?))?.to_vec::<i64>()
/// };
/// assert_eq!(order(42)?, order(42)?);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Generator {
    handle: Handle<sys::td_generator>,
}

impl Generator {
    /// A generator whose numbers follow from a seed.
    #[track_caller]
    pub fn new(seed: u64) -> Result<Self> {
        library::ready()?;
        let mut token = std::ptr::null_mut();
        // SAFETY: the result is received below.
        check(unsafe { sys::td_generator_create(seed, &mut token) })?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Self { handle: unsafe { Handle::new(token) } })
    }

    /// Its state, for a checkpoint.
    #[track_caller]
    pub fn state(&self) -> Result<Tensor> {
        // SAFETY: the handle is alive.
        Tensor::receive(|result| unsafe { sys::td_generator_state(self.handle.get(), result) })
    }

    /// Goes on where another generator was.
    #[track_caller]
    pub fn load_state(&mut self, state: &Tensor) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_generator_load_state(self.handle.get_mut(), state.raw()) })
    }
}

// That of libtorch where there is none.
fn raw(generator: Option<&mut Generator>) -> *mut sys::td_generator {
    generator.map_or(std::ptr::null_mut(), |generator| generator.handle.get_mut())
}

impl Tensor {
    /// The whole numbers below `n` in random order; without a generator by libtorch's own.
    #[track_caller]
    pub fn randperm(n: i64, generator: Option<&mut Generator>) -> Result<Self> {
        library::ready()?;
        // SAFETY: the handle is alive.
        Self::receive(|result| unsafe { sys::td_tensor_randperm(n, raw(generator), result) })
    }

    /// Random whole numbers from `low` to below `high`.
    #[track_caller]
    pub fn randint(
        low: i64,
        high: i64,
        sizes: impl Sizes,
        dtype: DType,
        generator: Option<&mut Generator>,
    ) -> Result<Self> {
        library::ready()?;
        let sizes = sizes.sizes();
        let (data, dims) = (sizes.as_ptr(), sizes.len());
        // SAFETY: the handle is alive, and the list of sizes as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_tensor_randint(low, high, data, dims, dtype.raw(), raw(generator), result)
        })
    }

    /// The numbers `start`, `start + step`, … before `end`.
    #[track_caller]
    pub fn arange(start: i64, end: i64, step: i64, dtype: DType) -> Result<Self> {
        library::ready()?;
        // SAFETY: the result is received.
        Self::receive(|result| unsafe {
            sys::td_tensor_arange(start, end, step, dtype.raw(), result)
        })
    }
}
