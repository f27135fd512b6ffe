# Process groups: dictionaries between ranks in several processes.

"""
    open_group(url = "env://"; rank = 0, world_size = 0, timeout = nothing, name = nothing, device = nothing) -> Group

One of several processes that exchange dictionaries; others may be Python's `torch.distributed`. Waits until all ranks have
come. `url` is `tcp://HOST:PORT`, `file:///PATH`, or `env://` for MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE. `timeout` is
the limit in seconds for opening, and for calls that give none.

- `TensorDicts.rank(group)`, `length(group)`: this process, and how many there are; `split_group(group, ranks; name)`: a group of some
- `send_to(group, td, dst)`, `receive_from!(group, td, src)`: the tensors alone, into a dictionary of the same structure;
  with `later = true` in the background, which gives a `Future`; `consolidated = true`: as one message
- `send_message(group, td, dst)`, `recv_message(group, src)`: with the structure, the best form between programs of this
  library; `src = nothing` is any rank, and `recv_message` gives the dictionary and who sent it, with `later = true` a
  `Future` of the dictionary
- `init_remote(group, td, dst)`, `from_remote_init(group, src)`: with the structure, as Python sends it
- `barrier(group)`, `broadcast_from(group, td or nothing, src)`, `all_gather(group, td)`, `scatter(group, tds, src)`,
  `gather_and_stack(group, td, dst)`, `reduce!(group, op, td, dst)`, `all_reduce!(group, op, td; fused)`: all ranks call
  them in the same order; `op` is `:sum`, `:average`, `:product`, `:min` or `:max`. With `later = true`, `broadcast_from`,
  `scatter`, `reduce!` and `all_reduce!` give a `Future` and keep their place in this order; leave a dictionary that they
  write alone until it is done

`reduce!` and `all_reduce!` take `bucket_bytes`, the largest buffer in which tensors of a dtype travel together.
All take `timeout` in seconds, `max_bytes`, `num_threads`, and those from rank to rank `init_tag`. They wait on this
thread; tasks that must run meanwhile want the forms with `later = true`, and `fetch`. `TensorDicts.cancel(future)` ends such a wait.

```jldoctest
julia> group = open_group("tcp://127.0.0.1:0"; rank = 0, world_size = 1);

julia> td = all_reduce!(group, :sum, TensorDict(2; x = [1, 2])); Array(td["x"])
2-element Array{Int64,1}:
 1
 2
```
"""
function open_group(url::AbstractString = "env://"; rank::Integer = 0, world_size::Integer = 0, timeout = nothing,
                    name = nothing, device = nothing)
    texts = map(text -> text === nothing ? nothing : Base.cconvert(Cstring, String(text)), (url, name, device))
    pointers = map(text -> text === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, text), texts)
    GC.@preserve texts call(Group, td_group_open, Ref(td_group_options(
        timeout_ms = milliseconds(timeout), rank = rank, world_size = world_size, url = pointers[1],
        name = pointers[2], device = pointers[3])))
end

# At least one: 0 would be the default.
milliseconds(::Nothing) = UInt32(0)
milliseconds(seconds::Real) = UInt32(clamp(round(Int, 1000seconds), 1, Int(typemax(UInt32))))

group_call(; timeout = nothing, init_tag::Integer = 0, consolidated::Bool = false, fused::Bool = false,
           num_threads::Integer = 0, max_bytes::Integer = 0, bucket_bytes::Integer = 0) =
    Ref(td_group_call_options(
        flags = consolidated * TD_GROUP_CONSOLIDATED | fused * TD_GROUP_FUSED, timeout_ms = milliseconds(timeout),
        init_tag = init_tag, num_threads = num_threads, max_bytes = max_bytes, bucket_bytes = bucket_bytes))

const GROUP_OPS = (sum = TD_GROUP_OP_SUM, average = TD_GROUP_OP_AVERAGE, product = TD_GROUP_OP_PRODUCT,
                   min = TD_GROUP_OP_MIN, max = TD_GROUP_OP_MAX)

function group_op(op::Symbol)
    haskey(GROUP_OPS, op) || throw(ArgumentError("op is :$op; it must be one of $(join(keys(GROUP_OPS), ", "))"))
    GROUP_OPS[op]
end

function place(group::Group)
    rank, size = Ref{Int32}(0), Ref{Int32}(0)
    check(td_group_rank(group, rank, size))
    (Int(rank[]), Int(size[]))
end
"See [`open_group`](@ref)."
rank(group::Group) = place(group)[1]
Base.length(group::Group) = place(group)[2]
Base.show(io::IO, group::Group) = print(io, "Group(rank ", rank(group), " of ", length(group), ")")

"See [`open_group`](@ref)."
function split_group(group::Group, ranks; name = nothing)
    result = Ref{Ptr{td_group}}(C_NULL)
    numbers = Int32[ranks...]
    check(td_group_split(group, numbers, length(numbers), text_or_null(name), result))
    result[] == C_NULL ? nothing : Group(result[])
end

"See [`open_group`](@ref)."
barrier(group::Group; options...) = (check(td_group_barrier(group, group_call(; options...))); nothing)

"See [`open_group`](@ref)."
function send_to(group::Group, td::TensorDict, dst::Integer; later::Bool = false, options...)
    later && return call(Future, td_group_isend, group, td, dst, group_call(; options...))
    check(td_group_send(group, td, dst, group_call(; options...)))
    nothing
end

"See [`open_group`](@ref)."
function receive_from!(group::Group, into::TensorDict, src::Integer; later::Bool = false, options...)
    later && return call(Future, td_group_irecv, group, into, src, group_call(; options...))
    check(td_group_recv(group, into, src, group_call(; options...)))
    into
end

"See [`open_group`](@ref)."
function send_message(group::Group, td::TensorDict, dst::Integer; later::Bool = false, options...)
    later && return call(Future, td_group_isend_message, group, td, dst, group_call(; options...))
    check(td_group_send_message(group, td, dst, group_call(; options...)))
    nothing
end

"See [`open_group`](@ref)."
function recv_message(group::Group, src::Union{Integer,Nothing} = nothing; later::Bool = false, options...)
    from = src === nothing ? -1 : src
    later && return call(Future, td_group_irecv_message, group, from, group_call(; options...))
    source = Ref{Int32}(0)
    td = call(TensorDict, td_group_recv_message, group, from, group_call(; options...), source)
    (td, Int(source[]))
end

"See [`open_group`](@ref)."
init_remote(group::Group, td::TensorDict, dst::Integer; options...) =
    (check(td_group_init_remote(group, td, dst, group_call(; options...))); nothing)

"See [`open_group`](@ref)."
from_remote_init(group::Group, src::Integer; options...) =
    call(TensorDict, td_group_from_remote_init, group, src, group_call(; options...))

"See [`open_group`](@ref)."
function broadcast_from(group::Group, td::Union{TensorDict,Nothing}, src::Integer; later::Bool = false, options...)
    source, given = td === nothing ? C_NULL : td, group_call(; options...)
    later && return call(Future, td_group_ibroadcast, group, source, src, given)
    call(TensorDict, td_group_broadcast, group, source, src, given)
end

"See [`open_group`](@ref)."
function reduce!(group::Group, op::Symbol, td::TensorDict, dst::Integer; later::Bool = false, options...)
    later && return call(Future, td_group_ireduce, group, td, dst, group_op(op), group_call(; options...))
    check(td_group_reduce(group, td, dst, group_op(op), group_call(; options...)))
    td
end

"See [`open_group`](@ref)."
function all_reduce!(group::Group, op::Symbol, td::TensorDict; later::Bool = false, options...)
    later && return call(Future, td_group_iall_reduce, group, td, group_op(op), group_call(; options...))
    check(td_group_all_reduce(group, td, group_op(op), group_call(; options...)))
    td
end

"See [`open_group`](@ref)."
function all_gather(group::Group, td::TensorDict; options...)
    parts = fill(Ptr{td_tensordict}(C_NULL), length(group))
    check(td_group_all_gather(group, td, group_call(; options...), parts, length(parts), Ref{Csize_t}(0)))
    TensorDict[TensorDict(part) for part in parts]
end

"See [`open_group`](@ref)."
function scatter(group::Group, tds, src::Integer; later::Bool = false, options...)
    sources = TensorDict[tds...]
    GC.@preserve sources begin
        pointers = Ptr{td_tensordict}[live_pointer(td) for td in sources]
        given = group_call(; options...)
        later ? call(Future, td_group_iscatter, group, pointers, length(pointers), src, given) :
        call(TensorDict, td_group_scatter, group, pointers, length(pointers), src, given)
    end
end

"See [`open_group`](@ref)."
function gather_and_stack(group::Group, td::TensorDict, dst::Integer; options...)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    check(td_group_gather_and_stack(group, td, dst, group_call(; options...), result))
    result[] == C_NULL ? nothing : TensorDict(result[])
end

"""
    cancel(future)

Tells the work to end. `fetch` then throws, unless it was done. Transfers of a [`Group`](@ref open_group) can be cancelled;
saves cannot.
"""
cancel(future::Future) = (check(td_future_cancel(future)); nothing)
