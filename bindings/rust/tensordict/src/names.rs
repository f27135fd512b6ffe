//! Names of batch dimensions.

use std::ffi::{c_char, CString};

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Error, Result};
use crate::handle::Handle;
use crate::iter::Keys;

// Texts of C; NULL for a dimension without a name.
pub(crate) struct RawNames {
    _texts: Vec<Option<CString>>,
    pub(crate) raw: Vec<*const c_char>,
}

impl RawNames {
    #[track_caller]
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = Option<&'a str>>) -> Result<Self> {
        let mut texts = Vec::new();
        for name in names {
            texts.push(name.map(CString::new).transpose().map_err(|_| {
                Error::new(sys::TD_ERR_INVALID_ARGUMENT, "a name or a text holds the character U+0000")
            })?);
        }
        let raw =
            texts.iter().map(|n| n.as_ref().map_or(std::ptr::null(), |n| n.as_ptr())).collect();
        Ok(Self { _texts: texts, raw })
    }
}

impl Dict {
    /// The names of the batch dimensions, `None` for one that has none.
    ///
    /// Results have the names of the dimensions that they keep. A dictionary without names takes over
    /// those of a dictionary that is set in it; into one with names only what agrees with them can be set.
    ///
    /// ```
    /// use tensordict::{i, TensorDict};
    ///
    /// let mut td = TensorDict::new([3, 4])?;
    /// assert_eq!(td.names(), [None, None]);
    /// td.set_names([Some("time"), Some("env")])?;
    /// assert_eq!(td.at(0)?.names(), [Some("env".to_owned())]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn names(&self) -> Vec<Option<String>> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the handle is alive, and a call that succeeds gives us the list.
        let list = unsafe {
            sound(check(sys::td_names(self.raw(), &mut list)));
            Handle::new(list)
        };
        Keys::new(list).map(|key| key.names().first().map(|name| (*name).to_owned())).collect()
    }

    /// Names the batch dimensions, and the leading ones of nested dictionaries alike. No names at all
    /// takes them away, those of nested dictionaries too. Allowed when locked.
    #[track_caller]
    pub fn set_names<'a>(
        &mut self,
        names: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Result<()> {
        let names = RawNames::new(names)?;
        // SAFETY: the handle is alive and the list is as long as it is said to be.
        check(unsafe { sys::td_set_names(self.raw_mut(), names.raw.as_ptr(), names.raw.len()) })
    }

    /// Gives named dimensions other names: pairs of the old and the new one.
    #[track_caller]
    pub fn rename_dims_<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<()> {
        let (old, new): (Vec<_>, Vec<_>) = pairs.into_iter().map(|(o, n)| (Some(o), n)).unzip();
        let (old, new) = (RawNames::new(old)?, RawNames::new(new)?);
        // SAFETY: the handle is alive and the lists are as long as they are said to be.
        check(unsafe {
            sys::td_rename_dims(self.raw_mut(), old.raw.as_ptr(), new.raw.as_ptr(), old.raw.len())
        })
    }

    /// As [`rename_dims_`](Self::rename_dims_), for a dictionary of its own over the same tensors.
    ///
    /// ```
    /// use tensordict::TensorDict;
    ///
    /// let mut td = TensorDict::new([3, 4])?;
    /// td.set_names([Some("x"), Some("y")])?;
    /// let other = td.rename_dims([("x", Some("time"))])?;
    /// assert_eq!(other.names(), [Some("time".to_owned()), Some("y".to_owned())]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn rename_dims<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<TensorDict> {
        let mut copy = self.shallow_copy()?;
        copy.rename_dims_(pairs)?;
        Ok(copy)
    }

    /// Names dimensions that have no name yet; a name that is set may only be repeated. `"..."` stands,
    /// once, for as many dimensions as needed, which keep what they have.
    #[track_caller]
    pub fn refine_names<'a>(
        &mut self,
        names: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Result<()> {
        let names = RawNames::new(names)?;
        // SAFETY: the handle is alive and the list is as long as it is said to be.
        check(unsafe { sys::td_refine_names(self.raw_mut(), names.raw.as_ptr(), names.raw.len()) })
    }
}
