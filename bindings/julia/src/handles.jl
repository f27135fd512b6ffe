# Ownership: every object holds one handle, freed once, by `close`, by a scope, or by the collector.

abstract type Handle end

"""
    Tensor(array)

A tensor. See [`asarray`](@ref) for its values; `Tensor(A)` shares the memory of an `Array`.
"""
mutable struct Tensor <: Handle
    pointer::Ptr{td_tensor}
    Tensor(pointer::Ptr{td_tensor}; scoped::Bool = true) = charge(adopt(new(pointer), scoped))
end

mutable struct TensorDict <: Handle
    pointer::Ptr{td_tensordict}
    TensorDict(pointer::Ptr{td_tensordict}) = charge(adopt(new(pointer)))
end

mutable struct KeyList <: Handle
    pointer::Ptr{td_keys}
    KeyList(pointer::Ptr{td_keys}) = adopt(new(pointer))
end

mutable struct WriterHandle <: Handle
    pointer::Ptr{td_writer}
    WriterHandle(pointer::Ptr{td_writer}) = adopt(new(pointer))
end

mutable struct MapHandle <: Handle
    pointer::Ptr{td_map_iter}
    state::Any  # what the callbacks are called with; lives as long as the handle
    MapHandle(pointer::Ptr{td_map_iter}, state) = adopt(new(pointer, state))
end

"""
    TensorDicts.Future

Work on a thread of the library that gives a dictionary, begun by [`memmap_start`](@ref).

- `isready(future)`: whether it is done, well or not
- `wait(future)`: returns when it is, or throws what has gone wrong; other tasks run meanwhile
- `fetch(future)`: waits and gives the dictionary, the same one each time
- `progress(future)`: how many steps are done, and of how many
- `close(future)`: waits for the work, on this thread, and forgets it
"""
mutable struct Future <: Handle
    pointer::Ptr{td_future}
    Future(pointer::Ptr{td_future}) = adopt(new(pointer), false)
end

mutable struct TensorclassHandle <: Handle
    pointer::Ptr{td_tensorclass}
    TensorclassHandle(pointer::Ptr{td_tensorclass}) = adopt(new(pointer), false)
end

"""
    Optimizer(params, kind = :adam; lr = 1e-3, weight_decay, momentum = 0, dampening = 0, nesterov = false,
              betas = (0.9, 0.999), eps = 1e-8, amsgrad = false)

Gradient descent on the tensors of a dictionary that require gradients; `kind` is `:sgd`, `:adam` or `:adamw`.
It keeps these tensors, not the dictionary; [`parameters`](@ref) gives those of a module. `weight_decay` is 0, for
AdamW 0.01, unless given. The learning rate is the property `lr`, which can be set. See also [`step!`](@ref).

```jldoctest
julia> params = requires_grad!(TensorDict((); w = 1.0));

julia> optimizer = Optimizer(params, :sgd; lr = 0.25);

julia> backward(TensorDicts.set_grad_enabled(() -> params ^ 2, true)); step!(optimizer); Array(params["w"])
0-dimensional Array{Float64,0}:
0.5
```
"""
mutable struct Optimizer <: Handle
    pointer::Ptr{td_optimizer}
    Optimizer(pointer::Ptr{td_optimizer}) = adopt(new(pointer), false)
end

"""
    BatchLoader

Gives minibatches of a dictionary, epoch after epoch; [`eachbatch`](@ref) makes one.
"""
mutable struct BatchLoader <: Handle
    pointer::Ptr{td_loader}
    epochs::Int
    transform::Any
    reuse::Bool
    BatchLoader(pointer::Ptr{td_loader}) = adopt(new(pointer, 1, nothing, false), false)
end

"""
    Generator(seed)

A generator of random numbers: the same seed gives the same numbers as in Python, with the same version of libtorch.
`TensorDicts.randperm(n; generator)` and `TensorDicts.randint(low:high, dims...; generator)` draw from it.

```jldoctest
julia> draw(seed) = Array(TensorDicts.randperm(100; generator = Generator(seed)));

julia> draw(42) == draw(42)
true
```
"""
mutable struct Generator <: Handle
    pointer::Ptr{td_generator}
    Generator(pointer::Ptr{td_generator}) = adopt(new(pointer), false)
end

mutable struct Replay <: Handle
    pointer::Ptr{td_replay}
    Replay(pointer::Ptr{td_replay}) = adopt(new(pointer), false)
end

mutable struct HDF5File <: Handle
    pointer::Ptr{td_hdf5}
    HDF5File(pointer::Ptr{td_hdf5}) = adopt(new(pointer), false)
end

mutable struct Dataset <: Handle
    pointer::Ptr{td_dataset}
    Dataset(pointer::Ptr{td_dataset}) = adopt(new(pointer), false)
end

"Writes a data set episode by episode. See [`dataset_writer`](@ref)."
mutable struct DatasetWriter <: Handle
    pointer::Ptr{td_dataset_writer}
    DatasetWriter(pointer::Ptr{td_dataset_writer}) = adopt(new(pointer), false)
end

mutable struct TensorDictStore <: Handle
    pointer::Ptr{td_store}
    TensorDictStore(pointer::Ptr{td_store}) = adopt(new(pointer), false)
end

mutable struct Group <: Handle
    pointer::Ptr{td_group}
    Group(pointer::Ptr{td_group}) = adopt(new(pointer), false)
end

mutable struct TensorDictModule <: Handle
    pointer::Ptr{td_module}
    TensorDictModule(pointer::Ptr{td_module}) = adopt(new(pointer), false)
end

raw(::Type{Tensor}) = td_tensor
raw(::Type{TensorDict}) = td_tensordict
raw(::Type{KeyList}) = td_keys
raw(::Type{WriterHandle}) = td_writer
raw(::Type{MapHandle}) = td_map_iter
raw(::Type{Future}) = td_future
raw(::Type{TensorclassHandle}) = td_tensorclass
raw(::Type{TensorDictModule}) = td_module
raw(::Type{Optimizer}) = td_optimizer
raw(::Type{BatchLoader}) = td_loader
raw(::Type{Generator}) = td_generator
raw(::Type{Replay}) = td_replay
raw(::Type{HDF5File}) = td_hdf5
raw(::Type{Dataset}) = td_dataset
raw(::Type{DatasetWriter}) = td_dataset_writer
raw(::Type{TensorDictStore}) = td_store
raw(::Type{Group}) = td_group

free(pointer::Ptr{td_tensor}) = td_tensor_free(pointer)
free(pointer::Ptr{td_tensordict}) = td_free(pointer)
free(pointer::Ptr{td_keys}) = td_keys_free(pointer)
free(pointer::Ptr{td_writer}) = td_writer_free(pointer)
free(pointer::Ptr{td_map_iter}) = td_map_iter_free(pointer)
free(pointer::Ptr{td_future}) = td_future_free(pointer)
free(pointer::Ptr{td_tensorclass}) = td_tensorclass_free(pointer)
free(pointer::Ptr{td_module}) = td_module_free(pointer)
free(pointer::Ptr{td_optimizer}) = td_optimizer_free(pointer)
free(pointer::Ptr{td_loader}) = td_loader_free(pointer)
free(pointer::Ptr{td_generator}) = td_generator_free(pointer)
free(pointer::Ptr{td_replay}) = td_replay_free(pointer)
free(pointer::Ptr{td_hdf5}) = td_hdf5_free(pointer)
free(pointer::Ptr{td_dataset}) = td_dataset_free(pointer)
free(pointer::Ptr{td_dataset_writer}) = td_dataset_writer_free(pointer)
free(pointer::Ptr{td_store}) = td_store_free(pointer)
free(pointer::Ptr{td_group}) = td_group_free(pointer)

kind(::Tensor) = :tensor
kind(::TensorDict) = :dictionary
kind(::KeyList) = :list
kind(::WriterHandle) = :writer
kind(::MapHandle) = :iterator
kind(::Future) = :future
kind(::TensorclassHandle) = Symbol("tensorclass")
kind(::TensorDictModule) = Symbol("module")
kind(::Optimizer) = :optimizer
kind(::BatchLoader) = :loader
kind(::Generator) = :generator
kind(::Replay) = Symbol("replay buffer")
kind(::HDF5File) = Symbol("HDF5 file")
kind(::Dataset) = Symbol("data set")
kind(::DatasetWriter) = Symbol("writer of a data set")
kind(::TensorDictStore) = :store
kind(::Group) = :group

# Runs as a finalizer too, so it must not wait, print or switch tasks.
function release(h::Handle)
    pointer = h.pointer
    h.pointer = C_NULL
    if pointer != C_NULL
        discharge(owned(pointer))
        free(pointer)
    end
    nothing
end

"""
    close(x::Union{Tensor,TensorDict,Writer})

Give `x` back now instead of when the garbage collector finds it. What others share with it stays.
"""
Base.close(h::Handle) = release(h)
Base.isopen(h::Handle) = h.pointer != C_NULL

live_pointer(h::Handle) = h.pointer == C_NULL ? throw(ReleasedError(kind(h))) : h.pointer

# Objects go into calls themselves, so the collector leaves them alone until the call is over.
Base.unsafe_convert(::Type{Ptr{td_tensor}}, h::Tensor) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_tensordict}}, h::TensorDict) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_keys}}, h::KeyList) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_writer}}, h::WriterHandle) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_map_iter}}, h::MapHandle) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_future}}, h::Future) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_tensorclass}}, h::TensorclassHandle) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_module}}, h::TensorDictModule) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_optimizer}}, h::Optimizer) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_loader}}, h::BatchLoader) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_generator}}, h::Generator) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_replay}}, h::Replay) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_hdf5}}, h::HDF5File) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_dataset}}, h::Dataset) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_dataset_writer}}, h::DatasetWriter) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_store}}, h::TensorDictStore) = live_pointer(h)
Base.unsafe_convert(::Type{Ptr{td_group}}, h::Group) = live_pointer(h)

function adopt(h::Handle, scoped::Bool = true)
    finalizer(release, h)
    if scoped
        made = get(task_local_storage(), :TensorDicts_scope, nothing)
        made === nothing || push!(made::Vector{Handle}, h)
    end
    h
end

"""
    TensorDicts.scope(f)

Call `f()` and close every tensor and dictionary made meanwhile by this task, but for those that can be
reached from what it returns, however deep they lie in it.
"""
function scope(f)
    outer = get(task_local_storage(), :TensorDicts_scope, nothing)
    made = Handle[]
    kept = Base.IdSet{Handle}()
    try
        result = task_local_storage(f, :TensorDicts_scope, made)
        keep!(kept, result)
        return result
    finally
        for h in made
            if !(h in kept)
                release(h)
            elseif outer !== nothing
                push!(outer, h)
            end
        end
    end
end

# What leads to no handle, or to all of them.
const Opaque = Union{Symbol,AbstractString,Type,Module,Task,Method,Core.MethodInstance,Core.CodeInfo}
const Slots = isdefined(Core, :GenericMemory) ? Union{Array,Core.SimpleVector,Core.GenericMemory} :
                                                Union{Array,Core.SimpleVector}

# Adds the handles in `result`: an element, a field, a variable that a function has captured.
function keep!(kept, result)
    met, pending = Base.IdSet{Any}(), Any[result]
    while !isempty(pending)
        x = pop!(pending)
        (isbits(x) || x isa Opaque || x in met) && continue
        push!(met, x)
        x isa Handle && push!(kept, x)
        if x isa Slots
            isbitstype(eltype(x)) && continue
            for i in eachindex(x)
                isassigned(x, i) && push!(pending, x[i])
            end
        else
            for i in 1:nfields(x)
                isdefined(x, i) && push!(pending, getfield(x, i))
            end
        end
    end
end

# Calls that give a handle, a value, a text, or sizes.

function call(::Type{T}, f::F, arguments...; key = nothing) where {T<:Handle,F}
    result = Ref{Ptr{raw(T)}}(C_NULL)
    check(f(arguments..., result), key)
    T(result[])
end

function ask(::Type{T}, f::F, arguments...; key = nothing) where {T,F}
    result = Ref{T}(zero(T))
    check(f(arguments..., result), key)
    result[]
end

asks(f::F, arguments...) where {F} = ask(Int32, f, arguments...) == 1

function asktext(f::F, arguments...; key = nothing) where {F}
    length = Ref{Csize_t}(0)
    buffer = Vector{UInt8}(undef, 256)
    status = f(arguments..., buffer, sizeof(buffer), length)
    while status == TD_ERR_BUFFER_TOO_SMALL
        resize!(buffer, length[] + 1)
        status = f(arguments..., buffer, sizeof(buffer), length)
    end
    check(status, key)
    String(resize!(buffer, length[]))
end

function asksizes(f::F, h::Handle) where {F}
    dims = Ref{Csize_t}(0)
    buffer = Vector{Int64}(undef, 8)
    status = f(h, buffer, length(buffer), dims)
    if status == TD_ERR_BUFFER_TOO_SMALL
        resize!(buffer, dims[])
        status = f(h, buffer, length(buffer), dims)
    end
    check(status)
    ntuple(i -> Int(buffer[i]), Int(dims[]))
end

# Sizes as the library takes them: `:` is worked out, as -1 is.
sizes(dims::Tuple) = Int64[d isa Colon ? -1 : d for d in dims]
sizes(dims::AbstractVector) = sizes(Tuple(dims))
sizes(dim::Union{Integer,Colon}) = sizes((dim,))
