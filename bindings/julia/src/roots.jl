# Julia memory that the library uses, and library memory that Julia's collector cannot see.

# The library says that it is done by storing 1 in `done`, from any thread: Julia code must not run
# on a thread that Julia does not know. So the field comes first and is looked at later.
mutable struct Root
    done::Int32
    object::Any
    bytes::Int  # that stay in memory with it
end

const ROOTS = Root[]
const ROOTS_LOCK = Threads.SpinLock()  # a finalizer that finds it taken goes away instead of waiting

# Roots are looked through when as many, or as many bytes, came as the last look has left: constant work
# for each, and never more than half of what is held is waste.
mutable struct Sweeps
    at_roots::Int
    at_bytes::Int
    new_bytes::Int
    watching::Bool
end
const FEW_ROOTS, FEW_BYTES = 64, 1 << 24
const SWEEPS = Sweeps(FEW_ROOTS, FEW_BYTES, 0, false)

# Keeps `object` alive until the library has let go of it. Gives the argument of `release_root()`.
function root!(object, bytes::Int = 0)
    r = Root(0, object, bytes)
    lock(ROOTS_LOCK)
    try
        SWEEPS.new_bytes += bytes
        (length(ROOTS) >= SWEEPS.at_roots || SWEEPS.new_bytes >= SWEEPS.at_bytes) && sweep_roots()
        push!(ROOTS, r)
        SWEEPS.watching || watch_collections()
    finally
        unlock(ROOTS_LOCK)
    end
    pointer_from_objref(r)
end

release_root() = _sym(_p_td_release_set_flag, :td_release_set_flag)

# With the lock held.
function sweep_roots()
    filter!(r -> r.done == 0, ROOTS)
    SWEEPS.at_roots = max(FEW_ROOTS, 2 * length(ROOTS))
    SWEEPS.at_bytes = max(FEW_BYTES, sum(Int[r.bytes for r in ROOTS]))
    SWEEPS.new_bytes = 0
end

# Each collection ends with finalizers, that of this object among them: when handles have gone, so may what
# was lent through them, also when nothing is lent any more.
mutable struct Collection end
function watch_collections()
    SWEEPS.watching = true
    finalizer(collection_done, Collection())
    nothing
end
function collection_done(::Collection)
    if !trylock(ROOTS_LOCK)
        finalizer(collection_done, Collection())
        return
    end
    try
        sweep_roots()
        isempty(ROOTS) ? (SWEEPS.watching = false) : watch_collections()
    finally
        unlock(ROOTS_LOCK)
    end
    nothing
end

"""
    TensorDicts.lent() -> Int

How many Julia arrays the library is using now.
"""
function lent()
    lock(ROOTS_LOCK)
    try
        sweep_roots()
        length(ROOTS)
    finally
        unlock(ROOTS_LOCK)
    end
end

"""
    TensorDicts.GC_AFTER[]

Bytes of tensors that come into being, and are not closed, before the garbage collector is asked to run: it
sees the few bytes of a handle, not the memory behind it.
"""
const GC_AFTER = Ref(1 << 28)

const UNCOLLECTED = Threads.Atomic{Int}(0)  # bytes that have come, less those given back, since it was asked
const SURVIVING = Threads.Atomic{Int}(0)    # bytes that were left each time, since it last looked at everything

# Bytes that a handle alone keeps: 0 for a view, an entry, memory of Julia.
function owned(pointer::Union{Ptr{td_tensor},Ptr{td_tensordict}})
    bytes = Ref{Csize_t}(0)
    ask_owned(pointer, bytes) == TD_OK ? Int(bytes[]) : 0
end
owned(pointer::Ptr) = 0
ask_owned(pointer::Ptr{td_tensor}, result) = td_tensor_owned_nbytes(pointer, result)
ask_owned(pointer::Ptr{td_tensordict}, result) = td_owned_nbytes(pointer, result)

function charge(h::Handle)
    bytes = owned(h.pointer)
    bytes > 0 && Threads.atomic_add!(UNCOLLECTED, bytes) + bytes > GC_AFTER[] && collect_handles()
    h
end

# Runs in finalizers too. What was charged before the last collection is not known any more.
function discharge(bytes)
    bytes == 0 && return
    while true
        before = UNCOLLECTED[]
        Threads.atomic_cas!(UNCOLLECTED, before, max(0, before - bytes)) == before && return
    end
end

# What a quick collection leaves is either in use or has become too old for it to be looked at.
function collect_handles()
    GC.gc(false)
    left = Threads.atomic_xchg!(UNCOLLECTED, 0)
    Threads.atomic_add!(SURVIVING, left) + left > 4 * GC_AFTER[] || return
    GC.gc(true)
    SURVIVING[] = 0
    UNCOLLECTED[] = 0
    nothing
end
