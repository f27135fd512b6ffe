using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using TensorDicts.Interop;

namespace TensorDicts
{
    // Calls of all ranks that go on in the background. They take their turn in the order of the calls, and the values,
    // before they return; several may be on their way. A cancelled token ends the wait of this rank alone.
    public sealed unsafe partial class Group
    {
        /// <summary>As Broadcast, in the background. The dictionary is copied before.</summary>
        public Task<TensorDict> BroadcastAsync(
            TensorDict? td, int src, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = DictHandle.BorrowOrNull(td);
            td_future* result = null;
            Status.Check(Native.td_group_ibroadcast(own.Pointer, source.Pointer, src, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>As Reduce, in the background. Leave the dictionary alone until the task has ended.</summary>
        public Task<TensorDict> ReduceAsync(
            TensorDict td, int dst, GroupOp op, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(td, nameof(td)).Handle.BorrowToChange();
            td_future* result = null;
            Status.Check(Native.td_group_ireduce(own.Pointer, target.Pointer, dst, (td_group_op)op, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>As AllReduce, in the background. Leave the dictionary alone until the task has ended.</summary>
        public Task<TensorDict> AllReduceAsync(
            TensorDict td, GroupOp op, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(td, nameof(td)).Handle.BorrowToChange();
            td_future* result = null;
            Status.Check(Native.td_group_iall_reduce(own.Pointer, target.Pointer, (td_group_op)op, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>As Scatter, in the background. The dictionaries are copied before.</summary>
        public Task<TensorDict> ScatterAsync(
            IReadOnlyList<TensorDict> parts, int src, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            td_group* group = own.Pointer;
            td_future* result = null;
            TensorDict.WithAll(parts, (list, count) =>
            {
                td_group_call_options given = raw;
                td_future* begun = null;
                Status.Check(Native.td_group_iscatter(group, list, count, src, &given, &begun));
                result = begun;
            }, nameof(parts));
            return Finish(result, token);
        }
    }
}
