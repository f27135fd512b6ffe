"""
Dictionaries of tensors that share a batch size, over the shared library `libtensordict`.

Everything that comes out of this package is yours: a cheap counted reference, given back by the
garbage collector, or at once by `close`. Nothing that is passed in is consumed.

Dimensions stand in the order of torch (`size(td) == (3, 4)`), indices and dimension numbers count
from 1, as everywhere in Julia.
"""
module TensorDicts

using Libdl: Libdl

export TensorDict, Tensor, StridedTensor, NonTensorData, Writer, Device, BFloat16
export TensorDictError, ReleasedError
export cpu, cuda, cuda_available, device, to, clear_device!
export asarray, contiguous, iscontiguous, nbytes, isuniquelyowned, requires_grad, requires_grad!
export .., newaxis, @index_str, parse_index
export set_inplace!, set_batch_size!, lock!, unlock!, ismemmap, issame, share
export squeeze, unsqueeze, expand, unbind, stack
export apply, apply!
export memmap, memmap!, memmap_like, load_memmap, saved_path
export bind!, next!, rows
export to_dlpack, from_dlpack

include("library.jl")
include("ffi.jl")
include("errors.jl")
include("handles.jl")
include("roots.jl")
include("dtypes.jl")
include("devices.jl")
include("tensor.jl")
include("strided.jl")
include("index.jl")
include("dict.jl")
include("access.jl")
include("shape.jl")
include("apply.jl")
include("memmap.jl")
include("writer.jl")
include("dlpack.jl")
include("show.jl")
include("process.jl")

end
