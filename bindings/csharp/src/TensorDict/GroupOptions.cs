using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Where the ranks of a <see cref="Group"/> meet, and which one this is.</summary>
    public sealed class GroupOptions
    {
        /// <summary><c>tcp://HOST:PORT</c>, <c>file:///PATH</c>, or <c>env://</c> for the variables of the environment.</summary>
        public string Url { get; set; } = "env://";

        /// <summary>This process, from 0; used if <see cref="Size"/> is set.</summary>
        public int Rank { get; set; }

        /// <summary>How many ranks there are; 0: as the environment says.</summary>
        public int Size { get; set; }

        /// <summary>Groups of several names may meet at one url.</summary>
        public string? Name { get; set; }

        /// <summary>The interface of the network, such as <c>eth0</c>.</summary>
        public string? Device { get; set; }

        /// <summary>The limit for opening, and for calls that give none; five minutes unless set.</summary>
        public TimeSpan Timeout { get; set; }
    }

    /// <summary>How one call of a <see cref="Group"/> is made.</summary>
    public sealed class GroupCall
    {
        /// <summary>The limit, instead of that of the group.</summary>
        public TimeSpan Timeout { get; set; }

        /// <summary>The tag of the first message; each tensor takes the next one.</summary>
        public int InitTag { get; set; }

        /// <summary>Send and Recv: one message for all tensors.</summary>
        public bool Consolidated { get; set; }

        /// <summary>AllReduce: one buffer for each dtype. All ranks must choose it; Python cannot.</summary>
        public bool Fused { get; set; }

        /// <summary>Reductions: the largest buffer, in bytes, in which tensors of a dtype travel together, as with
        /// Python's bucket_bytes. All ranks choose the same.</summary>
        public long BucketBytes { get; set; }

        /// <summary>How many threads copy into one buffer.</summary>
        public int NumThreads { get; set; }

        /// <summary>The longest message that is accepted; 0: 2^30 bytes.</summary>
        public long MaxBytes { get; set; }

        // At least one millisecond: 0 would be the default.
        internal static uint Milliseconds(TimeSpan time) =>
            time == TimeSpan.Zero ? 0 : (uint)Math.Min(uint.MaxValue, Math.Max(1, time.TotalMilliseconds));

        internal static td_group_call_options ToRaw(GroupCall? call)
        {
            td_group_call_options raw = td_group_call_options.Default;
            if (call == null)
            {
                return raw;
            }
            raw.flags = (call.Consolidated ? td_group_flags.TD_GROUP_CONSOLIDATED : 0)
                | (call.Fused ? td_group_flags.TD_GROUP_FUSED : 0);
            raw.timeout_ms = Milliseconds(call.Timeout);
            raw.init_tag = call.InitTag;
            raw.num_threads = call.NumThreads;
            raw.max_bytes = checked((ulong)call.MaxBytes);
            raw.bucket_bytes = checked((ulong)call.BucketBytes);
            return raw;
        }
    }

    /// <summary>How the values of all ranks become one.</summary>
    public enum GroupOp
    {
        /// <summary>The sum.</summary>
        Sum = td_group_op.TD_GROUP_OP_SUM,

        /// <summary>The sum, divided by the number of ranks.</summary>
        Average = td_group_op.TD_GROUP_OP_AVERAGE,

        /// <summary>The product.</summary>
        Product = td_group_op.TD_GROUP_OP_PRODUCT,

        /// <summary>The smallest.</summary>
        Min = td_group_op.TD_GROUP_OP_MIN,

        /// <summary>The largest.</summary>
        Max = td_group_op.TD_GROUP_OP_MAX,
    }
}
