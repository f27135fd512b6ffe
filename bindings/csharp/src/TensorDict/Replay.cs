using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A ring of rows: when all places hold one, a new row takes the place of the oldest. Threads may share it. Its
    /// folder is that of TorchRL's ReplayBuffer.
    /// </summary>
    public sealed unsafe class Replay : IDisposable
    {
        private readonly ReplayHandle handle;

        /// <summary>An empty buffer of so many places. The first row says what rows look like.</summary>
        public Replay(long capacity, ReplayOptions? options = null)
            : this(capacity, options, null, live: false)
        {
        }

        private Replay(long capacity, ReplayOptions? options, string? stored, bool live, Dataset? set = null)
        {
            options ??= new ReplayOptions();
            td_replay_options raw = options.ToRaw(capacity);
            using var ends = new Utf8Keys(options.Ends ?? Array.Empty<NestedKey>());
            using var episode = Utf8Keys.Optional(options.Episode);
            using var priority = Utf8Keys.Optional(options.PriorityKey);
            using var rewards = new Utf8Keys(options.Rewards ?? Array.Empty<NestedKey>());
            using var mask = Utf8Keys.Optional(options.Mask);
            raw.rewards = rewards.Pointer;
            raw.rewards_len = rewards.Length;
            raw.mask = mask.Pointer;
            raw.ends = ends.Pointer;
            raw.ends_len = ends.Length;
            raw.priority_key = priority.Pointer;
            raw.episode = episode.Pointer;
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var folder = new Utf8Text(stored ?? options.Folder ?? string.Empty, "folder", stack);
            td_replay* result = null;
            using var steps = set == null ? default : set.Handle.Borrow();
            if (set != null)
            {
                Status.Check(Native.td_replay_create_from_dataset(steps.Pointer, &raw, &result));
            }
            else if (stored != null)
            {
                Status.Check(live ? Native.td_replay_open(folder.Pointer, &raw, &result)
                    : Native.td_replay_load(folder.Pointer, &raw, &result));
            }
            else
            {
                raw.folder = options.Folder == null ? null : folder.Pointer;
                Status.Check(Native.td_replay_create(&raw, &result));
            }
            handle = new ReplayHandle(result);
        }

        /// <summary>A folder in which several processes may work at once.</summary>
        public static Replay Open(string folder, ReplayOptions? options = null) =>
            new Replay(0, options, Argument.NotNull(folder, nameof(folder)), live: true);

        /// <summary>A folder for this process alone: what is written afterwards stays in memory.</summary>
        public static Replay Load(string folder, ReplayOptions? options = null) =>
            new Replay(0, options, Argument.NotNull(folder, nameof(folder)), live: false);

        /// <summary>
        /// The steps of all episodes of a data set, which are read when they are drawn. None are added; slices stay in an episode.
        /// </summary>
        public static Replay FromDataset(Dataset set, ReplayOptions? options = null) =>
            new Replay(0, options, null, live: false, Argument.NotNull(set, nameof(set)));

        /// <summary>How many rows are there.</summary>
        public long Count => Place().Count;

        /// <summary>How many places there are.</summary>
        public long Capacity => Place().Capacity;

        /// <summary>The place of the next row.</summary>
        public long Cursor => Place().Cursor;

        /// <summary>How many rows were ever written.</summary>
        public long Written => Place().Written;

        private (long Count, long Capacity, long Cursor, long Written) Place()
        {
            using var own = handle.Borrow();
            long count = 0, capacity = 0, cursor = 0, written = 0;
            Status.Check(Native.td_replay_where(own.Pointer, &count, &capacity, &cursor, &written));
            return (count, capacity, cursor, written);
        }

        /// <summary>Writes one row.</summary>
        public void Add(TensorDict row)
        {
            using var own = handle.Borrow();
            using var source = Argument.NotNull(row, nameof(row)).Handle.Borrow();
            Status.Check(Native.td_replay_add(own.Pointer, source.Pointer));
        }

        /// <summary>Writes rows: the elements of the first batch dimension.</summary>
        public void Extend(TensorDict rows)
        {
            using var own = handle.Borrow();
            using var source = Argument.NotNull(rows, nameof(rows)).Handle.Borrow();
            Status.Check(Native.td_replay_extend(own.Pointer, source.Pointer));
        }

        /// <summary>
        /// Draws rows; 0: as many as the options say. The batch has their places as "index", and from a prioritized
        /// buffer their weights as "priority_weight".
        /// </summary>
        public TensorDict Sample(long rows = 0)
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_replay_sample(own.Pointer, rows, &result), result);
        }

        /// <summary>
        /// Draws rows, and gives the first of them goals that were reached. The module gets these rows and writes their
        /// rewards; without it, these stay as they were written.
        /// </summary>
        public TensorDict SampleHindsight(
            long rows = 0, HindsightOptions? options = null, TensorDictModule? reward = null)
        {
            options ??= new HindsightOptions();
            using var own = handle.Borrow();
            using var goal = new Utf8Keys(new[] { options.Goal });
            using var achieved = new Utf8Keys(new[] { options.AchievedGoal });
            using var rewards = new Utf8Keys(new[] { options.Reward });
            using var module = reward == null ? default : reward.Handle.Borrow();
            td_replay_hindsight_options raw = td_replay_hindsight_options.Default;
            raw.strategy = (td_replay_hindsight)options.Strategy;
            raw.ratio = options.Ratio;
            raw.goal = goal.Pointer;
            raw.achieved_goal = achieved.Pointer;
            raw.reward = rewards.Pointer;
            td_tensordict* result = null;
            ModuleContext.Check(Native.td_replay_sample_hindsight(own.Pointer, rows, &raw, module.Pointer, &result));
            return TensorDict.Own(result);
        }

        /// <summary>Gives rows other priorities: one for each, or one for all.</summary>
        public void UpdatePriority(Tensor index, Tensor priority)
        {
            using var own = handle.Borrow();
            using var places = Argument.NotNull(index, nameof(index)).Handle.Borrow();
            using var values = Argument.NotNull(priority, nameof(priority)).Handle.Borrow();
            Status.Check(Native.td_replay_update_priority(own.Pointer, places.Pointer, values.Pointer));
        }

        /// <summary>Sets the exponent of the weights.</summary>
        public void SetBeta(double beta)
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_replay_set_beta(own.Pointer, beta));
        }

        /// <summary>The rows that are there, in the order of their places, over the memory of the buffer.</summary>
        public TensorDict Stored()
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_replay_dict(own.Pointer, &result), result);
        }

        /// <summary>
        /// Saves to a folder, with the sampler: whoever loads it goes on with the same draws. Without a name, tells the
        /// own folder what the sampler knows.
        /// </summary>
        public void Save(string? folder = null, bool durable = false)
        {
            using var own = handle.Borrow();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(folder ?? string.Empty, nameof(folder), stack);
            Status.Check(Native.td_replay_save(
                own.Pointer, folder == null ? null : path.Pointer,
                durable ? td_replay_save_flags.TD_REPLAY_SAVE_DURABLE : 0));
        }

        /// <summary>Frees the buffer. A folder stays, with all rows.</summary>
        public void Dispose() => handle.Dispose();
    }
}
