//! A folder of a dictionary as one file, a zip archive.

use std::path::Path;

use tensordict_sys as sys;

use crate::dict::TensorDict;
use crate::error::{check, Result};
use crate::library;
use crate::memmap::Folder;

/// How the tensors in an archive are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are: they are read without a copy.
    #[default]
    Stored,
    /// Compressed: they are inflated when the archive is opened.
    Deflate,
}

impl Compression {
    pub(crate) fn raw(self) -> sys::td_compression {
        match self {
            Compression::Stored => sys::TD_COMPRESSION_STORED,
            Compression::Deflate => sys::TD_COMPRESSION_DEFLATE,
        }
    }
}

/// How files go into an archive and out of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    raw: sys::td_memmap_pack_options,
}

impl PackOptions {
    /// The defaults: tensors are stored as they are, and an existing archive is replaced.
    pub fn new() -> Self {
        Self::default()
    }

    /// How tensors are stored; says nothing when unpacking.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.raw.compression = compression.raw();
        self
    }

    setters! {
        /// Whether an existing archive or folder is an error.
        fail_if_exists(fail: bool) => raw.fail_if_exists;
        /// Whether to return only when all of it is on the disk.
        durable(durable: bool) => raw.durable;
    }
}

impl TensorDict {
    /// Packs a folder that [`memmap`](crate::Dict::memmap) or Python's tensordict has written into one
    /// archive: any program that reads zip files reads it, and [`load_memmap`](Self::load_memmap) opens it,
    /// without a copy of tensors that are not compressed.
    ///
    /// ```
    /// use tensordict::{PackOptions, Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-archive-{}", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// td.memmap(dir.join("td"))?;
    /// TensorDict::pack_memmap(dir.join("td"), dir.join("td.tdz"), PackOptions::new())?;
    /// assert!(TensorDict::is_memmap_archive(dir.join("td.tdz"))?);
    /// assert!(TensorDict::load_memmap(dir.join("td.tdz"))?.equal(&td)?);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn pack_memmap(
        dir: impl AsRef<Path>,
        file: impl AsRef<Path>,
        options: PackOptions,
    ) -> Result<()> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        let file = Folder::new(Some(file.as_ref()))?;
        // SAFETY: paths and options live for the call.
        check(unsafe { sys::td_memmap_pack(dir.text(), file.text(), &options.raw) })
    }

    /// Unpacks an archive into a new or empty folder. Nothing is written outside of
    /// it, whatever the names in the archive are.
    #[track_caller]
    pub fn unpack_memmap(
        file: impl AsRef<Path>,
        dir: impl AsRef<Path>,
        options: PackOptions,
    ) -> Result<()> {
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        // SAFETY: paths and options live for the call.
        check(unsafe { sys::td_memmap_unpack(file.text(), dir.text(), &options.raw) })
    }

    /// Whether there is a file that [`load_memmap`](Self::load_memmap) takes for an archive.
    #[track_caller]
    pub fn is_memmap_archive(file: impl AsRef<Path>) -> Result<bool> {
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        let mut answer = 0;
        // SAFETY: the path lives for the call.
        check(unsafe { sys::td_memmap_is_archive(file.text(), &mut answer) })?;
        Ok(answer != 0)
    }

    /// Computes the checksums of an archive anew after its tensors were written to, see
    /// [`LoadOptions::write_through`](crate::LoadOptions::write_through). Unpacking and other programs look
    /// at them.
    #[track_caller]
    pub fn refresh_archive_checksums(file: impl AsRef<Path>) -> Result<()> {
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        // SAFETY: the path lives for the call.
        check(unsafe { sys::td_memmap_write_archive_checksums(file.text()) })
    }
}
