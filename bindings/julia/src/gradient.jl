# Gradients of all tensors of a dictionary.

"""
    detach(td; data = false)

A dictionary over the same memory, without the history of its tensors. With `data`, what is written to
it is as if it had been there before anything was recorded. The lock is kept.
"""
Base.detach(td::TensorDict; data::Bool = false) =
    call(TensorDict, td_detach, td, data ? TD_DETACH_DATA : TD_DETACH_HISTORY)

"""
    detach!(td)

Take the history from the tensors themselves.
"""
detach!(td::TensorDict) = (check(td_detach_inplace(td)); td)

"""
    requires_grad!(td, required = true)

Switch the recording of gradients for every tensor; for none if one cannot be recorded.
"""
requires_grad!(td::TensorDict, required::Bool = true) = (check(td_set_requires_grad(td, required)); td)

requires_grad(td::TensorDict) = measure(td, TD_MEASURE_REQUIRES_GRAD) == 1

"""
    grad(td) -> Union{TensorDict,Nothing}

The gradients that the tensors have received, by the same keys; `nothing` if there are none.
"""
function grad(td::TensorDict)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    check(td_grad(td, result))
    result[] == C_NULL ? nothing : TensorDict(result[])
end

"""
    grad!(td, gradients)

Give gradients to the tensors; those without an entry keep theirs. `nothing` takes all away.
"""
grad!(td::TensorDict, gradients::Union{TensorDict,Nothing}) =
    (check(td_set_grad(td, something(gradients, C_NULL))); td)

"""
    zero_grad!(td; set_to_none = true)

Take the gradients away before the next [`backward`](@ref) adds to them, or fill them with zeros.
"""
zero_grad!(td::TensorDict; set_to_none::Bool = true) = (check(td_zero_grad(td, !set_to_none * TD_ZERO_GRAD_KEEP)); td)

"""
    clip_grad_norm!(td, max_norm) -> Float64

Make the gradients shorter if all together, as one vector, are longer than `max_norm`. Returns how long
they were.
"""
function clip_grad_norm!(td::TensorDict, max_norm::Real)
    norm = Ref(0.0)
    check(td_clip_grad_norm(td, max_norm, norm))
    norm[]
end

"""
    backward(td, gradient = nothing; inputs = nothing, retain_graph = false, create_graph = false)

Compute gradients of all tensors that are recorded. Without `gradient` each of them must have one
element; with `inputs` only their tensors receive gradients.

```jldoctest
julia> td = requires_grad!(TensorDict((); w = 3f0));

julia> loss = TensorDicts.set_grad_enabled(() -> to(td, Float64), true);

julia> backward(loss); Array(grad(td)["w"])
0-dimensional Array{Float32,0}:
1.0
```
"""
function backward(td::TensorDict, gradient::Union{TensorDict,Nothing} = nothing;
                  inputs::Union{TensorDict,Nothing} = nothing, retain_graph::Bool = false,
                  create_graph::Bool = false)
    options = td_backward_options(retain_graph = retain_graph, create_graph = create_graph)
    check(td_backward(td, something(gradient, C_NULL), something(inputs, C_NULL), Ref(options)))
end
