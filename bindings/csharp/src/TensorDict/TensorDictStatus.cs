namespace TensorDicts
{
    /// <summary>Why a call failed; the numbers are those of the C interface.</summary>
    public enum TensorDictStatus
    {
        /// <summary>Nothing failed.</summary>
        Ok = 0,

        /// <summary>A pointer that must not be NULL is.</summary>
        NullArgument = -1,

        /// <summary>A handle that was never issued, is freed, or is of another kind.</summary>
        BadHandle = -2,

        /// <summary>A value outside its range.</summary>
        InvalidArgument = -3,

        /// <summary>A text or a list does not fit its buffer.</summary>
        BufferTooSmall = -4,

        /// <summary>No entry under this key.</summary>
        KeyNotFound = -10,

        /// <summary>An empty key.</summary>
        KeyInvalid = -11,

        /// <summary>A key runs through an entry that is in the way.</summary>
        KeyExists = -12,

        /// <summary>A dictionary where a tensor was asked for, or the like.</summary>
        WrongEntry = -13,

        /// <summary>The dictionary is locked.</summary>
        Locked = -14,

        /// <summary>A dictionary would come to lie inside itself.</summary>
        Cycle = -15,

        /// <summary>Sizes that do not fit.</summary>
        Shape = -20,

        /// <summary>An index out of range, or of a form that is not allowed.</summary>
        Index = -21,

        /// <summary>A dtype that does not fit or is not supported.</summary>
        DType = -22,

        /// <summary>A device that does not exist or does not fit.</summary>
        Device = -23,

        /// <summary>The operating system refused.</summary>
        IO = -30,

        /// <summary>Files that are not a dictionary that can be understood.</summary>
        Format = -31,

        /// <summary>Another writer is at work on the same files.</summary>
        Busy = -32,

        /// <summary>No host memory left.</summary>
        OutOfMemory = -40,

        /// <summary>No accelerator memory left.</summary>
        DeviceOutOfMemory = -41,

        /// <summary>A writer has no row left.</summary>
        Capacity = -42,

        /// <summary>Not offered by this build or this version.</summary>
        Unsupported = -50,

        /// <summary>Client, library or libtorch of versions that do not fit.</summary>
        Version = -51,

        /// <summary>A callback failed.</summary>
        Callback = -60,

        /// <summary>libtorch failed, with no nearer meaning.</summary>
        Torch = -70,

        /// <summary>A defect of the library.</summary>
        Internal = -99,
    }
}
