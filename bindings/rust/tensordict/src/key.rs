//! Keys: one name, or a path of names through nested dictionaries.

use std::ffi::{c_char, CStr};
use std::fmt;
use std::hash::{Hash, Hasher};

use tensordict_sys as sys;

use crate::error::{Error, Result};

/// What names an entry: `"obs"`, `("agents", "reward")`, an array, a slice or a `Vec` of names, or a
/// [`KeyPath`] from an iterator.
///
/// ```
/// use tensordict::{DType, Tensor, TensorDict};
///
/// let mut td = TensorDict::new([2])?;
/// td.set(("agents", "reward"), Tensor::zeros([2, 1], DType::F32)?)?;
/// assert!(td.contains(["agents", "reward"]));
/// assert!(td.contains("agents"));
/// # Ok::<(), tensordict::Error>(())
/// ```
pub trait Key {
    #[doc(hidden)]
    fn names(&self) -> Vec<&str>;
}

impl Key for str {
    fn names(&self) -> Vec<&str> {
        vec![self]
    }
}

impl Key for String {
    fn names(&self) -> Vec<&str> {
        vec![self]
    }
}

impl<S: AsRef<str>> Key for [S] {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>, const N: usize> Key for [S; N] {
    fn names(&self) -> Vec<&str> {
        self.as_slice().names()
    }
}

impl<S: AsRef<str>> Key for Vec<S> {
    fn names(&self) -> Vec<&str> {
        self.as_slice().names()
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn names(&self) -> Vec<&str> {
        (**self).names()
    }
}

macro_rules! tuple_keys {
    ($($name:ident),*) => {
        impl<$($name: AsRef<str>),*> Key for ($($name,)*) {
            #[allow(non_snake_case)]
            fn names(&self) -> Vec<&str> {
                let ($($name,)*) = self;
                vec![$($name.as_ref()),*]
            }
        }
    };
}
tuple_keys!(A);
tuple_keys!(A, B);
tuple_keys!(A, B, C);
tuple_keys!(A, B, C, D);
tuple_keys!(A, B, C, D, E);
tuple_keys!(A, B, C, D, E, F);

/// An owned key, as the iterators give it. Compares with every other form of key.
#[derive(Clone, Default)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Copies a key.
    pub fn new(key: impl Key) -> Self {
        Self(key.names().into_iter().map(str::to_owned).collect())
    }

    /// The names, from the outermost dictionary inwards.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// # Safety
    /// `path` points at `length` texts that end with a NUL and stay as they are during the call.
    pub(crate) unsafe fn read(path: *const *const c_char, length: usize) -> Self {
        let name = |position| {
            // SAFETY: as promised by the caller.
            unsafe { CStr::from_ptr(*path.add(position)) }.to_string_lossy().into_owned()
        };
        Self((0..length).map(name).collect())
    }
}

impl Key for KeyPath {
    fn names(&self) -> Vec<&str> {
        self.0.names()
    }
}

impl<K: Key> PartialEq<K> for KeyPath {
    fn eq(&self, other: &K) -> bool {
        self.0 == other.names()
    }
}

impl Eq for KeyPath {}

impl Hash for KeyPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The names joined with dots.
impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// As it would be written in code: `"obs"` or `("agents", "reward")`.
impl fmt::Debug for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [name] => write!(f, "{name:?}"),
            names => {
                let mut tuple = f.debug_tuple("");
                for name in names {
                    tuple.field(name);
                }
                tuple.finish()
            }
        }
    }
}

/// A key in the form that the library takes: texts with a NUL behind them, and their addresses.
#[doc(hidden)]
pub struct RawKey {
    _text: Vec<u8>,
    names: Vec<*const c_char>,
}

impl RawKey {
    #[track_caller]
    pub(crate) fn new(key: &(impl Key + ?Sized)) -> Result<Self> {
        let names = key.names();
        let mut text = Vec::with_capacity(names.iter().map(|name| name.len() + 1).sum());
        let mut starts = Vec::with_capacity(names.len());
        for name in names {
            if name.contains('\0') {
                let message = format!("the name {name:?} holds a NUL");
                return Err(Error::new(sys::TD_ERR_KEY_INVALID, message));
            }
            starts.push(text.len());
            text.extend_from_slice(name.as_bytes());
            text.push(0);
        }
        let base: *const u8 = text.as_ptr();
        let names = starts.into_iter().map(|start| base.wrapping_add(start).cast()).collect();
        Ok(Self { _text: text, names })
    }

    pub(crate) fn path(&self) -> *const *const c_char {
        self.names.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_key_reads_back() {
        let key = RawKey::new(&("größe", "", "z")).unwrap();
        assert_eq!(key.len(), 3);
        // SAFETY: the key is alive and as long as it says.
        assert_eq!(unsafe { KeyPath::read(key.path(), key.len()) }, ("größe", "", "z"));
    }
}
