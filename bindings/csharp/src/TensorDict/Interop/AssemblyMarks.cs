#if NET
// Every signature is blittable, so the runtime has nothing to marshal; this makes it refuse anything else.
[assembly: System.Runtime.CompilerServices.DisableRuntimeMarshalling]
#endif
