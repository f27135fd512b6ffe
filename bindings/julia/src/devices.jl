# Devices, and moving there.

"""
    Device("cuda:0")

Where tensors lie: `"cpu"`, `"cuda"`, `"mps"`, `"xpu"` or `"meta"`, with the number of the device where
there are several. Numbers count from 0, as in torch. See also [`cpu`](@ref) and [`cuda`](@ref).
"""
struct Device
    type::td_device_type
    index::Int32
end

const DEVICES = ("cpu" => TD_DEVICE_CPU, "cuda" => TD_DEVICE_CUDA, "mps" => TD_DEVICE_MPS,
                 "xpu" => TD_DEVICE_XPU, "meta" => TD_DEVICE_META)

function Device(text::AbstractString)
    name, number = (split(text, ':'; limit = 2)..., "-1")
    for (known, type) in DEVICES
        known == name && return Device(type, parse(Int32, number))
    end
    throw(ArgumentError("\"$text\" is not a device: one of $(join(first.(DEVICES), ", ")) was expected"))
end

function Base.show(io::IO, d::Device)
    position = findfirst(pair -> pair.second == d.type, DEVICES)
    name = position === nothing ? string(d.type) : DEVICES[position].first
    print(io, "Device(\"", name, d.index < 0 ? "" : ":$(d.index)", "\")")
end

"""
    cpu()

Host memory.
"""
cpu() = Device(TD_DEVICE_CPU, -1)

"""
    cuda(index = -1)

A GPU, counted from 0; without a number the current one.
"""
cuda(index::Integer = -1) = Device(TD_DEVICE_CUDA, index)

"""
    TensorDicts.available(device) -> Bool

Whether libtorch here can use this kind of device.
"""
available(d::Device) = td_device_available(d.type) == 1
cuda_available() = available(cuda())

function ask_device(f::F, h::Handle) where {F}
    type, index = Ref(TD_DEVICE_NONE), Ref(Int32(-1))
    check(f(h, type, index))
    type[] == TD_DEVICE_NONE ? nothing : Device(type[], index[])
end

"""
    device(x) -> Union{Device,Nothing}

Where `x` lies; `nothing` for a dictionary whose entries may lie anywhere.
"""
device(t::Tensor) = ask_device(td_tensor_device, t)
device(td::TensorDict) = ask_device(td_device, td)

"""
    to(x, device; non_blocking = false)
    to(x, T)

`x` on another device, or with elements of type `T`. What is right already is shared.
A dictionary that was moved moves there what is set later.
"""
to(t::Tensor, d::Device) =
    call(Tensor, td_tensor_to, t, TD_DTYPE_OTHER, d.type, d.index)
to(t::Tensor, T::Type) =
    call(Tensor, td_tensor_to, t, dtype_code(T), TD_DEVICE_NONE, -1)
to(t::Tensor, T::Type, d::Device) =
    call(Tensor, td_tensor_to, t, dtype_code(T), d.type, d.index)
to(td::TensorDict, T::Type) = call(TensorDict, td_to_dtype, td, dtype_code(T))
to(td::TensorDict, d::Device; non_blocking::Bool = false) =
    call(TensorDict, td_to_device, td, d.type, d.index, Ref(td_to_options(; non_blocking = non_blocking)))

"""
    to(td; dtype = nothing, device = nothing, like = nothing, each_like = false, pin = false,
       non_blocking = false, kinds = (), keys = nothing)
    to!(td; options...)

Both at once, or as another dictionary `like`: its device, and the element type that all its tensors
have, where nothing else is said. With `each_like` each tensor becomes as the one of its key there;
tensors on the device `"meta"` give only an element type. `pin`: through pinned memory; without another
device that is where they stay. `to!` replaces the tensors of `td` itself.

Only tensors of `kinds` get another element type: `:floating`, `:complex`, `:integer`, `:bool`, one or
several of them. Only the entries `keys`, and what is below them, are converted and moved.
"""
to(td::TensorDict; options...) =
    call(TensorDict, (d, result) -> convert_dict((a...) -> td_to(a..., result), d; options...), td)
to!(td::TensorDict; options...) =
    (check(convert_dict(td_to_inplace, td; options...)); td)

function convert_dict(convert, td; dtype::Union{Type,Nothing} = nothing, device::Union{Device,Nothing} = nothing,
                      like::Union{TensorDict,Nothing} = nothing, each_like::Bool = false, pin::Bool = false,
                      non_blocking::Bool = false, kinds = (), keys = nothing)
    code = dtype === nothing ? TD_DTYPE_OTHER : dtype_code(dtype)
    d = something(device, Device(TD_DEVICE_NONE, -1))
    flags = reduce(|, (TO_KINDS[kind] for kind in (kinds isa Symbol ? (kinds,) : kinds)); init = UInt32(0))
    with_keys(something(keys, ())) do list, count
        options = td_to_options(non_blocking = non_blocking, pin_memory = pin, each_like = each_like,
                                kinds = flags, keys = pointer(list), keys_len = count)
        convert(td, something(like, C_NULL), code, d.type, d.index, Ref(options))
    end
end
const TO_KINDS = (floating = TD_TO_KINDS_FLOATING, complex = TD_TO_KINDS_COMPLEX,
                  integer = TD_TO_KINDS_INTEGER, bool = TD_TO_KINDS_BOOL)

"""
    pin_memory(td)
    pin_memory!(td)

In pinned memory, from which copies to an accelerator are quicker. Needs one.
"""
pin_memory(td::TensorDict) = to(td; pin = true)
pin_memory!(td::TensorDict) = to!(td; pin = true)

"""
    auto_device!(td)

Set the device of `td`, and of all nested dictionaries, to the one that all tensors lie on; to none if
they do not agree. Nothing moves.
"""
auto_device!(td::TensorDict) = (check(td_auto_device(td)); td)

"""
    record_stream(td, device, stream)

Tell the allocator that work on a stream of an accelerator uses all tensors. `stream` is libtorch's
number, of CUDA also the address of a `cudaStream_t`.
"""
record_stream(td::TensorDict, d::Device, stream::Integer) = (check(td_record_stream(td, d.type, d.index, stream)); td)

measure(td, kind) = ask(Int64, td_measure, td, kind)

"""
    eltype_of(td) -> Union{Type,Nothing}

The element type that all tensors have; `nothing` if they differ or there are none.
"""
function eltype_of(td::TensorDict)
    code = measure(td, TD_MEASURE_DTYPE)
    code == TD_DTYPE_OTHER ? nothing : dtype_type(td_dtype(code))
end

"""
    isfloat(td), ispinned(td)

Whether all tensors are of a floating element type, or lie in pinned memory.
"""
isfloat(td::TensorDict) = measure(td, TD_MEASURE_IS_FLOATING_POINT) == 1
ispinned(td::TensorDict) = measure(td, TD_MEASURE_IS_PINNED) == 1

"""
    iscpu(td), iscuda(td)

Whether the device of `td` is of that kind; `false` when it has none.
"""
iscpu(td::TensorDict) = device(td) == cpu()
iscuda(td::TensorDict) = (d = device(td); d !== nothing && d.type == TD_DEVICE_CUDA)

"""
    param_count(td; duplicates = true)
    bytes(td; duplicates = true)

How many numbers all tensors hold, and how many bytes they and their gradients take. Without
`duplicates` a tensor that stands in two places counts once.
"""
param_count(td::TensorDict; duplicates::Bool = true) =
    Int(measure(td, duplicates ? TD_MEASURE_ELEMENTS : TD_MEASURE_ELEMENTS_ONCE))
bytes(td::TensorDict; duplicates::Bool = true) =
    Int(measure(td, duplicates ? TD_MEASURE_BYTES : TD_MEASURE_BYTES_ONCE))

"""
    data_pointers(td; storage = false) -> Vector{Ptr{Cvoid}}

The address of each tensor, in the order of the nested keys; with `storage` that of the memory it is a
view of.
"""
function data_pointers(td::TensorDict; storage::Bool = false)
    count = Ref{Csize_t}(0)
    flags = storage * TD_DATA_POINTERS_STORAGE
    check(td_data_pointers(td, flags, C_NULL, 0, count))
    addresses = zeros(Int64, count[])
    isempty(addresses) || check(td_data_pointers(td, flags, addresses, length(addresses), count))
    [Ptr{Cvoid}(UInt(address)) for address in addresses]
end

"""
    clear_device!(td)

Forget the device of `td` and of all nested dictionaries. Nothing moves.
"""
clear_device!(td::TensorDict) = (check(td_clear_device(td)); td)
