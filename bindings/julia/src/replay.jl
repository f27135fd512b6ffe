# Replay buffers: rings of rows, in memory or in a folder of TorchRL's.

"""
    Replay(capacity; sampler = :random, rows = 0, seed = rand(UInt64), folder = nothing, options...) -> Replay
    open_replay(folder; options...) -> Replay
    load_replay(folder; options...) -> Replay
    Replay(set::Dataset; options...) -> Replay

A ring of rows: when all places hold one, a new row takes the place of the oldest. `push!` writes one row, `append!`
the elements of the first batch dimension of a dictionary, and [`draw!`](@ref) draws. The first row says what rows look
like. Tasks may share a buffer.

- `sampler`: `:random` draws any row any number of times, `:without_replacement` each once, then again in another
  order, `:slices` runs of `slice` rows of an episode, `:prioritized` each as often as its priority says,
  `:slices_without_replacement` one slice of each episode, then again in another order, `:prioritized_slices` slices
  whose first row is drawn by its priority. A folder that is opened has `:stored`, its own sampler, unless said otherwise
- `rows`: of a batch, for `draw!` without a number; `seed`: what draws follow from
- `folder`: the rows lie in a new folder, which other processes may open
- `drop_last`, `in_order`: without replacement
- `episode` is a key of an entry that differs from episode to episode, `ends` are keys of entries that are true in the
  last row of one; `short`: an episode that is shorter than a slice is taken as it is; `span_begin`, `span_end`:
  a slice may begin before its episode, or end behind it, and what is outside is left out; a number says how many rows
  that may be. `num_slices` instead of `slice`: so many in a batch. `mark_ends`: ("next", "truncated"),
  ("next", "done") and "is_init" say where slices end and begin; `by_slice`: a batch is [slices, rows of a slice], and
  ("collector", "mask") is false in rows that fill up
- `alpha`, `beta`, `eps`: rows count as (priority + eps)^alpha, weights have the exponent `beta`; `batch_weights`: the
  largest weight of each batch is 1; `priority_key`: an entry with the priority of each new row; `largest_within`: new
  rows get the largest priority of rows that are there
- `n_steps`, `gamma`: each row has the return of so many steps, unless its episode or the newest row ends them: `rewards`
  (("next", "reward")) are discounted sums, "next" is that of the last step, and "steps_to_next_obs", "gamma" and
  "nonterminal" say how many steps there are; `mask`: an entry that is false in rows which only fill up
- `dims`: of the storage, of which the first is time; single elements are drawn

`open_replay` opens a folder in which several processes may work at once; `load_replay` opens one for this process
alone, and what is written afterwards stays in memory. Both read what TorchRL's `ReplayBuffer.dumps` wrote.

Of a data set, rows are the steps of all episodes, which are read when they are drawn; none are added, and slices stay in an
episode.

```jldoctest
julia> replay = Replay(1000);

julia> append!(replay, TensorDict(3; x = 1:3));

julia> size(draw!(replay, 8))
(8,)
```
"""
Replay(capacity::Integer; sampler::Symbol = :random, folder = nothing, options...) =
    with_replay_options(; capacity, sampler, folder, options...) do given
        call(Replay, td_replay_create, given)
    end

Replay(set::Dataset; options...) = with_replay_options(; options...) do given
    call(Replay, td_replay_create_from_dataset, set, given)
end

"See [`Replay`](@ref)."
open_replay(folder::AbstractString; options...) = with_replay_options(; options...) do given
    call(Replay, td_replay_open, folder, given)
end

"See [`Replay`](@ref)."
load_replay(folder::AbstractString; options...) = with_replay_options(; options...) do given
    call(Replay, td_replay_load, folder, given)
end

const REPLAY_SAMPLERS = (stored = TD_REPLAY_SAMPLER_AS_STORED, random = TD_REPLAY_SAMPLER_RANDOM,
                         without_replacement = TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT, slices = TD_REPLAY_SAMPLER_SLICES,
                         prioritized = TD_REPLAY_SAMPLER_PRIORITIZED,
                         slices_without_replacement = TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT,
                         prioritized_slices = TD_REPLAY_SAMPLER_PRIORITIZED_SLICES)

function with_replay_options(f; capacity::Integer = 0, sampler::Symbol = :stored, rows::Integer = 0,
                             seed::Integer = rand(UInt64), folder = nothing, drop_last::Bool = false,
                             in_order::Bool = false, slice::Integer = 0, episode = nothing, ends = (),
                             short::Bool = false, span_begin::Integer = false, span_end::Integer = false,
                             num_slices::Integer = 0, mark_ends::Bool = false, by_slice::Bool = false,
                             alpha::Real = 0.6, beta::Real = 0.4, eps::Real = 1e-8, batch_weights::Bool = false,
                             priority_key = nothing, largest_within::Bool = false, dims::Integer = 0,
                             n_steps::Integer = 0, gamma::Real = 0.99, rewards = (), mask = nothing)
    haskey(REPLAY_SAMPLERS, sampler) ||
        throw(ArgumentError("sampler is :$sampler; it must be one of $(join(keys(REPLAY_SAMPLERS), ", "))"))
    flags = drop_last * TD_REPLAY_DROP_LAST | in_order * TD_REPLAY_IN_ORDER | short * TD_REPLAY_SHORT |
            (span_begin === true) * TD_REPLAY_SPAN_BEGIN | (span_end === true) * TD_REPLAY_SPAN_END |
            batch_weights * TD_REPLAY_BATCH_WEIGHTS | largest_within * TD_REPLAY_LARGEST_WITHIN |
            mark_ends * TD_REPLAY_MARK_ENDS | by_slice * TD_REPLAY_BY_SLICE
    rows_of(span) = span isa Bool ? 0 : span
    name = folder === nothing ? nothing : Base.cconvert(Cstring, String(folder))
    one(key) = key === nothing ? nothing : (key,)
    some(keys) = isempty(keys) ? nothing : keys
    lists = (one(episode), one(priority_key), one(mask), some(ends), some(rewards))
    with_key_lists(lists) do (episode_key, _), (priority, _), (mask_key, _), (last, ends_count), (summed, rewards_count)
        GC.@preserve name f(Ref(td_replay_options(
            flags = flags, capacity = capacity, rows = rows, seed = seed % UInt64, alpha = alpha, beta = beta, eps = eps,
            slice_len = slice, episode = episode_key, ends = last, ends_len = ends_count,
            folder = name === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, name),
            sampler = REPLAY_SAMPLERS[sampler], num_slices = num_slices, span_begin = rows_of(span_begin),
            span_end = rows_of(span_end), priority_key = priority, dims = dims, n_steps = n_steps, gamma = gamma,
            rewards = summed, rewards_len = rewards_count, mask = mask_key)))
    end
end

# f((pointer, count)...) for lists of keys that may be nothing.
with_key_lists(f, lists::Tuple, done...) = isempty(lists) ? f(done...) :
    with_optional_keys((list, count) -> with_key_lists(f, Base.tail(lists), done..., (list, count)), first(lists))

Base.push!(replay::Replay, row::TensorDict) = (check(td_replay_add(replay, row)); replay)
Base.append!(replay::Replay, rows::TensorDict) = (check(td_replay_extend(replay, rows)); replay)

"""
    draw!(replay, rows = 0) -> TensorDict

Draws rows; 0: as many as the options say. The batch has their places, from 0, as "index", and from a prioritized buffer
their weights as "priority_weight".
"""
draw!(replay::Replay, rows::Integer = 0) = call(TensorDict, td_replay_sample, replay, rows)

const HINDSIGHT = (future = TD_REPLAY_HINDSIGHT_FUTURE, final = TD_REPLAY_HINDSIGHT_FINAL,
                   episode = TD_REPLAY_HINDSIGHT_EPISODE, random = TD_REPLAY_HINDSIGHT_RANDOM)

"""
    draw_hindsight!(replay, rows = 0; rewarding = nothing, strategy = :future, ratio = 0.8, goal = "desired_goal",
                    achieved_goal = "achieved_goal", reward = ("next", "reward")) -> TensorDict

Draws rows as [`draw!`](@ref) does, and gives the first `ratio` of them goals that were reached: those of a row of the
episode from itself on (`:future`), of its last row (`:final`), of any of its rows (`:episode`), or of any row (`:random`).
`rewarding`, a module, gets these rows and writes their `reward`; without one, rewards stay as they were written.
"""
function draw_hindsight!(replay::Replay, rows::Integer = 0; strategy::Symbol = :future, ratio::Real = 0.8,
                         goal = "desired_goal", achieved_goal = "achieved_goal", reward = ("next", "reward"),
                         rewarding::Union{TensorDictModule,Nothing} = nothing)
    haskey(HINDSIGHT, strategy) ||
        throw(ArgumentError("strategy is :$strategy; it must be one of $(join(keys(HINDSIGHT), ", "))"))
    with_key_lists(((goal,), (achieved_goal,), (reward,))) do (wanted, _), (reached, _), (rewards, _)
        options = Ref(td_replay_hindsight_options(strategy = HINDSIGHT[strategy], ratio = ratio, goal = wanted,
                                                  achieved_goal = reached, reward = rewards))
        GC.@preserve rewarding running(TensorDict) do result
            td_replay_sample_hindsight(replay, rows, options, rewarding === nothing ? C_NULL : rewarding, result)
        end
    end
end

"""
    update_priority!(replay, index, priority) -> replay
    beta!(replay, beta) -> replay

Gives rows other priorities, one for each or one for all; `index` is that of a batch. Sets the exponent of weights.
"""
function update_priority!(replay::Replay, index::Tensor, priority::Union{Tensor,Real,AbstractArray{<:Real}})
    check(td_replay_update_priority(replay, index, priority isa Tensor ? priority : Tensor(priority)))
    replay
end
update_priority!(replay::Replay, index::AbstractArray{<:Integer}, priority) =
    update_priority!(replay, Tensor(convert(Array{Int64}, index)), priority)

beta!(replay::Replay, beta::Real) = (check(td_replay_set_beta(replay, beta)); replay)

"The rows that are there, in the order of their places, over the memory of the buffer."
stored(replay::Replay) = call(TensorDict, td_replay_dict, replay)

"""
    replay_state(replay) -> (len, capacity, cursor, written)

How many rows are there, how many places, the place of the next row (from 0), and how many rows were ever written.
"""
function replay_state(replay::Replay)
    len, capacity, cursor, written = Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0)
    check(td_replay_where(replay, len, capacity, cursor, written))
    (len = len[], capacity = capacity[], cursor = cursor[], written = written[])
end

Base.length(replay::Replay) = Int(replay_state(replay).len)

"""
    save_replay(replay, folder; durable = false) -> replay
    save_replay(replay; durable = false) -> replay

Saves to a folder, with the sampler: whoever loads it goes on with the same draws. Without a name, tells the own folder
what the sampler knows.
"""
save_replay(replay::Replay, folder::AbstractString; durable::Bool = false) =
    (check(td_replay_save(replay, folder, durable * TD_REPLAY_SAVE_DURABLE)); replay)
save_replay(replay::Replay; durable::Bool = false) =
    (check(td_replay_save(replay, C_NULL, durable * TD_REPLAY_SAVE_DURABLE)); replay)

function Base.show(io::IO, replay::Replay)
    isopen(replay) || return print(io, "Replay(closed)")
    at = replay_state(replay)
    print(io, "Replay(", at.len, " of ", at.capacity, " rows)")
end
