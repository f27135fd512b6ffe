# Finding, opening and checking the shared library, and the addresses of its functions.

const LIBRARY = Ref{Ptr{Cvoid}}(C_NULL)
const CHOSEN = Ref("")
const OPENING = ReentrantLock()

"""
    TensorDicts.set_library(path)

Use the shared library at `path`. Only before the first call into the library. Without it these count, in turn:
the environment variable `TENSORDICT_LIBRARY`, the preference `library` of the active project
(`set_preferences!(TensorDicts, "library" => path)` of Preferences.jl, or a `LocalPreferences.toml`), the library
in the folder `artifact` of this package, and `libtensordict` where the loader looks.
"""
function set_library(path::AbstractString)
    LIBRARY[] == C_NULL || throw(ArgumentError("library already loaded from $(library_path())"))
    CHOSEN[] = path
    nothing
end

"""
    TensorDicts.library_path() -> String

The file that the library was loaded from.
"""
library_path() = Libdl.dlpath(library())

# The address of a function, looked up at the first call. A table in place of a constant library
# name keeps the path of one machine out of the precompiled package.
@inline function _sym(slot::Ref{Ptr{Cvoid}}, name::Symbol)
    TASKS_DIFFER[] && tell_grad_mode()
    _address(slot, name)
end
@inline function _address(slot::Ref{Ptr{Cvoid}}, name::Symbol)
    address = slot[]
    address == C_NULL ? (slot[] = function_address(library(), name)) : address
end

# Whether gradients are recorded is a matter of the task here and of the thread in the library. Once a task
# has asked for them, each call says first what its task wants.
const TASKS_DIFFER = Ref(false)

function grad_mode()
    storage = current_task().storage
    storage === nothing ? false : get(storage, :TensorDicts_grad_mode, false)::Bool
end

@noinline tell_grad_mode() =
    ccall(_address(_p_td_set_grad_enabled, :td_set_grad_enabled), Int32, (Int32,), grad_mode())

function function_address(handle, name)
    address = Libdl.dlsym_e(handle, name)
    address == C_NULL && error("$(Libdl.dlpath(handle)) has no function $name: it is older than this package")
    address
end

function library()
    LIBRARY[] == C_NULL || return LIBRARY[]
    lock(OPENING) do
        LIBRARY[] == C_NULL || return LIBRARY[]
        handle = open_library()
        check_abi(handle)
        LIBRARY[] = handle
    end
end

const PACKAGE = Base.UUID("8d6f3a52-5c1e-4b0a-9b3e-2f7c41d09a6e")
const ARTIFACT = joinpath("artifact", "lib", "libtensordict.so")

# The preference `library`. Julia 1.5 does not read preferences itself.
function preferred_library()
    isdefined(Base, :get_preferences) && return get(Base.get_preferences(PACKAGE), "library", "")
    project = Base.active_project()
    file = project === nothing ? "" : joinpath(dirname(project), "LocalPreferences.toml")
    own = isfile(file) ? match(r"^\[TensorDicts\]\s*$(.*?)(?=^\[|\z)"ms, read(file, String)) : nothing
    found = own === nothing ? nothing : match(r"^library\s*=\s*\"((?:[^\"\\]|\\.)*)\""m, own[1])
    found === nothing ? "" : unescape_string(found[1])
end

function candidates()
    packed = joinpath(dirname(@__DIR__), ARTIFACT)
    for named in (CHOSEN[], get(ENV, "TENSORDICT_LIBRARY", ""), preferred_library(), isfile(packed) ? packed : "")
        isempty(named) || return [named]
    end
    Sys.iswindows() ? ["tensordict", "libtensordict"] : ["libtensordict", "libtensordict.so.$TD_ABI_VERSION"]
end

function open_library()
    reasons = String[]
    for name in candidates()
        try
            return Libdl.dlopen(name, Libdl.RTLD_LAZY | Libdl.RTLD_LOCAL)
        catch e
            e isa ErrorException || rethrow()
            push!(reasons, e.msg)
        end
    end
    text = "libtensordict cannot be loaded; TENSORDICT_LIBRARY, the preference `library` or TensorDicts.set_library names the file. " *
           join(reasons, "; ")
    if occursin("GLIBCXX", text)
        text *= ". This julia brings a libstdc++ that is older than the library's: start it with " *
                "LD_PRELOAD set to the system's libstdc++.so.6, or use a julia built for this system"
    end
    error(text)
end

function check_abi(handle)
    supports = ccall(function_address(handle, :td_supports_abi), Int32, (Int32,), TD_ABI_VERSION)
    supports == 1 && return
    found = ccall(function_address(handle, :td_abi_version), Int32, ())
    error("$(Libdl.dlpath(handle)) offers ABI $found, this package needs ABI $TD_ABI_VERSION")
end
