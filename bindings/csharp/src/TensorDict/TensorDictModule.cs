using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What makes a dictionary of outputs from a dictionary of inputs.</summary>
    public interface IModule
    {
        /// <summary>
        /// Gets a dictionary that holds the inputs, over the same tensors, and gives one that holds the outputs; this
        /// may be the one that it got.
        /// </summary>
        TensorDict Forward(TensorDict td);
    }

    /// <summary>Which value of a distribution is taken.</summary>
    public enum Interaction
    {
        /// <summary>As the module was made.</summary>
        Default = 0,

        /// <summary>Its mode.</summary>
        Mode = 1,

        /// <summary>Its median.</summary>
        Median = 2,

        /// <summary>Its mean.</summary>
        Mean = 3,

        /// <summary>A sample.</summary>
        Random = 4,

        /// <summary>The mean of continuous, the mode of discrete ones.</summary>
        Deterministic = 5,
    }

    /// <summary>How an archive is loaded.</summary>
    public sealed record LoadModuleOptions
    {
        /// <summary>Parameters become constants: for policies that no longer change.</summary>
        public bool Freeze { get; set; }

        /// <summary>Frozen, and rewritten by libtorch for inference.</summary>
        public bool Optimize { get; set; }

        /// <summary>
        /// Computes as after train() in Python: batch normalisation updates its running statistics among the parameters,
        /// dropout draws. The archive was exported with train=True.
        /// </summary>
        public bool Train { get; set; }

        /// <summary>Where the parameters go; the CPU if it is not given.</summary>
        public Device? Device { get; set; }

        /// <summary>What floating-point parameters and buffers become; as stored if it is not given.</summary>
        public DType? DType { get; set; }

        /// <summary>The inputs, instead of those that the archive names.</summary>
        public IReadOnlyList<NestedKey>? InKeys { get; set; }

        /// <summary>The outputs, instead of those that the archive names; "_" drops one.</summary>
        public IReadOnlyList<NestedKey>? OutKeys { get; set; }

        /// <summary>The checksum of the file in hexadecimal digits; another file is refused.</summary>
        public string? Sha256 { get; set; }
    }

    /// <summary>How a module is called.</summary>
    public sealed record ModuleCallOptions
    {
        /// <summary>Other parameters for this call; with a batch dimension the module runs once for each set.</summary>
        public TensorDict? Params { get; set; }

        /// <summary>With a batch of parameters: the input has that dimension too.</summary>
        public bool MapInput { get; set; }

        /// <summary>Modules whose outputs are all there do not run.</summary>
        public bool SkipExisting { get; set; }

        /// <summary>Which value distributions give.</summary>
        public Interaction Interaction { get; set; }

        /// <summary>Outputs come in a dictionary without batch size.</summary>
        public bool Plain { get; set; }

        /// <summary>Receives the outputs, and is the result.</summary>
        public TensorDict? Out { get; set; }
    }

    /// <summary>
    /// A module of the library: a network that was trained in Python, a function, a distribution, or several in a row. It
    /// reads its <see cref="InKeys"/> and writes its <see cref="OutKeys"/>.
    /// </summary>
    /// <remarks>Any thread may call a module, also while others do.</remarks>
    public sealed unsafe partial class TensorDictModule : IModule, IDisposable
    {
        /// <summary>
        /// A module of a function. It gets the inputs, or without keys the whole dictionary; of its result the outputs are
        /// taken, or without keys all that is new. Null stands for the dictionary that it got. What it throws comes out of
        /// the call.
        /// </summary>
        public TensorDictModule(
            Func<TensorDict, TensorDict?> function,
            IEnumerable<NestedKey>? inKeys = null,
            IEnumerable<NestedKey>? outKeys = null,
            bool strict = false)
        {
            Argument.NotNull(function, nameof(function));
            using var ins = new Utf8Keys(inKeys ?? Array.Empty<NestedKey>());
            using var outs = new Utf8Keys(outKeys ?? Array.Empty<NestedKey>());
            td_module_function_options raw = td_module_function_options.Default;
            raw.flags = strict ? td_module_function_flags.TD_MODULE_FUNCTION_STRICT : 0;
            raw.in_keys = ins.Pointer;
            raw.in_keys_len = ins.Length;
            raw.out_keys = outs.Pointer;
            raw.out_keys_len = outs.Length;
            td_module* result = null;
            Status.Check(Native.td_module_from_function(
                &raw, Trampolines.Module, Trampolines.User(new ModuleContext(function)), Trampolines.Release, &result));
            Handle = new TensorDictModuleHandle(result);
        }

        /// <summary>A module of an object; otherwise as with a function.</summary>
        public TensorDictModule(
            IModule module, IEnumerable<NestedKey>? inKeys = null, IEnumerable<NestedKey>? outKeys = null, bool strict = false)
            : this(Argument.NotNull(module, nameof(module)).Forward, inKeys, outKeys, strict)
        {
        }

        private TensorDictModule(td_module* pointer)
        {
            Handle = new TensorDictModuleHandle(pointer);
        }

        /// <summary>The keys that it reads.</summary>
        public IReadOnlyList<NestedKey> InKeys => Keys(inputs: true);

        /// <summary>The keys that it writes.</summary>
        public IReadOnlyList<NestedKey> OutKeys => Keys(inputs: false);

        internal TensorDictModuleHandle Handle { get; }

        /// <summary>
        /// Loads a TorchScript archive, as torch.jit.save writes it. Such an archive is code: load only those that you
        /// trust.
        /// </summary>
        public static TensorDictModule Load(string file, LoadModuleOptions? options = null)
        {
            options ??= new LoadModuleOptions();
            byte* fileStack = stackalloc byte[Utf8.StackBytes];
            byte* sumStack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), fileStack);
            using var sum = new Utf8Text(options.Sha256, nameof(options.Sha256), sumStack);
            using var ins = new Utf8Keys(options.InKeys ?? Array.Empty<NestedKey>());
            using var outs = new Utf8Keys(options.OutKeys ?? Array.Empty<NestedKey>());
            td_module_load_options raw = td_module_load_options.Default;
            raw.flags = (options.Freeze ? td_module_load_flags.TD_MODULE_LOAD_FREEZE : 0)
                | (options.Optimize ? td_module_load_flags.TD_MODULE_LOAD_OPTIMIZE : 0)
                | (options.Train ? td_module_load_flags.TD_MODULE_LOAD_TRAIN : 0);
            raw.device_type = Device.RawOf(options.Device);
            raw.device_index = Device.IndexOf(options.Device);
            raw.dtype = (td_dtype)(options.DType ?? default);
            raw.in_keys = ins.Pointer;
            raw.in_keys_len = ins.Length;
            raw.out_keys = outs.Pointer;
            raw.out_keys_len = outs.Length;
            raw.sha256 = sum.Pointer;
            td_module* result = null;
            Status.Check(Native.td_module_load(path.Pointer, &raw, &result));
            return new TensorDictModule(result);
        }

        /// <summary>Modules one after the other.</summary>
        public static TensorDictModule Sequence(params TensorDictModule[] modules) => Sequence(modules, partialTolerant: false);

        /// <summary>
        /// Modules one after the other. If it tolerates, a module that lacks an input is skipped, in a lazy stack for each
        /// element alone.
        /// </summary>
        public static TensorDictModule Sequence(IEnumerable<TensorDictModule> modules, bool partialTolerant)
        {
            TensorDictModule[] all = Argument.NotNull(modules, nameof(modules)).ToArray();
            var pointers = new IntPtr[all.Length];
            td_module_sequence_options raw = td_module_sequence_options.Default;
            raw.flags = partialTolerant ? td_module_sequence_flags.TD_MODULE_SEQUENCE_PARTIAL_TOLERANT : 0;
            td_module* result = null;
            int held = 0;
            try
            {
                for (; held < all.Length; held++)
                {
                    pointers[held] = (IntPtr)Argument.NotNull(all[held], nameof(modules)).Handle.Hold();
                }
                fixed (IntPtr* list = pointers)
                {
                    Status.Check(Native.td_module_sequence((td_module**)list, (nuint)all.Length, &raw, &result));
                }
            }
            finally
            {
                while (held-- > 0)
                {
                    all[held].Handle.Drop();
                }
            }
            return new TensorDictModule(result);
        }

        /// <summary>
        /// Of a sequence the modules that can run with these inputs and matter for these outputs; null for those of the
        /// sequence.
        /// </summary>
        public TensorDictModule SelectSubsequence(IEnumerable<NestedKey>? inKeys = null, IEnumerable<NestedKey>? outKeys = null)
        {
            using var ins = new Utf8Keys(inKeys ?? Array.Empty<NestedKey>());
            using var outs = new Utf8Keys(outKeys ?? Array.Empty<NestedKey>());
            using var handle = Handle.Borrow();
            td_module* result = null;
            Status.Check(Native.td_module_select_subsequence(
                handle.Pointer, ins.Pointer, ins.Length, outs.Pointer, outs.Length, &result));
            return new TensorDictModule(result);
        }

        /// <summary>The same module, of which only these outputs are written.</summary>
        public TensorDictModule SelectOutKeys(params NestedKey[] keys)
        {
            using var list = new Utf8Keys(keys);
            using var handle = Handle.Borrow();
            td_module* result = null;
            Status.Check(Native.td_module_select_out_keys(handle.Pointer, list.Pointer, list.Length, &result));
            return new TensorDictModule(result);
        }

        /// <summary>Writes a module that was loaded, with its parameters as they are now.</summary>
        public void Save(string file)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var handle = Handle.Borrow();
            Status.Check(Native.td_module_save(handle.Pointer, path.Pointer));
        }

        /// <summary>The outputs for a dictionary, in one of its batch size unless the options say otherwise.</summary>
        public TensorDict Call(TensorDict td, ModuleCallOptions? options = null)
        {
            options ??= new ModuleCallOptions();
            using var handle = Handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.BorrowUnseen();
            using var parameters = options.Params == null ? default : options.Params.Handle.BorrowUnseen();
            using var target = options.Out == null ? default : options.Out.Handle.BorrowUnseen();
            td_module_call_options raw = Raw(options);
            raw.@params = parameters.Pointer;
            raw.@out = target.Pointer;
            td_tensordict* result = null;
            ModuleContext.Check(Native.td_module_call(source.Pointer, handle.Pointer, &raw, &result));
            if (options.Out == null)
            {
                return TensorDict.Own(result);
            }
            TensorDict.Own(result).Dispose();
            return options.Out;
        }

        /// <summary>Sets the outputs in the dictionary itself.</summary>
        public void CallInPlace(TensorDict td, ModuleCallOptions? options = null)
        {
            options ??= new ModuleCallOptions();
            using var handle = Handle.Borrow();
            using var target = Argument.NotNull(td, nameof(td)).Handle.BorrowUnseen();
            using var parameters = options.Params == null ? default : options.Params.Handle.BorrowUnseen();
            using var other = options.Out == null ? default : options.Out.Handle.BorrowUnseen();
            td_module_call_options raw = Raw(options);
            raw.@params = parameters.Pointer;
            raw.@out = other.Pointer;
            ModuleContext.Check(Native.td_module_call_inplace(target.Pointer, handle.Pointer, &raw));
        }

        /// <inheritdoc/>
        public TensorDict Forward(TensorDict td) => Call(td);

        /// <summary>
        /// Its parameters and buffers, nested by sub-modules: the tensors themselves, so what is written to them the next
        /// call uses.
        /// </summary>
        public TensorDict GetParams()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_module_params(handle.Pointer, &result), result);
        }

        /// <summary>Takes other tensors as its parameters and buffers: all of them, or none.</summary>
        public void SetParams(TensorDict parameters) => Swap(null, parameters);

        /// <summary>Takes other tensors as the parameters and buffers of one sub-module.</summary>
        public void SetParams(NestedKey part, TensorDict parameters) => Swap(part, parameters);

        /// <summary>
        /// The log-probability of values that a dictionary holds, such as recorded actions. A sequence runs all but its last
        /// module first. Other parameters may be given for this call.
        /// </summary>
        public TensorDict LogProb(TensorDict td, TensorDict? parameters = null)
        {
            using var handle = Handle.Borrow();
            using var source = Argument.NotNull(td, nameof(td)).Handle.BorrowUnseen();
            using var given = parameters == null ? default : parameters.Handle.BorrowUnseen();
            td_module_call_options raw = Raw(new ModuleCallOptions());
            raw.@params = given.Pointer;
            td_tensordict* result = null;
            ModuleContext.Check(Native.td_module_log_prob(source.Pointer, handle.Pointer, &raw, &result));
            return TensorDict.Own(result);
        }

        /// <inheritdoc/>
        public override string ToString()
        {
            using var handle = Handle.Borrow();
            td_module* module = handle.Pointer;
            return Utf8.Read((text, room, length) => Native.td_module_to_string(module, text, room, length));
        }

        /// <summary>Gives the module back; modules made with it keep what they need.</summary>
        public void Dispose() => Handle.Dispose();

        private static td_module_call_options Raw(ModuleCallOptions options)
        {
            td_module_call_options raw = td_module_call_options.Default;
            raw.flags = (options.MapInput ? td_module_call_flags.TD_MODULE_CALL_MAP_INPUT : 0)
                | (options.SkipExisting ? td_module_call_flags.TD_MODULE_CALL_SKIP_EXISTING : 0);
            raw.output = options.Plain ? td_module_output_kind.TD_MODULE_OUTPUT_PLAIN : td_module_output_kind.TD_MODULE_OUTPUT_LIKE_INPUT;
            raw.interaction = (td_interaction_type)options.Interaction;
            return raw;
        }

        private void Swap(NestedKey? part, TensorDict parameters)
        {
            using var keys = new Utf8Keys(part.HasValue ? new[] { part.Value } : Array.Empty<NestedKey>());
            using var handle = Handle.Borrow();
            using var given = Argument.NotNull(parameters, nameof(parameters)).Handle.Borrow();
            Status.Check(Native.td_module_set_params(handle.Pointer, keys.Pointer, given.Pointer));
        }

        private IReadOnlyList<NestedKey> Keys(bool inputs)
        {
            using var handle = Handle.Borrow();
            td_keys* raw = null;
            Status.Check(inputs ? Native.td_module_in_keys(handle.Pointer, &raw) : Native.td_module_out_keys(handle.Pointer, &raw));
            using var owner = new KeysHandle(raw);
            return KeyList.Read(raw).Select(one => one.Key).ToArray();
        }
    }
}
