//! Non-tensor values: texts, numbers, lists, maps, bytes. They travel as JSON text.

use tensordict_sys as sys;

use crate::dict::Dict;
use crate::error::{check, read_list, read_text, Error, Result};
use crate::key::{Key, RawKey};
use crate::names::RawNames;

impl Dict {
    /// Stores a non-tensor value, one for the whole batch, given as JSON text.
    ///
    /// ```
    /// use tensordict::{i, TensorDict};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set_json("config", r#"{"lr": 0.1}"#)?;
    /// td.set_json_list("name", r#"["left", "right"]"#)?;
    /// assert_eq!(td.non_tensor_json("config")?, r#"{"lr":0.1}"#);
    /// assert_eq!(td.at(1)?.non_tensor_json("name")?, r#""right""#);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_json(&mut self, key: impl Key, json: &str) -> Result<()> {
        let key = RawKey::new(&key)?;
        let json = nul_terminated(json)?;
        // SAFETY: the handle is alive and ours alone; key and text are as long as they say.
        check(unsafe {
            sys::td_set_non_tensor_json(self.raw_mut(), key.path(), key.len(), json.as_ptr().cast())
        })
    }

    /// Stores one value for each element of the batch: JSON lists nested as the batch dimensions are.
    #[track_caller]
    pub fn set_json_list(&mut self, key: impl Key, json: &str) -> Result<()> {
        let key = RawKey::new(&key)?;
        let json = nul_terminated(json)?;
        // SAFETY: the handle is alive and ours alone; key and text are as long as they say.
        check(unsafe {
            sys::td_set_non_tensor_stack_json(
                self.raw_mut(),
                key.path(),
                key.len(),
                json.as_ptr().cast(),
            )
        })
    }

    /// The value of each element of the batch, as JSON lists nested as the batch dimensions are.
    #[track_caller]
    pub fn json_list(&self, key: impl Key) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and text are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_get_non_tensor_stack_json(self.raw(), key.path(), key.len(), text, cap, length)
        })
    }

    /// The one value that all elements of the batch have, as JSON text.
    #[track_caller]
    pub fn json_value(&self, key: impl Key) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and text are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_get_non_tensor_value_json(self.raw(), key.path(), key.len(), text, cap, length)
        })
    }

    /// Stores a text, one for the whole batch.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set_text("robot", "arm 7")?;
    /// td.set_texts("task", ["push", "pull"])?;
    /// assert_eq!(td.text("robot")?, "arm 7");
    /// assert_eq!(td.row_text("task", 1)?, "pull");
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn set_text(&mut self, key: impl Key, text: &str) -> Result<()> {
        let key = RawKey::new(&key)?;
        let text = RawNames::new([Some(text)])?;
        // SAFETY: the handle is alive and ours alone; key and text are as long as they say.
        check(unsafe { sys::td_set_text(self.raw_mut(), key.path(), key.len(), text.raw[0]) })
    }

    /// Stores one text for each element of the batch, row by row.
    #[track_caller]
    pub fn set_texts<'a>(
        &mut self,
        key: impl Key,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        let key = RawKey::new(&key)?;
        let texts = RawNames::new(texts.into_iter().map(Some))?;
        let (list, count) = (texts.raw.as_ptr(), texts.raw.len());
        // SAFETY: the handle is alive and ours alone; key and list are as long as they say.
        check(unsafe { sys::td_set_texts(self.raw_mut(), key.path(), key.len(), list, count) })
    }

    /// The text that all elements of the batch have.
    #[track_caller]
    pub fn text(&self, key: impl Key) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and text are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_get_text(self.raw(), key.path(), key.len(), text, cap, length)
        })
    }

    /// The text of one row; a negative row counts from the end.
    #[track_caller]
    pub fn row_text(&self, key: impl Key, row: i64) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and text are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_get_row_text(self.raw(), key.path(), key.len(), row, text, cap, length)
        })
    }

    /// Makes the value of the whole batch one value for each element.
    #[track_caller]
    pub fn spread_non_tensor(&mut self, key: impl Key) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        check(unsafe { sys::td_spread_non_tensor(self.raw_mut(), key.path(), key.len()) })
    }

    /// Stores bytes, one value for the whole batch.
    #[track_caller]
    pub fn set_non_tensor_bytes(&mut self, key: impl Key, bytes: &[u8]) -> Result<()> {
        let key = RawKey::new(&key)?;
        let data = bytes.as_ptr().cast();
        // SAFETY: the handle is alive and ours alone; key and bytes are as long as they say.
        check(unsafe {
            sys::td_set_non_tensor_bytes(self.raw_mut(), key.path(), key.len(), data, bytes.len())
        })
    }

    /// The bytes stored under a key.
    #[track_caller]
    pub fn non_tensor_bytes(&self, key: impl Key) -> Result<Vec<u8>> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and buffer are as long as they are said to be.
        read_list(0u8, |bytes, cap, length| unsafe {
            sys::td_get_non_tensor_bytes(
                self.raw(),
                key.path(),
                key.len(),
                bytes.cast(),
                cap,
                length,
            )
        })
    }
}

#[track_caller]
pub(crate) fn nul_terminated(text: &str) -> Result<Vec<u8>> {
    if text.contains('\0') {
        return Err(Error::new(sys::TD_ERR_FORMAT, "JSON text cannot hold the character U+0000"));
    }
    Ok([text.as_bytes(), &[0]].concat())
}
