# Modules: networks trained in Python, Julia functions, sequences and distributions, over dictionaries.

# What a function threw, of the call that runs on this task.
mutable struct ModuleCall
    thrown::Any
end

function step_module(user::Ptr{Cvoid}, source::Ptr{td_tensordict}, result::Ptr{Ptr{td_tensordict}})::td_status
    f = (unsafe_pointer_to_objref(user)::Root).object
    parking(task_local_storage(:TensorDicts_module)::ModuleCall) do
        value = f(kept(TensorDict, td_dup, source))
        value === nothing || check(td_dup(value::TensorDict, result))
    end
end

"""
    TensorDictModule(f, in_keys, out_keys; strict = false)
    TensorDictModule(f)

A module of a Julia function. `f(td)` gets a dictionary of its own that holds the `in_keys` of the input,
over the same tensors, and returns one that holds the `out_keys`, or `nothing` if it has set them in `td`.
Without keys it gets the whole dictionary, and all that is new in the result is taken. A key that is missing
is left out, or with `strict` an error. What `f` throws comes out of the call.

`m(td)` runs a module and gives its outputs, [`forward!`](@ref)`(m, td)` sets them in `td`. See also
[`load_module`](@ref), [`sequential`](@ref) and [`probabilistic`](@ref).

```jldoctest
julia> double = TensorDictModule(["x"], ["y"]) do td
           td["y"] = 2 .* Array(td["x"])
           nothing
       end;

julia> td = TensorDict(2; x = [1, 2]);

julia> Array(double(td)["y"])
2-element Array{Int64,1}:
 2
 4
```
"""
function TensorDictModule(f, in_keys = (), out_keys = (); strict::Bool = false)
    with_keys(in_keys) do ins, ins_len
        with_keys(out_keys) do outs, outs_len
            callback = @cfunction(step_module, td_status,
                                  (Ptr{Cvoid}, Ptr{td_tensordict}, Ptr{Ptr{td_tensordict}}))
            options = Ref(td_module_function_options(flags = strict ? TD_MODULE_FUNCTION_STRICT : 0,
                                                     in_keys = pointer(ins), in_keys_len = ins_len,
                                                     out_keys = pointer(outs), out_keys_len = outs_len))
            GC.@preserve ins outs call(TensorDictModule, td_module_from_function, options, callback, root!(f),
                                       release_root())
        end
    end
end

# Runs `f(result)`, which may call functions of Julia.
function running(f, ::Type{T}) where {T}
    state = ModuleCall(nothing)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    status = task_local_storage(() -> f(result), :TensorDicts_module, state)
    check_parked(status, state)
    T === Nothing ? nothing : TensorDict(result[])
end

# f(pointer, count) for keys that may be nothing.
with_optional_keys(f, ::Nothing) = f(Ptr{td_key}(C_NULL), 0)
with_optional_keys(f, keys) = with_keys((list, count) -> GC.@preserve(list, f(pointer(list), count)), keys)

"""
    load_module(file; freeze = false, optimize = false, train = false, device = nothing, dtype = nothing,
                in_keys = nothing, out_keys = nothing, sha256 = nothing) -> TensorDictModule

Load a TorchScript archive, as `torch.jit.save` writes it. Such an archive is code: load only those that you
trust.

- `freeze`: parameters become constants; `optimize`: and libtorch rewrites the code for inference
- `train`: computes as after `train()` in Python: batch normalisation updates its running statistics among the
  parameters, dropout draws; the archive was exported with `train=True`
- `device`, `dtype`: of the parameters
- `in_keys`, `out_keys`: instead of those that the archive names; `"_"` drops an output
- `sha256`: the checksum of the file in hexadecimal digits; another file is refused
"""
function load_module(file::AbstractString; freeze::Bool = false, optimize::Bool = false, train::Bool = false,
                     device::Union{Device,Nothing} = nothing, dtype::Union{Type,Nothing} = nothing,
                     in_keys = nothing, out_keys = nothing, sha256::Union{AbstractString,Nothing} = nothing)
    text = sha256 === nothing ? nothing : Base.cconvert(Cstring, String(sha256))
    with_optional_keys(in_keys) do ins, ins_len
        with_optional_keys(out_keys) do outs, outs_len
            GC.@preserve text call(TensorDictModule, td_module_load, String(file), Ref(td_module_load_options(
                flags = (freeze ? TD_MODULE_LOAD_FREEZE : 0) | (optimize ? TD_MODULE_LOAD_OPTIMIZE : 0) |
                        (train ? TD_MODULE_LOAD_TRAIN : 0),
                device_type = device === nothing ? TD_DEVICE_NONE : device.type,
                device_index = device === nothing ? -1 : device.index,
                dtype = dtype === nothing ? TD_DTYPE_OTHER : dtype_code(dtype),
                in_keys = ins, in_keys_len = ins_len, out_keys = outs, out_keys_len = outs_len,
                sha256 = text === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, text))))
        end
    end
end

"""
    save_module(file, m)

Write a module that was loaded, with its parameters as they are now.
"""
save_module(file::AbstractString, m::TensorDictModule) = (check(td_module_save(m, String(file))); file)

"""
    sequential(modules...; partial_tolerant = false) -> TensorDictModule

Modules one after the other. With `partial_tolerant` a module that lacks an input is skipped, in a lazy stack
for each element alone.
"""
function sequential(modules::TensorDictModule...; partial_tolerant::Bool = false)
    list = Ptr{td_module}[live_pointer(m) for m in modules]
    flags = partial_tolerant ? TD_MODULE_SEQUENCE_PARTIAL_TOLERANT : 0
    GC.@preserve modules call(TensorDictModule, td_module_sequence, list, length(list),
                              Ref(td_module_sequence_options(flags = flags)))
end

"""
    select_subsequence(m; in_keys = nothing, out_keys = nothing) -> TensorDictModule
    select_out_keys(m, keys...) -> TensorDictModule

Of a sequence the modules that can run with these inputs and matter for these outputs; and a module of which
only these outputs are written.
"""
select_subsequence(m::TensorDictModule; in_keys = nothing, out_keys = nothing) =
    with_optional_keys(in_keys) do ins, ins_len
        with_optional_keys(out_keys) do outs, outs_len
            call(TensorDictModule, td_module_select_subsequence, m, ins, ins_len, outs, outs_len)
        end
    end

select_out_keys(m::TensorDictModule, keys...) = with_keys(keys) do list, count
    call(TensorDictModule, td_module_select_out_keys, m, list, count)
end

"""
    in_keys(m)
    out_keys(m)

The keys that a module reads, and those that it writes.
"""
in_keys(m::TensorDictModule) = each_path((path, _) -> askey(path), call(KeyList, td_module_in_keys, m))
out_keys(m::TensorDictModule) = each_path((path, _) -> askey(path), call(KeyList, td_module_out_keys, m))

const INTERACTIONS = (default = TD_INTERACTION_DEFAULT, mode = TD_INTERACTION_MODE, median = TD_INTERACTION_MEDIAN,
                      mean = TD_INTERACTION_MEAN, random = TD_INTERACTION_RANDOM,
                      deterministic = TD_INTERACTION_DETERMINISTIC)

interaction_code(interaction::Symbol) = get(INTERACTIONS, interaction) do
    throw(ArgumentError("interaction is $(repr(interaction)); one of $(join(keys(INTERACTIONS), ", ")) was expected"))
end

function module_options(; params::Union{TensorDict,Nothing} = nothing, map_input::Bool = false,
                        skip_existing::Bool = false, interaction::Symbol = :default, plain::Bool = false,
                        out::Union{TensorDict,Nothing} = nothing)
    flags = (map_input ? TD_MODULE_CALL_MAP_INPUT : 0) | (skip_existing ? TD_MODULE_CALL_SKIP_EXISTING : 0)
    Ref(td_module_call_options(flags = flags, interaction = interaction_code(interaction),
                               output = plain ? TD_MODULE_OUTPUT_PLAIN : TD_MODULE_OUTPUT_LIKE_INPUT,
                               params = params === nothing ? C_NULL : live_pointer(params),
                               out = out === nothing ? C_NULL : live_pointer(out)))
end

"""
    m(td; params = nothing, map_input = false, skip_existing = false, interaction = :default, plain = false,
      out = nothing) -> TensorDict
    forward!(m, td; ...) -> td

Run a module. `m(td)` gives the outputs in a dictionary of the batch size of `td` (with `plain` of none, with
`out` in that one); `forward!` sets them in `td`.

- `params`: other parameters for this call; with a batch dimension the module runs once for each set, and with
  `map_input` the input has that dimension too
- `skip_existing`: modules whose outputs are all there do not run
- `interaction`: which value distributions give: `:mode`, `:median`, `:mean`, `:random` or `:deterministic`
"""
function (m::TensorDictModule)(td::TensorDict; params = nothing, out = nothing, options...)
    made = GC.@preserve params out begin
        given = module_options(; params = params, out = out, options...)
        running(result -> td_module_call(td, m, given, result), TensorDict)
    end
    out === nothing ? made : (close(made); out)
end

function forward!(m::TensorDictModule, td::TensorDict; params = nothing, options...)
    GC.@preserve params begin
        given = module_options(; params = params, options...)
        running(_ -> td_module_call_inplace(td, m, given), Nothing)
    end
    td
end

"""
    parameters(m) -> TensorDict
    parameters!(m, params; part = nothing) -> m

The parameters and buffers of a module, nested by sub-modules: the tensors themselves, so what is written to them
the next call uses. `parameters!` gives it others instead, all of them or those of one sub-module.
"""
parameters(m::TensorDictModule) = call(TensorDict, td_module_params, m)

function parameters!(m::TensorDictModule, params::TensorDict; part = nothing)
    with_optional_keys(part === nothing ? nothing : (part,)) do list, _
        check(td_module_set_params(m, list, params))
    end
    m
end

Base.show(io::IO, m::TensorDictModule) = isopen(m) ? print(io, asktext(td_module_to_string, m)) : print(io, "TensorDictModule(closed)")

const DISTRIBUTIONS = Dict(:Normal => TD_DISTRIBUTION_NORMAL, :IndependentNormal => TD_DISTRIBUTION_INDEPENDENT_NORMAL,
                           :TanhNormal => TD_DISTRIBUTION_TANH_NORMAL, :TruncatedNormal => TD_DISTRIBUTION_TRUNCATED_NORMAL,
                           :Categorical => TD_DISTRIBUTION_CATEGORICAL,
                           :OneHotCategorical => TD_DISTRIBUTION_ONE_HOT_CATEGORICAL,
                           :Bernoulli => TD_DISTRIBUTION_BERNOULLI, :Delta => TD_DISTRIBUTION_DELTA,
                           :Beta => TD_DISTRIBUTION_BETA, :Gamma => TD_DISTRIBUTION_GAMMA,
                           :Uniform => TD_DISTRIBUTION_UNIFORM, :Laplace => TD_DISTRIBUTION_LAPLACE,
                           :Exponential => TD_DISTRIBUTION_EXPONENTIAL,
                           :MultivariateNormal => TD_DISTRIBUTION_MULTIVARIATE_NORMAL,
                           :Cauchy => TD_DISTRIBUTION_CAUCHY, :StudentT => TD_DISTRIBUTION_STUDENT_T,
                           :Poisson => TD_DISTRIBUTION_POISSON, :Dirichlet => TD_DISTRIBUTION_DIRICHLET,
                           :HalfNormal => TD_DISTRIBUTION_HALF_NORMAL, :LogNormal => TD_DISTRIBUTION_LOG_NORMAL)

"""
    Distribution(kind, out_key; params..., event = false, mixture = false, low = -1, high = 1, tanh_loc = false, upscale = 5, log_prob_key = nothing)

A distribution over entries of a dictionary, for [`probabilistic`](@ref). `kind` is `:Normal`,
`:IndependentNormal`, `:TanhNormal`, `:TruncatedNormal`, `:Categorical`, `:OneHotCategorical`, `:Bernoulli`,
`:Delta`, `:Beta`, `:Gamma`, `:Uniform`, `:Laplace`, `:Exponential`, `:MultivariateNormal`, `:Cauchy`, `:StudentT`,
`:Poisson`, `:Dirichlet`, `:HalfNormal` or `:LogNormal`. Each of `params` names a parameter
and the entry that holds it: `loc = "loc"`, `logits = ("net", "out")`; of `:Uniform`, `low` and `high` are such parameters. For others
they are numbers, or lists with one for each element of the event, such as the joints of a robot. With `event` the last dimension is one event.
With `mixture` it is one of several distributions of this kind, which a further parameter, `logits` or `probs`, weighs; all
parameters have a dimension of components, which is last or in front of an event.
"""
struct Distribution
    kind::td_distribution_kind
    out_key::Any
    params::Vector{Pair{String,Any}}
    low::Vector{Float64}
    high::Vector{Float64}
    tanh_loc::Bool
    event::Bool
    mixture::Bool
    upscale::Float64
    log_prob_key::Any
end

function Distribution(kind::Symbol, out_key; low = -1, high = 1, event::Bool = false, mixture::Bool = false, tanh_loc::Bool = false,
                      upscale::Real = 5, log_prob_key = nothing, params...)
    named = Pair{String,Any}[String(name) => key for (name, key) in pairs(params)]
    kind === :Uniform && return Distribution(TD_DISTRIBUTION_UNIFORM, out_key, Pair{String,Any}["low" => low, "high" => high, named...],
                                             [-1], [1], tanh_loc, event, mixture, upscale, log_prob_key)
    code = get(DISTRIBUTIONS, kind) do
        throw(ArgumentError("a distribution is one of $(join(sort!(collect(keys(DISTRIBUTIONS))), ", ")), not $(repr(kind))"))
    end
    size = max(length(low), length(high))
    all(bound -> length(bound) in (1, size), (low, high)) ||
        throw(ArgumentError("low has $(length(low)) numbers, high $(length(high))"))
    bounds = (length(bound) == 1 ? fill(Float64(only(bound)), size) : Vector{Float64}(bound) for bound in (low, high))
    Distribution(code, out_key, named, bounds..., tanh_loc, event, mixture, upscale, log_prob_key)
end

# f(part) for a distribution in the form of the library, which lives as long as `f` runs.
function with_distribution(f, d::Distribution)
    names = [Base.cconvert(Cstring, name) for (name, _) in d.params]
    pointers = Cstring[Base.unsafe_convert(Cstring, name) for name in names]
    with_keys(last.(d.params)) do ins, ins_len
        with_keys((d.out_key,)) do out, _
            with_optional_keys(d.log_prob_key === nothing ? nothing : (d.log_prob_key,)) do log_prob, _
                several = length(d.low) > 1
                flags = (d.tanh_loc ? TD_DISTRIBUTION_TANH_LOC : 0) | (d.event ? TD_DISTRIBUTION_EVENT : 0) |
                        (d.mixture ? TD_DISTRIBUTION_MIXTURE : 0)
                GC.@preserve d names pointers ins out f(td_distribution(
                    kind = d.kind, flags = flags, in_keys = pointer(ins),
                    in_keys_len = ins_len, names = pointer(pointers), names_len = length(pointers),
                    out_key = pointer(out), log_prob_key = log_prob, low = d.low[1], high = d.high[1],
                    lows = several ? pointer(d.low) : C_NULL, highs = several ? pointer(d.high) : C_NULL,
                    bounds_len = several ? length(d.low) : 0, upscale = d.upscale))
            end
        end
    end
end
with_distributions(f, list, done...) = length(done) == length(list) ? f(td_distribution[done...]) :
    with_distribution(part -> with_distributions(f, list, done..., part), list[length(done)+1])

"""
    probabilistic(distributions...; interaction = :deterministic, return_log_prob = false, num_samples = 0,
                  seed = nothing, seed_key = nothing) -> TensorDictModule

A module that takes values from distributions. Random numbers come from libtorch's generator, from one of the
module's own with `seed`, or follow from a whole number under `seed_key`, which is replaced by the next one.

```jldoctest
julia> act = probabilistic(Distribution(:Categorical, "action"; logits = "logits"));

julia> Array(act(TensorDict(1; logits = Float32[0 3 1]))["action"])
1-element Array{Int64,1}:
 1
```
"""
function probabilistic(distributions::Distribution...; interaction::Symbol = :deterministic,
                       return_log_prob::Bool = false, num_samples::Integer = 0,
                       seed::Union{Integer,Nothing} = nothing, seed_key = nothing)
    flags = (return_log_prob ? TD_MODULE_PROBABILISTIC_LOG_PROB : 0) | (seed === nothing ? 0 : TD_MODULE_PROBABILISTIC_SEED)
    with_optional_keys(seed_key === nothing ? nothing : (seed_key,)) do key, _
        with_distributions(distributions) do parts
            options = Ref(td_module_probabilistic_options(
                flags = flags, interaction = interaction_code(interaction), num_samples = num_samples,
                seed = something(seed, 0) % UInt64, seed_key = key))
            call(TensorDictModule, td_module_probabilistic, parts, length(parts), options)
        end
    end
end

"""
    log_prob(m, td; params = nothing) -> TensorDict

The log-probability of values that `td` holds, such as recorded actions. A sequence runs all but its last module
first. `params` are other parameters for this call.
"""
function log_prob(m::TensorDictModule, td::TensorDict; params = nothing)
    GC.@preserve params begin
        given = module_options(; params = params)
        running(result -> td_module_log_prob(td, m, given, result), TensorDict)
    end
end

"""
    normal_params(key; scale_mapping = "biased_softplus_1.0", scale_lb = 1e-4, loc = "loc", scale = "scale")

A module that splits the last dimension of an entry in two halves, the parameters of a normal distribution.
"""
function normal_params(key; scale_mapping::AbstractString = "biased_softplus_1.0", scale_lb::Real = 1e-4,
                       loc = "loc", scale = "scale")
    text = Base.cconvert(Cstring, String(scale_mapping))
    with_keys((loc, scale)) do list, _
        names = path(key)
        GC.@preserve text list call(TensorDictModule, td_module_normal_params, names, length(names),
                                    Ref(td_module_normal_params_options(
                                        scale_mapping = Base.unsafe_convert(Cstring, text), scale_lb = scale_lb,
                                        loc_key = pointer(list), scale_key = pointer(list, 2))))
    end
end
