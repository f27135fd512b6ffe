using System;

namespace TensorDicts.Interop
{
    internal static class Argument
    {
        internal static T NotNull<T>(T? value, string name)
            where T : class => value ?? throw new ArgumentNullException(name);
    }
}
