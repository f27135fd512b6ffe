//! Samples of different lengths: padded, without padding again, collated.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::Result;
use crate::gradient::raw_or_null;
use crate::joins::Sources;
use crate::key::{Key, KeyPath, RawKey};
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// How [`TensorDict::pad_sequence_with`] works.
#[derive(Clone, Debug, Default)]
pub struct PadSequenceOptions {
    dim: i64,
    value: f64,
    left: bool,
    masks: Option<KeyPath>,
    keys: Vec<KeyPath>,
    values: Vec<f64>,
}

impl PadSequenceOptions {
    /// The defaults: the first dimension of each tensor, padded behind with 0, no masks.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The dimension of each tensor that is padded.
        dim(dim: i64) => dim;
        /// What is padded with.
        value(value: f64) => value;
        /// Whether the padding stands before the data.
        left(left: bool) => left;
    }

    /// What one tensor is padded with.
    pub fn value_of(mut self, key: impl Key, value: f64) -> Self {
        self.keys.push(KeyPath::new(key));
        self.values.push(value);
        self
    }

    /// Where masks go, one for each tensor, true where there was a value.
    pub fn masks(mut self, key: impl Key) -> Self {
        self.masks = Some(KeyPath::new(key));
        self
    }
}

/// How [`TensorDict::collate_with`] works.
#[derive(Clone, Debug, Default)]
pub struct CollateOptions {
    pad_keys: Vec<KeyPath>,
    pad_values: Vec<f64>,
    nested_keys: Vec<KeyPath>,
    masks: Option<KeyPath>,
}

impl CollateOptions {
    /// The defaults: no tensor is padded or nested.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pads a tensor along its first dimension.
    pub fn pad(mut self, key: impl Key, value: f64) -> Self {
        self.pad_keys.push(KeyPath::new(key));
        self.pad_values.push(value);
        self
    }

    /// Makes a nested tensor of an entry.
    pub fn nest(mut self, key: impl Key) -> Self {
        self.nested_keys.push(KeyPath::new(key));
        self
    }

    /// Where the masks of padded tensors go, true where there was a value.
    pub fn masks(mut self, key: impl Key) -> Self {
        self.masks = Some(KeyPath::new(key));
        self
    }
}

/// Which positions [`Dict::unpad_sequence`] keeps.
#[derive(Clone, Copy)]
pub enum Masks<'a> {
    /// The entry "masks" has a mask for each tensor, and is not in the result.
    Entry,
    /// One mask for all tensors: bools `[samples, positions]`.
    Tensor(&'a Tensor),
    /// A mask for each tensor under its key.
    Dict(&'a Dict),
}

impl TensorDict {
    /// Stacks dictionaries along a new first dimension, each tensor padded behind to the longest.
    #[track_caller]
    pub fn pad_sequence<D: AsRef<Dict>>(
        sources: impl IntoIterator<Item = D>,
    ) -> Result<TensorDict> {
        Self::pad_sequence_with(PadSequenceOptions::new(), sources)
    }

    /// As [`pad_sequence`](Self::pad_sequence), with options.
    ///
    /// ```
    /// use tensordict::{Masks, PadSequenceOptions, Tensor, TensorDict};
    ///
    /// let run = |x: &[i64]| -> tensordict::Result<TensorDict> {
    ///     TensorDict::from_pairs([x.len()], [("x", Tensor::from_slice(x, [x.len()])?)])
    /// };
    /// let options = PadSequenceOptions::new().masks("masks");
    /// let both = TensorDict::pad_sequence_with(options, [run(&[1])?, run(&[2, 3])?])?;
    /// assert_eq!(both.tensor("x")?.to_vec::<i64>()?, [1, 0, 2, 3]);
    /// assert_eq!(both.tensor(("masks", "x"))?.to_vec::<bool>()?, [true, false, true, true]);
    /// assert_eq!(both.unpad_sequence(Masks::Entry, 0)?.batch_size(), [2, -1]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn pad_sequence_with<D: AsRef<Dict>>(
        options: PadSequenceOptions,
        sources: impl IntoIterator<Item = D>,
    ) -> Result<TensorDict> {
        let sources = Sources::new(sources);
        let masks = options.masks.as_ref().map(RawKey::new).transpose()?;
        let keys = RawKeys::new(&options.keys)?;
        let raw = sys::td_pad_sequence_options {
            left: options.left.into(),
            dim: options.dim,
            value: options.value,
            masks: masks.as_ref().map_or(std::ptr::null(), RawKey::path),
            masks_len: masks.as_ref().map_or(0, RawKey::len),
            keys: keys.list(),
            values: options.values.as_ptr(),
            keys_len: keys.len(),
            ..Default::default()
        };
        // SAFETY: the handles are alive and the lists are as long as they are said to be.
        Self::receive(|result| unsafe {
            sys::td_pad_sequence(sources.as_ptr(), sources.len(), &raw, result)
        })
    }

    /// Makes one dictionary of samples, along a new first dimension: dense if they are alike, else lazy.
    #[track_caller]
    pub fn collate<D: AsRef<Dict>>(samples: impl IntoIterator<Item = D>) -> Result<TensorDict> {
        Self::collate_with(CollateOptions::new(), samples)
    }

    /// As [`collate`](Self::collate), with tensors that are padded or nested.
    ///
    /// ```
    /// use tensordict::{CollateOptions, Tensor, TensorDict};
    ///
    /// let run = |x: &[i64]| -> tensordict::Result<TensorDict> {
    ///     TensorDict::from_pairs((), [("x", Tensor::from_slice(x, [x.len()])?)])
    /// };
    /// let options = CollateOptions::new().pad("x", 9.0).masks("m");
    /// let both = TensorDict::collate_with(options, [run(&[1])?, run(&[2, 3])?])?;
    /// assert_eq!(both.tensor("x")?.to_vec::<i64>()?, [1, 9, 2, 3]);
    /// assert_eq!(both.tensor(("m", "x"))?.to_vec::<bool>()?, [true, false, true, true]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn collate_with<D: AsRef<Dict>>(
        options: CollateOptions,
        samples: impl IntoIterator<Item = D>,
    ) -> Result<TensorDict> {
        let samples = Sources::new(samples);
        let masks = options.masks.as_ref().map(RawKey::new).transpose()?;
        let pad_keys = RawKeys::new(&options.pad_keys)?;
        let nested_keys = RawKeys::new(&options.nested_keys)?;
        let raw = sys::td_collate_options {
            pad_keys: pad_keys.list(),
            pad_values: options.pad_values.as_ptr(),
            pad_keys_len: pad_keys.len(),
            nested_keys: nested_keys.list(),
            nested_keys_len: nested_keys.len(),
            masks: masks.as_ref().map_or(std::ptr::null(), RawKey::path),
            masks_len: masks.as_ref().map_or(0, RawKey::len),
            ..Default::default()
        };
        // SAFETY: the handles are alive and the lists are as long as they are said to be.
        Self::receive(|result| unsafe {
            sys::td_collate(samples.as_ptr(), samples.len(), &raw, result)
        })
    }
}

impl Dict {
    /// Takes the padding away: a lazy stack of the samples, each as long as its mask says. `dim` is the
    /// padded dimension of each sample's tensors.
    #[track_caller]
    pub fn unpad_sequence(&self, masks: Masks<'_>, dim: i64) -> Result<TensorDict> {
        let mut raw = sys::td_unpad_sequence_options { dim, ..Default::default() };
        match masks {
            Masks::Entry => {}
            Masks::Tensor(mask) => raw.mask = mask.raw(),
            Masks::Dict(masks) => raw.masks = raw_or_null(Some(masks)),
        }
        // SAFETY: the handles are alive for the call.
        TensorDict::receive(|result| unsafe { sys::td_unpad_sequence(self.raw(), &raw, result) })
    }
}
