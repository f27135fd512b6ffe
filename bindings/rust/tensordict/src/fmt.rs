//! Dictionaries as text.

use std::fmt;

use tensordict_sys as sys;

use crate::dict::{Dict, DictMut, DictRef, TensorDict};
use crate::error::read_text;

/// As Python's tensordict prints it.
///
/// ```
/// use tensordict::{DType, Tensor, TensorDict};
///
/// let td = TensorDict::from_pairs([2], [("x", Tensor::zeros([2], DType::F32)?)])?;
/// let text = "TensorDict(\n    fields={\n        x: Tensor(shape=torch.Size([2]), device=cpu, \
///             dtype=torch.float32, is_shared=False)},\n    batch_size=torch.Size([2]),\n    \
///             device=None,\n    is_shared=False)";
/// assert_eq!(td.to_string(), text);
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
