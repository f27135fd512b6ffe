# Files of other programs: safetensors, NumPy, torch.save, raw records.

file_format(format::Symbol) = get(FILE_FORMATS, format) do
    throw(ArgumentError("a file is one of $(join(sort!(collect(keys(FILE_FORMATS))), ", ")), not $(repr(format))"))
end

# Calls `f(options)` with the options as the library takes them.
function with_file_options(f; format::Symbol = :auto, separator::Union{AbstractString,Nothing} = nothing,
                           batch_dims::Integer = 0, write_through::Bool = false, deflate::Bool = false,
                           durable::Bool = false, max_depth::Integer = 0, max_entries::Integer = 0,
                           metadata::Union{AbstractString,Nothing} = nothing, records::Union{Type,Nothing} = nothing,
                           header_bytes::Integer = 0)
    texts = map(text -> text === nothing ? nothing : Base.cconvert(Cstring, String(text)), (separator, metadata))
    pointers = map(text -> text === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, text), texts)
    run(members, item_bytes) = GC.@preserve texts members f(Ref(td_file_options(
        format = file_format(format), separator = pointers[1], batch_dims = batch_dims, write_through = write_through,
        deflate = deflate, durable = durable, max_depth = max_depth, max_entries = max_entries,
        metadata = pointers[2], members = pointer(members), members_len = length(members), item_bytes = item_bytes,
        header_bytes = header_bytes)))
    records === nothing ? run(td_member[], 0) : with_members(members -> run(members, sizeof(records)), records)
end

"""
    load_file(file; format = :auto, separator = nothing, batch_dims = 0, write_through = false,
              records = nothing, header_bytes = 0, max_depth = 0, max_entries = 0) -> TensorDict
    load_tensor(file; options...) -> Tensor

Read a file of another program: safetensors, NumPy's `.npy` and `.npz`, `.pt` of `torch.save`. Nothing in
it is trusted and nothing in it is run. Tensors are views of the mapped file wherever they can be.
`load_tensor` reads a file of one tensor, `.npy` or `.pt`.

- `format`: `:safetensors`, `:npy`, `:npz`, `:pt`, `:raw`, `:hdf5`, `:parquet` or `:arrow`; `:auto` finds out
- `separator`: between the names of a path that are one in the file, "." if not given; "" keeps names whole
- `batch_dims`: so many leading dimensions are the batch; 0: as the file says, or none
- `write_through`: what is written to the tensors reaches the file
- `records`, `header_bytes`: a type of struct of which the file holds one after the other, as
  [`from_structs`](@ref) takes them, and how many bytes come before the first
- `max_depth`, `max_entries`: most levels and entries accepted; 0 for the limits of the library
"""
load_file(file::AbstractString; options...) = with_file_options(; options...) do given
    call(TensorDict, td_file_load, String(file), given)
end

load_tensor(file::AbstractString; options...) = with_file_options(; options...) do given
    call(Tensor, td_file_load_tensor, String(file), given)
end

"""
    save_file(file, td; format = :auto, separator = nothing, deflate = false, durable = false,
              metadata = nothing, records = nothing, header_bytes = 0)
    save_tensor(file, t; durable = false)

Write a dictionary to a file of another program, or a tensor to a `.npy` file. The end of the name says the
format. A file that was there is replaced once the new one is whole.

- `deflate`: compress `.npz`
- `durable`: return when the file is on the disk
- `metadata`: of safetensors, a JSON object of texts that stands beside the tensors
- the others as for [`load_file`](@ref)
"""
function save_file(file::AbstractString, td::TensorDict; options...)
    with_file_options(given -> check(td_file_save(td, String(file), given)); options...)
    file
end

function save_tensor(file::AbstractString, t::Tensor; options...)
    with_file_options(given -> check(td_file_save_tensor(t, String(file), given)); format = :npy, options...)
    file
end

"""
    file_metadata(file) -> String

The texts that a safetensors file keeps beside its tensors, as a JSON object.
"""
file_metadata(file::AbstractString) = with_file_options() do given
    asktext(td_file_metadata, String(file), given)
end
