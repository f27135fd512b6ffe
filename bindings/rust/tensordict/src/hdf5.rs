//! HDF5 files, read whole or by rows.

use std::ffi::c_char;
use std::path::Path;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_list, Result};
use crate::handle::Handle;
use crate::index::{Indices, RawIndex};
use crate::iter::Keys;
use crate::key::{Key, KeyPath};
use crate::library;
use crate::memmap::Folder;
use crate::select::RawKeys;

/// What is read of an HDF5 file.
#[derive(Clone, Default)]
pub struct Hdf5Options {
    raw: sys::td_hdf5_options,
    group: Option<String>,
    keys: Vec<KeyPath>,
}

impl Hdf5Options {
    /// Everything, with the batch sizes that Python's `from_h5` finds.
    pub fn new() -> Self {
        Self::default()
    }

    fn flag(mut self, flag: sys::td_hdf5_flags) -> Self {
        self.raw.flags |= flag;
        self
    }

    /// Only this group.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Only these entries.
    pub fn keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.keys = keys.into_iter().map(KeyPath::new).collect();
        self
    }

    /// Attributes of groups become non-tensor data.
    pub fn attributes(self) -> Self {
        self.flag(sys::TD_HDF5_ATTRIBUTES)
    }

    /// Leaves out what has no place in a dictionary, such as links into other files.
    pub fn skip(self) -> Self {
        self.flag(sys::TD_HDF5_SKIP)
    }

    /// The groups are the elements of a lazy stack: demonstrations of different lengths.
    pub fn stack(self) -> Self {
        self.flag(sys::TD_HDF5_STACK)
    }

    setters! {
        /// So many leading dimensions are the batch.
        batch_dims(dims: u16) => raw.batch_dims;
        /// The most memory that one reading may take.
        max_bytes(bytes: u64) => raw.max_bytes;
    }

    /// The deepest nesting and the most entries accepted; 0 means the library's own limit.
    pub fn limits(mut self, max_depth: u32, max_entries: u32) -> Self {
        (self.raw.max_depth, self.raw.max_entries) = (max_depth, max_entries);
        self
    }

    // Calls with the path and the options as the library takes them.
    #[track_caller]
    fn with<R>(
        &self,
        file: &Path,
        f: impl FnOnce(*const c_char, *const sys::td_hdf5_options) -> Result<R>,
    ) -> Result<R> {
        library::ready()?;
        let path = Folder::new(Some(file))?;
        let group = Folder::new(self.group.as_deref().map(Path::new))?;
        let keys = RawKeys::new(&self.keys)?;
        let mut raw = self.raw;
        raw.group = group.text();
        if keys.len() != 0 {
            (raw.keys, raw.keys_len) = (keys.list(), keys.len());
        }
        f(path.text(), &raw)
    }
}

/// How an HDF5 file is written.
#[derive(Clone, Default)]
pub struct Hdf5SaveOptions {
    raw: sys::td_hdf5_save_options,
    group: Option<String>,
}

impl Hdf5SaveOptions {
    /// As Python's `to_h5` writes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Into this group.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// The elements of a lazy stack become the groups demo_0, demo_1, ...
    pub fn stack(mut self) -> Self {
        self.raw.flags |= sys::TD_HDF5_SAVE_STACK;
        self
    }

    /// Returns when the file is on the disk.
    pub fn durable(mut self) -> Self {
        self.raw.flags |= sys::TD_HDF5_SAVE_DURABLE;
        self
    }

    setters! {
        /// Compressed, level 1 to 9.
        deflate(level: i64) => raw.deflate;
        /// Rows of a chunk.
        chunk_rows(rows: i64) => raw.chunk_rows;
    }
}

/// An open HDF5 file, of which parts are read. Threads may share it.
///
/// ```
/// use tensordict::{i, Hdf5, Hdf5Options, Tensor, TensorDict};
///
/// let td = TensorDict::from_pairs([3], [("x", Tensor::from_slice(&[1i64, 2, 3], [3])?)])?;
/// let path = std::env::temp_dir().join(format!("td-doc-{}.h5", std::process::id()));
/// match td.save_hdf5(&path, &Default::default()) {
///     Err(error) if error.kind() == tensordict::ErrorKind::Unsupported => return Ok(()),
///     result => result?,
/// }
/// let file = Hdf5::open(&path, &Hdf5Options::new())?;
/// assert_eq!(file.batch_size()?, [3]);
/// assert_eq!(file.read(i![1..])?.tensor("x")?.to_vec::<i64>()?, [2, 3]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Hdf5 {
    handle: Handle<sys::td_hdf5>,
}

// SAFETY: the library lets several threads call at once.
unsafe impl Sync for Hdf5 {}

impl Hdf5 {
    /// Opens a file, and looks at what it holds; values are read later.
    #[track_caller]
    pub fn open(file: impl AsRef<Path>, options: &Hdf5Options) -> Result<Self> {
        options.with(file.as_ref(), |path, raw| {
            let mut token = std::ptr::null_mut();
            // SAFETY: path and options live for the call, which gives us the handle when it succeeds.
            unsafe {
                check(sys::td_hdf5_open(path, raw, &mut token))?;
                Ok(Self { handle: Handle::new(token) })
            }
        })
    }

    /// The batch size; -1 where the elements of a stack differ.
    #[track_caller]
    pub fn batch_size(&self) -> Result<Vec<i64>> {
        read_list(0, |sizes, room, dims| {
            // SAFETY: the handle is alive, and the room is as large as said.
            unsafe { sys::td_hdf5_batch_size(self.handle.get(), sizes, room, dims) }
        })
    }

    /// The keys of all tensors and non-tensor values.
    #[track_caller]
    pub fn keys(&self) -> Result<Keys> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the handle is alive, and a call that succeeds gives us the list.
        unsafe {
            check(sys::td_hdf5_keys(self.handle.get(), &mut list))?;
            Ok(Keys::new(Handle::new(list)))
        }
    }

    /// The part that an index picks; only its rows are read.
    #[track_caller]
    pub fn read<'a>(&self, index: impl Indices<'a>) -> Result<TensorDict> {
        let index = RawIndex::new(index);
        // SAFETY: the handle is alive, and the list of items is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_hdf5_read(self.handle.get(), index.items(), index.len(), result)
        })
    }
}

impl TensorDict {
    /// Reads a whole HDF5 file.
    #[track_caller]
    pub fn load_hdf5(file: impl AsRef<Path>, options: &Hdf5Options) -> Result<Self> {
        options.with(file.as_ref(), |path, raw| {
            // SAFETY: path and options live for the call.
            Self::receive(|result| unsafe { sys::td_hdf5_load(path, raw, result) })
        })
    }
}

impl Dict {
    /// Writes an HDF5 file as Python's `to_h5` does.
    #[track_caller]
    pub fn save_hdf5(&self, file: impl AsRef<Path>, options: &Hdf5SaveOptions) -> Result<()> {
        let path = Folder::new(Some(file.as_ref()))?;
        let group = Folder::new(options.group.as_deref().map(Path::new))?;
        let mut raw = options.raw;
        raw.group = group.text();
        // SAFETY: the handle is alive, path and options live for the call.
        check(unsafe { sys::td_hdf5_save(self.raw(), path.text(), &raw) })
    }
}
