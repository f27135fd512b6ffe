//! Replay buffers: rings of rows, in memory or in a folder of TorchRL's.

use std::path::{Path, PathBuf};

use tensordict_sys as sys;

use crate::dataset::Dataset;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::handle::Handle;
use crate::key::{Key, KeyPath};
use crate::library;
use crate::memmap::Folder;
use crate::module::{parked, TensorDictModule};
use crate::select::RawKeys;
use crate::tensor::Tensor;

/// What a [`Replay`] draws, and where its rows lie.
#[derive(Clone)]
pub struct ReplayOptions {
    raw: sys::td_replay_options,
    episode: Vec<KeyPath>,
    ends: Vec<KeyPath>,
    priority: Vec<KeyPath>,
    rewards: Vec<KeyPath>,
    mask: Vec<KeyPath>,
    folder: Option<PathBuf>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        let (raw, none) = (Default::default(), Vec::new);
        let (episode, ends, priority, rewards, mask) = (none(), none(), none(), none(), none());
        Self { raw, episode, ends, priority, rewards, mask, folder: None }
    }
}

impl ReplayOptions {
    /// Any row any number of times; of a folder what its files are of.
    pub fn new() -> Self {
        Self::default()
    }

    fn flag(mut self, flag: sys::td_replay_flags) -> Self {
        self.raw.flags |= flag;
        self
    }

    fn sampler(mut self, sampler: sys::td_replay_sampler) -> Self {
        self.raw.sampler = sampler;
        self
    }

    /// Any row any number of times.
    pub fn random(self) -> Self {
        self.sampler(sys::TD_REPLAY_SAMPLER_RANDOM)
    }

    /// Each row once, then again in another order.
    pub fn without_replacement(self) -> Self {
        self.sampler(sys::TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT)
    }

    /// Without replacement: leaves out what is no full batch.
    pub fn drop_last(self) -> Self {
        self.flag(sys::TD_REPLAY_DROP_LAST)
    }

    /// Without replacement: in the order of the places.
    pub fn in_order(self) -> Self {
        self.flag(sys::TD_REPLAY_IN_ORDER)
    }

    /// Runs of `len` rows of an episode; [`episode`](Self::episode) or [`ends`](Self::ends) tells these apart.
    pub fn slices(mut self, len: i64) -> Self {
        self.raw.slice_len = len;
        self.sampler(sys::TD_REPLAY_SAMPLER_SLICES)
    }

    /// Slices, so many in a batch: its rows say how long each is.
    pub fn num_slices(mut self, count: i64) -> Self {
        self.raw.num_slices = count;
        self.sampler(sys::TD_REPLAY_SAMPLER_SLICES)
    }

    /// One slice of `len` rows of each episode, then again in another order.
    pub fn slices_without_replacement(self, len: i64) -> Self {
        self.slices(len).sampler(sys::TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT)
    }

    /// Slices of `len` rows, whose first ones are drawn as by [`prioritized`](Self::prioritized).
    pub fn prioritized_slices(self, len: i64, alpha: f64, beta: f64) -> Self {
        let options = self.slices(len).prioritized(alpha, beta);
        options.sampler(sys::TD_REPLAY_SAMPLER_PRIORITIZED_SLICES)
    }

    /// An entry that differs from episode to episode.
    pub fn episode<K: Key>(mut self, key: K) -> Self {
        self.episode = vec![KeyPath::new(key)];
        self
    }

    /// Entries of `bool` that are true in the last row of an episode.
    pub fn ends<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.ends = keys.into_iter().map(KeyPath::new).collect();
        self
    }

    /// Slices: an episode that is shorter is taken as it is.
    pub fn short_slices(self) -> Self {
        self.flag(sys::TD_REPLAY_SHORT)
    }

    /// Slices: one may begin before its episode; what is outside is left out.
    pub fn span_begin(self) -> Self {
        self.flag(sys::TD_REPLAY_SPAN_BEGIN)
    }

    /// Slices: one may end behind its episode; what is outside is left out.
    pub fn span_end(self) -> Self {
        self.flag(sys::TD_REPLAY_SPAN_END)
    }

    /// Slices: how many rows of one may lie before its episode, and behind it.
    pub fn span(mut self, begin: i64, end: i64) -> Self {
        (self.raw.span_begin, self.raw.span_end) = (begin, end);
        self
    }

    /// Slices: `("next", "truncated")`, `("next", "done")` and `"is_init"` say where each ends and begins.
    pub fn mark_ends(self) -> Self {
        self.flag(sys::TD_REPLAY_MARK_ENDS)
    }

    /// Slices: a batch is `[slices, rows of a slice]`; `("collector", "mask")` is false in rows that fill up.
    pub fn by_slice(self) -> Self {
        self.flag(sys::TD_REPLAY_BY_SLICE)
    }

    /// Rows count as (priority + eps)^alpha; weights have the exponent `beta`.
    pub fn prioritized(mut self, alpha: f64, beta: f64) -> Self {
        (self.raw.alpha, self.raw.beta) = (alpha, beta);
        self.sampler(sys::TD_REPLAY_SAMPLER_PRIORITIZED)
    }

    setters! {
        /// Prioritized: what is added to each priority, 1e-8 unless said otherwise.
        eps(eps: f64) => raw.eps;
        /// How many dimensions the storage has: the first is time, and single elements are drawn.
        dims(dims: i64) => raw.dims;
        /// Rows of a batch, for [`Replay::sample`] with 0.
        rows(rows: i64) => raw.rows;
        /// What draws follow from.
        seed(seed: u64) => raw.seed;
    }

    /// Prioritized: the largest weight of each batch is 1.
    pub fn batch_weights(self) -> Self {
        self.flag(sys::TD_REPLAY_BATCH_WEIGHTS)
    }

    /// Prioritized: an entry with the priority of each new row.
    pub fn priority_key<K: Key>(mut self, key: K) -> Self {
        self.priority = vec![KeyPath::new(key)];
        self
    }

    /// Prioritized: new rows get the largest priority of rows that are there, not the largest ever given.
    pub fn largest_within(self) -> Self {
        self.flag(sys::TD_REPLAY_LARGEST_WITHIN)
    }

    /// Rows have the discounted return of so many steps, unless the episode or the newest row ends them;
    /// `"steps_to_next_obs"`, `"gamma"` and `"nonterminal"` say how many they are.
    pub fn n_steps(mut self, steps: i64, gamma: f64) -> Self {
        (self.raw.n_steps, self.raw.gamma) = (steps, gamma);
        self
    }

    /// Returns of several steps: the entries that are summed, `("next", "reward")` unless said otherwise.
    pub fn rewards<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.rewards = keys.into_iter().map(KeyPath::new).collect();
        self
    }

    /// Returns of several steps: an entry of `bool` that is false in rows which only fill up.
    pub fn mask<K: Key>(mut self, key: K) -> Self {
        self.mask = vec![KeyPath::new(key)];
        self
    }

    /// The rows lie in a new folder, which other processes may [open](Replay::open).
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_path_buf());
        self
    }

    // Calls with the options as the library takes them.
    #[track_caller]
    fn call(
        &self,
        capacity: i64,
        call: impl FnOnce(*const sys::td_replay_options, *mut *mut sys::td_replay) -> sys::td_status,
    ) -> Result<Replay> {
        library::ready()?;
        let episode = RawKeys::new(&self.episode)?;
        let ends = RawKeys::new(&self.ends)?;
        let priority = RawKeys::new(&self.priority)?;
        let (rewards, mask) = (RawKeys::new(&self.rewards)?, RawKeys::new(&self.mask)?);
        let folder = Folder::new(self.folder.as_deref())?;
        let mut raw = self.raw;
        raw.capacity = capacity;
        raw.folder = folder.text();
        if episode.len() != 0 {
            raw.episode = episode.list();
        }
        if priority.len() != 0 {
            raw.priority_key = priority.list();
        }
        if mask.len() != 0 {
            raw.mask = mask.list();
        }
        if rewards.len() != 0 {
            (raw.rewards, raw.rewards_len) = (rewards.list(), rewards.len());
        }
        if ends.len() != 0 {
            (raw.ends, raw.ends_len) = (ends.list(), ends.len());
        }
        let mut token = std::ptr::null_mut();
        check(call(&raw, &mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Replay { handle: unsafe { Handle::new(token) } })
    }
}

/// Whose achieved goal a row gets in hindsight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HindsightStrategy {
    /// That of a row of its episode, from itself on.
    #[default]
    Future,
    /// That of the last row of its episode.
    Final,
    /// That of any row of its episode.
    Episode,
    /// That of any row of the buffer.
    Random,
}

/// How [`Replay::sample_hindsight`] gives rows other goals.
#[derive(Clone, Debug)]
pub struct HindsightOptions {
    raw: sys::td_replay_hindsight_options,
    goal: KeyPath,
    achieved_goal: KeyPath,
    reward: KeyPath,
}

impl Default for HindsightOptions {
    fn default() -> Self {
        Self {
            raw: Default::default(),
            goal: KeyPath::new("desired_goal"),
            achieved_goal: KeyPath::new("achieved_goal"),
            reward: KeyPath::new(("next", "reward")),
        }
    }
}

impl HindsightOptions {
    /// Goals of later rows of the episode, for 0.8 of the rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whose goals rows get.
    pub fn strategy(mut self, strategy: HindsightStrategy) -> Self {
        self.raw.strategy = match strategy {
            HindsightStrategy::Future => sys::TD_REPLAY_HINDSIGHT_FUTURE,
            HindsightStrategy::Final => sys::TD_REPLAY_HINDSIGHT_FINAL,
            HindsightStrategy::Episode => sys::TD_REPLAY_HINDSIGHT_EPISODE,
            HindsightStrategy::Random => sys::TD_REPLAY_HINDSIGHT_RANDOM,
        };
        self
    }

    /// What part of the rows get another goal: the first ones of a batch.
    pub fn ratio(mut self, ratio: f64) -> Self {
        self.raw.ratio = ratio;
        self
    }

    /// The entries of goals that are wanted, and of those that were reached.
    pub fn goals<G: Key, A: Key>(mut self, goal: G, achieved_goal: A) -> Self {
        (self.goal, self.achieved_goal) = (KeyPath::new(goal), KeyPath::new(achieved_goal));
        self
    }

    /// The entry of rewards, `("next", "reward")` unless said otherwise.
    pub fn reward<K: Key>(mut self, key: K) -> Self {
        self.reward = KeyPath::new(key);
        self
    }
}

/// A ring of rows: when all places hold one, a new row takes the place of the oldest. Threads may share it.
///
/// ```
/// use tensordict::{Replay, ReplayOptions, Tensor, TensorDict};
///
/// let replay = Replay::new(1000, ReplayOptions::new().seed(1))?;
/// let x = Tensor::from_slice(&[1i64, 2, 3], [3])?;
/// let rows = TensorDict::from_pairs([3], [("x", x)])?;
/// replay.extend(&rows)?;
/// let batch = replay.sample(8)?;
/// assert_eq!(batch.batch_size(), [8]);
/// assert!(batch.tensor("index")?.to_vec::<i64>()?.iter().all(|&place| place < 3));
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Replay {
    handle: Handle<sys::td_replay>,
}

// SAFETY: the library lets several threads call at once.
unsafe impl Sync for Replay {}

impl Replay {
    /// An empty buffer of so many places. The first row says what rows look like.
    #[track_caller]
    pub fn new(capacity: i64, options: ReplayOptions) -> Result<Self> {
        // SAFETY: the options live for the call.
        options.call(capacity, |raw, result| unsafe { sys::td_replay_create(raw, result) })
    }

    /// A folder in which several processes may work at once.
    #[track_caller]
    pub fn open(folder: impl AsRef<Path>, options: ReplayOptions) -> Result<Self> {
        let folder = Folder::new(Some(folder.as_ref()))?;
        // SAFETY: the options and the name live for the call.
        options.call(0, |raw, result| unsafe { sys::td_replay_open(folder.text(), raw, result) })
    }

    /// A folder for this process alone: what is written afterwards stays in memory.
    #[track_caller]
    pub fn load(folder: impl AsRef<Path>, options: ReplayOptions) -> Result<Self> {
        let folder = Folder::new(Some(folder.as_ref()))?;
        // SAFETY: the options and the name live for the call.
        options.call(0, |raw, result| unsafe { sys::td_replay_load(folder.text(), raw, result) })
    }

    /// The steps of all episodes of a data set, which are read when they are drawn. None are added.
    #[track_caller]
    pub fn from_dataset(set: &Dataset, options: ReplayOptions) -> Result<Self> {
        options.call(0, |raw, result| {
            // SAFETY: the set and the options live for the call.
            unsafe { sys::td_replay_create_from_dataset(set.raw(), raw, result) }
        })
    }

    fn raw(&self) -> *mut sys::td_replay {
        self.handle.get().cast_mut()
    }

    /// Writes one row.
    #[track_caller]
    pub fn add(&self, row: &Dict) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_replay_add(self.raw(), row.raw()) })
    }

    /// Writes rows: the elements of the first batch dimension.
    #[track_caller]
    pub fn extend(&self, rows: &Dict) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_replay_extend(self.raw(), rows.raw()) })
    }

    /// Draws rows; 0: as many as the options say. The batch has their places as "index", and from a
    /// prioritized buffer their weights as "priority_weight".
    #[track_caller]
    pub fn sample(&self, rows: i64) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_replay_sample(self.raw(), rows, result) })
    }

    /// Draws rows, and gives the first of them goals that were reached. `reward` gets these rows and writes
    /// their rewards; without it, these stay as they were written.
    ///
    /// ```
    /// use tensordict::{HindsightOptions, Replay, ReplayOptions, Tensor, TensorDict, TensorDictModule};
    ///
    /// let column = |values: [f32; 3]| Tensor::from_slice(&values, [3]);
    /// let mut rows = TensorDict::from_pairs([3], [("achieved_goal", column([0.0, 1.0, 2.0])?)])?;
    /// rows.set("desired_goal", &column([9.0; 3])?)?;
    /// rows.set(("next", "reward"), &column([0.0; 3])?)?;
    /// rows.set(("next", "done"), &Tensor::from_slice(&[false, false, true], [3])?)?;
    /// let replay = Replay::new(3, ReplayOptions::new().seed(1))?;
    /// replay.extend(&rows)?;
    /// let reward = TensorDictModule::new(["desired_goal"], [("next", "reward")], |mut td: TensorDict| {
    ///     let goal = td.tensor("desired_goal")?.to_vec::<f32>()?;
    ///     td.set(("next", "reward"), &Tensor::from_slice(&goal, [goal.len() as i64])?)?;
    ///     Ok(td)
    /// })?;
    /// let batch = replay.sample_hindsight(5, &HindsightOptions::new(), Some(&reward))?;
    /// let goals = batch.tensor("desired_goal")?.to_vec::<f32>()?;
    /// assert!(goals[..4].iter().all(|goal| *goal < 3.0) && goals[4] == 9.0);
    /// assert_eq!(batch.tensor(("next", "reward"))?.to_vec::<f32>()?[..4], goals[..4]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn sample_hindsight(
        &self,
        rows: i64,
        options: &HindsightOptions,
        reward: Option<&TensorDictModule>,
    ) -> Result<TensorDict> {
        let keys = RawKeys::new([&options.goal, &options.achieved_goal, &options.reward])?;
        let mut raw = options.raw;
        // SAFETY: the list has three keys.
        unsafe {
            (raw.goal, raw.achieved_goal) = (keys.list(), keys.list().add(1));
            raw.reward = keys.list().add(2);
        }
        let reward = reward.map_or(std::ptr::null(), TensorDictModule::raw);
        // SAFETY: the handles and the keys are alive.
        parked(TensorDict::receive(|result| unsafe {
            sys::td_replay_sample_hindsight(self.raw(), rows, &raw, reward, result)
        }))
    }

    /// Gives rows other priorities: one for each, or one for all.
    #[track_caller]
    pub fn update_priority(&self, index: &Tensor, priority: &Tensor) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_replay_update_priority(self.raw(), index.raw(), priority.raw()) })
    }

    /// Sets the exponent of the weights.
    #[track_caller]
    pub fn set_beta(&self, beta: f64) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_replay_set_beta(self.raw(), beta) })
    }

    // Rows that are there, places, the place of the next row, rows ever written.
    #[track_caller]
    fn place(&self) -> Result<[i64; 4]> {
        let [mut len, mut capacity, mut cursor, mut written] = [0; 4];
        // SAFETY: the handle is alive.
        check(unsafe {
            sys::td_replay_where(self.raw(), &mut len, &mut capacity, &mut cursor, &mut written)
        })?;
        Ok([len, capacity, cursor, written])
    }

    /// How many rows are there.
    #[track_caller]
    pub fn num_rows(&self) -> Result<i64> {
        Ok(self.place()?[0])
    }

    /// How many places there are.
    #[track_caller]
    pub fn capacity(&self) -> Result<i64> {
        Ok(self.place()?[1])
    }

    /// The place of the next row.
    #[track_caller]
    pub fn cursor(&self) -> Result<i64> {
        Ok(self.place()?[2])
    }

    /// How many rows were ever written.
    #[track_caller]
    pub fn written(&self) -> Result<i64> {
        Ok(self.place()?[3])
    }

    /// The rows that are there, in the order of their places, over the memory of the buffer.
    #[track_caller]
    pub fn dict(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_replay_dict(self.raw(), result) })
    }

    /// Saves to a folder, with the sampler; whoever loads it goes on with the same draws.
    #[track_caller]
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = Folder::new(Some(folder.as_ref()))?;
        // SAFETY: the handle is alive, and the name lives for the call.
        check(unsafe { sys::td_replay_save(self.raw(), folder.text(), 0) })
    }

    /// Tells the own folder what the sampler knows, and waits until all of it is on the disk.
    #[track_caller]
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe {
            sys::td_replay_save(self.raw(), std::ptr::null(), sys::TD_REPLAY_SAVE_DURABLE)
        })
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place() {
            Ok(place) => write!(f, "Replay({} of {} rows)", place[0], place[1]),
            Err(_) => write!(f, "Replay"),
        }
    }
}
