# Element types: Julia types stand for the dtypes of torch.

"""
    BFloat16

The upper half of a `Float32`: storage only, convert to calculate.
"""
struct BFloat16
    bits::UInt16
end

function BFloat16(x::Real)
    word = reinterpret(UInt32, Float32(x))
    isnan(x) && return BFloat16(0x7fc0)
    BFloat16(((word + 0x7fff + ((word >> 16) & 1)) >> 16) % UInt16)    # to nearest, ties to even
end
Base.Float32(x::BFloat16) = reinterpret(Float32, UInt32(x.bits) << 16)
Base.Float64(x::BFloat16) = Float64(Float32(x))
Base.convert(::Type{BFloat16}, x::Real) = BFloat16(x)
Base.convert(::Type{T}, x::BFloat16) where {T<:AbstractFloat} = T(Float32(x))
Base.zero(::Type{BFloat16}) = BFloat16(0x0000)
Base.show(io::IO, x::BFloat16) = print(io, "BFloat16(", Float32(x), ")")

const DTYPES = (
    UInt8 => TD_DTYPE_UINT8, Int8 => TD_DTYPE_INT8, Int16 => TD_DTYPE_INT16, Int32 => TD_DTYPE_INT32,
    Int64 => TD_DTYPE_INT64, Float16 => TD_DTYPE_FLOAT16, Float32 => TD_DTYPE_FLOAT32,
    Float64 => TD_DTYPE_FLOAT64, Complex{Float16} => TD_DTYPE_COMPLEX32,
    Complex{Float32} => TD_DTYPE_COMPLEX64, Complex{Float64} => TD_DTYPE_COMPLEX128,
    Bool => TD_DTYPE_BOOL, BFloat16 => TD_DTYPE_BFLOAT16, UInt16 => TD_DTYPE_UINT16,
    UInt32 => TD_DTYPE_UINT32, UInt64 => TD_DTYPE_UINT64,
)

function dtype_code(T::Type)
    for (type, code) in DTYPES
        type === T && return code
    end
    throw(ArgumentError("$T is not an element type of tensors"))
end

function dtype_type(code::td_dtype)
    for (type, known) in DTYPES
        known === code && return type
    end
    throw(ArgumentError("dtype $code of the library has no type in Julia"))
end

"""
    TensorDicts.dtype_name(T) -> String

What torch calls the element type `T`, such as `"torch.float32"`.
"""
dtype_name(T::Type) = unsafe_string(td_dtype_name(dtype_code(T)))

"""
    TensorDicts.dtype_size(T) -> Int

Bytes of one element of type `T` in a tensor.
"""
dtype_size(T::Type) = Int(td_dtype_size(dtype_code(T)))
