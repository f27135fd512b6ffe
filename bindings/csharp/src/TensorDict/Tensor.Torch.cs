using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    public sealed unsafe partial class Tensor
    {
        /// <summary>
        /// The very tensor of TorchSharp, with its gradient, not a copy: Tensor.FromTorch(t.Handle, torch.__version__).
        /// Both libraries must use one libtorch, of the version that this one was built for.
        /// </summary>
        public static Tensor FromTorch(IntPtr handle, string version)
        {
            if (handle == IntPtr.Zero)
            {
                throw new ArgumentNullException(nameof(handle));
            }
            td_tensor* result = null;
            // An at::Tensor is one pointer, to what td_tensor_from_torch takes.
            return Own(Native.td_tensor_from_torch(*(void**)handle, TorchVersion(version), &result), result);
        }

        /// <summary>
        /// The same tensor for TorchSharp: torch.Tensor.UnsafeCreateTensor(t.ToTorch(torch.__version__)), which owns it. Each call
        /// makes another one; one that is not given to TorchSharp stays in memory.
        /// </summary>
        public IntPtr ToTorch(string version)
        {
            using var handle = Handle.Borrow();
            void* result = null;
            Status.Check(Native.td_tensor_to_torch_tensor(handle.Pointer, TorchVersion(version), &result));
            return (IntPtr)result;
        }

        // "2.10.0+cpu" as the C interface counts versions.
        private static int TorchVersion(string version)
        {
            string[] parts = Argument.NotNull(version, nameof(version)).Split('.');
            if (parts.Length < 2 || !int.TryParse(parts[0], out int major) || !int.TryParse(parts[1], out int minor))
            {
                throw new ArgumentException($"\"{version}\" is no version of libtorch, such as \"2.10.0\"", nameof(version));
            }
            return 10000 * major + 100 * minor;
        }
    }
}
