using System;

namespace TensorDicts.Interop
{
    /// <summary>Turns what a call answers into an exception.</summary>
    internal static unsafe class Status
    {
        internal static void Check(td_status status)
        {
            if (status != td_status.TD_OK)
            {
                throw Failure(status);
            }
        }

        /// <summary>For calls that answer "no such key" as part of their work.</summary>
        internal static bool Found(td_status status)
        {
            if (status == td_status.TD_ERR_KEY_NOT_FOUND)
            {
                return false;
            }
            Check(status);
            return true;
        }

        internal static TensorDictException Failure(td_status status)
        {
            string name = Utf8.Read(Native.td_status_name(status));
            string message = "";
            string function = "";
            // The text is that of the last failure of this thread; it belongs to another one if the codes differ.
            if (Native.td_last_error_code() == status)
            {
                message = Utf8.Read(Native.td_last_error_message());
                function = Utf8.Read(Native.td_last_error_function());
            }
            return Create((TensorDictStatus)(int)status, message.Length > 0 ? message : name, function);
        }

#if !NET
        private static volatile bool versionFits;

        internal static void RequireVersion()
        {
            if (!versionFits && Native.td_supports_abi(Native.TD_ABI_VERSION) == 0)
            {
                throw new TensorUnsupportedException(
                    TensorDictStatus.Version,
                    $"this binding speaks version {Native.TD_ABI_VERSION} of the interface, the library version {Native.td_abi_version()}",
                    nameof(Native.td_supports_abi));
            }
            versionFits = true;
        }
#endif

        private static TensorDictException Create(TensorDictStatus status, string message, string function)
        {
            switch (status)
            {
                case TensorDictStatus.KeyNotFound:
                case TensorDictStatus.KeyInvalid:
                case TensorDictStatus.KeyExists:
                case TensorDictStatus.WrongEntry:
                case TensorDictStatus.Cycle:
                    return new TensorKeyException(status, message, function);
                case TensorDictStatus.Locked:
                    return new TensorLockedException(status, message, function);
                case TensorDictStatus.Shape:
                    return new TensorShapeException(status, message, function);
                case TensorDictStatus.Index:
                    return new TensorIndexException(status, message, function);
                case TensorDictStatus.DType:
                    return new TensorDTypeException(status, message, function);
                case TensorDictStatus.Device:
                    return new TensorDeviceException(status, message, function);
                case TensorDictStatus.IO:
                case TensorDictStatus.Format:
                case TensorDictStatus.Busy:
                    return new TensorIOException(status, message, function);
                case TensorDictStatus.OutOfMemory:
                case TensorDictStatus.DeviceOutOfMemory:
                    return new TensorMemoryException(status, message, function);
                case TensorDictStatus.Capacity:
                    return new TensorCapacityException(status, message, function);
                case TensorDictStatus.Unsupported:
                case TensorDictStatus.Version:
                    return new TensorUnsupportedException(status, message, function);
                default:
                    return new TensorDictException(status, message, function);
            }
        }
    }
}
