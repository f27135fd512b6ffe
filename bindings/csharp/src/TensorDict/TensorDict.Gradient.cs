using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Gradients of all tensors.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Whether any tensor is recorded for gradients. Written to, all are, or none: integers cannot be.
        /// </summary>
        public bool RequiresGrad
        {
            get => Measure(td_measure_kind.TD_MEASURE_REQUIRES_GRAD) != 0;

            set
            {
                using var handle = Handle.BorrowToChange();
                Status.Check(Native.td_set_requires_grad(handle.Pointer, value ? 1 : 0));
            }
        }

        /// <summary>
        /// The gradients that the tensors have received, by the same keys; null when there are none. Written
        /// to, tensors without an entry keep theirs; null takes all away.
        /// </summary>
        public TensorDict? Grad
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensordict* result = null;
                Status.Check(Native.td_grad(handle.Pointer, &result));
                return result == null ? null : Own(result);
            }

            set
            {
                using var handle = Handle.BorrowToChange();
                using var source = DictHandle.BorrowOrNull(value);
                Status.Check(Native.td_set_grad(handle.Pointer, source.Pointer));
            }
        }

        /// <summary>Over the same memory, without the history of the tensors. The lock is kept.</summary>
        public TensorDict Detach() => Detach(td_detach_kind.TD_DETACH_HISTORY);

        /// <summary>
        /// As <see cref="Detach()"/>; what is written to it is as if it had been there before anything was
        /// recorded.
        /// </summary>
        public TensorDict DetachData() => Detach(td_detach_kind.TD_DETACH_DATA);

        /// <summary>Takes the history from the tensors themselves. Allowed when locked.</summary>
        public void DetachInPlace()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_detach_inplace(handle.Pointer));
        }

        /// <summary>Takes the gradients away before the next Backward adds to them, or fills them with zeros.</summary>
        public void ZeroGrad(bool setToNull = true)
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_zero_grad(
                handle.Pointer, setToNull ? 0 : td_zero_grad_flags.TD_ZERO_GRAD_KEEP));
        }

        /// <summary>
        /// Makes the gradients shorter if all together, as one vector, are longer than the norm. Gives how long
        /// they were.
        /// </summary>
        public double ClipGradNorm(double maxNorm)
        {
            double norm = 0;
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_clip_grad_norm(handle.Pointer, maxNorm, &norm));
            return norm;
        }

        /// <summary>
        /// Computes gradients of all tensors that are recorded. Without a gradient to begin with, each of them
        /// must have one element; with inputs only their tensors receive gradients.
        /// </summary>
        public void Backward(
            TensorDict? gradient = null, TensorDict? inputs = null, bool retainGraph = false, bool createGraph = false)
        {
            td_backward_options options = td_backward_options.Default;
            options.retain_graph = retainGraph ? 1 : 0;
            options.create_graph = createGraph ? 1 : 0;
            using var handle = Handle.Borrow();
            using var first = DictHandle.BorrowOrNull(gradient);
            using var second = DictHandle.BorrowOrNull(inputs);
            Status.Check(Native.td_backward(handle.Pointer, first.Pointer, second.Pointer, &options));
        }

        private TensorDict Detach(td_detach_kind kind)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_detach(handle.Pointer, kind, &result), result);
        }
    }
}
