# Making tensors, and what can be asked of one.

# Arrays whose memory a tensor can use as it is, whatever their strides.
const Lendable{T,N} = Union{Array{T,N},Base.StridedSubArray{T,N},
                            PermutedDimsArray{T,N,P,Q,<:Array{T,N}} where {P,Q}}

"""
    Tensor(A::AbstractArray)
    Tensor(x::Number)

A tensor of the sizes of `A`. It shares the memory of an `Array`, of a strided view and of a
`PermutedDimsArray`, in both directions; other arrays are copied. A number makes a tensor without
dimensions.

```jldoctest
julia> A = zeros(Float32, 2, 3);

julia> t = Tensor(A);

julia> A[1, 2] = 5;

julia> Array(t)
2×3 Array{Float32,2}:
 0.0  5.0  0.0
 0.0  0.0  0.0
```
"""
Tensor(t::Tensor) = t
Tensor(A::AbstractArray{T}) where {T} = Tensor(Array{T}(A))

function Tensor(A::Lendable{T,N}) where {T,N}
    code = dtype_code(T)
    any(<(0), strides(A)) && return Tensor(Array{T}(A))
    GC.@preserve A call(Tensor, td_tensor_from_blob, pointer(A), sizes(size(A)), sizes(strides(A)), N, code,
                        TD_DEVICE_CPU, -1, release_root(), root!(fixed(A), kept_bytes(A)))
end

# What is lent must stay where it is: Julia refuses to resize a vector that shares its data.
fixed(A::AbstractArray) = A
fixed(v::Vector) = (v, reshape(v, length(v), 1))

# What stays in memory with an array: of a view, all of the array behind it.
kept_bytes(A::Array) = sizeof(A)
kept_bytes(A::AbstractArray) = parent(A) === A ? sizeof(A) : kept_bytes(parent(A))

Tensor(x::T) where {T<:Union{Number,BFloat16}} =
    call(Tensor, td_tensor_from_data, Ref(x), sizeof(T), Int64[], 0, dtype_code(T))

"""
    zeros(Tensor, T, dims...; device = cpu())

A tensor of zeros.
"""
Base.zeros(::Type{Tensor}, T::Type, dims::Integer...; device::Device = cpu()) =
    zeros(Tensor, T, dims; device = device)
Base.zeros(::Type{Tensor}, T::Type, dims::Tuple; device::Device = cpu()) =
    call(Tensor, td_tensor_zeros, sizes(dims), length(dims), dtype_code(T), device.type, device.index)

Base.eltype(t::Tensor) = dtype_type(ask(td_dtype, td_tensor_dtype, t))
Base.size(t::Tensor) = asksizes(td_tensor_sizes, t)
Base.strides(t::Tensor) = asksizes(td_tensor_strides, t)
Base.ndims(t::Tensor) = length(size(t))
Base.length(t::Tensor) = prod(size(t))
Base.isempty(t::Tensor) = length(t) == 0

"""
    nbytes(x) -> Int

Bytes of all elements of a tensor, or of all tensors of a dictionary.
"""
nbytes(t::Tensor) = Int(ask(Csize_t, td_tensor_nbytes, t))

"""
    pointer(t::Tensor)

The address of the first element, valid as long as `t` is; `C_NULL` without elements.
"""
Base.pointer(t::Tensor) = ask_pointer(td_tensor_data, t)
function ask_pointer(f::F, t) where {F}
    result = Ref{Ptr{Cvoid}}(C_NULL)
    check(f(t, result))
    result[]
end

"""
    iscontiguous(t), isuniquelyowned(t), requires_grad(t)

Whether the elements lie densely in row-major order; whether nobody else holds this tensor or its
memory; whether operations on it are recorded for gradients.
"""
iscontiguous(t::Tensor) = asks(td_tensor_is_contiguous, t)
isuniquelyowned(t::Tensor) = asks(td_tensor_is_uniquely_owned, t)
requires_grad(t::Tensor) = asks(td_tensor_requires_grad, t)
requires_grad!(t::Tensor, required::Bool = true) = (check(td_tensor_set_requires_grad(t, required)); t)

"""
    contiguous(x)

`x` with elements that lie densely in row-major order; what already does is shared.
"""
contiguous(t::Tensor) = call(Tensor, td_tensor_contiguous, t)

"""
    share(x)

A second object for the same tensor or dictionary: a change through one is seen through the other.
"""
share(t::Tensor) = call(Tensor, td_tensor_dup, t)

Base.copy(t::Tensor) = call(Tensor, td_tensor_clone, t)
Base.deepcopy_internal(t::Tensor, seen::IdDict) = get!(() -> copy(t), seen, t)::Tensor

Base.:(==)(a::Tensor, b::Tensor) = asks(td_tensor_equal, a, b)
Base.hash(t::Tensor, h::UInt) = hash(size(t), hash(:Tensor, h))

"""
    Array(t::Tensor)

The values of `t`, from any device, in an array of their own.
"""
function Base.Array(t::Tensor)
    T, dims = eltype(t), size(t)
    rows_first = Array{T}(undef, reverse(dims))
    check(td_tensor_copy_to(t, rows_first, sizeof(rows_first)))
    length(dims) < 2 ? rows_first : permutedims(rows_first, length(dims):-1:1)
end
Base.collect(t::Tensor) = Array(t)

function Base.copyto!(A::Array, t::Tensor)
    size(A) == size(t) || throw(DimensionMismatch("an array of size $(size(A)) was given for $(size(t))"))
    copyto!(A, Array(t))
end

"""
    copyto!(t::Tensor, source)
    fill!(t::Tensor, x)

Overwrite the values of `t`, on any device, with those of a tensor or an array, broadcast and
converted, or with one number.
"""
function Base.copyto!(t::Tensor, A::Array)
    # Same type and size: straight from the array. The library does the converting and broadcasting.
    eltype(A) === eltype(t) && size(A) == size(t) || return lending(s -> copyto!(t, s), A)
    rows_first = ndims(A) < 2 ? A : permutedims(A, ndims(A):-1:1)
    check(td_tensor_copy_from(t, rows_first, sizeof(rows_first)))
    t
end
Base.copyto!(t::Tensor, source::Tensor) = (check(td_tensor_copy(t, source)); t)
Base.copyto!(t::Tensor, source::Union{Number,AbstractArray}) = lending(s -> copyto!(t, s), source)
Base.fill!(t::Tensor, x::Number) = copyto!(t, x)

# f(tensor of x), with the handle given back at once when it was made for this.
lending(f, t::Tensor) = f(t)
function lending(f, x)
    t = Tensor(x)
    try
        f(t)
    finally
        close(t)
    end
end
