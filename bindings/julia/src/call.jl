# Any operator of libtorch, by its name.

"""
    Leaf()

The tensor that [`call`](@ref) calls an operator for, where it is not the first argument.
"""
struct Leaf end

# What the items of a call point at, for as long as it takes.
struct CallArguments
    items::Vector{td_call_argument}
    held::Vector{Any}
end
hold(arguments::CallArguments, x) = (push!(arguments.held, x); x)
text_of(arguments::CallArguments, text) = pointer(hold(arguments, Vector{UInt8}(c_text(text))))
function c_text(text)
    '\0' in text && throw(ArgumentError("a text holds NUL: $(repr(text))"))
    string(text, '\0')
end

argument(_, ::Leaf) = (; kind = TD_ARGUMENT_LEAF)
argument(_, ::Nothing) = (; kind = TD_ARGUMENT_NONE)
argument(_, x::Bool) = (; kind = TD_ARGUMENT_BOOL, integer = x)
argument(_, x::Integer) = (; kind = TD_ARGUMENT_INT, integer = x)
argument(_, x::Real) = (; kind = TD_ARGUMENT_DOUBLE, real = x)
argument(_, T::Type) = (; kind = TD_ARGUMENT_DTYPE, integer = dtype_code(T))
argument(_, d::Device) = (; kind = TD_ARGUMENT_DEVICE, integer = d.type, device_index = d.index)
argument(a, x::Union{AbstractString,Symbol}) =
    (; kind = TD_ARGUMENT_TEXT, text = Cstring(text_of(a, String(x))))
argument(a, x::TensorDict) = (; kind = TD_ARGUMENT_DICT, dict = live_pointer(hold(a, x)))
argument(a, x::Tensor) = (; kind = TD_ARGUMENT_TENSOR, tensor = live_pointer(hold(a, x)))
argument(a, xs::Union{Tuple,AbstractVector}) = list_argument(a, collect(xs))
list_argument(a, xs::Vector{Bool}) = whole_numbers(a, TD_ARGUMENT_BOOLS, xs)
list_argument(a, xs::Vector{<:Integer}) = whole_numbers(a, TD_ARGUMENT_INTS, xs)
list_argument(a, xs::Vector{Union{}}) = whole_numbers(a, TD_ARGUMENT_INTS, xs)
function list_argument(a, xs::Vector{<:Real})
    numbers = hold(a, Vector{Float64}(xs))
    (; kind = TD_ARGUMENT_DOUBLES, reals = pointer(numbers), count = length(numbers))
end
argument(_, x) = throw(ArgumentError("an operator takes no $(typeof(x))"))
function whole_numbers(a, kind, xs)
    numbers = hold(a, Vector{Int64}(xs))
    (; kind, integers = pointer(numbers), count = length(numbers))
end

function add!(arguments::CallArguments, name, value)
    given = argument(arguments, value)
    text = name === nothing ? C_NULL : text_of(arguments, String(name))
    push!(arguments.items, td_call_argument(; name = Cstring(Ptr{UInt8}(text)), given...))
end

function call_arguments(values, named)
    arguments = CallArguments(td_call_argument[], Any[])
    foreach(value -> add!(arguments, nothing, value), values)
    foreach(pair -> add!(arguments, first(pair), last(pair)), pairs(named))
    arguments
end

# The name of an operator that writes into its tensor ends so.
writes(name) = endswith(first(split(last(split(name, "::")), '.')), '_')

function operator(td::TensorDict, name, values, named, batch_size)
    arguments = call_arguments(values, named)
    sizes = batch_size === nothing ? Int64[] : Int64[batch_size...]
    GC.@preserve arguments sizes begin
        options = Ref(td_call_options(; has_batch_size = batch_size !== nothing,
                                      batch_size = pointer(sizes), batch_dims = length(sizes)))
        items, count = arguments.items, Ref{Csize_t}(0)
        check(td_call(td, name, items, length(items), options, C_NULL, 0, count))
        results = fill(Ptr{td_tensordict}(C_NULL), count[])
        check(td_call(td, name, items, length(items), options, results, length(results), count))
        TensorDict[TensorDict(result) for result in results]
    end
end

"""
    call(td, name, arguments...; batch_size = nothing, named arguments...)

Call an operator of libtorch for every tensor of `td`. The tensor is the first argument, unless
`Leaf()` stands elsewhere. An operator that gives several tensors gives a vector of dictionaries.

The `name` may say an overload, `"aten::add.Tensor"`; without one it is the first that takes the
arguments, without a namespace one of `aten`. Arguments are numbers, `nothing`, texts, element types,
devices, tensors, other dictionaries (leaf by leaf) and vectors of numbers; they are those of libtorch, so
dimensions count from 0. Results must begin with the batch size, or with `batch_size`.

```jldoctest
julia> td = TensorDict(3; x = [-1.5, 0.5, 2.5]);

julia> Array(call(td, "aten::clamp", 0.0; max = 1.0)["x"])
3-element Array{Float64,1}:
 0.0
 0.5
 1.0
```
"""
function call(td::TensorDict, name::AbstractString, arguments...; batch_size = nothing, named...)
    writes(name) && throw(ArgumentError("$name writes into the tensors: use call!"))
    results = operator(td, name, arguments, named, batch_size)
    length(results) == 1 ? results[1] : results
end

"""
    call!(td, name, arguments...; named arguments...)

Call an operator of libtorch that writes into its tensor, such as `"aten::mul_"`. When it fails for one of
the tensors, nothing has been written. Allowed when locked.
"""
function call!(td::TensorDict, name::AbstractString, arguments...; named...)
    writes(name) || throw(ArgumentError("$name does not write into the tensors: use call"))
    given = call_arguments(arguments, named)
    GC.@preserve given check(td_call_inplace(td, name, given.items, length(given.items)))
    td
end
