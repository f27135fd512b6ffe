# Shared memory, one buffer for all tensors, messages, and locks for a while.

"""
    share_memory!(td)
    isshared(td)

Move all tensors of `td` to one piece of shared memory, which locks it; and whether it is flagged so.
Other processes see what is written to the tensors: those that are forked later, and those that open the
dictionary by its [`shared_name`](@ref). Views and parts keep the flag, copies do not, and [`unlock!`](@ref)
drops it. A dictionary on a CUDA device always is shared.
"""
share_memory!(td::TensorDict) = (check(td_share_memory(td)); td)
isshared(td::TensorDict) = asks(td_is_shared, td)

"""
    shared_name(td)
    open_shared(name)

The name by which another process of the same user opens a shared dictionary, and the dictionary behind a
name: its tensors are the very same memory. The name is good as long as the process that shared it runs and
has the dictionary.

```jldoctest
julia> td = share_memory!(TensorDict(2; x = [1, 2]));

julia> other = open_shared(shared_name(td));

julia> other["x"][1] = 100;

julia> Array(td["x"])
2-element Array{Int64,1}:
 100
   2
```
"""
shared_name(td::TensorDict) = asktext(td_shared_name, td)
open_shared(name::AbstractString) = call(TensorDict, td_shared_open, String(name))

consolidating(; device::Union{Device,Nothing} = nothing, pin_memory::Bool = false, num_threads::Integer = 0,
              durable::Bool = false) =
    Ref(td_consolidate_options(device_type = device === nothing ? TD_DEVICE_NONE : device.type,
                               device_index = device === nothing ? -1 : device.index,
                               pin_memory = pin_memory, num_threads = num_threads, durable = durable))

"""
    consolidate(td; device = nothing, pin_memory = false, num_threads = 0)
    consolidate(td, file; durable = false)
    consolidate!(td; device = nothing, pin_memory = false, num_threads = 0)
    isconsolidated(td)

The same content with all tensors in one buffer, one after the other: locked, and moved to another device in
one piece. With a `file`, the buffer is written there in the format of Python's `consolidate`, and mapped:
what is written to the tensors later does not reach the file; `durable` waits until it is on the disk. With `!` the tensors of `td` itself are moved.
"""
consolidate(td::TensorDict; options...) =
    call(TensorDict, td_consolidate, td, C_NULL, consolidating(; options...))
consolidate(td::TensorDict, file::AbstractString; durable::Bool = false) =
    call(TensorDict, td_consolidate, td, String(file), consolidating(; durable))
consolidate!(td::TensorDict; options...) = (check(td_consolidate_inplace(td, consolidating(; options...))); td)
isconsolidated(td::TensorDict) = asks(td_is_consolidated, td)

"""
    load_consolidated(file; device = nothing, max_depth = 0, max_entries = 0, write_through = false)

Map a file that [`consolidate`](@ref) or Python's `consolidate` has written. What is written to the tensors
reaches the file only with `write_through`.
"""
load_consolidated(file::AbstractString; device::Union{Device,Nothing} = nothing, max_depth::Integer = 0,
                  max_entries::Integer = 0, write_through::Bool = false) =
    call(TensorDict, td_consolidated_load, String(file),
         Ref(td_load_options(device_type = device === nothing ? TD_DEVICE_NONE : device.type,
                             device_index = device === nothing ? -1 : device.index,
                             max_depth = max_depth, max_entries = max_entries,
                             write_through = write_through)))

# The bytes of one message. Tasks may be switched while a stream waits, but not inside a call of the library:
# messages go through memory.
mutable struct Mailbox
    bytes::Vector{UInt8}
    read::Int
    thrown::Any
end

function put_bytes(user::Ptr{Cvoid}, data::Ptr{Cvoid}, count::Csize_t)::td_status
    box = unsafe_pointer_to_objref(user)::Mailbox
    parking(box) do
        append!(box.bytes, unsafe_wrap(Array, Ptr{UInt8}(data), count))
    end
end

function take_bytes(user::Ptr{Cvoid}, data::Ptr{Cvoid}, count::Csize_t)::td_status
    box = unsafe_pointer_to_objref(user)::Mailbox
    parking(box) do
        box.read + count > length(box.bytes) && throw(EOFError())
        unsafe_copyto!(Ptr{UInt8}(data), pointer(box.bytes, box.read + 1), count)
        box.read += count
    end
end

accepting(; max_bytes::Integer = 0, max_depth::Integer = 0, max_entries::Integer = 0, timeout::Real = 0) =
    td_message_options(max_bytes = max_bytes, max_depth = max_depth, max_entries = max_entries,
                       timeout_ms = timeout > 0 ? max(1, ceil(Int, 1000 * timeout)) : 0)

"""
    write(io, td)

Write a message that holds all of `td`: `read(io, TensorDict)` needs nothing else.
"""
function Base.write(io::IO, td::TensorDict)
    box = Mailbox(UInt8[], 0, nothing)
    status = GC.@preserve box begin
        td_send(td, C_NULL, @cfunction(put_bytes, td_status, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t)),
                pointer_from_objref(box))
    end
    check_parked(status, box)
    write(io, box.bytes)
end

"""
    read(io, TensorDict; max_bytes = 2^30, max_depth = 0, max_entries = 0)
    read!(io, td; options...)

Read a message, and not a byte behind it; with `!` into a dictionary of the same keys, shapes and types, which
may be locked. Nothing is written before all has come and fits. The limits are those of what is accepted; 0
stands for those of the library.

```jldoctest
julia> line = IOBuffer(); td = TensorDict(2; x = [1, 2]);

julia> write(line, td); seekstart(line);

julia> read(line, TensorDict) == td
true
```
"""
Base.read(io::IO, ::Type{TensorDict}; options...) = receive(io, nothing; options...)
Base.read!(io::IO, td::TensorDict; options...) = (close(receive(io, td; options...)); td)

function receive(io::IO, into; max_bytes::Integer = 0, limits...)
    most = max_bytes == 0 ? 2^30 : max_bytes
    box = Mailbox(read(io, 24), 0, nothing)
    if length(box.bytes) == 24
        text, data = reinterpret(UInt64, box.bytes[9:24])
        # What is too long is refused by the library, unread.
        text <= most && data <= most - text && append!(box.bytes, read(io, Int(text + data)))
    end
    options = Ref(accepting(; max_bytes = max_bytes, limits...))
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    status = GC.@preserve box into begin
        td_recv(into === nothing ? C_NULL : live_pointer(into), options,
                @cfunction(take_bytes, td_status, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t)), pointer_from_objref(box), result)
    end
    check_parked(status, box)
    TensorDict(result[])
end

"""
    send_fd(fd, td; timeout = 0)
    recv_fd(fd; into = nothing, timeout = 0, max_bytes = 2^30, max_depth = 0, max_entries = 0)

Messages over a file descriptor, `RawFD` or a number, without a stream of Julia; the calling thread waits, at
most `timeout` seconds for a whole message if there is one. A partner that has gone is an error, not a signal.
With `into`, as [`read!`](@ref).
"""
send_fd(fd, td::TensorDict; timeout::Real = 0) =
    (check(td_send_fd(td, number(fd), Ref(accepting(; timeout = timeout)))); nothing)
function recv_fd(fd; into::Union{TensorDict,Nothing} = nothing, options...)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    GC.@preserve into check(td_recv_fd(number(fd), into === nothing ? C_NULL : live_pointer(into),
                                       Ref(accepting(; options...)), result))
    got = TensorDict(result[])
    into === nothing ? got : (close(got); into)
end

number(fd::RawFD) = reinterpret(Int32, fd)
number(fd::Integer) = Int32(fd)

"""
    locked(f, td)
    unlocked(f, td)

`f(td)` with `td` locked, or unlocked; then it is again what it was, also when `f` throws. The flags of mapped,
shared and consolidated dictionaries go with the lock and do not come back.
"""
locked(f, td::TensorDict) = guarded(f, td, lock!)
unlocked(f, td::TensorDict) = guarded(f, td, unlock!)

function guarded(f, td, change!)
    before = islocked(td)
    change!(td)
    try
        f(td)
    finally
        before ? lock!(td) : unlock!(td)
    end
end
