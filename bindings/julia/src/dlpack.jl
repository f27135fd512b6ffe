# Tensors of other libraries in this process, by DLPack.

"""
    to_dlpack(t::Tensor; versioned = true)

Lend `t` as a DLPack tensor, without a copy: a `Ptr` to a `DLManagedTensorVersioned`, or with
`versioned = false` to the older `DLManagedTensor`. Who takes it calls its deleter once;
[`TensorDicts.delete_dlpack`](@ref) does that.
"""
to_dlpack(t::Tensor; versioned::Bool = true) =
    versioned ? lend(td_tensor_to_dlpack, t, DLManagedTensorVersioned) :
    lend(td_tensor_to_dlpack_legacy, t, DLManagedTensor)

function lend(f::F, t, ::Type{T}) where {F,T}
    result = Ref{Ptr{T}}(C_NULL)
    check(f(t, result))
    result[]
end

"""
    from_dlpack(p::Ptr)

Take over a DLPack tensor, without a copy. `p` is used up, whatever happens. A plain pointer must be
given the type of what it points to: `Ptr{TensorDicts.DLManagedTensorVersioned}` or
`Ptr{TensorDicts.DLManagedTensor}`.
"""
from_dlpack(p::Ptr{DLManagedTensorVersioned}) = call(Tensor, td_tensor_from_dlpack, p)
from_dlpack(p::Ptr{DLManagedTensor}) = call(Tensor, td_tensor_from_dlpack_legacy, p)

"""
    TensorDicts.delete_dlpack(p::Ptr)

Call the deleter of a DLPack tensor that nobody took over.
"""
delete_dlpack(p::Ptr{DLManagedTensorVersioned}) = delete_dlpack(p, 16)    # behind version and manager_ctx
delete_dlpack(p::Ptr{DLManagedTensor}) = delete_dlpack(p, 56)             # behind dl_tensor and manager_ctx

function delete_dlpack(p::Ptr, offset)
    deleter = unsafe_load(convert(Ptr{Ptr{Cvoid}}, p + offset))
    deleter == C_NULL || ccall(deleter, Cvoid, (Ptr{Cvoid},), p)
    nothing
end
