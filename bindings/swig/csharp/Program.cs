// A dictionary made, filled, indexed by a text, and printed, through SWIG's own C#.
using System;
using System.Runtime.InteropServices;
using System.Text;

static unsafe class Program
{
    static string Text(byte* text) => Marshal.PtrToStringUTF8((IntPtr)text) ?? "";

    static void Check(int status)
    {
        if (status != tensordict.TD_OK)
        {
            string function = Text(tensordict.td_last_error_function());
            throw new Exception($"{function}: {Text(tensordict.td_last_error_message())}");
        }
    }

    static void Same<T>(T found, T wanted, string what) where T : IEquatable<T>
    {
        if (!found.Equals(wanted))
            throw new Exception($"{what}: found {found}, wanted {wanted}");
    }

    /// <summary>Indexes by a text such as "0, ..., ::2". An item has 64 bytes, for ever.</summary>
    static IntPtr Index(IntPtr td, string text)
    {
        byte* items = stackalloc byte[64 * 8];
        fixed (byte* bytes = Encoding.UTF8.GetBytes(text + "\0"))
        {
            Check(tensordict.td_index_parse(bytes, items, 8, out nuint count));
            Check(tensordict.td_index(td, items, count, out IntPtr part));
            return part;
        }
    }

    static string Print(IntPtr td)
    {
        Check(tensordict.td_to_string(td, null, 0, out nuint length));
        byte[] text = new byte[length + 1];
        fixed (byte* bytes = text)
            Check(tensordict.td_to_string(td, bytes, (nuint)text.Length, out length));
        return Encoding.UTF8.GetString(text, 0, (int)length);
    }

    static void Main()
    {
        Same(tensordict.td_supports_abi(tensordict.TD_ABI_VERSION), 1, "td_supports_abi");
        long* sizes = stackalloc long[] { 3, 4 };
        Check(tensordict.td_create(sizes, 2, tensordict.TD_DEVICE_NONE, -1, out IntPtr td));
        float* values = stackalloc float[12];
        for (int i = 0; i < 12; i++)
            values[i] = i + 1;
        int dtype = tensordict.TD_DTYPE_FLOAT32;
        Check(tensordict.td_tensor_from_data(values, 48, sizes, 2, dtype, out IntPtr reward));
        fixed (byte* agent = "agent"u8, name = "reward"u8)
        {
            byte** path = stackalloc byte*[] { agent, name };
            Check(tensordict.td_set(td, path, 2, reward));

            IntPtr part = Index(td, "-1, ::2");
            Console.WriteLine(Print(part));
            Check(tensordict.td_get(part, path, 2, out IntPtr taken));
            float* two = stackalloc float[2];
            Check(tensordict.td_tensor_copy_to(taken, two, 8));
            Same(two[0], 9f, "first");
            Same(two[1], 11f, "second");
            tensordict.td_tensor_free(taken);
            tensordict.td_free(part);

            int status = tensordict.td_get(td, path, 1, out _);
            Same(status, tensordict.TD_ERR_WRONG_ENTRY, "a dictionary is no tensor");
        }
        tensordict.td_tensor_free(reward);
        tensordict.td_free(td);
        Same(tensordict.td_debug_live_handles(), 0L, "open handles");
    }
}
