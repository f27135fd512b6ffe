using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>The kind of a device; the numbers are those of the C interface.</summary>
    public enum DeviceType
    {
        /// <summary>Host memory.</summary>
        Cpu = 1,

        /// <summary>CUDA, and ROCm builds of libtorch.</summary>
        Cuda = 2,

        /// <summary>Apple Metal.</summary>
        Mps = 8,

        /// <summary>Intel GPUs.</summary>
        Xpu = 14,

        /// <summary>Shapes without memory.</summary>
        Meta = 1000,
    }

    /// <summary>Where a tensor lies.</summary>
    public readonly struct Device : IEquatable<Device>
    {
        /// <summary>A device; index -1 is the current one of its kind.</summary>
        public Device(DeviceType type, int index = -1)
        {
            Type = type;
            Index = index;
        }

        /// <summary>Host memory.</summary>
        public static Device Cpu => new Device(DeviceType.Cpu);

        /// <summary>Shapes without memory.</summary>
        public static Device Meta => new Device(DeviceType.Meta);

        /// <summary>Whether libtorch here can use CUDA.</summary>
        public static bool CudaIsAvailable => Cuda().IsAvailable;

        /// <summary>The kind.</summary>
        public DeviceType Type { get; }

        /// <summary>Which device of that kind; -1 for the current one, and for kinds that are not numbered.</summary>
        public int Index { get; }

        /// <summary>Whether libtorch here can use this kind of device.</summary>
        public bool IsAvailable => Native.td_device_available(Raw) != 0;

        internal td_device_type Raw => (td_device_type)(int)Type;

        /// <summary>A CUDA device; without an index the current one.</summary>
        public static Device Cuda(int index = -1) => new Device(DeviceType.Cuda, index);

        /// <summary>Whether two devices are the same.</summary>
        public static bool operator ==(Device left, Device right) => left.Equals(right);

        /// <summary>Whether two devices differ.</summary>
        public static bool operator !=(Device left, Device right) => !left.Equals(right);

        /// <inheritdoc/>
        public bool Equals(Device other) => Type == other.Type && Index == other.Index;

        /// <inheritdoc/>
        public override bool Equals(object? obj) => obj is Device other && Equals(other);

        /// <inheritdoc/>
        public override int GetHashCode() => HashCode.Combine(Type, Index);

        /// <summary>As torch writes it: "cpu", "cuda:0".</summary>
        public override string ToString()
        {
            string name = Type.ToString().ToLowerInvariant();
            return Index < 0 ? name : $"{name}:{Index}";
        }

        internal static td_device_type RawOf(Device? device) =>
            device.HasValue ? device.Value.Raw : td_device_type.TD_DEVICE_NONE;

        internal static int IndexOf(Device? device) => device?.Index ?? -1;

        internal static Device? From(td_device_type type, int index) =>
            type == td_device_type.TD_DEVICE_NONE ? (Device?)null : new Device((DeviceType)(int)type, index);
    }
}
