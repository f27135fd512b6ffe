//! Dictionaries in folders, in the format of Python's tensordict.

use std::ffi::{c_char, CString};
use std::path::{Path, PathBuf};

use tensordict_sys as sys;

use crate::archive::Compression;
use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_text, sound, Error, Result};
use crate::library;

/// How a dictionary is stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemmapOptions {
    pub(crate) raw: sys::td_memmap_options,
}

impl MemmapOptions {
    /// The defaults: one thread, existing files are overwritten, file names are escaped.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How many threads write; 0 and 1 mean the calling one.
        num_threads(threads: u16) => raw.num_threads;
        /// Whether tensors that are mapped from another folder are copied.
        copy_existing(copy: bool) => raw.copy_existing;
        /// Whether an existing file is an error.
        fail_if_exists(fail: bool) => raw.fail_if_exists;
        /// Whether file names are the keys as they are.
        verbatim_names(verbatim: bool) => raw.verbatim_names;
        /// Whether a sub-tensordict is saved as what it reads, not with all that it is a part of.
        dense_sub_tensordicts(dense: bool) => raw.dense_sub_tensordicts;
        /// Whether to return only when all of it is on the disk, its name included.
        durable(durable: bool) => raw.durable;
        /// Whether a file with checksums is made, for [`TensorDict::verify_memmap`].
        checksums(checksums: bool) => raw.checksums;
    }

    /// Whether all goes into one file, a zip archive, whatever its name is; else that is so when the name
    /// ends with `.tdz`.
    pub fn archive(mut self, archive: bool) -> Self {
        self.raw.archive = if archive { sys::TD_ARCHIVE_YES } else { sys::TD_ARCHIVE_NO };
        self
    }

    /// How the tensors in an archive are stored.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.raw.compression = compression.raw();
        self
    }
}

/// How a folder is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    pub(crate) raw: sys::td_load_options,
}

// SAFETY: its pointer is null but during a call.
unsafe impl Send for LoadOptions {}
// SAFETY: as above.
unsafe impl Sync for LoadOptions {}

impl LoadOptions {
    /// The defaults: mapped on the CPU, writable where the files are.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the tensors go; [`Device::meta`] opens no file of values.
    pub fn device(mut self, device: Device) -> Self {
        (self.raw.device_type, self.raw.device_index) = device.raw();
        self
    }

    setters! {
        /// Whether what is written to the tensors stays out of the files.
        private_mapping(private: bool) => raw.private_mapping;
        /// Whether file names are the keys as they are.
        verbatim_names(verbatim: bool) => raw.verbatim_names;
        /// The deepest nesting accepted; 0 means the library's own limit.
        max_depth(depth: u32) => raw.max_depth;
        /// The most entries accepted, all levels together; 0 means the library's own limit.
        max_entries(entries: u32) => raw.max_entries;
        /// How many threads read the tensors of a folder or an archive; 0 and 1 mean the calling one.
        num_threads(threads: u16) => raw.num_threads;
        /// Whether what is written to tensors of an archive, or of a consolidated file, reaches it.
        write_through(through: bool) => raw.write_through;
    }
}

impl Dict {
    /// Saves to a folder, which is made if missing, and gives a dictionary that is mapped from it: locked,
    /// on the CPU, and writing through to the files. This one is left alone.
    #[track_caller]
    pub fn memmap(&self, dir: impl AsRef<Path>) -> Result<TensorDict> {
        self.memmap_with(Some(dir.as_ref()), MemmapOptions::new())
    }

    /// As [`memmap`](Self::memmap), with options; without a folder in memory that has no name.
    #[track_caller]
    pub fn memmap_with(&self, dir: Option<&Path>, options: MemmapOptions) -> Result<TensorDict> {
        let dir = Folder::new(dir)?;
        // SAFETY: the handle is alive; folder and options live for the call.
        TensorDict::receive(|result| unsafe {
            sys::td_memmap(self.raw(), dir.text(), &options.raw, result)
        })
    }

    /// Saves to a folder and maps the tensors of this dictionary from there.
    #[track_caller]
    pub fn memmap_inplace(&mut self, dir: impl AsRef<Path>) -> Result<()> {
        self.memmap_inplace_with(Some(dir.as_ref()), MemmapOptions::new())
    }

    /// As [`memmap_inplace`](Self::memmap_inplace), with options; without a folder in memory that has no
    /// name.
    #[track_caller]
    pub fn memmap_inplace_with(
        &mut self,
        dir: Option<&Path>,
        options: MemmapOptions,
    ) -> Result<()> {
        let dir = Folder::new(dir)?;
        // SAFETY: the handle is alive and ours alone; folder and options live for the call.
        check(unsafe { sys::td_memmap_inplace(self.raw_mut(), dir.text(), &options.raw) })
    }

    /// Makes a folder of the same sizes and dtypes, filled with zeros, and maps it. With
    /// [`expand`](Self::expand) this makes room for a data set of any size.
    #[track_caller]
    pub fn memmap_like(&self, dir: impl AsRef<Path>) -> Result<TensorDict> {
        self.memmap_like_with(Some(dir.as_ref()), MemmapOptions::new())
    }

    /// As [`memmap_like`](Self::memmap_like), with options; without a folder in memory that has no name.
    #[track_caller]
    pub fn memmap_like_with(
        &self,
        dir: Option<&Path>,
        options: MemmapOptions,
    ) -> Result<TensorDict> {
        let dir = Folder::new(dir)?;
        // SAFETY: the handle is alive; folder and options live for the call.
        TensorDict::receive(|result| unsafe {
            sys::td_memmap_like(self.raw(), dir.text(), &options.raw, result)
        })
    }

    /// The folder behind it, if there is one.
    pub fn saved_path(&self) -> Option<PathBuf> {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        let text = sound(read_text(|text, cap, length| unsafe {
            sys::td_saved_path(self.raw(), text, cap, length)
        }));
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    /// Waits until what was written to mapped tensors is on the disk.
    #[track_caller]
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_memmap_flush(self.raw()) })
    }
}

impl TensorDict {
    /// Maps a folder that this library or Python's tensordict has written. Not locked.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-load-{}", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// assert!(td.memmap(&dir)?.is_locked());
    /// let loaded = TensorDict::load_memmap(&dir)?;
    /// assert_eq!(loaded.saved_path(), Some(dir.clone()));
    /// assert!(loaded.equal(&td)?);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn load_memmap(dir: impl AsRef<Path>) -> Result<Self> {
        Self::load_memmap_with(dir, LoadOptions::new())
    }

    /// As [`load_memmap`](Self::load_memmap), with options.
    #[track_caller]
    pub fn load_memmap_with(dir: impl AsRef<Path>, options: LoadOptions) -> Result<Self> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        // SAFETY: folder and options live for the call.
        Self::receive(|result| unsafe { sys::td_memmap_load(dir.text(), &options.raw, result) })
    }
}

/// The name of a folder, or of a file, in the form that the library takes; NULL for none.
pub(crate) struct Folder(Option<CString>);

impl Folder {
    #[track_caller]
    pub(crate) fn new(dir: Option<&Path>) -> Result<Self> {
        let Some(dir) = dir else { return Ok(Self(None)) };
        match dir.to_str().map(CString::new) {
            Some(Ok(text)) => Ok(Self(Some(text))),
            _ => {
                let message = format!("the path {dir:?} is not UTF-8, or holds a NUL");
                Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message))
            }
        }
    }

    pub(crate) fn text(&self) -> *const c_char {
        self.0.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
    }
}
