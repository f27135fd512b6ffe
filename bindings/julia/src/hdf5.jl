# HDF5 files, read whole or by rows.

# Calls `f(options)` with the options as the library takes them.
function with_hdf5_options(f; group::Union{AbstractString,Nothing} = nothing, keys = (), attributes::Bool = false,
                           skip::Bool = false, stack::Bool = false, batch_dims::Integer = 0, max_bytes::Integer = 0,
                           max_depth::Integer = 0, max_entries::Integer = 0)
    flags = attributes * TD_HDF5_ATTRIBUTES | skip * TD_HDF5_SKIP | stack * TD_HDF5_STACK
    name = group === nothing ? nothing : Base.cconvert(Cstring, String(group))
    with_keys(keys) do list, count
        GC.@preserve name list f(Ref(td_hdf5_options(
            flags = flags, group = name === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, name),
            keys = isempty(list) ? Ptr{td_key}(C_NULL) : pointer(list), keys_len = count, batch_dims = batch_dims,
            max_bytes = max_bytes, max_depth = max_depth, max_entries = max_entries)))
    end
end

"""
    load_hdf5(file; group = "/", keys = (), attributes = false, skip = false, stack = false, batch_dims = 0,
              max_bytes = 0, max_depth = 0, max_entries = 0) -> TensorDict
    open_hdf5(file; options...) -> HDF5File
    file[indices...] -> TensorDict

Read an HDF5 file whole, or open it and read the part that an index picks: only its rows are read. `size(file)` is the
batch size, -1 where the elements of a stack differ, and `keys(file)` are the keys of all values.

- `group`, `keys`: only these
- `attributes`: those of groups become non-tensor data
- `skip`: leaves out what has no place in a dictionary, such as links into other files
- `stack`: the groups are the elements of a lazy stack, demonstrations of different lengths
- `batch_dims`: so many leading dimensions are the batch; 0: as Python's `from_h5` finds them
- `max_bytes`, `max_depth`, `max_entries`: most memory of one reading, levels and entries; 0 for the limits of the library
"""
load_hdf5(file::AbstractString; options...) = with_hdf5_options(; options...) do given
    call(TensorDict, td_hdf5_load, String(file), given)
end

"See [`load_hdf5`](@ref)."
open_hdf5(file::AbstractString; options...) = with_hdf5_options(; options...) do given
    call(HDF5File, td_hdf5_open, String(file), given)
end

Base.size(file::HDF5File) = asksizes(td_hdf5_batch_size, file)
Base.keys(file::HDF5File) = first.(listed(call(KeyList, td_hdf5_keys, file)))

Base.getindex(file::HDF5File, indices...) = indexed(TensorDict, td_hdf5_read, file, indices)

function Base.show(io::IO, file::HDF5File)
    isopen(file) || return print(io, "HDF5File(closed)")
    print(io, "HDF5File(", join(size(file), "×"), ")")
end

"""
    save_hdf5(file, td; group = "/", stack = false, deflate = 0, chunk_rows = 0, durable = false)

Write a dictionary to an HDF5 file as Python's `to_h5` does. A file that was there is replaced once the new one is whole.

- `stack`: the elements of a lazy stack become groups demo_0, demo_1, ...
- `deflate`: level of compression, 1 to 9; `chunk_rows`: rows of a chunk
- `durable`: return when the file is on the disk
"""
function save_hdf5(file::AbstractString, td::TensorDict; group::AbstractString = "/", stack::Bool = false,
                   deflate::Integer = 0, chunk_rows::Integer = 0, durable::Bool = false)
    name = Base.cconvert(Cstring, String(group))
    GC.@preserve name check(td_hdf5_save(td, String(file), Ref(td_hdf5_save_options(
        flags = stack * TD_HDF5_SAVE_STACK | durable * TD_HDF5_SAVE_DURABLE,
        group = Base.unsafe_convert(Cstring, name), deflate = deflate, chunk_rows = chunk_rows))))
    file
end
