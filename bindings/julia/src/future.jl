# Work that goes on while the program does something else.

"""
    memmap_start(td, dir = nothing; options...) -> TensorDicts.Future

[`memmap`](@ref) on a thread of the library: this call returns at once. What is saved is `td` as it is
now; values that are written into its tensors before the work is done may be saved or not.

```jldoctest
julia> td = TensorDict(2; x = [1, 2]);

julia> saving = memmap_start(td, joinpath(mktempdir(), "td"));

julia> saved = fetch(saving);

julia> ismemmap(saved)
true
```
"""
memmap_start(td::TensorDict, dir::Union{AbstractString,Nothing} = nothing; options...) =
    call(Future, td_memmap_async, td, text_or_null(dir), storing(; options...))

# The library would stop all tasks of this thread, so it is only asked.
done(future::Future) = ask(Int32, (f, result) -> td_future_wait(f, 0, result), future) != 0

Base.isready(future::Future) = done(future)

function Base.fetch(future::Future)
    pause = 0.001
    while !done(future)
        sleep(pause)
        pause = min(2pause, 0.05)
    end
    call(TensorDict, td_future_result, future)
end

function Base.wait(future::Future)
    close(fetch(future))
    nothing
end

"""
    TensorDicts.progress(future) -> (done, total)

How many steps are done, and of how many: of a dictionary that is saved these are tensors. The second is 0
while it is being worked out.
"""
function progress(future::Future)
    done, total = Ref{Csize_t}(0), Ref{Csize_t}(0)
    check(td_future_progress(future, done, total))
    (Int(done[]), Int(total[]))
end

# A finalizer must not wait: it comes again when the work is done. What is left when the process ends is
# waited for by the library.
function release(future::Future)
    future.pointer == C_NULL && return nothing
    if done(future)
        invoke(release, Tuple{Handle}, future)
    else
        finalizer(release, future)
    end
    nothing
end

function Base.close(future::Future)
    pointer = future.pointer
    future.pointer = C_NULL
    pointer == C_NULL || free(pointer)
    nothing
end
