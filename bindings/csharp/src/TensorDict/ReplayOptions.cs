using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Which rows a <see cref="Replay"/> draws.</summary>
    public enum ReplaySampler
    {
        /// <summary>What the files of the folder are of; otherwise random.</summary>
        AsStored = 0,

        /// <summary>Any row any number of times.</summary>
        Random = 1,

        /// <summary>Each row once, then again in another order.</summary>
        WithoutReplacement = 2,

        /// <summary>Runs of rows of an episode.</summary>
        Slices = 3,

        /// <summary>Each row as often as its priority says.</summary>
        Prioritized = 4,

        /// <summary>One slice of each episode, then again in another order.</summary>
        SlicesWithoutReplacement = 5,

        /// <summary>Slices whose first row is drawn by its priority.</summary>
        PrioritizedSlices = 6,
    }

    /// <summary>Whose achieved goal a row gets in hindsight.</summary>
    public enum HindsightStrategy
    {
        /// <summary>That of a row of its episode, from itself on.</summary>
        Future = 0,

        /// <summary>That of the last row of its episode.</summary>
        Final = 1,

        /// <summary>That of any row of its episode.</summary>
        Episode = 2,

        /// <summary>That of any row of the buffer.</summary>
        Random = 3,
    }

    /// <summary>How <see cref="Replay.SampleHindsight"/> gives rows other goals.</summary>
    public sealed record HindsightOptions
    {
        /// <summary>Whose goals rows get.</summary>
        public HindsightStrategy Strategy { get; set; }

        /// <summary>What part of the rows get another goal: the first ones of a batch.</summary>
        public double Ratio { get; set; } = 0.8;

        /// <summary>The entry of goals that are wanted.</summary>
        public NestedKey Goal { get; set; } = "desired_goal";

        /// <summary>The entry of goals that were reached.</summary>
        public NestedKey AchievedGoal { get; set; } = "achieved_goal";

        /// <summary>The entry of rewards.</summary>
        public NestedKey Reward { get; set; } = new NestedKey("next", "reward");
    }

    /// <summary>What a <see cref="Replay"/> draws, and where its rows lie.</summary>
    public sealed record ReplayOptions
    {
        /// <summary>Which rows are drawn.</summary>
        public ReplaySampler Sampler { get; set; }

        /// <summary>Rows of a batch, for <see cref="Replay.Sample"/> without a number.</summary>
        public long Rows { get; set; }

        /// <summary>What draws follow from; a random one unless set.</summary>
        public ulong? Seed { get; set; }

        /// <summary>A new folder for the rows, which other processes may open.</summary>
        public string? Folder { get; set; }

        /// <summary>Without replacement: leaves out what is no full batch.</summary>
        public bool DropLast { get; set; }

        /// <summary>Without replacement: in the order of the places.</summary>
        public bool InOrder { get; set; }

        /// <summary>Rows of a slice.</summary>
        public long SliceLength { get; set; }

        /// <summary>Slices of a batch, instead of <see cref="SliceLength"/>.</summary>
        public long SliceCount { get; set; }

        /// <summary>An entry that differs from episode to episode.</summary>
        public NestedKey? Episode { get; set; }

        /// <summary>Entries that are true in the last row of an episode.</summary>
        public IEnumerable<NestedKey>? Ends { get; set; }

        /// <summary>Slices: an episode that is shorter is taken as it is.</summary>
        public bool ShortSlices { get; set; }

        /// <summary>Slices: one may begin before its episode; what is outside is left out.</summary>
        public bool SpanBegin { get; set; }

        /// <summary>Slices: one may end behind its episode; what is outside is left out.</summary>
        public bool SpanEnd { get; set; }

        /// <summary>Slices: how many rows of one may lie before its episode; 0: <see cref="SpanBegin"/> says.</summary>
        public long SpanBeginRows { get; set; }

        /// <summary>Slices: how many rows of one may lie behind its episode; 0: <see cref="SpanEnd"/> says.</summary>
        public long SpanEndRows { get; set; }

        /// <summary>Slices: ("next", "truncated"), ("next", "done") and "is_init" say where each ends and begins.</summary>
        public bool MarkEnds { get; set; }

        /// <summary>
        /// Slices: a batch is [slices, rows of a slice]; ("collector", "mask") is false in rows that fill up.
        /// </summary>
        public bool BySlice { get; set; }

        /// <summary>Prioritized: rows count as (priority + Eps)^Alpha.</summary>
        public double Alpha { get; set; } = 0.6;

        /// <summary>Prioritized: the exponent of weights.</summary>
        public double Beta { get; set; } = 0.4;

        /// <summary>Prioritized: what is added to each priority.</summary>
        public double Eps { get; set; } = 1e-8;

        /// <summary>Prioritized: the largest weight of each batch is 1.</summary>
        public bool BatchWeights { get; set; }

        /// <summary>Prioritized: an entry with the priority of each new row.</summary>
        public NestedKey? PriorityKey { get; set; }

        /// <summary>Prioritized: new rows get the largest priority of rows that are there.</summary>
        public bool LargestWithin { get; set; }

        /// <summary>
        /// Each row has the discounted return of so many steps, unless its episode or the newest row ends them;
        /// "steps_to_next_obs", "gamma" and "nonterminal" say how many they are. 0: rows are as they were written.
        /// </summary>
        public long Steps { get; set; }

        /// <summary>Returns of several steps: the discount of each step.</summary>
        public double Gamma { get; set; } = 0.99;

        /// <summary>Returns of several steps: entries that are summed; ("next", "reward") unless set.</summary>
        public IEnumerable<NestedKey>? Rewards { get; set; }

        /// <summary>Returns of several steps: an entry that is false in rows which only fill up.</summary>
        public NestedKey? Mask { get; set; }

        /// <summary>How many dimensions the storage has: the first is time, and single elements are drawn.</summary>
        public long Dimensions { get; set; }

        internal td_replay_options ToRaw(long capacity)
        {
            td_replay_options raw = td_replay_options.Default;
            raw.capacity = capacity;
            raw.rows = Rows;
            raw.flags = (DropLast ? td_replay_flags.TD_REPLAY_DROP_LAST : 0)
                | (InOrder ? td_replay_flags.TD_REPLAY_IN_ORDER : 0)
                | (ShortSlices ? td_replay_flags.TD_REPLAY_SHORT : 0)
                | (SpanBegin ? td_replay_flags.TD_REPLAY_SPAN_BEGIN : 0)
                | (SpanEnd ? td_replay_flags.TD_REPLAY_SPAN_END : 0)
                | (BatchWeights ? td_replay_flags.TD_REPLAY_BATCH_WEIGHTS : 0)
                | (LargestWithin ? td_replay_flags.TD_REPLAY_LARGEST_WITHIN : 0)
                | (MarkEnds ? td_replay_flags.TD_REPLAY_MARK_ENDS : 0)
                | (BySlice ? td_replay_flags.TD_REPLAY_BY_SLICE : 0);
            raw.seed = Seed ?? BitConverter.ToUInt64(Guid.NewGuid().ToByteArray(), 8);
            raw.alpha = Alpha;
            raw.beta = Beta;
            raw.eps = Eps;
            raw.slice_len = SliceLength;
            raw.num_slices = SliceCount;
            raw.span_begin = SpanBeginRows;
            raw.span_end = SpanEndRows;
            raw.dims = Dimensions;
            raw.n_steps = Steps;
            raw.gamma = Gamma;
            raw.sampler = (td_replay_sampler)Sampler;
            return raw;
        }
    }
}
