# Tensors as Julia arrays, without a copy.

"""
    StridedTensor{T,N} <: AbstractArray{T,N}

The values of a tensor in host memory; made by [`asarray`](@ref). It keeps the memory alive.
"""
struct StridedTensor{T,N} <: AbstractArray{T,N}
    owner::Tensor
    data::Ptr{T}
    dims::NTuple{N,Int}
    steps::NTuple{N,Int}
end

"""
    asarray(t::Tensor) -> StridedTensor

The values of `t` as an array that shares its memory.

```jldoctest
julia> t = zeros(Tensor, Int32, 2, 2);

julia> A = asarray(t);

julia> A[:, 1] .= 7;

julia> t[:, 1] == Tensor(Int32[7, 7])
true
```
"""
function asarray(t::Tensor)
    device(t).type == TD_DEVICE_CPU ||
        throw(ArgumentError("asarray needs host memory, the tensor lies on $(device(t)): use to(t, cpu())"))
    T, dims = eltype(t), size(t)
    # A handle of its own, so that neither close(t) nor a scope takes the memory away.
    result = Ref{Ptr{td_tensor}}(C_NULL)
    check(td_tensor_dup(t, result))
    owner = Tensor(result[]; scoped = false)
    StridedTensor{T,length(dims)}(owner, convert(Ptr{T}, pointer(owner)), dims, strides(owner))
end

Base.size(A::StridedTensor) = A.dims
Base.strides(A::StridedTensor) = A.steps
Base.stride(A::StridedTensor{T,N}, dim::Integer) where {T,N} = dim > N ? length(A) : A.steps[dim]
Base.parent(A::StridedTensor) = A.owner
Base.elsize(::Type{<:StridedTensor{T}}) where {T} = sizeof(T)
Base.unsafe_convert(::Type{Ptr{T}}, A::StridedTensor{T}) where {T} = A.data
Base.IndexStyle(::Type{<:StridedTensor}) = IndexCartesian()

@inline place(A::StridedTensor{T,N}, I) where {T,N} = 1 + sum(ntuple(d -> (I[d] - 1) * A.steps[d], N))
@inline place(A::StridedTensor{T,0}, I) where {T} = 1

Base.@propagate_inbounds function Base.getindex(A::StridedTensor{T,N}, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(A, I...)
    GC.@preserve A unsafe_load(A.data, place(A, I))
end
Base.@propagate_inbounds function Base.setindex!(A::StridedTensor{T,N}, x, I::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(A, I...)
    GC.@preserve A unsafe_store!(A.data, convert(T, x), place(A, I))
    A
end

Tensor(A::StridedTensor) = share(A.owner)

# `t ./ 255` gives an Array, `t .= A` writes into the tensor.
Base.Broadcast.broadcastable(t::Tensor) = asarray(t)
Base.Broadcast.materialize!(t::Tensor, source) = (Base.Broadcast.materialize!(asarray(t), source); t)
Base.Broadcast.materialize!(t::Tensor, source::Base.Broadcast.Broadcasted{<:Any}) =
    (Base.Broadcast.materialize!(asarray(t), source); t)
