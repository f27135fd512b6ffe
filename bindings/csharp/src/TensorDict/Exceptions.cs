using System;

namespace TensorDicts
{
    /// <summary>A call of the library failed. The derived types tell the kind, <see cref="Status"/> the exact reason.</summary>
    public class TensorDictException : Exception
    {
        internal TensorDictException(TensorDictStatus status, string message, string function)
            : base(message)
        {
            Status = status;
            Function = function;
        }

        /// <summary>The exact reason.</summary>
        public TensorDictStatus Status { get; }

        /// <summary>The function of the C interface that failed, or "".</summary>
        public string Function { get; }
    }

    /// <summary>A key that leads nowhere, is not a key, is in the way, or leads to another kind of entry.</summary>
    public sealed class TensorKeyException : TensorDictException
    {
        internal TensorKeyException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>A structural change of a locked dictionary.</summary>
    public sealed class TensorLockedException : TensorDictException
    {
        internal TensorLockedException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>Sizes that do not fit.</summary>
    public sealed class TensorShapeException : TensorDictException
    {
        internal TensorShapeException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>An index out of range, or of a form that is not allowed.</summary>
    public sealed class TensorIndexException : TensorDictException
    {
        internal TensorIndexException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>A dtype that does not fit or is not supported.</summary>
    public sealed class TensorDTypeException : TensorDictException
    {
        internal TensorDTypeException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>A device that does not exist or does not fit.</summary>
    public sealed class TensorDeviceException : TensorDictException
    {
        internal TensorDeviceException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>The operating system refused, or files are not a dictionary that can be understood.</summary>
    public sealed class TensorIOException : TensorDictException
    {
        internal TensorIOException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>Host or accelerator memory ran out.</summary>
    public sealed class TensorMemoryException : TensorDictException
    {
        internal TensorMemoryException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>A writer has no row left.</summary>
    public sealed class TensorCapacityException : TensorDictException
    {
        internal TensorCapacityException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }

    /// <summary>Not offered by this build, or versions that do not fit.</summary>
    public sealed class TensorUnsupportedException : TensorDictException
    {
        internal TensorUnsupportedException(TensorDictStatus status, string message, string function)
            : base(status, message, function) { }
    }
}
