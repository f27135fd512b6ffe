using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// One of several processes that exchange dictionaries; others may be Python's torch.distributed. Threads may share
    /// it. Disposing of it closes its connections.
    /// </summary>
    public sealed unsafe partial class Group : IDisposable
    {
        private readonly GroupHandle handle;

        /// <summary>Waits until all ranks have come.</summary>
        public Group(GroupOptions? options = null)
        {
            options ??= new GroupOptions();
            td_group_options raw = td_group_options.Default;
            byte* first = stackalloc byte[Utf8.StackBytes], second = stackalloc byte[Utf8.StackBytes];
            byte* third = stackalloc byte[Utf8.StackBytes];
            using var url = new Utf8Text(Argument.NotNull(options.Url, "url"), "url", first);
            using var name = new Utf8Text(options.Name ?? string.Empty, "name", second);
            using var device = new Utf8Text(options.Device ?? string.Empty, "device", third);
            raw.url = url.Pointer;
            raw.name = options.Name == null ? null : name.Pointer;
            raw.device = options.Device == null ? null : device.Pointer;
            raw.rank = options.Rank;
            raw.world_size = options.Size;
            raw.timeout_ms = GroupCall.Milliseconds(options.Timeout);
            td_group* result = null;
            Status.Check(Native.td_group_open(&raw, &result));
            handle = new GroupHandle(result);
        }

        private Group(td_group* pointer) => handle = new GroupHandle(pointer);

        /// <summary>A group of some of the ranks, in this order; null on a rank that is not among them.</summary>
        public Group? Split(IReadOnlyList<int> ranks, string? name = null)
        {
            var numbers = new List<int>(Argument.NotNull(ranks, nameof(ranks))).ToArray();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(name ?? string.Empty, nameof(name), stack);
            using var own = handle.Borrow();
            td_group* result = null;
            int none = 0;
            fixed (int* list = numbers)
            {
                Status.Check(Native.td_group_split(
                    own.Pointer, list == null ? &none : list, (nuint)numbers.Length, name == null ? null : text.Pointer, &result));
            }
            return result == null ? null : new Group(result);
        }

        /// <summary>The rank of this process.</summary>
        public int Rank => Place().Rank;

        /// <summary>The number of ranks.</summary>
        public int Size => Place().Size;

        private (int Rank, int Size) Place()
        {
            using var own = handle.Borrow();
            int rank = 0, size = 0;
            Status.Check(Native.td_group_rank(own.Pointer, &rank, &size));
            return (rank, size);
        }

        /// <summary>Waits until all ranks have called it.</summary>
        public void Barrier(GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            Status.Check(Native.td_group_barrier(own.Pointer, &raw));
        }

        /// <summary>Sends the tensors to a rank that receives them into a dictionary of the same structure.</summary>
        public void Send(TensorDict td, int dst, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            Status.Check(Native.td_group_send(own.Pointer, source.Pointer, dst, &raw));
        }

        /// <summary>
        /// Receives tensors into a dictionary of the same keys, shapes and dtypes. Trusts the sizes of the other rank: gloo
        /// ends the process if more comes.
        /// </summary>
        public void Recv(TensorDict into, int src, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(into, nameof(into)).Handle.BorrowToChange();
            Status.Check(Native.td_group_recv(own.Pointer, target.Pointer, src, &raw));
        }

        /// <summary>As Send, in the background.</summary>
        public Task<TensorDict> SendAsync(TensorDict td, int dst, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            td_future* result = null;
            Status.Check(Native.td_group_isend(own.Pointer, source.Pointer, dst, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>As Recv, in the background. Leave the dictionary alone until the task has ended.</summary>
        public Task<TensorDict> RecvAsync(TensorDict into, int src, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(into, nameof(into)).Handle.BorrowToChange();
            td_future* result = null;
            Status.Check(Native.td_group_irecv(own.Pointer, target.Pointer, src, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>Sends a dictionary with its structure: the best form between programs of this library.</summary>
        public void SendMessage(TensorDict td, int dst, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            Status.Check(Native.td_group_send_message(own.Pointer, source.Pointer, dst, &raw));
        }

        /// <summary>Receives a message of a rank, or of any: the dictionary, and who sent it.</summary>
        public (TensorDict Message, int Source) RecvMessage(int? src = null, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            td_tensordict* result = null;
            int source = 0;
            Status.Check(Native.td_group_recv_message(own.Pointer, src ?? -1, &raw, &source, &result));
            return (TensorDict.Own(result), source);
        }

        /// <summary>As SendMessage, in the background. The dictionary is copied before.</summary>
        public Task<TensorDict> SendMessageAsync(
            TensorDict td, int dst, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            td_future* result = null;
            Status.Check(Native.td_group_isend_message(own.Pointer, source.Pointer, dst, &raw, &result));
            return Finish(result, token);
        }

        /// <summary>As RecvMessage, in the background.</summary>
        public Task<TensorDict> RecvMessageAsync(int? src = null, GroupCall? call = null, CancellationToken token = default)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            td_future* result = null;
            Status.Check(Native.td_group_irecv_message(own.Pointer, src ?? -1, &raw, &result));
            return Finish(result, token);
        }

        private static Task<TensorDict> Finish(td_future* begun, CancellationToken token) =>
            Background.Finish(new TensorDictFuture(new FutureHandle(begun)), token);

        /// <summary>Sends a dictionary with its structure as Python's init_remote does.</summary>
        public void InitRemote(TensorDict td, int dst, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            Status.Check(Native.td_group_init_remote(own.Pointer, source.Pointer, dst, &raw));
        }

        /// <summary>Receives what InitRemote sends, here or in Python.</summary>
        public TensorDict FromRemoteInit(int src, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_group_from_remote_init(own.Pointer, src, &raw, &result), result);
        }

        /// <summary>Gives a dictionary of one rank to all; other ranks give null.</summary>
        public TensorDict Broadcast(TensorDict? td, int src, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = DictHandle.BorrowOrNull(td);
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_group_broadcast(own.Pointer, source.Pointer, src, &raw, &result), result);
        }

        /// <summary>Makes the values of all ranks one, at one rank.</summary>
        public void Reduce(TensorDict td, int dst, GroupOp op, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(td, nameof(td)).Handle.BorrowToChange();
            Status.Check(Native.td_group_reduce(own.Pointer, target.Pointer, dst, (td_group_op)op, &raw));
        }

        /// <summary>Makes the values of all ranks one, at all ranks.</summary>
        public void AllReduce(TensorDict td, GroupOp op, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var target = Argument.NotNull(td, nameof(td)).Handle.BorrowToChange();
            Status.Check(Native.td_group_all_reduce(own.Pointer, target.Pointer, (td_group_op)op, &raw));
        }

        /// <summary>Gives the dictionaries of all ranks to all.</summary>
        public TensorDict[] AllGather(TensorDict td, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            var list = new IntPtr[Size];
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            fixed (IntPtr* results = list)
            {
                nuint count = 0;
                Status.Check(Native.td_group_all_gather(
                    own.Pointer, source.Pointer, &raw, (td_tensordict**)results, (nuint)list.Length, &count));
            }
            return Array.ConvertAll(list, pointer => TensorDict.Own((td_tensordict*)pointer));
        }

        /// <summary>Gives each rank one of the dictionaries of one rank; other ranks give none.</summary>
        public TensorDict Scatter(IReadOnlyList<TensorDict> parts, int src, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            td_group* group = own.Pointer;
            return TensorDict.MadeOf(parts, (list, count, made) =>
            {
                td_group_call_options given = raw;
                return Native.td_group_scatter(group, list, count, src, &given, made);
            });
        }

        /// <summary>The stack of the dictionaries of all ranks, at one rank; null at others.</summary>
        public TensorDict? GatherAndStack(TensorDict td, int dst, GroupCall? call = null)
        {
            td_group_call_options raw = GroupCall.ToRaw(call);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_group_gather_and_stack(own.Pointer, source.Pointer, dst, &raw, &result));
            return result == null ? null : TensorDict.Own(result);
        }

        /// <summary>The rank and how many there are.</summary>
        public override string ToString() => $"Group(rank {Rank} of {Size})";

        /// <inheritdoc/>
        public void Dispose() => handle.Dispose();
    }

    internal static class Background
    {
        // A cancelled token ends the wait; the group goes on.
        internal static async Task<TensorDict> Finish(TensorDictFuture future, CancellationToken token)
        {
            using (future)
            using (token.Register(future.Cancel))
            {
                try
                {
                    return await future.AsTask().ConfigureAwait(false);
                }
                catch (TensorDictException) when (token.IsCancellationRequested)
                {
                    throw new OperationCanceledException(token);
                }
            }
        }
    }
}
