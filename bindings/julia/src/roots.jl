# Julia memory that the library uses, and library memory that Julia's collector cannot see.

# The library says that it is done by storing 1 in `done`, from any thread: Julia code must not run
# on a thread that Julia does not know. So the field comes first and is looked at later.
mutable struct Root
    done::Int32
    object::Any
end

const ROOTS = Root[]
const ROOTS_LOCK = ReentrantLock()
const SWEEP_AT = Ref(64)

# Keeps `object` alive until the library has let go of it. Gives the argument of `release_root()`.
function root!(object)
    r = Root(0, object)
    lock(ROOTS_LOCK) do
        # Each sweep waits for as many new roots as were left: constant work for each.
        if length(ROOTS) >= SWEEP_AT[]
            filter!(r -> r.done == 0, ROOTS)
            SWEEP_AT[] = max(64, 2 * length(ROOTS))
        end
        push!(ROOTS, r)
    end
    pointer_from_objref(r)
end

release_root() = _sym(_p_td_release_set_flag, :td_release_set_flag)

"""
    TensorDicts.lent() -> Int

How many Julia arrays the library is using now.
"""
lent() = lock(() -> length(filter!(r -> r.done == 0, ROOTS)), ROOTS_LOCK)

const UNSEEN = Threads.Atomic{Int}(0)

"""
    TensorDicts.GC_AFTER[]

Bytes of new tensors after which the garbage collector is asked to run: it does not see what they
take, only the few bytes of a handle.
"""
const GC_AFTER = Ref(1 << 30)

# For results that lie in new memory.
function charge(x::Handle)
    if Threads.atomic_add!(UNSEEN, nbytes(x)) > GC_AFTER[]
        UNSEEN[] = 0
        GC.gc(false)
    end
    x
end
