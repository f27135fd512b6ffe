# Tensorclasses: dictionaries with declared fields.

"""
    tensorfield([T], sizes...; optional = false, default = nothing)
    dictfield(; optional = false)
    valuefield(; optional = false, default = nothing)
    tensorclassfield(type; optional = false)

What is declared of a field of a [`TensorclassType`](@ref): a tensor of element type `T` with these sizes
behind the batch size, `:` for any (no sizes: any; `()` for none); a dictionary of any content; a non-tensor value,
with a default as JSON text; a tensorclass.
"""
struct FieldSpec
    kind::td_field_kind
    eltype::Union{Type,Nothing}
    sizes::Union{Vector{Int64},Nothing}
    optional::Bool
    default::Any
    tensorclass::Any
end

function tensorfield(T::Union{Type,Nothing} = nothing, dims...; optional::Bool = false, default = nothing)
    feature = isempty(dims) ? nothing : sizes(dims == ((),) ? () : dims)
    FieldSpec(TD_FIELD_TENSOR, T, feature, optional, default, nothing)
end
dictfield(; optional::Bool = false) = FieldSpec(TD_FIELD_DICT, nothing, nothing, optional, nothing, nothing)
valuefield(; optional::Bool = false, default::Union{AbstractString,Nothing} = nothing) =
    FieldSpec(TD_FIELD_NON_TENSOR, nothing, nothing, optional, default === nothing ? nothing : String(default), nothing)
tensorclassfield(type; optional::Bool = false) =
    FieldSpec(TD_FIELD_TENSORCLASS, nothing, nothing, optional, nothing, type)

"""
    TensorclassType(name, field => spec, ...; autocast = false, frozen = false, base = nothing)

A name, and what is declared of each field, see [`tensorfield`](@ref). [`@tensorclass`](@ref) makes one of
a struct; this is what to use when the fields are known at run time only. With `autocast` tensors of
another type are converted instead of refused; `frozen` tensorclasses are locked; the fields of `base` come
first.

`TensorDict(type, batch, [device])` makes a tensorclass: defaults, zeros where type and sizes are declared,
empty dictionaries.

```jldoctest
julia> pose = TensorclassType("Pose", "position" => tensorfield(Float32, 3), "weight" => tensorfield(; optional = true));

julia> td = TensorDict(pose, 2)
Pose(batch_size=[2], fields={position: f32[3], weight: None})

julia> try; td["position"] = zeros(Float32, 2, 4); catch e; e isa DimensionMismatch; end
true
```
"""
struct TensorclassType
    handle::TensorclassHandle
end

function TensorclassType(name::Name, fields::Pair{<:Name,FieldSpec}...; autocast::Bool = false, frozen::Bool = false,
                    base::Union{TensorclassType,Nothing} = nothing)
    names = String[String(first(field)) for field in fields]
    specs = map(resolved ∘ last, fields)
    GC.@preserve names specs base begin
        list = td_field[raw_field(name, spec) for (name, spec) in zip(names, specs)]
        flags = (autocast ? TD_TENSORCLASS_AUTOCAST : td_tensorclass_flags(0)) | (frozen ? TD_TENSORCLASS_FROZEN : td_tensorclass_flags(0))
        options = td_tensorclass_options(flags = flags, base = base === nothing ? C_NULL : live_pointer(base.handle))
        TensorclassType(call(TensorclassHandle, td_tensorclass_create, String(name), list, length(list), Ref(options)))
    end
end

# With the handles that were not made when the field was declared, which may be in a precompiled module.
resolved(spec) = FieldSpec(spec.kind, spec.eltype, spec.sizes, spec.optional,
                           spec.default isa Union{Tensor,String,Nothing} ? spec.default : Tensor(spec.default),
                           spec.tensorclass === nothing ? nothing : tensorclass_type(spec.tensorclass))

function raw_field(name, spec)
    flags = (spec.optional ? TD_FIELD_OPTIONAL : td_field_flags(0)) |
            (spec.sizes === nothing ? td_field_flags(0) : TD_FIELD_HAS_FEATURE)
    td_field(name = Base.unsafe_convert(Cstring, name), kind = spec.kind, flags = flags,
             dtype = spec.eltype === nothing ? TD_DTYPE_OTHER : dtype_code(spec.eltype),
             feature = spec.sizes === nothing ? C_NULL : pointer(spec.sizes),
             feature_dims = spec.sizes === nothing ? 0 : length(spec.sizes),
             default_tensor = spec.default isa Tensor ? live_pointer(spec.default) : C_NULL,
             default_json = spec.default isa String ? Base.unsafe_convert(Cstring, spec.default) : Cstring(C_NULL),
             tensorclass = spec.tensorclass === nothing ? C_NULL : live_pointer(spec.tensorclass.handle))
end

Base.nameof(type::TensorclassType) = Symbol(asktext(td_tensorclass_name, type.handle))
Base.show(io::IO, type::TensorclassType) = print(io, "TensorclassType(", nameof(type), ")")

"""
    fields(type::TensorclassType)

A vector of named tuples: `name`, `kind` (`:tensor`, `:dict`, `:value` or `:tensorclass`), `eltype` and `sizes`
(`nothing` for any), `optional`, `has_default`.
"""
function fields(type::TensorclassType)
    kinds = (:tensor, :dict, :value, :tensorclass)
    result = Ref(td_field(name = Cstring(C_NULL), default_json = Cstring(C_NULL)))
    GC.@preserve type map(0:Int(td_tensorclass_len(type.handle))-1) do position
        check(td_tensorclass_field(type.handle, position, result))
        field = result[]
        sized = field.flags & TD_FIELD_HAS_FEATURE != 0
        (name = unsafe_string(field.name),
         kind = kinds[field.kind+1],
         eltype = field.dtype == TD_DTYPE_OTHER ? nothing : dtype_type(field.dtype),
         sizes = sized ? ntuple(i -> Int(unsafe_load(field.feature, i)), Int(field.feature_dims)) : nothing,
         optional = field.flags & TD_FIELD_OPTIONAL != 0,
         has_default = field.flags & TD_FIELD_HAS_DEFAULT != 0)
    end
end

TensorDict(type::TensorclassType, batch, place::Union{Device,Nothing} = nothing) = begin
    dims = sizes(batch)
    where_to = place === nothing ? Device(TD_DEVICE_NONE, -1) : place
    call(TensorDict, td_tensorclass_instantiate, type.handle, dims, length(dims), where_to.type, where_to.index)
end

"""
    tensorclass_type(td) -> TensorclassType or nothing

The type of a tensorclass; `nothing` for a plain dictionary.
"""
function tensorclass_type(td::TensorDict)
    result = Ref{Ptr{td_tensorclass}}(C_NULL)
    check(td_tensorclass_of(td, result))
    result[] == C_NULL ? nothing : TensorclassType(TensorclassHandle(result[]))
end
tensorclass_type(type::TensorclassType) = type

"""
    tensorclass!(td, type)

Make a tensorclass of a dictionary: it is looked at, missing fields that have a default get it, and from then
on what is set is checked. `nothing` makes a plain dictionary of it again.
"""
tensorclass!(td::TensorDict, type::TensorclassType) = (check(td_set_tensorclass(td, type.handle)); td)
tensorclass!(td::TensorDict, ::Nothing) = (check(td_set_tensorclass(td, C_NULL)); td)

"""
    check_tensorclass(td, [type])

Throw when `td` is not what `type`, or the type that it has, says.
"""
check_tensorclass(td::TensorDict, type::TensorclassType) = check(td_tensorclass_check(type.handle, td))
check_tensorclass(td::TensorDict) = check(td_tensorclass_check(C_NULL, td))
