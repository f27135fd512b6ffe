using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Parts of a printed dictionary.</summary>
    [Flags]
    public enum PrintParts
    {
        /// <summary>No part.</summary>
        None = 0,

        /// <summary>The batch size.</summary>
        BatchSize = 1,

        /// <summary>The device of the dictionary.</summary>
        Device = 2,

        /// <summary>Whether the dictionary is in shared memory.</summary>
        IsShared = 4,

        /// <summary>The shape of each tensor.</summary>
        Shape = 8,

        /// <summary>The device of each tensor.</summary>
        FieldDevice = 16,

        /// <summary>The dtype of each tensor.</summary>
        DType = 32,

        /// <summary>Whether each tensor is in shared memory.</summary>
        FieldIsShared = 64,

        /// <summary>Whether each tensor requires a gradient; only if shown, as what follows.</summary>
        Grad = 128,

        /// <summary>Whether each tensor is contiguous.</summary>
        IsContiguous = 256,

        /// <summary>Whether each tensor is a view.</summary>
        IsView = 512,

        /// <summary>The bytes of each tensor's storage.</summary>
        StorageSize = 1024,

        /// <summary>Mean and standard deviation of floats, smallest and largest of other numbers.</summary>
        Plain = 2048,
    }

    /// <summary>How <see cref="TensorDict.ToString(PrintOptions)"/> prints: Python's set_printoptions.</summary>
    public sealed record PrintOptions
    {
        /// <summary>The compact form, or a line for each tensor. Null: compact, unless a part is shown or hidden that only
        /// the detailed form prints.</summary>
        public bool? Compact { get; set; }

        /// <summary>Also these parts.</summary>
        public PrintParts Show { get; set; }

        /// <summary>Not these parts.</summary>
        public PrintParts Hide { get; set; }

        /// <summary>Without devices, dtypes and is_shared that are not shown expressly.</summary>
        public bool Brief { get; set; }

        /// <summary>In the order of the keys, not sorted by their text.</summary>
        public bool Unsorted { get; set; }

        internal td_print_options ToRaw()
        {
            td_print_options raw = td_print_options.Default;
            raw.form = Compact switch
            {
                null => td_print_form.TD_PRINT_AUTO,
                true => td_print_form.TD_PRINT_COMPACT,
                false => td_print_form.TD_PRINT_DETAILED,
            };
            raw.show = (td_print_part_flags)Show;
            raw.hide = (td_print_part_flags)Hide;
            raw.brief = Brief ? 1 : 0;
            raw.unsorted = Unsorted ? 1 : 0;
            return raw;
        }
    }
}
