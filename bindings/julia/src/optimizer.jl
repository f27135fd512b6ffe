# Gradient descent on a dictionary of parameters.

const OPTIMIZERS = (sgd = TD_OPTIMIZER_SGD, adam = TD_OPTIMIZER_ADAM, adamw = TD_OPTIMIZER_ADAMW)

function Optimizer(params::TensorDict, kind::Symbol = :adam; lr::Real = 1e-3,
                   weight_decay::Real = kind === :adamw ? 0.01 : 0, momentum::Real = 0, dampening::Real = 0,
                   nesterov::Bool = false, betas::NTuple{2,Real} = (0.9, 0.999), eps::Real = 1e-8,
                   amsgrad::Bool = false)
    code = get(OPTIMIZERS, kind) do
        throw(ArgumentError("kind is $(repr(kind)); one of $(join(keys(OPTIMIZERS), ", ")) was expected"))
    end
    flags = (nesterov ? TD_OPTIMIZER_NESTEROV : 0) | (amsgrad ? TD_OPTIMIZER_AMSGRAD : 0)
    call(Optimizer, td_optimizer_create, params, code, Ref(td_optimizer_options(
        flags = flags, lr = lr, weight_decay = weight_decay, momentum = momentum, dampening = dampening,
        beta1 = betas[1], beta2 = betas[2], eps = eps)))
end

function Base.getproperty(optimizer::Optimizer, name::Symbol)
    name === :lr || return getfield(optimizer, name)
    result = Ref(0.0)
    check(td_optimizer_lr(optimizer, result))
    result[]
end

function Base.setproperty!(optimizer::Optimizer, name::Symbol, value)
    name === :lr || return setfield!(optimizer, name, convert(fieldtype(Optimizer, name), value))
    check(td_optimizer_set_lr(optimizer, value))
    value
end

Base.propertynames(::Optimizer) = (:lr,)

"""
    step!(optimizer) -> optimizer

Change each parameter that has a gradient, in place, by one step. [`backward`](@ref) gives gradients, and
[`zero_grad!`](@ref) takes them away before the next.
"""
step!(optimizer::Optimizer) = (check(td_optimizer_step(optimizer)); optimizer)

zero_grad!(optimizer::Optimizer; set_to_none::Bool = true) =
    (check(td_optimizer_zero_grad(optimizer, !set_to_none * TD_ZERO_GRAD_KEEP)); optimizer)

"""
    optimizer_state(optimizer) -> TensorDict
    load_optimizer_state!(optimizer, state) -> optimizer

A copy of what an optimiser remembers, for a checkpoint: in the place of each parameter a dictionary. Loaded,
parameters that are not in it start anew.
"""
optimizer_state(optimizer::Optimizer) = deepcopy(call(TensorDict, td_optimizer_state, optimizer))

load_optimizer_state!(optimizer::Optimizer, state::TensorDict) =
    (check(td_optimizer_load_state(optimizer, state)); optimizer)

Base.show(io::IO, optimizer::Optimizer) =
    print(io, isopen(optimizer) ? "Optimizer(lr = $(optimizer.lr))" : "Optimizer(closed)")
