# A Julia function over the pieces of a dictionary. It runs on the calling task: Julia code cannot run on
# the threads of the library.

mutable struct Pieces
    f::Any
    numbered::Bool
    progress::Any
    thrown::Any
end

function step_piece(user::Ptr{Cvoid}, about::Ptr{td_map_piece}, source::Ptr{td_tensordict},
                    result::Ptr{Ptr{td_tensordict}})::td_status
    pieces = unsafe_pointer_to_objref(user)::Pieces
    parking(pieces) do
        part = kept(TensorDict, td_dup, source)
        value = pieces.numbered ? pieces.f(Int(unsafe_load(about).number) + 1, part) : pieces.f(part)
        value === nothing || check(td_dup(value::TensorDict, result))
    end
end

function step_progress(user::Ptr{Cvoid}, done::Csize_t, total::Csize_t)::td_status
    pieces = unsafe_pointer_to_objref(user)::Pieces
    parking(() -> pieces.progress(Int(done), Int(total)), pieces)
end

piece_callback() = @cfunction(step_piece, td_status, (Ptr{Cvoid}, Ptr{td_map_piece}, Ptr{td_tensordict},
                                                      Ptr{Ptr{td_tensordict}}))

"""
    map_chunks(f, td; dims = 1, chunksize, nchunks, numbered = false, out, progress, num_workers = 1)

A dictionary of what `f(piece)` returns for each piece of `td` along dimension `dims`, one after the
other. `chunksize` says how long a piece is, and `0` one element at a time, without the dimension;
`nchunks` says how many there are. `nothing` leaves a piece out; without any, the result is `nothing`.
Pieces share memory with `td`, so that values written in place are written there. With `numbered` it is
`f(i, piece)`. The results are written to `out`, if it is given.

`progress` is `true` for a line on the terminal, or a function of the pieces done and their number.

`f` runs on the calling task, one piece after the other: any other `num_workers` than 1 is an
`ArgumentError`. To work on several threads, cut with [`unbind`](@ref) or by index, and use
`Threads.@threads` or `Threads.@spawn`, one piece for each.

```jldoctest
julia> td = TensorDict(4; x = [1, 2, 3, 4]);

julia> sums = map_chunks(part -> TensorDict(1; x = [sum(Array(part["x"]))]), td; chunksize = 3);

julia> Array(sums["x"])
2-element Array{Int64,1}:
 6
 4
```
"""
function map_chunks(f, td::TensorDict; numbered::Bool = false, progress = nothing,
                    out::Union{TensorDict,Nothing} = nothing, cut...)
    pieces = Pieces(f, numbered, showing(progress), nothing)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    status = GC.@preserve pieces out begin
        user = pointer_from_objref(pieces)
        tell = @cfunction(step_progress, td_status, (Ptr{Cvoid}, Csize_t, Csize_t))
        options = Ref(map_options(; cut..., out = out === nothing ? C_NULL : live_pointer(out),
                                  progress = pieces.progress === nothing ? C_NULL : tell, progress_user = user))
        td_map(td, options, piece_callback(), user, result)
    end
    check_parked(status, pieces)
    result[] == C_NULL && return nothing
    made = TensorDict(result[])
    out === nothing ? made : (close(made); out)
end

"""
    MapChunks(f, td; dims = 1, chunksize, nchunks, numbered = false, shuffle = false, seed = rand(UInt64))

What `f(piece)` returns for each piece of `td`, one by one, each made when it is asked for; otherwise as
[`map_chunks`](@ref). With `shuffle` the elements come in another order, which follows from `seed`.

```jldoctest
julia> td = TensorDict(3; x = [1, 2, 3]);

julia> [Array(part["x"]) for part in MapChunks(identity, td; chunksize = 2)]
2-element Array{Array{Int64,1},1}:
 [1, 2]
 [3]
```
"""
struct MapChunks
    f::Any
    td::TensorDict
    numbered::Bool
    options::td_map_options
end

MapChunks(f, td::TensorDict; numbered::Bool = false, shuffle::Bool = false,
          seed::Union{Integer,Nothing} = nothing, cut...) =
    MapChunks(f, td, numbered, map_options(; cut..., shuffle = shuffle,
                                           seed = seed === nothing ? rand(UInt64) : seed % UInt64))

Base.IteratorSize(::Type{MapChunks}) = Base.SizeUnknown()
Base.eltype(::Type{MapChunks}) = TensorDict

function Base.iterate(chunks::MapChunks)
    pieces = Pieces(chunks.f, chunks.numbered, nothing, nothing)
    result = Ref{Ptr{td_map_iter}}(C_NULL)
    check(td_map_iter_create(chunks.td, Ref(chunks.options), piece_callback(), pointer_from_objref(pieces), result))
    iterate(chunks, MapHandle(result[], pieces))
end

function Base.iterate(::MapChunks, handle::MapHandle)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    status = td_map_iter_next(handle, result, C_NULL)
    if status != TD_OK
        try
            check_parked(status, handle.state)
        finally
            close(handle)
        end
    elseif result[] == C_NULL
        close(handle)
        nothing
    else
        (TensorDict(result[]), handle)
    end
end

function map_options(; dims::Integer = 1, chunksize::Union{Integer,Nothing} = nothing,
                     nchunks::Union{Integer,Nothing} = nothing, num_workers::Integer = 1, more...)
    num_workers == 1 ||
        throw(ArgumentError("num_workers = $num_workers: a Julia function runs on the calling task, so it must be 1"))
    chunksize === nothing || nchunks === nothing ||
        throw(ArgumentError("chunksize and nchunks: only one of them can say how to cut"))
    cut = chunksize !== nothing ? (chunksize == 0 ? TD_MAP_CUT_ELEMENTS : TD_MAP_CUT_SIZE) :
          nchunks !== nothing ? TD_MAP_CUT_COUNT : TD_MAP_CUT_PER_WORKER
    td_map_options(; dim = from0(dims), cut = cut, amount = something(chunksize, nchunks, 0), num_workers = 1, more...)
end

showing(progress) = progress
showing(progress::Bool) = progress ? progress_bar() : nothing

"""
    TensorDicts.progress_bar(io = stderr)

A function of pieces done and their number that writes how far the work has come to a terminal, for
the `progress` of [`map_chunks`](@ref).
"""
function progress_bar(io::IO = stderr)
    begun, shown = time(), 0.0
    function (done, total)
        now = time()
        done < total && now - shown < 0.1 && return
        shown = now
        text = progress_line(done, total, now - begun, 40)
        print(io, '\r', text, done < total ? "" : "\n")
    end
end

# " 40%|####      | 4/10 [00:02<00:03, 2.0/s]"
function progress_line(done, total, seconds, width)
    part = total == 0 ? 1.0 : min(done / total, 1.0)
    rate = seconds > 0 ? done / seconds : NaN
    left = max(total - done, 0) / rate
    string(lpad(floor(Int, 100part), 3), "%|", rpad("#"^floor(Int, part * width), width), "| ", done, "/", total, " [",
           clock_text(seconds), "<", clock_text(left), ", ", isnan(rate) ? "?" : round(rate; digits = 1), "/s]")
end

# "02:05", "1:02:05"; "?" for what cannot be known.
function clock_text(seconds)
    0 <= seconds <= 3.6e8 || return "?"
    minutes, seconds = divrem(floor(Int, seconds), 60)
    hours, minutes = divrem(minutes, 60)
    two(n) = lpad(n, 2, '0')
    hours == 0 ? string(two(minutes), ":", two(seconds)) : string(hours, ":", two(minutes), ":", two(seconds))
end
