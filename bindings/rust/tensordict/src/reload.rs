//! Folders read into existing dictionaries, and entries created in both at once.

use std::path::Path;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Result};
use crate::key::{Key, RawKey};
use crate::library;
use crate::memmap::{Folder, LoadOptions, MemmapOptions};
use crate::sizes::Sizes;
use crate::tensor::Tensor;

impl TensorDict {
    /// Maps a nested dictionary of a folder alone: only its own files are looked at.
    ///
    /// ```
    /// use tensordict::{LoadOptions, Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-part-{}", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set(("next", "x"), Tensor::from_slice(&[1i64, 2], [2])?)?;
    /// td.memmap(&dir)?;
    /// let next = TensorDict::load_memmap_part(&dir, "next", LoadOptions::new())?;
    /// assert_eq!(next.tensor("x")?.to_vec::<i64>()?, [1, 2]);
    /// # drop(next);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn load_memmap_part(
        dir: impl AsRef<Path>,
        key: impl Key,
        options: LoadOptions,
    ) -> Result<Self> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        let key = RawKey::new(&key)?;
        let mut raw = options.raw;
        (raw.subpath, raw.subpath_len) = (key.path(), key.len());
        // SAFETY: folder, key and options live for the call.
        Self::receive(|result| unsafe { sys::td_memmap_load(dir.text(), &raw, result) })
    }
}

impl Dict {
    /// Reads a folder into this dictionary: tensors take the place of those of the same name, nested
    /// dictionaries are filled, other entries stay. A locked dictionary must be mapped.
    #[track_caller]
    pub fn load_into(&mut self, dir: impl AsRef<Path>, options: LoadOptions) -> Result<()> {
        let dir = Folder::new(Some(dir.as_ref()))?;
        // SAFETY: the handle is alive and ours alone; folder and options live for the call.
        check(unsafe { sys::td_memmap_load_into(self.raw_mut(), dir.text(), &options.raw) })
    }

    /// Reads again the folder behind this dictionary, and takes over what has come meanwhile: new entries,
    /// files that were replaced, a batch size that has grown. Entries that have gone stay.
    ///
    /// ```
    /// use tensordict::{AppendOptions, Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-refresh-{}", std::process::id()));
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// td.memmap(&dir)?;
    /// let mut reader = TensorDict::load_memmap(&dir)?;
    /// td.memmap_append(&dir, AppendOptions::new())?;
    /// assert_eq!(reader.batch_size(), [2]);
    /// reader.memmap_refresh()?;
    /// assert_eq!(reader.batch_size(), [4]);
    /// # drop(reader);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn memmap_refresh(&mut self) -> Result<()> {
        self.memmap_refresh_with(LoadOptions::new())
    }

    /// As [`memmap_refresh`](Self::memmap_refresh), with options.
    #[track_caller]
    pub fn memmap_refresh_with(&mut self, options: LoadOptions) -> Result<()> {
        // SAFETY: the handle is alive and ours alone; the options live for the call.
        check(unsafe { sys::td_memmap_refresh(self.raw_mut(), &options.raw) })
    }

    /// Adds a tensor of zeros to a mapped dictionary, locked or not, and its file to the folder.
    /// Dictionaries that are missing on the way are made, with their folders.
    #[track_caller]
    pub fn make_memmap(
        &mut self,
        key: impl Key,
        sizes: impl Sizes,
        dtype: DType,
        options: MemmapOptions,
    ) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        let sizes = sizes.sizes();
        // SAFETY: the handle is alive and ours alone; what the pointers show lives for the call.
        Tensor::receive(|result| unsafe {
            sys::td_memmap_make(
                self.raw_mut(),
                key.path(),
                key.len(),
                sizes.as_ptr(),
                sizes.len(),
                dtype.raw(),
                &options.raw,
                result,
            )
        })
    }

    /// As [`make_memmap`](Self::make_memmap), with the shape, the dtype and the values of a tensor.
    #[track_caller]
    pub fn make_memmap_from(
        &mut self,
        key: impl Key,
        source: &Tensor,
        options: MemmapOptions,
    ) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, this one ours alone; key and options live for the call.
        Tensor::receive(|result| unsafe {
            sys::td_memmap_make_from_tensor(
                self.raw_mut(),
                key.path(),
                key.len(),
                source.raw(),
                &options.raw,
                result,
            )
        })
    }
}
