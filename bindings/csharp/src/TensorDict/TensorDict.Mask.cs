using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Masks over the batch decide which values are taken or written.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>What a mask over the leading batch dimensions picks, in new memory.</summary>
        public TensorDict MaskedSelect(Tensor mask)
        {
            using var picks = Argument.NotNull(mask, nameof(mask)).Handle.Borrow();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_masked_select(handle.Pointer, picks.Pointer, &result), result);
        }

        /// <summary>A copy in which every tensor has a value where a mask is true.</summary>
        public TensorDict MaskedFill(Tensor mask, Tensor value)
        {
            using var handle = Handle.Borrow();
            using var picks = Argument.NotNull(mask, nameof(mask)).Handle.Borrow();
            using var number = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_masked_fill(handle.Pointer, picks.Pointer, number.Pointer, &result), result);
        }

        /// <summary>Writes a value into every tensor where a mask is true. Allowed when locked.</summary>
        public void MaskedFillInPlace(Tensor mask, Tensor value)
        {
            using var handle = Handle.BorrowToChange();
            using var picks = Argument.NotNull(mask, nameof(mask)).Handle.Borrow();
            using var number = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_masked_fill_inplace(handle.Pointer, picks.Pointer, number.Pointer));
        }

        /// <summary>
        /// Values of this dictionary where a condition over the batch is true, those of another elsewhere; the pad
        /// stands in for tensors that one of them lacks.
        /// </summary>
        public TensorDict Where(Tensor condition, TensorDict other, Tensor? pad = null)
        {
            using var handle = Handle.Borrow();
            using var choice = Argument.NotNull(condition, nameof(condition)).Handle.Borrow();
            using var source = Argument.NotNull(other, nameof(other)).Handle.Borrow();
            using var number = pad == null ? default : pad.Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_where(handle.Pointer, choice.Pointer, source.Pointer, number.Pointer, &result), result);
        }

        /// <summary>Values of this dictionary where a condition over the batch is true, one value elsewhere.</summary>
        public TensorDict Where(Tensor condition, Tensor value)
        {
            using var handle = Handle.Borrow();
            using var choice = Argument.NotNull(condition, nameof(condition)).Handle.Borrow();
            using var number = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_where(handle.Pointer, choice.Pointer, null, number.Pointer, &result), result);
        }
    }

    /// <content>Masks over the batch made masks over a tensor.</content>
    public sealed unsafe partial class Tensor
    {
        /// <summary>Adds dimensions behind and expands to a shape, sharing memory.</summary>
        public Tensor ExpandRight(params long[] sizes)
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_tensor_expand_right(handle.Pointer, numbers, (nuint)sizes.Length, &result));
            }
            return Own(result);
        }

        /// <summary>As ExpandRight, to the shape of another tensor.</summary>
        public Tensor ExpandAsRight(Tensor other) => ExpandRight(Argument.NotNull(other, nameof(other)).Shape.ToArray());
    }
}
