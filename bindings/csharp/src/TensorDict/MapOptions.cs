using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// How <see cref="TensorDict.Map(Func{TensorDict, TensorDict?}, MapOptions?)"/> and its kin cut a dictionary,
    /// and who works on the pieces. Without sizes there are as many pieces as workers.
    /// </summary>
    public sealed record MapOptions
    {
        /// <summary>Along which dimension; negative counts from the end.</summary>
        public long Dim { get; set; }

        /// <summary>How long a piece is; 0: one element at a time, without the dimension.</summary>
        public long? ChunkSize { get; set; }

        /// <summary>How many pieces there are; not together with <see cref="ChunkSize"/>.</summary>
        public long? NumChunks { get; set; }

        /// <summary>How many threads work; 1 is the calling thread alone, 0 one for each CPU.</summary>
        public int NumWorkers { get; set; }

        /// <summary>How many threads of libtorch an operation of one worker may use; 0 is 1.</summary>
        public int WorkerThreads { get; set; }

        /// <summary>What <see cref="MapPiece.Seed"/> and the order of <see cref="Shuffle"/> follow from.</summary>
        public ulong Seed { get; set; }

        /// <summary>Elements in another order; for MapEach.</summary>
        public bool Shuffle { get; set; }

        /// <summary>How many pieces workers may be ahead; 0 is twice their number; for MapEach.</summary>
        public int Ahead { get; set; }

        /// <summary>Takes the results in place, one behind the other, and is the result; for Map.</summary>
        public TensorDict? Out { get; set; }

        /// <summary>
        /// Is told on the calling thread how many pieces are done, and of how many; for Map. See
        /// <see cref="ProgressBar"/>.
        /// </summary>
        public Action<long, long>? Progress { get; set; }

        internal td_map_options ToRaw()
        {
            if (ChunkSize.HasValue && NumChunks.HasValue)
            {
                throw new ArgumentException("only one of ChunkSize and NumChunks can say how to cut");
            }
            td_map_options raw = td_map_options.Default;
            raw.cut = ChunkSize == 0 ? td_map_cut.TD_MAP_CUT_ELEMENTS
                : ChunkSize.HasValue ? td_map_cut.TD_MAP_CUT_SIZE
                : NumChunks.HasValue ? td_map_cut.TD_MAP_CUT_COUNT : td_map_cut.TD_MAP_CUT_PER_WORKER;
            raw.amount = ChunkSize ?? NumChunks ?? 0;
            raw.dim = Dim;
            raw.num_workers = NumWorkers;
            raw.worker_threads = WorkerThreads;
            raw.seed = Seed;
            raw.shuffle = Shuffle ? 1 : 0;
            raw.ahead = (nuint)Math.Max(Ahead, 0);
            return raw;
        }
    }

    /// <summary>Which piece a function works on.</summary>
    public readonly struct MapPiece
    {
        internal MapPiece(td_map_piece raw)
        {
            Number = (long)raw.number;
            Count = (long)raw.count;
            First = raw.first;
            Length = raw.length;
            Worker = raw.worker;
            Seed = raw.seed;
        }

        /// <summary>From 0.</summary>
        public long Number { get; }

        /// <summary>How many there are.</summary>
        public long Count { get; }

        /// <summary>Its first element along the dimension, in the order of the pieces.</summary>
        public long First { get; }

        /// <summary>How many elements it has.</summary>
        public long Length { get; }

        /// <summary>Which worker it is, from 0.</summary>
        public int Worker { get; }

        /// <summary>A seed of its own, the same with any number of workers.</summary>
        public ulong Seed { get; }
    }
}
