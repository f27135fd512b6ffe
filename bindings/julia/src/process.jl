# What concerns the process or the thread: versions, the log, gradients, open handles.

"""
    TensorDicts.version(), TensorDicts.torch_version(), TensorDicts.abi_version()

The versions of the library, of the libtorch behind it, and of the interface between it and this
package.
"""
version() = VersionNumber(unsafe_string(td_version()))
torch_version() = unsafe_string(td_torch_version())
abi_version() = Int(td_abi_version())

"""
    TensorDicts.supports_abi(abi) -> Bool

Whether the library can be used by a client made for this number. Checked when it is loaded.
"""
supports_abi(abi::Integer) = td_supports_abi(abi) == 1

"""
    TensorDicts.live_handles() -> Int

How many handles are open in this process. For tests: what Julia's collector has not found yet counts.
"""
live_handles() = Int(td_debug_live_handles())

"""
    TensorDicts.set_grad_enabled(enabled) -> Bool
    TensorDicts.set_grad_enabled(f, enabled)

Whether calls of this task record gradients; off at first, also in the tasks that it starts. Gives the
value before; the second form sets it for the time of `f()`.
"""
function set_grad_enabled(enabled::Bool)
    before = grad_mode()
    if enabled != before
        task_local_storage(:TensorDicts_grad_mode, enabled)
        TASKS_DIFFER[] = true
    end
    before
end
function set_grad_enabled(f, enabled::Bool)
    before = set_grad_enabled(enabled)
    try
        f()
    finally
        set_grad_enabled(before)
    end
end

const LOG_LEVELS = Dict(TD_LOG_DEBUG => :debug, TD_LOG_INFO => :info, TD_LOG_WARNING => :warning)

function log_line(user::Ptr{Cvoid}, level::td_log_level, message::Cstring)::Cvoid
    try
        (unsafe_pointer_to_objref(user)::Root).object(get(LOG_LEVELS, level, :info), unsafe_string(message))
    catch e
        # Nobody above could take an exception, and a log must not stop what it reports.
        @error "the function given to TensorDicts.set_log failed" exception = e
    end
    nothing
end

"""
    TensorDicts.set_log(f)
    TensorDicts.set_log(nothing)

Call `f(level, message)` for each line of the library's log, with `level` one of `:debug`, `:info` and
`:warning`; `nothing` makes it silent again. `f` must not call the library.

The library may log from a thread of its own, such as one that [`memmap`](@ref) writes with. Julia code
cannot run there: set a log only while such functions are used with `num_threads` of 0 or 1.
"""
function set_log(f)
    callback = @cfunction(log_line, Cvoid, (Ptr{Cvoid}, td_log_level, Cstring))
    td_set_log(callback, root!(f), release_root())
end
set_log(::Nothing) = td_set_log(C_NULL, C_NULL, C_NULL)
