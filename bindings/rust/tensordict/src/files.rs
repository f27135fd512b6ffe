//! Files of other programs: safetensors, NumPy, `torch.save`, raw records.

use std::ffi::c_char;
use std::path::Path;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_text, Result};
pub use crate::file_format::FileFormat;
use crate::layout::{Layout, RawLayout};
use crate::library;
use crate::memmap::Folder;
use crate::tensor::Tensor;

/// How a file is read or written.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    format: FileFormat,
    separator: Option<String>,
    metadata: Option<String>,
    layout: Option<(Layout, usize)>,
    batch_dims: i32,
    write_through: bool,
    deflate: bool,
    durable: bool,
    max_depth: u32,
    max_entries: u32,
}

impl FileOptions {
    /// The defaults: the format is found out, names are joined with dots, writes to tensors stay here.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Of this format, whatever the file says.
        format(format: FileFormat) => format;
        /// Reading: so many leading dimensions are the batch; 0: as the file says, or none.
        batch_dims(dims: u16) => batch_dims;
        /// Reading: whether what is written to the tensors reaches the file.
        write_through(through: bool) => write_through;
        /// Writing `.npz`: whether it is compressed.
        deflate(deflate: bool) => deflate;
        /// Writing: whether to wait until the file is on the disk.
        durable(durable: bool) => durable;
        /// The deepest nesting accepted; 0 means the library's own limit.
        max_depth(depth: u32) => max_depth;
        /// The most entries accepted; 0 means the library's own limit.
        max_entries(entries: u32) => max_entries;
    }

    /// What stands between the names of a path that are one in the file; nothing keeps names whole.
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
        self
    }

    /// Writing safetensors: a JSON object of texts that stands beside the tensors.
    pub fn metadata(mut self, json: impl Into<String>) -> Self {
        self.metadata = Some(json.into());
        self
    }

    /// Raw records of this layout, the first of them so many bytes from the begin.
    pub fn records(mut self, layout: Layout, header_bytes: usize) -> Self {
        self.layout = Some((layout, header_bytes));
        self
    }

    /// Calls `f` with the path and the options as the library takes them.
    #[track_caller]
    fn with<T>(
        &self,
        path: &Path,
        f: impl FnOnce(*const c_char, &sys::td_file_options) -> Result<T>,
    ) -> Result<T> {
        library::ready()?;
        let path = Folder::new(Some(path))?;
        let separator = Folder::new(self.separator.as_deref().map(Path::new))?;
        let metadata = Folder::new(self.metadata.as_deref().map(Path::new))?;
        let layout = self.layout.as_ref().map(|(layout, _)| layout.raw()).transpose()?;
        let mut raw = sys::td_file_options {
            format: self.format.raw(),
            separator: separator.text(),
            batch_dims: self.batch_dims,
            write_through: self.write_through.into(),
            deflate: self.deflate.into(),
            durable: self.durable.into(),
            max_depth: self.max_depth,
            max_entries: self.max_entries,
            metadata: metadata.text(),
            ..Default::default()
        };
        if let (Some(RawLayout { members, .. }), Some((layout, header))) = (&layout, &self.layout) {
            (raw.members, raw.members_len) = (members.as_ptr(), members.len());
            (raw.item_bytes, raw.header_bytes) = (layout.item_bytes(), *header);
        }
        f(path.text(), &raw)
    }
}

impl TensorDict {
    /// Reads a file of any of the formats: safetensors, `.npy`, `.npz`, `.pt`. Nothing in it is trusted and
    /// nothing in it is run. Tensors are views of the mapped file wherever they can be.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let file = std::env::temp_dir().join(format!("td-doc-{}.safetensors", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set(("layer", "bias"), Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// td.save_file(&file)?;
    /// let again = TensorDict::load_file(&file)?;
    /// assert_eq!(again.batch_size(), [2]);
    /// assert_eq!(again.tensor(("layer", "bias"))?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # std::fs::remove_file(&file).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn load_file(file: impl AsRef<Path>) -> Result<Self> {
        Self::load_file_with(file, &FileOptions::new())
    }

    /// As [`load_file`](Self::load_file), with options.
    #[track_caller]
    pub fn load_file_with(file: impl AsRef<Path>, options: &FileOptions) -> Result<Self> {
        options.with(file.as_ref(), |path, raw| {
            // SAFETY: path and options live for the call.
            Self::receive(|result| unsafe { sys::td_file_load(path, raw, result) })
        })
    }

    /// The texts that a safetensors file keeps beside its tensors, as a JSON object.
    #[track_caller]
    pub fn file_metadata(file: impl AsRef<Path>) -> Result<String> {
        FileOptions::new().with(file.as_ref(), |path, raw| {
            // SAFETY: path and options live for the call; the room is as large as said.
            read_text(|text, room, length| unsafe {
                sys::td_file_metadata(path, raw, text, room, length)
            })
        })
    }
}

impl Dict {
    /// Writes a file in the format that its name ends with. What was there is replaced once the new file is
    /// whole.
    #[track_caller]
    pub fn save_file(&self, file: impl AsRef<Path>) -> Result<()> {
        self.save_file_with(file, &FileOptions::new())
    }

    /// As [`save_file`](Self::save_file), with options.
    #[track_caller]
    pub fn save_file_with(&self, file: impl AsRef<Path>, options: &FileOptions) -> Result<()> {
        options.with(file.as_ref(), |path, raw| {
            // SAFETY: the handle is alive; path and options live for the call.
            check(unsafe { sys::td_file_save(self.raw(), path, raw) })
        })
    }
}

impl Tensor {
    /// Reads a file of one tensor: `.npy`, or `.pt`.
    #[track_caller]
    pub fn load_file(file: impl AsRef<Path>) -> Result<Self> {
        Self::load_file_with(file, &FileOptions::new())
    }

    /// As [`load_file`](Self::load_file), with options.
    #[track_caller]
    pub fn load_file_with(file: impl AsRef<Path>, options: &FileOptions) -> Result<Self> {
        options.with(file.as_ref(), |path, raw| {
            // SAFETY: path and options live for the call.
            Self::receive(|result| unsafe { sys::td_file_load_tensor(path, raw, result) })
        })
    }

    /// Writes a `.npy` file.
    #[track_caller]
    pub fn save_file(&self, file: impl AsRef<Path>) -> Result<()> {
        let npy = FileOptions::new().format(FileFormat::Npy);
        npy.with(file.as_ref(), |path, raw| {
            // SAFETY: the handle is alive; path and options live for the call.
            check(unsafe { sys::td_file_save_tensor(self.raw(), path, raw) })
        })
    }
}
