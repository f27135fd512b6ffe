# Whether a folder holds what was saved to it, and what is damaged.

const damages = Dict(TD_DAMAGE_MISSING => :missing, TD_DAMAGE_SHORT => :short, TD_DAMAGE_CHANGED => :changed,
                     TD_DAMAGE_NOT_COVERED => :not_covered, TD_DAMAGE_FORMAT => :format,
                     TD_DAMAGE_REFUSED => :refused, TD_DAMAGE_UNREADABLE => :unreadable)

"""
    Damage

One file that [`verify_memmap`](@ref) has found to be damaged: `kind`, `path` relative to the folder, a
`message` for people, and in bytes what was `expected` and `found`, `0` where that is not known.

A `kind` is `:missing`, `:short`, `:changed` (not what the checksum was taken of), `:not_covered` (there are
checksums, and none of all of this file), `:format`, `:refused` (a link, a pipe or the like), `:unreadable`.
"""
struct Damage
    kind::Symbol
    path::String
    message::String
    expected::Int
    found::Int
end

mutable struct Verification
    progress::Any
    found::Vector{Damage}
    thrown::Any
end

function step_bytes(user::Ptr{Cvoid}, done::Csize_t, total::Csize_t)::td_status
    work = unsafe_pointer_to_objref(user)::Verification
    parking(() -> work.progress(Int(done), Int(total)), work)
end

function step_damage(user::Ptr{Cvoid}, about::Ptr{td_damage})::td_status
    work = unsafe_pointer_to_objref(user)::Verification
    parking(work) do
        one = unsafe_load(about)
        push!(work.found, Damage(get(damages, one.kind, :unknown), unsafe_string(one.path),
                                 unsafe_string(one.message), one.expected, one.found))
    end
end

function verifying(f, progress, num_threads; listing::Bool)
    work = Verification(showing(progress), Damage[], nothing)
    status = GC.@preserve work begin
        user = pointer_from_objref(work)
        tell = @cfunction(step_bytes, td_status, (Ptr{Cvoid}, Csize_t, Csize_t))
        take = @cfunction(step_damage, td_status, (Ptr{Cvoid}, Ptr{td_damage}))
        f(Ref(td_verify_options(; num_threads, damage = listing ? take : C_NULL, user,
                                progress = work.progress === nothing ? C_NULL : tell, progress_user = user)))
    end
    check_parked(status, work)
    work.found
end

"""
    verify_memmap(dir; num_threads = 0, progress = false) -> Vector{Damage}
    checksum_memmap(dir; num_threads = 0, progress = false)

Check a folder: all that [`load_memmap`](@ref) would check, and, where it was saved with `checksums = true`,
every byte that they cover. The result says what is damaged, see `TensorDicts.Damage`, sorted by path; it is empty
when all is well. `checksum_memmap` gives a folder checksums of what it holds now.

`progress` is `true` for a line on the terminal, or a function of the bytes read and their number.

```jldoctest
julia> dir = joinpath(mktempdir(), "td");

julia> memmap(TensorDict(2; x = Float32[1, 2]), dir; checksums = true);

julia> isempty(verify_memmap(dir))
true

julia> write(joinpath(dir, "x.memmap"), zeros(UInt8, 8));

julia> only(verify_memmap(dir)).kind
:changed
```
"""
verify_memmap(dir::AbstractString; num_threads::Integer = 0, progress = nothing) =
    verifying(progress, num_threads; listing = true) do options
        td_memmap_verify(String(dir), options, Ref{Csize_t}(0))
    end
function checksum_memmap(dir::AbstractString; num_threads::Integer = 0, progress = nothing)
    verifying(options -> td_memmap_write_checksums(String(dir), options), progress, num_threads; listing = false)
    nothing
end
