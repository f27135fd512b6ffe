//! Dictionaries as text.

use std::fmt;

use tensordict_sys as sys;

use crate::dict::{Dict, DictMut, DictRef, TensorDict};
use crate::error::{read_text, Result};

/// A part of a printed dictionary, for [`PrintOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PrintPart {
    /// The batch size.
    BatchSize = sys::TD_PRINT_PART_BATCH_SIZE,
    /// The device of the dictionary.
    Device = sys::TD_PRINT_PART_DEVICE,
    /// Whether the dictionary is in shared memory.
    IsShared = sys::TD_PRINT_PART_IS_SHARED,
    /// The shape of each tensor.
    Shape = sys::TD_PRINT_PART_SHAPE,
    /// The device of each tensor.
    FieldDevice = sys::TD_PRINT_PART_FIELD_DEVICE,
    /// The dtype of each tensor.
    DType = sys::TD_PRINT_PART_DTYPE,
    /// Whether each tensor is in shared memory.
    FieldIsShared = sys::TD_PRINT_PART_FIELD_IS_SHARED,
    /// Whether each tensor requires a gradient.
    Grad = sys::TD_PRINT_PART_GRAD,
    /// Whether each tensor is contiguous.
    IsContiguous = sys::TD_PRINT_PART_IS_CONTIGUOUS,
    /// Whether each tensor is a view.
    IsView = sys::TD_PRINT_PART_IS_VIEW,
    /// The bytes of each tensor's storage.
    StorageSize = sys::TD_PRINT_PART_STORAGE_SIZE,
    /// Mean and standard deviation of floats, smallest and largest of other numbers.
    Plain = sys::TD_PRINT_PART_PLAIN,
}

/// How [`Dict::to_text`] prints: Python's `set_printoptions`.
#[derive(Clone, Copy, Default)]
pub struct PrintOptions {
    raw: sys::td_print_options,
}

impl PrintOptions {
    /// The compact form, unless a part is shown or hidden that only the detailed form prints.
    pub fn new() -> Self {
        Self::default()
    }

    /// The compact form, or a line for each tensor.
    pub fn compact(mut self, compact: bool) -> Self {
        self.raw.form = if compact { sys::TD_PRINT_COMPACT } else { sys::TD_PRINT_DETAILED };
        self
    }

    /// Also this part.
    pub fn show(mut self, part: PrintPart) -> Self {
        self.raw.show |= part as u32;
        self
    }

    /// Not this part.
    pub fn hide(mut self, part: PrintPart) -> Self {
        self.raw.hide |= part as u32;
        self
    }

    /// Whether to leave out devices, dtypes and `is_shared` that are not shown expressly.
    pub fn brief(mut self, brief: bool) -> Self {
        self.raw.brief = brief.into();
        self
    }

    /// Whether entries are sorted by their text; else they stand in the order of the keys.
    pub fn sorted(mut self, sorted: bool) -> Self {
        self.raw.unsorted = (!sorted).into();
        self
    }
}

impl Dict {
    /// The dictionary as text, as Python's tensordict prints it with these options.
    ///
    /// ```
    /// use tensordict::{DType, PrintOptions, PrintPart, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::zeros([2, 3], DType::F32)?)])?;
    /// let text = td.to_text(&PrintOptions::new().hide(PrintPart::DType))?;
    /// assert_eq!(text, "TensorDict(batch_size=[2], fields={x: [3]})");
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to_text(&self, options: &PrintOptions) -> Result<String> {
        // SAFETY: the handle and the options are alive, and the text is as long as it is said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_print(self.raw(), &options.raw, text, cap, length)
        })
    }
}

/// As Python's tensordict prints it; [`Dict::to_text`] prints in other ways.
///
/// ```
/// use tensordict::{DType, Tensor, TensorDict};
///
/// let td = TensorDict::from_pairs([2], [("x", Tensor::zeros([2, 3], DType::F32)?)])?;
/// assert_eq!(td.to_string(), "TensorDict(batch_size=[2], fields={x: f32[3]})");
/// # Ok::<(), tensordict::Error>(())
/// ```
impl fmt::Display for Dict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        let text = read_text(|text, cap, length| unsafe {
            sys::td_to_string(self.raw(), text, cap, length)
        });
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

macro_rules! as_dict {
    ($($trait:ident for $type:ty),*) => {$(
        impl fmt::$trait for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let dict: &Dict = self.as_ref();
                fmt::Display::fmt(dict, f)
            }
        }
    )*};
}
as_dict!(
    Debug for Dict,
    Display for TensorDict, Debug for TensorDict,
    Display for DictRef<'_>, Debug for DictRef<'_>,
    Display for DictMut<'_>, Debug for DictMut<'_>
);
