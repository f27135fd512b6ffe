# Structs whose fields are the entries of a dictionary.

"""
    TensorClass

What [`@tensorclass`](@ref) makes subtypes of. `parent(x)` is the dictionary behind `x`.
"""
abstract type TensorClass end

Base.parent(x::TensorClass) = getfield(x, :dict)::TensorDict

# The types of the fields, and what was declared of them: methods are added by @tensorclass.
function fieldspecs end
function fieldtypes_of end

const CLASS_TYPES = IdDict{Type,TensorclassType}()
const CLASS_TYPES_LOCK = ReentrantLock()

# Made at the first use, so that nothing of this process is kept in a precompiled module.
tensorclass_type(T::Type{<:TensorClass}) = lock(CLASS_TYPES_LOCK) do
    get!(() -> TensorclassType(nameof(T), (String(name) => spec for (name, spec) in pairs(fieldspecs(T)))...), CLASS_TYPES, T)
end

declared(spec::FieldSpec) = (spec, Tensor)
declared(::Type{Tensor}) = (tensorfield(), Tensor)
declared(::Type{TensorDict}) = (dictfield(), TensorDict)
declared(::Type{NonTensorData}) = (valuefield(), NonTensorData)
declared(T::Type{<:TensorClass}) = (tensorclassfield(T), T)
function declared(T::Union)
    inner = Base.nonnothingtype(T)
    Nothing <: T && inner isa DataType || throw(ArgumentError("$T is not what a field can be"))
    spec, type = declared(inner)
    FieldSpec(spec.kind, spec.eltype, spec.sizes, true, spec.default, spec.tensorclass), type
end
declared(other) = throw(ArgumentError("$other is not what a field can be"))

"""
    @tensorclass struct Name
        field
        field::type
    end

A struct whose fields are the entries of a dictionary, checked by the library. The type of a field is
`Tensor` (or left out), `TensorDict`, `NonTensorData`, another tensorclass, `Union{…,Nothing}` of one of these for a field
that may be empty, or says more: [`tensorfield(Float32, 3, :, :)`](@ref tensorfield).

`Name(batch, values...)` and `Name(batch; field = value, ...)` make one; `Name(td)` makes one of a dictionary
that has these fields and no others; `TensorDict(x)` is a plain one again. Indices, shapes, `stack`, `cat`,
`map`, copies and comparisons are those of dictionaries and give the same struct. Methods are ordinary
functions.

```jldoctest
julia> @tensorclass struct MyData
           image::tensorfield(Float32, 3, :, :)
           mask
           label::Union{Tensor,Nothing}
       end

julia> data = MyData(100; image = zeros(Float32, 100, 3, 8, 8), mask = falses(100, 1, 8, 8), label = repeat(1:10, 10));

julia> select_label(data, label) = data[Array(data.label) .== label];

julia> select_label(data, 3)
MyData(batch_size=[10], fields={
    image: f32[3,8,8],
    label: i64[],
    mask: bool[1,8,8]})

julia> size(reshape(data, 10, 10))
(10, 10)
```
"""
macro tensorclass(definition)
    Meta.isexpr(definition, :struct) && !definition.args[1] && definition.args[2] isa Symbol ||
        throw(ArgumentError("@tensorclass takes a struct without parameters"))
    name, body = definition.args[2], definition.args[3]
    members = filter(line -> !(line isa LineNumberNode), body.args)
    all(m -> m isa Symbol || Meta.isexpr(m, :(::)), members) ||
        throw(ArgumentError("the fields of a tensorclass are names, or names with a type"))
    names = Symbol[m isa Symbol ? m : m.args[1] for m in members]
    :dict in names && throw(ArgumentError("a field of a tensorclass cannot be called dict"))
    specs = [m isa Symbol ? Tensor : m.args[2] for m in members]
    here = @__MODULE__
    esc(quote
        Base.@__doc__ struct $name <: $here.TensorClass
            dict::$here.TensorDict
            $name(::$here.Unchecked, td::$here.TensorDict) = new(td)
        end
        let declarations = map($here.declared, ($(specs...),))
            $here.fieldspecs(::Type{$name}) = NamedTuple{$(Tuple(names))}(map(first, declarations))
            $here.fieldtypes_of(::Type{$name}) = NamedTuple{$(Tuple(names))}(map(last, declarations))
        end
        $name(td::$here.TensorDict) = $here.unchecked($name, $here.tensorclass!(td, $here.tensorclass_type($name)))
        $name(batch, values...) = $here.construct($name, batch, values)
        $name(batch; fields...) = $here.construct($name, batch, fields)
        nothing
    end)
end

# What is known to be a tensorclass of the type already.
struct Unchecked end
unchecked(::Type{T}, td::TensorDict) where {T<:TensorClass} = T(Unchecked(), td)

construct(T, batch, values::Tuple) = begin
    names = propertynames(T)
    length(values) == length(names) ||
        throw(ArgumentError("$(nameof(T)) has $(length(names)) fields, $(length(values)) values were given"))
    construct(T, batch, zip(names, values))
end
construct(T, batch, fields) = begin
    td = TensorDict(batch)
    for (name, value) in pairs_of(fields)
        value === nothing || (td[name] = of_entry(value))
    end
    T(td)
end
pairs_of(fields::Base.Iterators.Zip) = fields
pairs_of(fields) = pairs(fields)

propertynames_of(T) = keys(fieldspecs(T))
Base.propertynames(T::Type{<:TensorClass}) = propertynames_of(T)
Base.propertynames(x::TensorClass) = propertynames_of(typeof(x))

of_entry(x::TensorClass) = parent(x)
of_entry(x) = x
rewrap(::Type{T}, td::TensorDict) where {T} = unchecked(T, td)
rewrap(::Type{T}, tds::AbstractVector{TensorDict}) where {T} = T[unchecked(T, td) for td in tds]

function fieldtype_of(x, name)
    types = fieldtypes_of(typeof(x))
    haskey(types, name) || throw(ArgumentError("$(nameof(typeof(x))) has no field $name; it has $(join(keys(types), ", "))"))
    types[name]
end

function Base.getproperty(x::TensorClass, name::Symbol)
    T = fieldtype_of(x, name)
    value = get(parent(x), String(name), nothing)
    T <: TensorClass && value !== nothing ? unchecked(T, value) : value
end

function Base.setproperty!(x::TensorClass, name::Symbol, value)
    fieldtype_of(x, name)
    if value === nothing
        haskey(parent(x), String(name)) && delete!(parent(x), String(name))
    else
        parent(x)[String(name)] = of_entry(value)
    end
    value
end

TensorDict(x::TensorClass) = tensorclass!(copy(parent(x)), nothing)

Base.getindex(x::T, indices...) where {T<:TensorClass} = rewrap(T, parent(x)[of_batch(indices)...])
Base.view(x::T, indices...) where {T<:TensorClass} = rewrap(T, view(parent(x), of_batch(indices)...))
Base.setindex!(x::TensorClass, value, indices...) = (parent(x)[of_batch(indices)...] = of_entry(value); x)
of_batch(indices) = any(i -> i isa Name, indices) ?
    throw(ArgumentError("an index of a tensorclass speaks of the batch; fields are x.name")) : indices

# A tensorclass that operations have made is one, whatever became of its dtypes.
settled(::Type{T}, td::TensorDict) where {T} = tensorclass_type(td) === nothing ? T(td) : unchecked(T, td)

# What gives dictionaries gives the same struct; what asks, answers.
for f in (:(Base.reshape), :(Base.permutedims), :(Base.transpose), :(Base.dropdims), :squeeze, :unsqueeze, :expand,
          :contiguous, :unbind, :(Base.eachslice), :(Base.copy), :to, :share)
    @eval $f(x::T, arguments...; options...) where {T<:TensorClass} =
        rewrap(T, $f(parent(x), arguments...; options...))
end
for f in (:(Base.size), :(Base.ndims), :(Base.length), :(Base.axes), :(Base.firstindex), :(Base.lastindex), :(Base.isempty),
          :(Base.islocked), :nbytes, :ismemmap, :device, :saved_path, :check_tensorclass, :tensorclass_type)
    @eval $f(x::TensorClass, arguments...) = $f(parent(x), arguments...)
end
for f in (:lock!, :unlock!, :clear_device!, :set_batch_size!)
    @eval $f(x::TensorClass, arguments...) = ($f(parent(x), arguments...); x)
end
for f in (:(Base.:(==)), :issame)
    @eval $f(x::TensorClass, y::TensorClass) = $f(parent(x), parent(y))
end
Base.hash(x::TensorClass, h::UInt) = hash(parent(x), h)
Base.deepcopy_internal(x::T, seen::IdDict) where {T<:TensorClass} =
    rewrap(T, Base.deepcopy_internal(parent(x), seen))
stack(xs::AbstractVector{T}, dim::Integer = 1) where {T<:TensorClass} = rewrap(T, stack(map(parent, xs), dim))
Base.cat(x::T, more::T...; dims::Integer) where {T<:TensorClass} =
    rewrap(T, cat(parent(x), map(parent, more)...; dims = dims))
Base.vcat(x::T, more::T...) where {T<:TensorClass} = cat(x, more...; dims = 1)
Base.hcat(x::T, more::T...) where {T<:TensorClass} = rewrap(T, hcat(parent(x), map(parent, more)...))
Base.hvcat(rows::Tuple{Vararg{Int}}, x::T, more::T...) where {T<:TensorClass} = vcat(rows_of(rows, (x, more...))...)
Base.map(f, x::TensorClass) = apply(f, x)
apply(f, x::T; options...) where {T<:TensorClass} = settled(T, apply(f, parent(x); options...))
apply!(f, x::TensorClass; options...) = (apply!(f, parent(x); options...); x)
Base.close(x::TensorClass) = close(parent(x))
Base.isopen(x::TensorClass) = isopen(parent(x))
Base.show(io::IO, x::TensorClass) = show(io, parent(x))
Base.show(io::IO, ::MIME"text/plain", x::TensorClass) = show(io, parent(x))
