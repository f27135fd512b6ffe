# Record types: dictionaries with declared fields.

"""
    tensorfield([T], sizes...; optional = false, default = nothing)
    dictfield(; optional = false)
    valuefield(; optional = false, default = nothing)
    recordfield(type; optional = false)

What is declared of a field of a [`RecordType`](@ref): a tensor of element type `T` with these sizes
behind the batch size, `:` for any (no sizes: any; `()` for none); a dictionary of any content; a value
that is no tensor, with a default as JSON text; a record.
"""
struct FieldSpec
    kind::td_field_kind
    eltype::Union{Type,Nothing}
    sizes::Union{Vector{Int64},Nothing}
    optional::Bool
    default::Any
    record::Any
end

function tensorfield(T::Union{Type,Nothing} = nothing, dims...; optional::Bool = false, default = nothing)
    feature = isempty(dims) ? nothing : sizes(dims == ((),) ? () : dims)
    FieldSpec(TD_FIELD_TENSOR, T, feature, optional, default, nothing)
end
dictfield(; optional::Bool = false) = FieldSpec(TD_FIELD_DICT, nothing, nothing, optional, nothing, nothing)
valuefield(; optional::Bool = false, default::Union{AbstractString,Nothing} = nothing) =
    FieldSpec(TD_FIELD_VALUE, nothing, nothing, optional, default === nothing ? nothing : String(default), nothing)
recordfield(type; optional::Bool = false) =
    FieldSpec(TD_FIELD_RECORD, nothing, nothing, optional, nothing, type)

"""
    RecordType(name, field => spec, ...; autocast = false, frozen = false, base = nothing)

A name, and what is declared of each field, see [`tensorfield`](@ref). [`@tensorclass`](@ref) makes one of
a struct; this is what to use when the fields are known at run time only. With `autocast` tensors of
another type are converted instead of refused; `frozen` records are locked; the fields of `base` come
first.

`TensorDict(type, batch, [device])` makes a record: defaults, zeros where type and sizes are declared,
empty dictionaries.

```jldoctest
julia> pose = RecordType("Pose", "position" => tensorfield(Float32, 3), "weight" => tensorfield(; optional = true));

julia> td = TensorDict(pose, 2)
Pose(
    position=Tensor(shape=torch.Size([2, 3]), device=cpu, dtype=torch.float32, is_shared=False),
    weight=None,
    batch_size=torch.Size([2]),
    device=None,
    is_shared=False)

julia> try; td["position"] = zeros(Float32, 2, 4); catch e; e isa DimensionMismatch; end
true
```
"""
struct RecordType
    handle::RecordHandle
end

function RecordType(name::Name, fields::Pair{<:Name,FieldSpec}...; autocast::Bool = false, frozen::Bool = false,
                    base::Union{RecordType,Nothing} = nothing)
    names = String[String(first(field)) for field in fields]
    specs = map(resolved ∘ last, fields)
    GC.@preserve names specs base begin
        list = td_field[raw_field(name, spec) for (name, spec) in zip(names, specs)]
        flags = (autocast ? TD_RECORD_AUTOCAST : td_record_flags(0)) | (frozen ? TD_RECORD_FROZEN : td_record_flags(0))
        options = td_record_options(flags = flags, base = base === nothing ? C_NULL : live_pointer(base.handle))
        RecordType(call(RecordHandle, td_record_type_create, String(name), list, length(list), Ref(options)))
    end
end

# With the handles that were not made when the field was declared, which may be in a precompiled module.
resolved(spec) = FieldSpec(spec.kind, spec.eltype, spec.sizes, spec.optional,
                           spec.default isa Union{Tensor,String,Nothing} ? spec.default : Tensor(spec.default),
                           spec.record === nothing ? nothing : record_type(spec.record))

function raw_field(name, spec)
    flags = (spec.optional ? TD_FIELD_OPTIONAL : td_field_flags(0)) |
            (spec.sizes === nothing ? td_field_flags(0) : TD_FIELD_HAS_FEATURE)
    td_field(name = Base.unsafe_convert(Cstring, name), kind = spec.kind, flags = flags,
             dtype = spec.eltype === nothing ? TD_DTYPE_OTHER : dtype_code(spec.eltype),
             feature = spec.sizes === nothing ? C_NULL : pointer(spec.sizes),
             feature_dims = spec.sizes === nothing ? 0 : length(spec.sizes),
             default_tensor = spec.default isa Tensor ? live_pointer(spec.default) : C_NULL,
             default_json = spec.default isa String ? Base.unsafe_convert(Cstring, spec.default) : Cstring(C_NULL),
             record = spec.record === nothing ? C_NULL : live_pointer(spec.record.handle))
end

Base.nameof(type::RecordType) = Symbol(asktext(td_record_type_name, type.handle))
Base.show(io::IO, type::RecordType) = print(io, "RecordType(", nameof(type), ")")

"""
    fields(type::RecordType)

A vector of named tuples: `name`, `kind` (`:tensor`, `:dict`, `:value` or `:record`), `eltype` and `sizes`
(`nothing` for any), `optional`, `has_default`.
"""
function fields(type::RecordType)
    kinds = (:tensor, :dict, :value, :record)
    result = Ref(td_field(name = Cstring(C_NULL), default_json = Cstring(C_NULL)))
    GC.@preserve type map(0:Int(td_record_type_len(type.handle))-1) do position
        check(td_record_type_field(type.handle, position, result))
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

TensorDict(type::RecordType, batch, place::Union{Device,Nothing} = nothing) = begin
    dims = sizes(batch)
    where_to = place === nothing ? Device(TD_DEVICE_NONE, -1) : place
    call(TensorDict, td_record_new, type.handle, dims, length(dims), where_to.type, where_to.index)
end

"""
    record_type(td) -> RecordType or nothing

The type of a record; `nothing` for a plain dictionary.
"""
function record_type(td::TensorDict)
    result = Ref{Ptr{td_record_type}}(C_NULL)
    check(td_record_type_of(td, result))
    result[] == C_NULL ? nothing : RecordType(RecordHandle(result[]))
end
record_type(type::RecordType) = type

"""
    record!(td, type)

Make a record of a dictionary: it is looked at, missing fields that have a default get it, and from then
on what is set is checked. `nothing` makes a plain dictionary of it again.
"""
record!(td::TensorDict, type::RecordType) = (check(td_record_wrap(type.handle, td)); td)
record!(td::TensorDict, ::Nothing) = (check(td_record_wrap(C_NULL, td)); td)

"""
    check_record(td, [type])

Throw when `td` is not what `type`, or the type that it has, says.
"""
check_record(td::TensorDict, type::RecordType) = check(td_record_check(type.handle, td))
check_record(td::TensorDict) = check(td_record_check(C_NULL, td))
