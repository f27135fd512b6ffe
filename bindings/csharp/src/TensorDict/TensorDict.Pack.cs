using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// Where <see cref="TensorDict.Pack(out PackLayout, long)"/> puts each tensor: JSON with keys, shapes, dim, nested,
    /// device, type, offsets and numel. One that is made by hand needs keys and shapes alone.
    /// </summary>
    public sealed record PackLayout
    {
        /// <summary>A layout from its JSON.</summary>
        public PackLayout(string json) => Json = Argument.NotNull(json, nameof(json));

        /// <summary>The layout as JSON.</summary>
        public string Json { get; }

        /// <summary>A dictionary of views of a packed tensor, which may have another batch size.</summary>
        public unsafe TensorDict Unpack(Tensor packed)
        {
            byte* room = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Json, nameof(Json), room);
            using var tensor = Argument.NotNull(packed, nameof(packed)).Handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_unpack(tensor.Pointer, text.Pointer, &result), result);
        }
    }

    /// <content>All tensors side by side in one.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// The dimensions of each tensor behind the batch become one, and all stand side by side along a dimension, in
        /// the order of their keys, joined with dots.
        /// </summary>
        public Tensor Pack(out PackLayout layout, long dim = -1)
        {
            layout = PackLayout(dim);
            return Pack(layout, dim);
        }

        /// <summary>The same in the order of a layout, which the dictionary must fit.</summary>
        public Tensor Pack(PackLayout layout, long dim = -1)
        {
            byte* room = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(layout, nameof(layout)).Json, nameof(layout), room);
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_pack(handle.Pointer, dim, text.Pointer, &result), result);
        }

        /// <summary>Where Pack puts each tensor.</summary>
        public PackLayout PackLayout(long dim = -1)
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            return new PackLayout(Utf8.Read((text, room, length) => Native.td_pack_layout(td, dim, text, room, length)));
        }
    }
}
