# Arithmetic, comparison, logic and reductions of every tensor. What has one function of the table each
# stands in math_ops.jl.

# What can stand beside a dictionary.
const Operand = Union{TensorDict,Tensor,Number,BFloat16,AbstractArray}

# Calls with what stands beside a dictionary: a dictionary, a tensor, an array or a number.
with_operand(f, other::TensorDict) =
    GC.@preserve other f(td_operand(kind = TD_OPERAND_DICT, dict = live_pointer(other)))
with_operand(f, other::Tensor) =
    GC.@preserve other f(td_operand(kind = TD_OPERAND_TENSOR, tensor = live_pointer(other)))
with_operand(f, other::Bool) = f(td_operand(kind = TD_OPERAND_BOOL, integer = other))
with_operand(f, other::Integer) = f(td_operand(kind = TD_OPERAND_INT, integer = other))
with_operand(f, other::Real) = f(td_operand(kind = TD_OPERAND_DOUBLE, real = other))
with_operand(f, other) = lending(t -> with_operand(f, t), other)

# `missing` is the name of Base for something else; the keyword says what stands for entries of one only.
function with_options(f, default, alpha)
    default === nothing && return f(td_binary_options(alpha = alpha))
    default === :intersection &&
        return f(td_binary_options(missing = TD_MISSING_INTERSECT, alpha = alpha))
    filled = Tensor(default)
    GC.@preserve filled f(td_binary_options(missing = TD_MISSING_DEFAULT, alpha = alpha,
                                            fallback = live_pointer(filled)))
end

unary(op, td) = call(TensorDict, td_unary, td, op)
unary!(op, td) = (check(td_unary_inplace(td, op)); td)

binary(op, td, other; default = nothing, alpha::Real = 1) =
    with_operand(other) do operand
        with_options(default, alpha) do options
            call(TensorDict, td_binary, td, op, Ref(operand), Ref(options))
        end
    end
binary!(op, td, other; default = nothing, alpha::Real = 1) =
    with_operand(other) do operand
        with_options(default, alpha) do options
            check(td_binary_inplace(td, op, Ref(operand), Ref(options)))
            td
        end
    end

# A bound that is not given is no operand.
with_bound(f, ::Nothing) = f(C_NULL)
with_bound(f, other) = with_operand(operand -> f(Ref(operand)), other)

ternary(op, td, b, c, value = 1.0) =
    with_bound(x -> with_bound(y -> call(TensorDict, td_ternary, td, op, x, y, value), c), b)
ternary!(op, td, b, c, value = 1.0) =
    with_bound(x -> with_bound(y -> (check(td_ternary_inplace(td, op, x, y, value)); td), c), b)

"`td + weight * (stop - td)`."
lerp(td::TensorDict, stop, weight) = ternary(TD_TERNARY_LERP, td, stop, weight)
"`td + weight * (stop - td)`, into the tensors."
lerp!(td::TensorDict, stop, weight) = ternary!(TD_TERNARY_LERP, td, stop, weight)
"`td + value * b * c`."
addcmul(td::TensorDict, b, c; value::Real = 1) = ternary(TD_TERNARY_ADDCMUL, td, b, c, value)
"`td + value * b * c`, into the tensors."
addcmul!(td::TensorDict, b, c; value::Real = 1) = ternary!(TD_TERNARY_ADDCMUL, td, b, c, value)
"`td + value * b / c`."
addcdiv(td::TensorDict, b, c; value::Real = 1) = ternary(TD_TERNARY_ADDCDIV, td, b, c, value)
"`td + value * b / c`, into the tensors."
addcdiv!(td::TensorDict, b, c; value::Real = 1) = ternary!(TD_TERNARY_ADDCDIV, td, b, c, value)

"""
    clamp(td, low, high)
    clamp!(td, low, high)

Values between two bounds, each a number, a tensor, a dictionary, or `nothing`.
"""
Base.clamp(td::TensorDict, low, high) = ternary(TD_TERNARY_CLAMP, td, low, high)
Base.clamp!(td::TensorDict, low, high) = ternary!(TD_TERNARY_CLAMP, td, low, high)

# A number or a tensor on the left, and what operators of one operand there are.
for other in (:Number, :Tensor)
    @eval begin
        Base.:+(other::$other, td::TensorDict) = add(td, other)
        Base.:-(other::$other, td::TensorDict) = rsub(td, other)
        Base.:*(other::$other, td::TensorDict) = mul(td, other)
        Base.:/(other::$other, td::TensorDict) = rdiv(td, other)
        Base.Broadcast.broadcasted(::typeof(+), other::$other, td::TensorDict) = add(td, other)
        Base.Broadcast.broadcasted(::typeof(-), other::$other, td::TensorDict) = rsub(td, other)
        Base.Broadcast.broadcasted(::typeof(*), other::$other, td::TensorDict) = mul(td, other)
        Base.Broadcast.broadcasted(::typeof(/), other::$other, td::TensorDict) = rdiv(td, other)
    end
end
# Julia hands literal exponents over as types.
Base.literal_pow(::typeof(^), td::TensorDict, ::Val{p}) where {p} = pow(td, p)
Base.Broadcast.broadcasted(::typeof(Base.literal_pow), ::typeof(^), td::TensorDict, ::Val{p}) where {p} =
    pow(td, p)

const INTERPOLATIONS = (linear = TD_INTERPOLATION_LINEAR, lower = TD_INTERPOLATION_LOWER,
                        higher = TD_INTERPOLATION_HIGHER, midpoint = TD_INTERPOLATION_MIDPOINT,
                        nearest = TD_INTERPOLATION_NEAREST)

# Calls with the options of a reduction; dims: `:` for all, :features, a dimension or several.
function reducing(f, dims; keepdims::Bool = false, dtype = nothing, corrected::Bool = true,
                  correction::Integer = corrected, q::Real = 0.5, interpolation::Symbol = :linear)
    list = dims isa Union{Colon,Symbol} ? Int64[] : Int64[from0(dim) for dim in dims]
    dims isa Symbol && dims !== :features && throw(ArgumentError("dims = :$dims; :features is known"))
    haskey(INTERPOLATIONS, interpolation) ||
        throw(ArgumentError("interpolation :$interpolation; known are $(keys(INTERPOLATIONS))"))
    over = dims isa Colon ? TD_REDUCE_OVER_ALL : dims isa Symbol ? TD_REDUCE_OVER_FEATURES : TD_REDUCE_OVER_DIMS
    GC.@preserve list f(Ref(td_reduce_options(
        over = over, dims = pointer(list), dims_len = length(list), keepdim = keepdims,
        dtype = dtype === nothing ? TD_DTYPE_OTHER : dtype_code(dtype), correction = correction, q = q,
        interpolation = INTERPOLATIONS[interpolation])))
end

reduced(op, td, dims, leaves; options...) = reducing(dims; options...) do raw
    leaves ? call(Tensor, td_reduce_leaves, td, op, raw) : call(TensorDict, td_reduce, td, op, raw)
end

function reduced_pair(op, td, dims; options...)
    values, positions = Ref{Ptr{td_tensordict}}(C_NULL), Ref{Ptr{td_tensordict}}(C_NULL)
    reducing(raw -> check(td_reduce_pair(td, op, raw, values, positions)), dims; options...)
    # Positions count from 1, as everywhere.
    TensorDict(values[]), add!(TensorDict(positions[]), 1)
end

# Functions of Base, of packages that come with Julia, and our own: not exported, since those packages
# export theirs.
for (f, op) in ((:(Base.sum), :TD_REDUCE_SUM), (:mean, :TD_REDUCE_MEAN), (:(Base.prod), :TD_REDUCE_PROD),
                (:std, :TD_REDUCE_STD), (:var, :TD_REDUCE_VAR), (:nansum, :TD_REDUCE_NANSUM),
                (:nanmean, :TD_REDUCE_NANMEAN), (:(Base.minimum), :TD_REDUCE_AMIN),
                (:(Base.maximum), :TD_REDUCE_AMAX), (:norm, :TD_REDUCE_NORM),
                (:logsumexp, :TD_REDUCE_LOGSUMEXP))
    @eval $f(td::TensorDict; dims = :, leaves::Bool = false, options...) =
        reduced($op, td, dims, leaves; options...)
end

"""
    sum(td; dims = :, keepdims = false, leaves = false, dtype = nothing)

The sum of each tensor: of all its values, over the batch dimensions `dims` (a number or several), or
with `dims = :features` for each element of the batch. With `leaves` all tensors together give one.

In the same way work `prod`, `minimum`, `maximum`, and, by their full names, `TensorDicts.mean`, `std`,
`var`, `nansum`, `nanmean`, `norm` and `logsumexp`.

```jldoctest
julia> td = TensorDict(2; a = [1.0 2.0; 3.0 4.0], b = [5.0, 6.0]);

julia> Array(sum(td)["a"])[]
10.0

julia> Array(sum(td; dims = :features)["a"])
2-element Array{Float64,1}:
 3.0
 7.0
```
"""
Base.sum

"""
    TensorDicts.quantile(td, q; dims = :, keepdims = false, leaves = false, interpolation = :linear)

A quantile of each tensor, 0 to 1.
"""
quantile(td::TensorDict, q::Real; dims = :, leaves::Bool = false, options...) =
    reduced(TD_REDUCE_QUANTILE, td, dims, leaves; q = q, options...)

"""
    all(td) -> Bool
    all(td; dims) -> TensorDict

Whether no value of any tensor is 0, or that for each place along batch dimensions. `any` likewise.
"""
Base.all(td::TensorDict; dims = nothing, options...) =
    dims === nothing ? asks(td_all, td) : reduced(TD_REDUCE_ALL, td, dims, false; options...)
Base.any(td::TensorDict; dims = nothing, options...) =
    dims === nothing ? asks(td_any, td) : reduced(TD_REDUCE_ANY, td, dims, false; options...)

"""
    findmin(td; dims, keepdims = false)
    findmax(td; dims, keepdims = false)

The least or greatest values along a batch dimension, and their positions.
"""
Base.findmin(td::TensorDict; dims::Integer, options...) = reduced_pair(TD_REDUCE_MIN, td, dims; options...)
Base.findmax(td::TensorDict; dims::Integer, options...) = reduced_pair(TD_REDUCE_MAX, td, dims; options...)

"""
    cummin(td; dims)
    cummax(td; dims)

The least or greatest values so far along a batch dimension, and their positions.
"""
cummin(td::TensorDict; dims::Integer) = reduced_pair(TD_REDUCE_CUMMIN, td, dims)
cummax(td::TensorDict; dims::Integer) = reduced_pair(TD_REDUCE_CUMMAX, td, dims)

"""
    cumsum(td; dims)
    cumprod(td; dims)
    sum_from(td; dims)

The sums or products so far along a batch dimension, and the sums from each place to the end.
"""
Base.cumsum(td::TensorDict; dims::Integer, dtype = nothing) =
    reduced(TD_REDUCE_CUMSUM, td, dims, false; dtype = dtype)
Base.cumprod(td::TensorDict; dims::Integer, dtype = nothing) =
    reduced(TD_REDUCE_CUMPROD, td, dims, false; dtype = dtype)
sum_from(td::TensorDict; dims::Integer, dtype = nothing) =
    reduced(TD_REDUCE_SUM_FROM, td, dims, false; dtype = dtype)

"Exponentials divided by their sum along a batch dimension."
softmax(td::TensorDict; dims::Integer, dtype = nothing) =
    reduced(TD_REDUCE_SOFTMAX, td, dims, false; dtype = dtype)

"Write 0 into all tensors."
zero!(td::TensorDict) = (check(td_zero(td)); td)

"""
    fill!(td, key, value)

Write one number into a tensor, or into all of a nested dictionary.
"""
function Base.fill!(td::TensorDict, key, value)
    names = path(key)
    with_operand(operand -> check(td_fill(td, names, length(names), Ref(operand)), key), value)
    td
end
