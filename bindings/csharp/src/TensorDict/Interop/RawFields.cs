using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>Declarations of fields in the form of the library; what they point at lives until Dispose.</summary>
    internal sealed unsafe class RawFields : IDisposable
    {
        private readonly List<IntPtr> memory = new List<IntPtr>();
        private readonly List<Action> held = new List<Action>();

        internal RawFields(TensorclassField[] fields)
        {
            List = new td_field[fields.Length];
            try
            {
                for (int i = 0; i < fields.Length; i++)
                {
                    Fill(ref List[i], fields[i]);
                }
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal td_field[] List { get; }

        public void Dispose()
        {
            held.ForEach(drop => drop());
            held.Clear();
            memory.ForEach(Marshal.FreeHGlobal);
            memory.Clear();
        }

        private void Fill(ref td_field raw, TensorclassField field)
        {
            Argument.NotNull(field, "fields");
            raw.name = Text(field.Name);
            raw.kind = (td_field_kind)(int)field.Kind;
            raw.dtype = (td_dtype)(int)field.DType;
            raw.flags = field.IsOptional ? td_field_flags.TD_FIELD_OPTIONAL : 0;
            if (field.Sizes != null)
            {
                raw.flags |= td_field_flags.TD_FIELD_HAS_FEATURE;
                raw.feature_dims = (uint)field.Sizes.Length;
                raw.feature = (long*)Allocate(sizeof(long) * field.Sizes.Length);
                field.Sizes.CopyTo(new Span<long>(raw.feature, field.Sizes.Length));
            }
            if (field.DefaultJson != null)
            {
                raw.default_json = Text(field.DefaultJson);
            }
            if (field.Default != null)
            {
                raw.default_tensor = field.Default.Handle.Hold();
                held.Add(field.Default.Handle.Drop);
            }
            if (field.Tensorclass != null)
            {
                raw.tensorclass = field.Tensorclass.Handle.Hold();
                held.Add(field.Tensorclass.Handle.Drop);
            }
        }

        private byte* Text(string text)
        {
            Utf8.RefuseNul(text, "name");
            byte[] bytes = Utf8.Strict.GetBytes(text);
            byte* target = (byte*)Allocate(bytes.Length + 1);
            bytes.CopyTo(new Span<byte>(target, bytes.Length));
            target[bytes.Length] = 0;
            return target;
        }

        private IntPtr Allocate(int bytes)
        {
            IntPtr block = Marshal.AllocHGlobal(Math.Max(bytes, 1));
            memory.Add(block);
            return block;
        }
    }
}
