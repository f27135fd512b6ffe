//! Data sets of reinforcement learning and robotics, read by episodes and by rows, and written.

use std::ffi::CString;
use std::path::Path;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_list, read_text, Error, Result};
use crate::handle::Handle;
use crate::library;
use crate::memmap::Folder;

/// Which library's layout a data set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatasetKind {
    /// Minari: read from HDF5, Arrow and Parquet, written in HDF5.
    Minari,
    /// robomimic, and raw demonstrations of robosuite.
    Robomimic,
    /// D4RL.
    D4rl,
    /// LeRobot v2.0, v2.1 and v3.0.
    LeRobot,
    /// Folders of replay buffers.
    TorchRl,
    /// Bags of ROS 2.
    Ros,
}

impl DatasetKind {
    const ALL: [(Self, sys::td_dataset_kind); 6] = [
        (Self::Minari, sys::TD_DATASET_KIND_MINARI),
        (Self::Robomimic, sys::TD_DATASET_KIND_ROBOMIMIC),
        (Self::D4rl, sys::TD_DATASET_KIND_D4RL),
        (Self::LeRobot, sys::TD_DATASET_KIND_LEROBOT),
        (Self::TorchRl, sys::TD_DATASET_KIND_TORCHRL),
        (Self::Ros, sys::TD_DATASET_KIND_ROS),
    ];

    fn number(self) -> sys::td_dataset_kind {
        Self::ALL.iter().find(|row| row.0 == self).expect("each kind has a number").1
    }
}

/// How a data set is opened.
#[derive(Clone, Debug, Default)]
pub struct DatasetOptions {
    raw: sys::td_dataset_options,
    clock: Option<CString>,
}

impl DatasetOptions {
    /// The kind is found by looking.
    pub fn new() -> Self {
        Self::default()
    }

    /// It is of this kind.
    pub fn kind(mut self, kind: DatasetKind) -> Self {
        self.raw.kind = kind.number();
        self
    }

    setters! {
        /// Episodes of D4RL without `timeouts` end after so many steps.
        max_episode_steps(steps: i64) => raw.max_episode_steps;
        /// Bags of ROS: so many rows each second.
        rate(rate: f64) => raw.rate;
    }

    /// The most memory for one dataset of a file, and the most entries of a group; 0 means the library's own limit.
    pub fn limits(mut self, max_bytes: u64, max_entries: u32) -> Self {
        (self.raw.max_bytes, self.raw.max_entries) = (max_bytes, max_entries);
        self
    }

    /// Encoded pictures (PNG, JPEG) become tensors of bytes; otherwise they stay as they are. Videos are read, too.
    pub fn decode(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_DECODE;
        self
    }

    /// LeRobot: the frames of videos are entries; otherwise videos are left out.
    pub fn videos(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_VIDEOS;
        self
    }

    /// Bags of ROS: each message of this topic is a row.
    #[track_caller]
    pub fn clock(mut self, topic: &str) -> Result<Self> {
        let topic = CString::new(topic)
            .map_err(|_| Error::new(sys::TD_ERR_INVALID_ARGUMENT, "a topic with a NUL"))?;
        self.clock = Some(topic);
        Ok(self)
    }
}

/// What becomes of pictures in a data set of LeRobot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetVideo {
    /// Frames of videos, which are a little different; sizes must be even.
    H264,
    /// The same in less room and more time.
    Av1,
}

/// How a data set is written.
#[derive(Clone, Debug, Default)]
pub struct DatasetSaveOptions {
    raw: sys::td_dataset_save_options,
}

impl DatasetSaveOptions {
    /// What the kind cannot hold is an error.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the kind cannot hold is left out, or filled in.
    pub fn lossy(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_SAVE_LOSSY;
        self
    }

    /// Returns when the files are on the disk.
    pub fn durable(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_SAVE_DURABLE;
        self
    }

    /// A writer goes on behind the episodes of a set that is there.
    pub fn resume(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_SAVE_RESUME;
        self
    }

    /// LeRobot in version 2.1, with a table, and a video, for each episode.
    pub fn lerobot_v21(mut self) -> Self {
        self.raw.flags |= sys::TD_DATASET_SAVE_LEROBOT_V21;
        self
    }

    /// Compressed, level 1 to 9.
    pub fn deflate(mut self, level: i64) -> Self {
        self.raw.deflate = level;
        self
    }

    /// LeRobot: pictures become videos; otherwise they stay PNG, without a loss.
    pub fn video(mut self, video: DatasetVideo) -> Self {
        self.raw.video = match video {
            DatasetVideo::H264 => sys::TD_DATASET_VIDEO_H264,
            DatasetVideo::Av1 => sys::TD_DATASET_VIDEO_AV1,
        };
        self
    }

    /// Of videos: of H.264 1 to 51 (23 without a call), of AV1 1 to 63 (30); less is better and larger.
    pub fn video_quality(mut self, quality: i32) -> Self {
        self.raw.video_quality = quality;
        self
    }

    /// LeRobot: steps in a second; without a call those of the metadata, else by the times of the first episode.
    pub fn fps(mut self, fps: f64) -> Self {
        self.raw.fps = fps;
        self
    }
}

/// Recordings of episodes in a layout of Python's libraries. A step is a row, laid out as TorchRL does it. Threads may
/// share it.
///
/// ```no_run
/// use tensordict::{Dataset, DatasetOptions};
///
/// let set = Dataset::open("cartpole/random-v0", &DatasetOptions::new())?;
/// for i in 0..set.episodes()? {
///     let episode = set.episode(i)?;
///     println!("{} steps, {:?}", episode.batch_size()[0], episode.tensor(["next", "reward"])?);
/// }
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Dataset {
    handle: Handle<sys::td_dataset>,
}

// SAFETY: the library lets several threads call at once.
unsafe impl Sync for Dataset {}

impl Dataset {
    pub(crate) fn raw(&self) -> *const sys::td_dataset {
        self.handle.get()
    }

    /// Opens a folder or a file. Values are read when they are asked for.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>, options: &DatasetOptions) -> Result<Self> {
        library::ready()?;
        let path = Folder::new(Some(path.as_ref()))?;
        let mut raw = options.raw;
        raw.clock = options.clock.as_ref().map_or(std::ptr::null(), |topic| topic.as_ptr());
        let mut token = std::ptr::null_mut();
        // SAFETY: path and options live for the call, which gives us the handle when it succeeds.
        unsafe {
            check(sys::td_dataset_open(path.text(), &raw, &mut token))?;
            Ok(Self { handle: Handle::new(token) })
        }
    }

    #[track_caller]
    fn about(&self) -> Result<(sys::td_dataset_kind, i64, i64)> {
        let (mut kind, mut episodes, mut steps) = (0, 0, 0);
        // SAFETY: the handle is alive, and the numbers are ours.
        check(unsafe {
            sys::td_dataset_about(self.handle.get(), &mut kind, &mut episodes, &mut steps)
        })?;
        Ok((kind, episodes, steps))
    }

    /// Which library's layout it has.
    #[track_caller]
    pub fn kind(&self) -> Result<DatasetKind> {
        let number = self.about()?.0;
        Ok(DatasetKind::ALL.iter().find(|row| row.1 == number).expect("a kind of this version").0)
    }

    /// The number of episodes.
    #[track_caller]
    pub fn episodes(&self) -> Result<i64> {
        Ok(self.about()?.1)
    }

    /// The number of steps of all episodes.
    #[track_caller]
    pub fn steps(&self) -> Result<i64> {
        Ok(self.about()?.2)
    }

    /// The version of the library that wrote it, as it says itself; empty if it does not.
    #[track_caller]
    pub fn version(&self) -> Result<String> {
        // SAFETY: the handle is alive, and the room is as large as said.
        read_text(|text, room, length| unsafe {
            sys::td_dataset_version(self.handle.get(), text, room, length)
        })
    }

    /// The number of steps of each episode.
    #[track_caller]
    pub fn lengths(&self) -> Result<Vec<i64>> {
        // SAFETY: the handle is alive, and the room is as large as said.
        read_list(0, |lengths, room, count| unsafe {
            sys::td_dataset_lengths(self.handle.get(), lengths, room, count)
        })
    }

    /// A dictionary without rows that has the entries of an episode: their keys, dtypes and sizes.
    #[track_caller]
    pub fn structure(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_dataset_structure(self.handle.get(), result)
        })
    }

    /// What the data set says of itself.
    #[track_caller]
    pub fn metadata(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_dataset_metadata(self.handle.get(), result) })
    }

    /// What the data set says of one episode.
    #[track_caller]
    pub fn episode_metadata(&self, episode: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_dataset_episode_metadata(self.handle.get(), episode, result)
        })
    }

    /// One episode, of which each step is a row.
    #[track_caller]
    pub fn episode(&self, episode: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_dataset_episode(self.handle.get(), episode, result)
        })
    }

    /// Episodes as the elements of a lazy stack.
    #[track_caller]
    pub fn episode_stack(&self, first: i64, count: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_dataset_episodes(self.handle.get(), first, count, result)
        })
    }

    /// Rows of all episodes, numbered one after the other.
    #[track_caller]
    pub fn rows(&self, first: i64, count: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_dataset_rows(self.handle.get(), first, count, result)
        })
    }

    /// All rows.
    #[track_caller]
    pub fn flat(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_dataset_flat(self.handle.get(), result) })
    }

    /// Writes it as another kind, or as the same, with all metadata.
    #[track_caller]
    pub fn convert(
        &self,
        kind: DatasetKind,
        file: impl AsRef<Path>,
        options: &DatasetSaveOptions,
    ) -> Result<()> {
        let path = Folder::new(Some(file.as_ref()))?;
        // SAFETY: the handle is alive, path and options live for the call.
        check(unsafe {
            sys::td_dataset_convert(self.handle.get(), kind.number(), path.text(), &options.raw)
        })
    }
}

impl Dict {
    /// Writes a data set: episodes are runs of one number in `episode`, or the elements of a lazy stack.
    #[track_caller]
    pub fn save_dataset(
        &self,
        kind: DatasetKind,
        file: impl AsRef<Path>,
        metadata: Option<&Dict>,
        options: &DatasetSaveOptions,
    ) -> Result<()> {
        let path = Folder::new(Some(file.as_ref()))?;
        let metadata = metadata.map_or(std::ptr::null(), |td| td.raw());
        // SAFETY: the handles are alive, path and options live for the call.
        check(unsafe {
            sys::td_dataset_save(self.raw(), metadata, kind.number(), path.text(), &options.raw)
        })
    }
}

/// Writes a data set episode by episode. Whatever happens to the program, the set opens and has all episodes that were
/// added.
///
/// ```no_run
/// use tensordict::{DatasetKind, DatasetSaveOptions, DatasetWriter, TensorDict};
///
/// # fn play() -> TensorDict { unimplemented!() }
/// let options = DatasetSaveOptions::new().resume();
/// let mut writer = DatasetWriter::open("games/mine-v0", DatasetKind::Minari, None, &options)?;
/// while writer.episodes()? < 100 {
///     writer.add(&play(), None)?;
/// }
/// writer.close()?;
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct DatasetWriter {
    handle: Handle<sys::td_dataset_writer>,
}

impl DatasetWriter {
    /// Opens a writer. Nothing is written before the first episode.
    #[track_caller]
    pub fn open(
        file: impl AsRef<Path>,
        kind: DatasetKind,
        metadata: Option<&Dict>,
        options: &DatasetSaveOptions,
    ) -> Result<Self> {
        library::ready()?;
        let path = Folder::new(Some(file.as_ref()))?;
        let metadata = metadata.map_or(std::ptr::null(), |td| td.raw());
        let (kind, mut token) = (kind.number(), std::ptr::null_mut());
        // SAFETY: path, metadata and options live for the call, which gives us the handle when it succeeds.
        unsafe {
            check(sys::td_dataset_writer_open(
                path.text(),
                kind,
                metadata,
                &options.raw,
                &mut token,
            ))?;
            Ok(Self { handle: Handle::new(token) })
        }
    }

    /// Adds an episode, of which each step is a row, with what there is to say of it.
    #[track_caller]
    pub fn add(&mut self, rows: &Dict, metadata: Option<&Dict>) -> Result<()> {
        let metadata = metadata.map_or(std::ptr::null(), |td| td.raw());
        // SAFETY: the handles are alive, and the writer's is ours alone.
        check(unsafe { sys::td_dataset_writer_add(self.handle.get_mut(), rows.raw(), metadata) })
    }

    /// The number of episodes in the set.
    #[track_caller]
    pub fn episodes(&self) -> Result<i64> {
        let mut episodes = 0;
        // SAFETY: the handle is alive, and the number is ours.
        check(unsafe { sys::td_dataset_writer_episodes(self.handle.get(), &mut episodes) })?;
        Ok(episodes)
    }

    /// Ends the writing; later episodes are refused.
    #[track_caller]
    pub fn close(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_dataset_writer_close(self.handle.get_mut()) })
    }
}

impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind(), self.episodes()) {
            (Ok(kind), Ok(episodes)) => write!(f, "Dataset({kind:?}, {episodes} episodes)"),
            _ => write!(f, "Dataset"),
        }
    }
}

impl std::fmt::Debug for DatasetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.episodes() {
            Ok(episodes) => write!(f, "DatasetWriter({episodes} episodes)"),
            _ => write!(f, "DatasetWriter"),
        }
    }
}
