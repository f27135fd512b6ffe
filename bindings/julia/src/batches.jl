# Minibatches of a dictionary.

"""
    eachbatch(td_or_set, rows; shuffle = false, seed = rand(UInt64), epochs = 1, partial = true, options...) -> BatchLoader

The rows of a dictionary as batches of `rows` each; a row is an element of the first batch dimension. A `for` loop
runs through `epochs` epochs, and the next loop goes on with the epoch behind them. The order follows from `seed`
alone, whatever the number of workers, and is the same in every language. Of a data set they are the steps of all
episodes, which are read when a batch is made, ahead by the workers.

- `shuffle`: each row once, in another order in each epoch; `replace`: any row any number of times; `weights`: one
  for each row, which is drawn as often; an epoch of the last two has `draws` rows
- `partial`: the last batch may be shorter; otherwise it is left out, and each rank gets as many batches
- `num_workers`: threads that make batches ahead, `ahead` of them; 0: each is made when it is asked for
- `keys`: entries that batches have; `rank` (from 0) and `world_size`: a part of each epoch
- `flat`: each element of all batch dimensions is a row; `refresh`: each epoch reads the folder of a mapped
  dictionary again
- `slice`: batches of slices of so many consecutive rows, `(rows, slice)`; the next slice of an episode begins
  `slice_step` rows further on. `episode` is a key of an entry that differs from episode to episode, `ends` are keys
  of entries that are true in the last row of an episode: no slice crosses such a border. `concatenate`: slices lie one
  behind the other; `short`: what is left of an episode makes a shorter one
- `device`, `pin_memory`: where batches go
- `transform`: a function that makes each batch another one, on the task that iterates
- `reuse`: a batch is closed when the next one is asked for, and its memory is used again

```jldoctest
julia> td = TensorDict(5; x = 1:5);

julia> sum(sum(Array(batch["x"])) for batch in eachbatch(td, 2; shuffle = true))
15
```
"""
function eachbatch(td::Union{TensorDict,Dataset}, rows::Integer; shuffle::Bool = false, seed::Integer = rand(UInt64),
                   epochs::Integer = 1, partial::Bool = true, replace::Bool = false, draws::Integer = 0,
                   weights::Union{AbstractArray,Tensor,Nothing} = nothing, num_workers::Integer = 0, ahead::Integer = 0,
                   keys = nothing, rank::Integer = 0, world_size::Integer = 1, flat::Bool = false,
                   refresh::Bool = false, slice::Integer = 0, slice_step::Integer = 0, episode = nothing, ends = (),
                   concatenate::Bool = false, short::Bool = false, device = nothing, pin_memory::Bool = false,
                   transform = nothing, reuse::Bool = false)
    epochs >= 0 || throw(ArgumentError("epochs is $epochs; it must be at least 0, which is without end"))
    flags = shuffle * TD_LOADER_SHUFFLE | replace * TD_LOADER_REPLACEMENT | !partial * TD_LOADER_DROP_LAST |
            flat * TD_LOADER_FLAT | refresh * TD_LOADER_REFRESH | concatenate * TD_LOADER_CONCATENATE |
            short * TD_LOADER_SHORT | pin_memory * TD_LOADER_PIN_MEMORY
    given = weights === nothing || weights isa Tensor ? weights : Tensor(weights)
    with_optional_keys(keys) do list, count
        with_optional_keys(episode === nothing ? nothing : (episode,)) do one, _
            with_keys(ends) do last, ends_count
                GC.@preserve given last begin
                    options = td_loader_options(
                        flags = flags, rows = rows, seed = seed % UInt64, draws = draws, num_workers = num_workers,
                        ahead = ahead, rank = rank, world_size = world_size, keys = list, keys_len = count,
                        weights = given === nothing ? Ptr{td_tensor}(C_NULL) : live_pointer(given),
                        device_type = device === nothing ? TD_DEVICE_NONE : device.type,
                        device_index = device === nothing ? -1 : device.index, slice_len = slice,
                        slice_step = slice_step, episode = one,
                        ends = isempty(last) ? Ptr{td_key}(C_NULL) : pointer(last), ends_len = ends_count)
                    create = td isa Dataset ? td_loader_create_from_dataset : td_loader_create
                    loader = call(BatchLoader, create, td, Ref(options))
                    loader.epochs, loader.transform, loader.reuse = epochs, transform, reuse
                    loader
                end
            end
        end
    end
end

# A loop is so many epochs: the state of it counts those that have ended, and knows what may be closed.
function Base.iterate(loader::BatchLoader, (ended, before) = (0, nothing))
    loader.reuse && before !== nothing && close(before)
    waited = false
    while true
        result = Ref{Ptr{td_tensordict}}(C_NULL)
        check(td_loader_next(loader, result))
        if result[] != C_NULL
            batch = TensorDict(result[])
            return (loader.transform === nothing ? batch : loader.transform(batch)), (ended, batch)
        end
        ended += 1
        (ended == loader.epochs || waited) && return nothing
        waited = true  # an epoch without a batch: there is nothing to wait for
    end
end

Base.IteratorSize(::Type{BatchLoader}) = Base.SizeUnknown()
Base.eltype(::Type{BatchLoader}) = Any

function where_is(loader::BatchLoader)
    epoch, batch, batches = Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0)
    check(td_loader_where(loader, epoch, batch, batches))
    (epoch = epoch[], batch = batch[], batches = batches[])
end

"""
    loader_state(loader) -> TensorDict
    load_loader_state!(loader, state) -> loader

What another loader with the same options needs to go on at the same batch, for a checkpoint: a few whole numbers.
"""
loader_state(loader::BatchLoader) = call(TensorDict, td_loader_state, loader)

load_loader_state!(loader::BatchLoader, state::TensorDict) = (check(td_loader_load_state(loader, state)); loader)

function Base.show(io::IO, loader::BatchLoader)
    isopen(loader) || return print(io, "BatchLoader(closed)")
    at = where_is(loader)
    print(io, "BatchLoader(epoch ", at.epoch, ", batch ", at.batch, " of ", at.batches, ")")
end
