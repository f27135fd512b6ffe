using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How <see cref="TensorDict.Batches(long, BatchOptions)"/> cuts a dictionary into batches.</summary>
    public sealed record BatchOptions
    {
        /// <summary>Each row once, in another order in each epoch.</summary>
        public bool Shuffle { get; set; }

        /// <summary>What all draws follow from; a random one unless set.</summary>
        public ulong? Seed { get; set; }

        /// <summary>How many epochs one loop has; 0: without end.</summary>
        public int Epochs { get; set; } = 1;

        /// <summary>Leaves out what is no full batch, and gives each rank as many batches.</summary>
        public bool DropLast { get; set; }

        /// <summary>Any row any number of times.</summary>
        public bool Replacement { get; set; }

        /// <summary>One for each row, which is drawn as often; with replacement.</summary>
        public Tensor? Weights { get; set; }

        /// <summary>How many rows are drawn with replacement or weights in an epoch; 0: as many as there are.</summary>
        public long Draws { get; set; }

        /// <summary>Threads that make batches ahead; 0: each is made when it is asked for.</summary>
        public int NumWorkers { get; set; }

        /// <summary>How many batches workers may be ahead; 0 is twice their number.</summary>
        public int Ahead { get; set; }

        /// <summary>Entries that batches have; all unless set.</summary>
        public IEnumerable<NestedKey>? Keys { get; set; }

        /// <summary>Which part of each epoch, from 0.</summary>
        public long Rank { get; set; }

        /// <summary>In how many parts each epoch is split.</summary>
        public long WorldSize { get; set; } = 1;

        /// <summary>Each element of all batch dimensions is a row.</summary>
        public bool Flat { get; set; }

        /// <summary>Each epoch reads the folder of a mapped dictionary again: rows that were appended are seen.</summary>
        public bool Refresh { get; set; }

        /// <summary>Batches are of slices of so many consecutive rows; 0: of rows.</summary>
        public long SliceLength { get; set; }

        /// <summary>Rows from one slice of an episode to the next; 0: as long as a slice.</summary>
        public long SliceStep { get; set; }

        /// <summary>An entry that differs from episode to episode: no slice crosses such a border.</summary>
        public NestedKey? Episode { get; set; }

        /// <summary>Entries that are true in the last row of an episode.</summary>
        public IEnumerable<NestedKey>? Ends { get; set; }

        /// <summary>Slices lie one behind the other, not side by side.</summary>
        public bool Concatenate { get; set; }

        /// <summary>What is left of an episode makes a shorter slice; with <see cref="Concatenate"/>.</summary>
        public bool ShortSlices { get; set; }

        /// <summary>Where batches go.</summary>
        public Device? Device { get; set; }

        /// <summary>Batches go through pinned memory.</summary>
        public bool PinMemory { get; set; }

        /// <summary>Writes its outputs into each batch, on the worker that makes it.</summary>
        public TensorDictModule? Transform { get; set; }

        /// <summary>A batch is disposed when the next one is asked for, and its memory used again.</summary>
        public bool Reuse { get; set; }

        internal td_loader_options ToRaw(long rows)
        {
            td_loader_options raw = td_loader_options.Default;
            raw.rows = rows;
            raw.flags = (Shuffle ? td_loader_flags.TD_LOADER_SHUFFLE : 0)
                | (Replacement ? td_loader_flags.TD_LOADER_REPLACEMENT : 0)
                | (DropLast ? td_loader_flags.TD_LOADER_DROP_LAST : 0)
                | (Flat ? td_loader_flags.TD_LOADER_FLAT : 0)
                | (Refresh ? td_loader_flags.TD_LOADER_REFRESH : 0)
                | (Concatenate ? td_loader_flags.TD_LOADER_CONCATENATE : 0)
                | (ShortSlices ? td_loader_flags.TD_LOADER_SHORT : 0)
                | (PinMemory ? td_loader_flags.TD_LOADER_PIN_MEMORY : 0);
            raw.seed = Seed ?? BitConverter.ToUInt64(Guid.NewGuid().ToByteArray(), 8);
            raw.draws = Draws;
            raw.num_workers = NumWorkers;
            raw.ahead = (uint)Math.Max(Ahead, 0);
            raw.rank = Rank;
            raw.world_size = WorldSize;
            raw.device_type = TensorDicts.Device.RawOf(Device);
            raw.device_index = TensorDicts.Device.IndexOf(Device);
            raw.slice_len = SliceLength;
            raw.slice_step = SliceStep;
            return raw;
        }
    }
}
