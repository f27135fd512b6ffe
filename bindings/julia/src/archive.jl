# A folder of a dictionary as one file, a zip archive.

const compressions = Dict(:stored => TD_COMPRESSION_STORED, :deflate => TD_COMPRESSION_DEFLATE)

compressed(name::Symbol) =
    get(compressions, name) do
        throw(ArgumentError("compression is :stored or :deflate, not :$name"))
    end

packing(; compression::Symbol = :stored, fail_if_exists::Bool = false, durable::Bool = false) =
    Ref(td_memmap_pack_options(; compression = compressed(compression), fail_if_exists, durable))

"""
    pack_memmap(dir, file; compression = :stored, fail_if_exists = false, durable = false)
    unpack_memmap(file, dir; fail_if_exists = false, durable = false)

Pack a folder that [`memmap`](@ref) or Python's tensordict has written into one archive, which any program
that reads zip files reads and [`load_memmap`](@ref) opens, without a copy of tensors that are not
compressed; and unpack it into a new or empty folder. Nothing is written outside of
it, whatever the names in the archive are.

- `compression = :stored`: of the tensors, also `:deflate`
- `fail_if_exists = false`: an existing archive or folder is an error
- `durable = false`: return only when all of it is on the disk

```jldoctest
julia> dir = mktempdir();

julia> memmap(TensorDict(2; x = [1f0, 2f0]), joinpath(dir, "td"));

julia> pack_memmap(joinpath(dir, "td"), joinpath(dir, "td.tdz"))

julia> is_memmap_archive(joinpath(dir, "td.tdz"))
true

julia> Array(load_memmap(joinpath(dir, "td.tdz"))["x"])
2-element Vector{Float32}:
 1.0
 2.0
```
"""
pack_memmap(dir::AbstractString, file::AbstractString; options...) =
    check(td_memmap_pack(String(dir), String(file), packing(; options...)))
unpack_memmap(file::AbstractString, dir::AbstractString; fail_if_exists::Bool = false, durable::Bool = false) =
    check(td_memmap_unpack(String(file), String(dir), packing(; fail_if_exists, durable)))

"""
    is_memmap_archive(file)

Whether there is a file that [`load_memmap`](@ref) takes for an archive.
"""
function is_memmap_archive(file::AbstractString)
    answer = Ref{Int32}(0)
    check(td_memmap_is_archive(String(file), answer))
    answer[] != 0
end

"""
    refresh_archive_checksums(file)

Compute the checksums of an archive anew after its tensors were written to. Unpacking and other programs
look at them.
"""
refresh_archive_checksums(file::AbstractString) = check(td_memmap_write_archive_checksums(String(file)))
