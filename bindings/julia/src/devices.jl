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
    charge(call(Tensor, td_tensor_to, t, TD_DTYPE_OTHER, d.type, d.index))
to(t::Tensor, T::Type) =
    charge(call(Tensor, td_tensor_to, t, dtype_code(T), TD_DEVICE_NONE, -1))
to(t::Tensor, T::Type, d::Device) =
    charge(call(Tensor, td_tensor_to, t, dtype_code(T), d.type, d.index))
to(td::TensorDict, T::Type) = charge(call(TensorDict, td_to_dtype, td, dtype_code(T)))
to(td::TensorDict, d::Device; non_blocking::Bool = false) =
    charge(call(TensorDict, td_to_device, td, d.type, d.index, Ref(td_to_options(; non_blocking = non_blocking))))

"""
    clear_device!(td)

Forget the device of `td` and of all nested dictionaries. Nothing moves.
"""
clear_device!(td::TensorDict) = (check(td_clear_device(td)); td)
