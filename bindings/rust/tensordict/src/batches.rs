//! Minibatches of a dictionary.

use tensordict_sys as sys;

use crate::dataset::Dataset;
use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Result};
use crate::handle::Handle;
use crate::key::{Key, KeyPath};
use crate::module::TensorDictModule;
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// How a dictionary is cut into batches. An iterator over them, or with [`loader`](Self::loader) a
/// [`Loader`] that counts epochs and can be saved.
#[derive(Clone)]
#[must_use = "batches are made when they are iterated over"]
pub struct Batches<'a> {
    from: Rows<'a>,
    raw: sys::td_loader_options,
    epochs: Option<u64>,
    keys: Vec<KeyPath>,
    episode: Vec<KeyPath>,
    ends: Vec<KeyPath>,
    weights: Option<&'a Tensor>,
    module: Option<&'a TensorDictModule>,
}

// What the rows are of.
#[derive(Clone)]
enum Rows<'a> {
    Dict(&'a Dict),
    Dataset(&'a Dataset),
}

impl Dataset {
    /// The steps of a data set as batches of `rows` each, as [`Dict::batches`] of [`flat`](Self::flat). They are read when a batch is
    /// made, ahead by the workers; slices stay in an episode.
    pub fn batches(&self, rows: usize) -> Batches<'_> {
        Batches::new(Rows::Dataset(self), rows)
    }
}

impl Dict {
    /// The rows of a dictionary as batches of `rows` each, in order; the last one may be shorter.
    ///
    /// A row is an element of the first batch dimension. The order follows from the seed alone, whatever
    /// the number of workers, and is the same in every language.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([5], [("x", Tensor::from_slice(&[1i64, 2, 3, 4, 5], [5])?)])?;
    /// let mut sum = 0;
    /// for batch in td.batches(2).shuffle(42) {
    ///     sum += batch?.tensor("x")?.to_vec::<i64>()?.iter().sum::<i64>();
    /// }
    /// assert_eq!(sum, 15);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    pub fn batches(&self, rows: usize) -> Batches<'_> {
        Batches::new(Rows::Dict(self), rows)
    }
}

impl<'a> Batches<'a> {
    fn new(from: Rows<'a>, rows: usize) -> Self {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let raw = sys::td_loader_options { rows, ..Default::default() };
        let (keys, episode, ends) = (Vec::new(), Vec::new(), Vec::new());
        Batches { from, raw, epochs: None, keys, episode, ends, weights: None, module: None }
    }

    fn flag(mut self, flag: sys::td_loader_flags) -> Self {
        self.raw.flags |= flag;
        self
    }

    /// Each row once, in an order that follows from the seed, another one in each epoch.
    pub fn shuffle(self, seed: u64) -> Self {
        self.seed(seed).flag(sys::TD_LOADER_SHUFFLE)
    }

    setters! {
        /// What draws follow from.
        seed(seed: u64) => raw.seed;
        /// Threads that make batches ahead; by default each is made when it is asked for.
        num_workers(workers: i32) => raw.num_workers;
        /// How many batches workers may be ahead; twice their number unless said otherwise.
        ahead(batches: u32) => raw.ahead;
        /// Batches of slices of `len` consecutive rows: `[rows, len]`.
        slices(len: i64) => raw.slice_len;
        /// How many rows further on the next slice of an episode begins; `len` unless said otherwise.
        slice_step(step: i64) => raw.slice_step;
    }

    /// Any row any number of times; `draws` rows are an epoch.
    pub fn with_replacement(mut self, draws: u64) -> Self {
        self.raw.draws = draws as i64;
        self.flag(sys::TD_LOADER_REPLACEMENT)
    }

    /// Rows are drawn as often as their weights say; `draws` rows are an epoch.
    pub fn weights(mut self, weights: &'a Tensor, draws: u64) -> Self {
        self.weights = Some(weights);
        self.raw.draws = draws as i64;
        self
    }

    /// Leaves out what is no full batch, and gives each rank as many batches.
    pub fn drop_last(self) -> Self {
        self.flag(sys::TD_LOADER_DROP_LAST)
    }

    /// How many epochs there are; 0 for no end. One for a loop, without end for a [`Loader`], unless said
    /// otherwise.
    pub fn epochs(mut self, epochs: u64) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// Only these entries.
    pub fn keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.keys = keys.into_iter().map(KeyPath::new).collect();
        self
    }

    /// Part `rank` of `world_size` of each epoch.
    pub fn rank(mut self, rank: i64, world_size: i64) -> Self {
        self.raw.rank = rank;
        self.raw.world_size = world_size;
        self
    }

    /// Each element of all batch dimensions is a row.
    pub fn flat(self) -> Self {
        self.flag(sys::TD_LOADER_FLAT)
    }

    /// Each epoch reads the folder of a mapped dictionary again: rows that were appended are seen.
    pub fn refresh(self) -> Self {
        self.flag(sys::TD_LOADER_REFRESH)
    }

    /// An entry that differs from episode to episode: no slice crosses such a border.
    pub fn episode<K: Key>(mut self, key: K) -> Self {
        self.episode = vec![KeyPath::new(key)];
        self
    }

    /// Entries of `bool` that are true in the last row of an episode.
    pub fn ends<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.ends = keys.into_iter().map(KeyPath::new).collect();
        self
    }

    /// Slices lie one behind the other.
    pub fn concatenate(self) -> Self {
        self.flag(sys::TD_LOADER_CONCATENATE)
    }

    /// What is left of an episode makes a shorter slice. Slices then lie one behind the other.
    pub fn short_slices(self) -> Self {
        self.flag(sys::TD_LOADER_SHORT | sys::TD_LOADER_CONCATENATE)
    }

    /// Where batches go.
    pub fn device(mut self, device: Device) -> Self {
        (self.raw.device_type, self.raw.device_index) = device.raw();
        self
    }

    /// Batches go through pinned memory.
    pub fn pin_memory(self) -> Self {
        self.flag(sys::TD_LOADER_PIN_MEMORY)
    }

    /// Writes the outputs of a module into each batch, on the worker that makes it.
    pub fn transform(mut self, module: &'a TensorDictModule) -> Self {
        self.module = Some(module);
        self
    }

    /// Starts the workers.
    #[track_caller]
    pub fn loader(self) -> Result<Loader> {
        let keys = RawKeys::new(&self.keys)?;
        let episode = RawKeys::new(&self.episode)?;
        let ends = RawKeys::new(&self.ends)?;
        let mut raw = self.raw;
        raw.epochs = i64::try_from(self.epochs.unwrap_or(0)).unwrap_or(i64::MAX);
        if keys.len() != 0 {
            (raw.keys, raw.keys_len) = (keys.list(), keys.len());
        }
        if episode.len() != 0 {
            raw.episode = episode.list();
        }
        if ends.len() != 0 {
            (raw.ends, raw.ends_len) = (ends.list(), ends.len());
        }
        raw.weights = self.weights.map_or(std::ptr::null(), Tensor::raw);
        raw.module = self.module.map_or(std::ptr::null(), TensorDictModule::raw);
        let mut token = std::ptr::null_mut();
        // SAFETY: the handles, the options and the keys that they point at are alive.
        check(unsafe {
            match self.from {
                Rows::Dict(td) => sys::td_loader_create(td.raw(), &raw, &mut token),
                Rows::Dataset(set) => {
                    sys::td_loader_create_from_dataset(set.raw(), &raw, &mut token)
                }
            }
        })?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Loader { handle: unsafe { Handle::new(token) } })
    }
}

impl IntoIterator for Batches<'_> {
    type Item = Result<TensorDict>;
    type IntoIter = BatchIter;

    #[track_caller]
    fn into_iter(self) -> BatchIter {
        let epochs = self.epochs.unwrap_or(1);
        match self.epochs(epochs).loader() {
            Ok(loader) => BatchIter { loader: Some(loader), failure: None, left: epochs },
            Err(error) => BatchIter { loader: None, failure: Some(error), left: 0 },
        }
    }
}

/// Gives batches, epoch after epoch, and knows where it is. A `for` loop over `&mut loader` is one epoch.
///
/// ```
/// use tensordict::{Tensor, TensorDict};
///
/// let td = TensorDict::from_pairs([4], [("x", Tensor::from_slice(&[1i64, 2, 3, 4], [4])?)])?;
/// let mut loader = td.batches(2).shuffle(1).num_workers(1).loader()?;
/// for epoch in 0..3 {
///     for batch in &mut loader {
///         assert_eq!(batch?.batch_size(), [2]);
///     }
/// }
/// assert_eq!(loader.epoch(), 3);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Loader {
    handle: Handle<sys::td_loader>,
}

impl Loader {
    /// The next batch; `None` at the end of each epoch, once, and always after the last one. The memory of
    /// batches that have been dropped is used again. If it fails, the next call tries the batch again.
    #[track_caller]
    pub fn next_batch(&mut self) -> Result<Option<TensorDict>> {
        // SAFETY: the handle is alive and ours alone.
        TensorDict::receive_some(|result| unsafe {
            sys::td_loader_next(self.handle.get_mut(), result)
        })
    }

    // The epoch, the next batch in it, and how many there are.
    fn place(&self) -> [i64; 3] {
        let [mut epoch, mut batch, mut batches] = [0; 3];
        // SAFETY: the handle is alive.
        sound(check(unsafe {
            sys::td_loader_where(self.handle.get(), &mut epoch, &mut batch, &mut batches)
        }));
        [epoch, batch, batches]
    }

    /// The number of the epoch, from 0; between two epochs that of the next one.
    pub fn epoch(&self) -> i64 {
        self.place()[0]
    }

    /// The number of the next batch in its epoch, from 0.
    pub fn batch(&self) -> i64 {
        self.place()[1]
    }

    /// How many batches the epoch has; between two epochs 0.
    pub fn num_batches(&self) -> i64 {
        self.place()[2]
    }

    /// What another loader with the same options needs to go on at the same batch.
    #[track_caller]
    pub fn state(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_loader_state(self.handle.get(), result) })
    }

    /// Goes to where another loader was.
    #[track_caller]
    pub fn load_state(&mut self, state: &Dict) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_loader_load_state(self.handle.get_mut(), state.raw()) })
    }
}

impl<'a> IntoIterator for &'a mut Loader {
    type Item = Result<TensorDict>;
    type IntoIter = EpochIter<'a>;

    fn into_iter(self) -> EpochIter<'a> {
        EpochIter { loader: self, ended: false }
    }
}

/// The batches that are left of an epoch.
pub struct EpochIter<'a> {
    loader: &'a mut Loader,
    ended: bool,
}

impl Iterator for EpochIter<'_> {
    type Item = Result<TensorDict>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let answer = self.loader.next_batch().transpose();
        self.ended = !matches!(answer, Some(Ok(_)));
        answer
    }
}

impl std::iter::FusedIterator for EpochIter<'_> {}

/// The batches of all epochs, one after the other.
pub struct BatchIter {
    loader: Option<Loader>,
    failure: Option<crate::error::Error>,
    left: u64,
}

impl Iterator for BatchIter {
    type Item = Result<TensorDict>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failure.take() {
            return Some(Err(error));
        }
        let loader = self.loader.as_mut()?;
        let mut answer = loader.next_batch().transpose();
        if answer.is_none() && self.left != 1 {
            self.left = self.left.saturating_sub(1);
            answer = loader.next_batch().transpose();
        }
        if !matches!(answer, Some(Ok(_))) {
            self.loader = None;
        }
        answer
    }
}

impl std::iter::FusedIterator for BatchIter {}
