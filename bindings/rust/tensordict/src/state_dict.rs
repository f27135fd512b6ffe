//! The tensors and the structure of a dictionary in forms that can be stored.

use std::ffi::CString;

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_text, Error, Result};
use crate::library;

/// What [`Dict::state_dict_with`] gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct StateOptions {
    raw: sys::td_state_dict_options,
}

impl StateOptions {
    /// The defaults: names joined with dots, tensors without history.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether dictionaries stay inside each other.
        nested(nested: bool) => raw.nested;
        /// Whether the tensors keep their history.
        keep_vars(keep: bool) => raw.keep_vars;
    }
}

/// How [`Dict::load_state_dict_with`] works.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadStateOptions {
    raw: sys::td_load_state_dict_options,
}

impl LoadStateOptions {
    /// The defaults: the keys must be the same, values are written into the existing tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the keys must be the same; else what both have is loaded.
    pub fn strict(mut self, strict: bool) -> Self {
        self.raw.partial = (!strict).into();
        self
    }

    /// Whether the tensors of the state take the place of those in the dictionary.
    pub fn assign(mut self, assign: bool) -> Self {
        self.raw.assign = assign.into();
        self
    }

    /// Whether names in the state are joined with dots. Found out if it is not said.
    pub fn flat(mut self, flat: bool) -> Self {
        self.raw.form = if flat { sys::TD_STATE_FLAT } else { sys::TD_STATE_NESTED };
        self
    }
}

/// What stands in the tensors of [`TensorDict::from_schema_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaContent {
    /// Zeros.
    #[default]
    Zeros,
    /// Whatever the memory holds.
    Uninitialized,
    /// Nothing: meta tensors, which have no memory.
    Meta,
}

impl Dict {
    /// The tensors by their names joined with dots, and under "_metadata" batch sizes and devices.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set(("n", "b"), Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// let state = td.state_dict()?.deep_clone()?;
    /// td.set_inplace(("n", "b"), &Tensor::scalar(0i32)?)?;
    /// td.load_state_dict(&state)?;
    /// assert_eq!(state.tensor("n.b")?.to_vec::<i32>()?, [1, 2]);
    /// assert_eq!(td.tensor(("n", "b"))?.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn state_dict(&self) -> Result<TensorDict> {
        self.state_dict_with(StateOptions::new())
    }

    /// As [`state_dict`](Self::state_dict), with options.
    #[track_caller]
    pub fn state_dict_with(&self, options: StateOptions) -> Result<TensorDict> {
        // SAFETY: the handle is alive, the options live for the call.
        TensorDict::receive(|result| unsafe {
            sys::td_state_dict(self.raw(), &options.raw, result)
        })
    }

    /// Writes the values of a state dict into the existing tensors. Allowed when locked; either
    /// everything changes or nothing.
    #[track_caller]
    pub fn load_state_dict(&mut self, state: impl AsRef<Dict>) -> Result<()> {
        self.load_state_dict_with(state, LoadStateOptions::new())
    }

    /// As [`load_state_dict`](Self::load_state_dict), with options.
    #[track_caller]
    pub fn load_state_dict_with(
        &mut self,
        state: impl AsRef<Dict>,
        options: LoadStateOptions,
    ) -> Result<()> {
        // SAFETY: the handles are alive, the options live for the call.
        check(unsafe {
            sys::td_load_state_dict(self.raw_mut(), state.as_ref().raw(), &options.raw)
        })
    }

    /// The structure as JSON: keys, batch sizes, devices, dtypes, shapes, and non-tensor values.
    #[track_caller]
    pub fn schema(&self) -> Result<String> {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        read_text(|text, cap, length| unsafe { sys::td_schema(self.raw(), text, cap, length) })
    }
}

impl TensorDict {
    /// A dictionary of zeros, of the structure that [`Dict::schema`] gives or that was written by hand.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// let td = TensorDict::from_schema(
    ///     r#"{"batch_size": [2], "entries": {"x": {"dtype": "torch.float32", "shape": [2, 3]}}}"#,
    /// )?;
    /// assert_eq!(td.tensor("x")?.to_vec::<f32>()?, [0.0; 6]);
    /// assert!(TensorDict::from_schema(&td.schema()?)?.equal(&td)?);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn from_schema(text: &str) -> Result<Self> {
        Self::from_schema_with(text, SchemaContent::Zeros, None)
    }

    /// As [`from_schema`](Self::from_schema), of other content or on another device than the text says.
    #[track_caller]
    pub fn from_schema_with(
        text: &str,
        content: SchemaContent,
        device: Option<Device>,
    ) -> Result<Self> {
        library::ready()?;
        let text = CString::new(text)
            .map_err(|_| Error::new(sys::TD_ERR_FORMAT, "the description holds a NUL"))?;
        let (device_type, device_index) = Device::raw_or_none(device);
        let content = match content {
            SchemaContent::Zeros => sys::TD_SCHEMA_ZEROS,
            SchemaContent::Uninitialized => sys::TD_SCHEMA_UNINITIALIZED,
            SchemaContent::Meta => sys::TD_SCHEMA_META,
        };
        let options =
            sys::td_schema_options { content, device_type, device_index, ..Default::default() };
        // SAFETY: the text ends with a NUL, the options live for the call.
        Self::receive(|result| unsafe { sys::td_from_schema(text.as_ptr(), &options, result) })
    }
}
