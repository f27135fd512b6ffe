# Folders that become longer while others read them.

const shards = Dict(:none => TD_SHARD_NONE, :new => TD_SHARD_NEW, :any => TD_SHARD_ANY)

growing(; durable::Bool = false, checksums::Bool = false, shard::Symbol = :none, publish_rows::Integer = 0,
        publish_bytes::Integer = 0, buffer_bytes::Integer = 0, background::Bool = true, meta_ms::Integer = 0,
        resume...) =
    Ref(td_append_options(; durable, checksums, publish_rows, publish_bytes, buffer_bytes, meta_ms, resume...,
                        background = background ? 1 : -1, shard = get(shards, shard) do
                            throw(ArgumentError("shard is :none, :new or :any, not :$shard"))
                        end))

"""
    Writer(dir, [like]; durable, checksums, shard, publish_rows, publish_bytes, buffer_bytes, background,
           meta_ms, resume_at)
    Writer(f, dir, [like]; ...)

A writer without fixed capacity over a folder, behind the rows that it has. A folder that is not there is
made with the entries of `like`, and has no rows at first; without `like` it must be there.

A row is one element of the first batch dimension; fields that you do not put are zero. An entry of `like` with a
text for each row ([`set_texts!`](@ref)) takes texts. `flush`
publishes the rows: whoever loads the folder meets all of them, or those from before, at each moment. One
writer works on a folder at a time.

- `durable = false`: what is published is on the disk, and survives a loss of power
- `checksums = false`: keep a file of checksums
- `shard = :none`: `:new` writes to a folder of its own inside `dir`, which loads as a lazy stack of them;
  `:any` also takes one that nobody writes to now
- `publish_rows = 0`, `publish_bytes = 0`: publish by itself after as many; 0 for every 10 ms, or 1,000 rows
  without a thread; -1 rows for `flush` and `close` only
- `buffer_bytes = 0`: memory for rows that are in no file yet; 0 for 16 MiB, or 1 MiB without a thread
- `background = true`: a thread of the writer writes to the files and publishes; `put!` and `next!` wait for no
  file while there is room in memory, and failures come back from `flush` and `close`
- `meta_ms = 0`: after how many milliseconds other programs, such as Python, see rows that the writer has
  published by itself; 0 for 1000, -1 for after a flush only
- `resume_at = ()`: the key of the bool tensor that is true in the last row of an episode, such as
  `("next", "done")`: rows after the last whole episode are dropped first

```jldoctest
julia> dir = joinpath(mktempdir(), "recording");

julia> Writer(dir, TensorDict(1; x = zeros(Tensor, Float32, 1, 2))) do w
           x = bind!(w, "x")
           for row in 1:3
               put!(w, x, Float32[row, -row])
               next!(w)
           end
       end

julia> size(load_memmap(dir))
(3,)

julia> memmap_append(dir, load_memmap(dir))

julia> memmap_length(dir)
(rows = 6, stored = 6, spare = 0)

julia> memmap_truncate(dir, 4)

julia> size(load_memmap(dir))
(4,)
```
"""
Writer(dir::AbstractString, like::TensorDict; options...) = grow(dir, like; options...)
Writer(dir::AbstractString; options...) = grow(dir, C_NULL; options...)

function grow(dir, like; resume_at = (), options...)
    handle = with_key(resume_at) do names, count
        call(WriterHandle, td_writer_open_append, String(dir), like,
             growing(; options..., resume_at = names, resume_at_len = count))
    end
    try
        # What is known of its tensors; no file of values is opened.
        td = load_memmap(asktext(td_writer_folder, handle); device = Device("meta"))
        Writer(handle, td, 1)
    catch
        close(handle)
        rethrow()
    end
end

function Writer(f, dir::AbstractString, like::TensorDict...; options...)
    w = Writer(dir, like...; options...)
    try
        f(w)
    finally
        close(w)
    end
end

function saved_path(w::Writer)
    dir = asktext(td_writer_folder, w.handle)
    isempty(dir) ? nothing : dir
end

"""
    memmap_append(dir, td; durable = false, checksums = false)

Add the rows of `td` to a folder, all of them or none. Keys, types and sizes must be those of the folder,
but for the number of rows. A folder that is not there is made. A folder with a lazy stack along the first
dimension gets `td` as one more element.
"""
memmap_append(dir::AbstractString, td::TensorDict; durable::Bool = false, checksums::Bool = false) =
    check(td_memmap_append(String(dir), td, growing(; durable, checksums)))

"""
    memmap_truncate(dir, rows; durable = false, checksums = false)

Keep the first rows of a folder, or the first elements of a lazy stack, and give back the room of the others
and of what an interrupted writer has left behind the end.
"""
memmap_truncate(dir::AbstractString, rows::Integer; durable::Bool = false, checksums::Bool = false) =
    check(td_memmap_truncate(String(dir), rows, growing(; durable, checksums)))

"""
    memmap_length(dir) -> (rows, stored, spare)

How long a folder is: the rows that it says it has, those that each of its files holds, and the bytes behind
the end. More are stored while a writer is at work or when it was interrupted, fewer when files are damaged.
"""
function memmap_length(dir::AbstractString)
    rows, stored, spare = Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0)
    check(td_memmap_length(String(dir), rows, stored, spare))
    (rows = Int(rows[]), stored = Int(stored[]), spare = Int(spare[]))
end
