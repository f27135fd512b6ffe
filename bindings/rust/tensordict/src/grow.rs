//! Folders that become longer while others read them.

use std::path::{Path, PathBuf};

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_text, sound, Result};
use crate::handle::Handle;
use crate::key::{Key, RawKey};
use crate::library;
use crate::memmap::{Folder, LoadOptions};
use crate::writer::Writer;

/// Whether a growing writer writes to the folder itself or to a shard: a folder `0`, `1`, … inside it that
/// has a writer of its own. All shards load as one lazy stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shard {
    /// The folder itself.
    #[default]
    None,
    /// A shard that nobody has written to.
    New,
    /// A shard that nobody writes to now, or a new one.
    Any,
}

/// How a folder grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppendOptions {
    raw: sys::td_append_options,
}

// SAFETY: its pointer is null but during a call.
unsafe impl Send for AppendOptions {}
// SAFETY: as above.
unsafe impl Sync for AppendOptions {}

impl AppendOptions {
    /// The defaults: a thread of the writer publishes rows every 10 ms.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether what is published is on the disk, and survives a loss of power.
        durable(durable: bool) => raw.durable;
        /// Whether a file of checksums is kept.
        checksums(checksums: bool) => raw.checksums;
        /// After how many rows a writer publishes by itself; 0 means every 10 ms, or 1,000 rows without a thread,
        /// -1 only at [`Writer::flush`] and [`Writer::close`].
        publish_rows(rows: i64) => raw.publish_rows;
        /// After how many bytes a writer publishes by itself; 0 means not by bytes.
        publish_bytes(bytes: i64) => raw.publish_bytes;
        /// Memory for rows that are in no file yet; 0 means 16 MiB, or 1 MiB without a thread.
        buffer_bytes(bytes: i64) => raw.buffer_bytes;
        /// After how many milliseconds other programs, such as Python, see rows that a writer has published by
        /// itself; 0 means 1000, -1 only after a flush.
        meta_ms(ms: i32) => raw.meta_ms;
    }

    /// Where a writer writes.
    pub fn shard(mut self, shard: Shard) -> Self {
        self.raw.shard = match shard {
            Shard::None => sys::TD_SHARD_NONE,
            Shard::New => sys::TD_SHARD_NEW,
            Shard::Any => sys::TD_SHARD_ANY,
        };
        self
    }

    /// Whether a thread of the writer writes to the files and publishes, as it does by default. Then
    /// [`Writer::put`] and [`Writer::next_row`] wait for no file while there is room in memory. Failures come
    /// back from [`Writer::flush`] and [`Writer::close`].
    pub fn background(mut self, background: bool) -> Self {
        self.raw.background = if background { 1 } else { -1 };
        self
    }
}

/// How long a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemmapLength {
    /// Rows that it says it has, or elements of a lazy stack.
    pub rows: i64,
    /// Whole rows in all of its files: more while a writer is at work or when it was interrupted, fewer
    /// when files are damaged. [`TensorDict::memmap_truncate`] can keep as many.
    pub stored: i64,
    /// Bytes behind the end, all files together.
    pub spare: i64,
}

impl Writer<'static> {
    /// A writer without fixed capacity over a folder, behind the rows that it has. A folder that is not
    /// there is made with the entries of `like`, and has no rows at first; without `like` it must be there.
    ///
    /// A row is all that stands at one place of the first batch dimension. [`flush`](Writer::flush) publishes
    /// the rows: whoever loads the folder meets all of them, or those from before, at each moment. One writer
    /// works on a folder at a time; another one gets [`ErrorKind::Busy`](crate::ErrorKind::Busy).
    ///
    /// ```
    /// use tensordict::{DType, AppendOptions, Tensor, TensorDict, Writer};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-grow-{}", std::process::id()));
    /// let like = TensorDict::from_pairs([1], [("x", Tensor::zeros([1, 2], DType::F32)?)])?;
    /// let mut writer = Writer::growing(&dir, Some(&like), AppendOptions::new())?;
    /// let x = writer.bind("x")?;
    /// for row in 0..3 {
    ///     writer.put(x, &[row as f32, 1.0])?;
    ///     writer.next_row()?;
    /// }
    /// writer.flush()?;
    /// assert_eq!(TensorDict::load_memmap(&dir)?.batch_size(), [3]);
    /// # writer.close()?;
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    ///
    /// An entry of `like` that [`set_texts`](Dict::set_texts) has made takes a text for each row:
    ///
    /// ```
    /// use tensordict::{AppendOptions, TensorDict, Writer};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-texts-{}", std::process::id()));
    /// let mut like = TensorDict::new([1])?;
    /// like.set_texts("task", [""])?;
    /// let mut writer = Writer::growing(&dir, Some(&like), AppendOptions::new())?;
    /// let task = writer.bind_text("task")?;
    /// for text in ["push", "pull"] {
    ///     writer.put_text(task, text)?;
    ///     writer.next_row()?;
    /// }
    /// assert_eq!(writer.into_dict()?.row_text("task", 1)?, "pull");
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn growing(
        dir: impl AsRef<Path>,
        like: Option<&Dict>,
        options: AppendOptions,
    ) -> Result<Self> {
        Self::open_append(dir.as_ref(), like, &options.raw)
    }

    /// As [`growing`](Writer::growing), but goes on behind the last whole episode: drops the rows after the
    /// last one in which all of the bool tensor under `episode_end` is true.
    #[track_caller]
    pub fn resuming(
        dir: impl AsRef<Path>,
        like: Option<&Dict>,
        episode_end: impl Key,
        options: AppendOptions,
    ) -> Result<Self> {
        let key = RawKey::new(&episode_end)?;
        let mut raw = options.raw;
        (raw.resume_at, raw.resume_at_len) = (key.path(), key.len());
        Self::open_append(dir.as_ref(), like, &raw)
    }

    #[track_caller]
    fn open_append(
        dir: &Path,
        like: Option<&Dict>,
        options: &sys::td_append_options,
    ) -> Result<Self> {
        library::ready()?;
        let dir = Folder::new(Some(dir))?;
        let like = like.map_or(std::ptr::null(), |like| like.raw());
        let mut token = std::ptr::null_mut();
        // SAFETY: folder, handle and options live for the call, and a call that succeeds gives us the writer.
        let handle = unsafe {
            check(sys::td_writer_open_append(dir.text(), like, options, &mut token))?;
            Handle::new(token)
        };
        // What is known of its tensors; no file of values is opened.
        let meta = LoadOptions::new().device(Device::meta());
        let dict = TensorDict::load_memmap_with(folder_of(&handle).unwrap_or_default(), meta)?;
        Ok(Self::from_parts(handle, dict))
    }
}

impl Writer<'_> {
    /// The folder of a writer that [`growing`](Writer::growing) has made: its shard, if it has one.
    pub fn folder(&self) -> Option<PathBuf> {
        folder_of(self.handle())
    }
}

fn folder_of(handle: &Handle<sys::td_writer>) -> Option<PathBuf> {
    // SAFETY: the handle is alive, and the text is as long as it is said to be.
    let text = sound(read_text(|text, cap, length| unsafe {
        sys::td_writer_folder(handle.get(), text, cap, length)
    }));
    (!text.is_empty()).then(|| PathBuf::from(text))
}

impl Dict {
    /// Adds the rows of this dictionary to a folder, all of them or none. Keys, dtypes and sizes must be
    /// those of the folder, but for the number of rows. A folder that is not there is made. A folder with a
    /// lazy stack along the first dimension gets the dictionary as one more element.
    ///
    /// ```
    /// use tensordict::{AppendOptions, Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-append-{}", std::process::id()));
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
    /// td.memmap_append(&dir, AppendOptions::new())?;
    /// td.memmap_append(&dir, AppendOptions::new())?;
    /// let all = TensorDict::load_memmap(&dir)?;
    /// assert_eq!(all.tensor("x")?.to_vec::<i64>()?, [1, 2, 1, 2]);
    /// # drop(all);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn memmap_append(&self, dir: impl AsRef<Path>, options: AppendOptions) -> Result<()> {
        let dir = Folder::new(Some(dir.as_ref()))?;
        // SAFETY: the handle is alive; folder and options live for the call.
        check(unsafe { sys::td_memmap_append(dir.text(), self.raw(), &options.raw) })
    }
}

impl TensorDict {
    /// Keeps the first rows of a folder, or the first elements of a lazy stack, and gives back the room of
    /// the others and of what an interrupted writer has left behind the end.
    ///
    /// A file of which this process has more mapped stays as long as it is, so that no tensor loses its
    /// memory; the next writer cuts it. Another process that reads rows that went is ended by a signal.
    #[track_caller]
    pub fn memmap_truncate(dir: impl AsRef<Path>, rows: i64, options: AppendOptions) -> Result<()> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        // SAFETY: folder and options live for the call.
        check(unsafe { sys::td_memmap_truncate(dir.text(), rows, &options.raw) })
    }

    /// How long a folder is, without opening its values.
    #[track_caller]
    pub fn memmap_length(dir: impl AsRef<Path>) -> Result<MemmapLength> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        let mut length = MemmapLength { rows: 0, stored: 0, spare: 0 };
        // SAFETY: the folder lives for the call, and the numbers are written by a call that succeeds.
        check(unsafe {
            sys::td_memmap_length(
                dir.text(),
                &mut length.rows,
                &mut length.stored,
                &mut length.spare,
            )
        })?;
        Ok(length)
    }
}
