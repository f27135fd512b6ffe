# Copies in other processes and files of Julia: `serialize`, `Distributed`. A handle is a number of this process,
# so what travels is a message, as `write` makes one.

const Travelling = Union{Tensor,TensorDict,NestedTensor,StridedTensor,TensorClass}

packed(td::TensorDict) = (io = IOBuffer(); write(io, td); take!(io))
packed(t::Tensor) = packed_alone((), t)
packed(nested_tensor::NestedTensor) = packed_alone(length(nested_tensor), nested_tensor)
packed(A::StridedTensor) = packed(A.owner)
packed(x::TensorClass) = packed(parent(x))
function packed_alone(batch, value)
    td = TensorDict(batch, "value" => value)
    try
        packed(td)
    finally
        close(td)
    end
end

unpacked(::Type{TensorDict}, bytes) = read(IOBuffer(bytes), TensorDict; max_bytes = max(1, length(bytes)))
function unpacked(::Type{<:Union{Tensor,NestedTensor}}, bytes)
    td = unpacked(TensorDict, bytes)
    try
        td["value"]
    finally
        close(td)
    end
end
function unpacked(::Type{<:StridedTensor}, bytes)
    t = unpacked(Tensor, bytes)
    try
        asarray(t)
    finally
        close(t)
    end
end
unpacked(T::Type{<:TensorClass}, bytes) = settled(T, unpacked(TensorDict, bytes))

function Serialization.serialize(s::Serialization.AbstractSerializer, x::Travelling)
    Serialization.serialize_cycle_header(s, x) || Serialization.serialize(s, packed(x))
    nothing
end
function Serialization.deserialize(s::Serialization.AbstractSerializer, T::Type{<:Travelling})
    x = unpacked(T, Serialization.deserialize(s))
    Serialization.deserialize_cycle(s, x)
    x
end

# What else has a handle stays where it is.
Serialization.serialize(::Serialization.AbstractSerializer, h::Union{KeyList,WriterHandle,MapHandle,Future,TensorclassHandle}) =
    throw(ArgumentError("a $(kind(h)) of TensorDicts belongs to this process and cannot be serialized"))
Base.deepcopy_internal(h::Handle, ::IdDict) = throw(ArgumentError("a $(kind(h)) of TensorDicts cannot be copied"))
Base.deepcopy_internal(A::StridedTensor, seen::IdDict) =
    get!(() -> asarray(Base.deepcopy_internal(A.owner, seen)), seen, A)::StridedTensor
