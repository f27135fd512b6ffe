# Dictionaries in folders, in the format of Python's tensordict.

text_or_null(::Nothing) = C_NULL
text_or_null(dir::AbstractString) = String(dir)

storing(; num_threads::Integer = 0, copy_existing::Bool = false, fail_if_exists::Bool = false,
        verbatim_names::Bool = false, dense_sub_tensordicts::Bool = false, archive::Union{Bool,Nothing} = nothing, compression::Symbol = :stored,
        durable::Bool = false, checksums::Bool = false) =
    Ref(td_memmap_options(num_threads = num_threads, copy_existing = copy_existing,
                          fail_if_exists = fail_if_exists, verbatim_names = verbatim_names,
                          dense_sub_tensordicts = dense_sub_tensordicts,
                          durable = durable, checksums = checksums,
                          archive = archive === nothing ? TD_ARCHIVE_BY_NAME :
                                    archive ? TD_ARCHIVE_YES : TD_ARCHIVE_NO,
                          compression = compressed(compression)))

"""
    memmap(td, dir = nothing; num_threads, copy_existing, fail_if_exists, verbatim_names, archive, compression,
           durable, checksums)

Save `td` to the folder `dir` and give a dictionary that is mapped from it: locked, on the CPU,
writing through to the files. Without a folder memory that has no name is mapped.

- `num_threads = 0`: how many threads write
- `copy_existing = false`: copy tensors that are mapped from another folder, too
- `fail_if_exists = false`: refuse to overwrite files
- `verbatim_names = false`: name files by the keys as they are, not escaped
- `dense_sub_tensordicts = false`: save a sub-tensordict as what it reads, not with all that it is a part of
- `archive = nothing`: whether all goes into one file, a zip archive, which is then opened as
  [`load_memmap`](@ref) does; `nothing` when the name ends with `.tdz`
- `compression = :stored`: of the tensors in an archive, also `:deflate`
- `durable = false`: return only when all of it is on the disk, its name included
- `checksums = false`: make a file with checksums, for [`verify_memmap`](@ref)
"""
memmap(td::TensorDict, dir::Union{AbstractString,Nothing} = nothing; options...) =
    call(TensorDict, td_memmap, td, text_or_null(dir), storing(; options...))

"""
    memmap!(td, dir = nothing; options...)

Save `td` and map its own tensors from there. Options as for [`memmap`](@ref).
"""
function memmap!(td::TensorDict, dir::Union{AbstractString,Nothing} = nothing; options...)
    check(td_memmap_inplace(td, text_or_null(dir), storing(; options...)))
    td
end

"""
    memmap_like(td, dir = nothing; options...)

Make a folder for the sizes and types of `td`, filled with zeros, and map it. With [`expand`](@ref)
this makes room for any number of rows. Options as for [`memmap`](@ref).
"""
memmap_like(td::TensorDict, dir::Union{AbstractString,Nothing} = nothing; options...) =
    call(TensorDict, td_memmap_like, td, text_or_null(dir), storing(; options...))

"""
    load_memmap(dir; device = cpu(), private = false, verbatim_names = false, max_depth = 0, max_entries = 0,
                write_through = false, num_threads = 0)

Map a folder, or an archive, that this library or Python's tensordict has written.

- `device`: where the tensors go; `Device("meta")` opens no file of values
- `private`: what is written to the tensors does not reach the files
- `verbatim_names`: file names are the keys as they are
- `max_depth`, `max_entries`: most levels and entries accepted; 0 for the limits of the library
- `write_through`: what is written to tensors of an archive reaches the file
- `num_threads`: how many threads read the tensors of a folder or an archive
"""
load_memmap(dir::AbstractString; options...) =
    call(TensorDict, td_memmap_load, String(dir), loading(; options...))

loading(; device::Device = Device(TD_DEVICE_NONE, -1), private::Bool = false, verbatim_names::Bool = false,
        max_depth::Integer = 0, max_entries::Integer = 0, write_through::Bool = false, num_threads::Integer = 0,
        subpath...) =
    Ref(td_load_options(; device_type = device.type, device_index = device.index, private_mapping = private,
                        verbatim_names = verbatim_names, max_depth = max_depth, max_entries = max_entries,
                        write_through = write_through, num_threads = num_threads, subpath...))

"""
    ismemmap(x)
    saved_path(td) -> Union{String,Nothing}

Whether files, or nameless memory that can be mapped, lie behind the tensors of a dictionary or behind
one tensor; and the folder where the files are.
"""
ismemmap(td::TensorDict) = asks(td_is_memmap, td)
ismemmap(t::Tensor) = asks(td_tensor_is_memmap, t)
function saved_path(td::TensorDict)
    dir = asktext(td_saved_path, td)
    isempty(dir) ? nothing : dir
end

"""
    flush(td)

Wait until what was written to mapped tensors is on the disk.
"""
Base.flush(td::TensorDict) = check(td_memmap_flush(td))
