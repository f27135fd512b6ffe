"""What follows a network, such as a distribution, as the text "tensordict.json" of an archive describes it.

For export_module.py. docs/guide/modules.md has the table of what can stand there.
"""
import math

import export_transformed
import torch
from export_check import OF_TORCH, WAY_OUT, CannotExport, bound, disagreement, number
from tensordict.nn import (
    CompositeDistribution,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    TensorDictModule,
)
from tensordict.nn import distributions as td_distributions
from torch import distributions as D


def key(name):
    """A key as the archive writes it: a list of names."""
    names = [name] if isinstance(name, str) else [part for item in name for part in key(item)]
    return names


def scale_mapping(extractor):
    """The name of what NormalParamExtractor does to the scale, or None for a function of the user's."""
    mapping = extractor.scale_mapping
    plain = {torch.nn.functional.softplus: "softplus", torch.exp: "exp", torch.relu: "relu"}
    for function, name in plain.items():
        if mapping is function:
            return name
    if type(mapping).__name__ == "biased_softplus" and mapping.min_val == 0.01:
        at_zero = math.log1p(math.exp(float(mapping.bias))) + mapping.min_val
        return f"biased_softplus_{round(at_zero, 6)}"
    return None


def is_normal_params(module):
    return (
        type(module) is TensorDictModule
        and type(module.module) is NormalParamExtractor
        and scale_mapping(module.module) is not None
        and len(module.in_keys) == 1
        and len(module.out_keys) == 2
        and "_" not in module.out_keys
    )


def is_follower(module):
    return isinstance(module, ProbabilisticTensorDictModule) or is_normal_params(module)


class ParametersOf:
    """In the network: the parameters of a distribution that is otherwise a plain one, such as the logits of a masked one."""

    def __init__(self, theirs, plain, names):
        self.theirs = theirs
        *path, last = key(theirs.dist_sample_keys[0])
        self.names, self.in_keys = names, list(theirs.in_keys)
        self.out_keys = [(*path, f"{last}_{name}") for name in names]
        self.sample = ProbabilisticTensorDictModule(
            dict(zip(names, self.out_keys)),
            list(theirs.dist_sample_keys),
            distribution_class=plain,
            default_interaction_type=theirs.default_interaction_type,
            return_log_prob=theirs.return_log_prob,
            log_prob_keys=list(theirs.log_prob_keys) if theirs.return_log_prob else None,
        )
        for name in ("num_samples", "_generator", "_generator_key"):
            self.sample.__dict__[name] = getattr(theirs, name)

    def __call__(self, td):
        dist = self.theirs.get_dist(td)
        for name, where in zip(self.names, self.out_keys):
            td.set(where, parameter(inside(dist)[0], name))
        return td


def parameter(dist, name):
    if isinstance(dist, D.MixtureSameFamily):
        dist = dist.mixture_distribution if name == "logits" else dist.component_distribution
    return logits_for_all(dist) if name == "logits" else getattr(getattr(dist, "base_dist", dist), name)


def logits_for_all(dist):
    """One for each class: a mask of indices leaves only those of the classes that it lists."""
    if not getattr(dist, "_sparse_mask", False):
        return dist.logits
    listed = dist._mask if dist._padding_value is None else dist._mask.masked_fill(dist._mask == dist._padding_value, 0)
    none = dist.logits.new_full((*dist.logits.shape[:-1], dist.num_samples), dist.neg_inf)
    return none.scatter_reduce(-1, listed.expand_as(dist.logits), dist.logits, "amax")  # what pads is listed again


def independent_normal(loc, scale):
    return D.Independent(D.Normal(loc, scale), 1)


def of_event(plain, event):
    """The distribution whose last dimension is one event, if asked for."""
    return (lambda **params: D.Independent(plain(**params), 1)) if event else plain


def mixture_of(plain):
    """Of the distributions that this makes."""
    return lambda logits, **params: D.MixtureSameFamily(D.Categorical(logits=logits), plain(**params))


def inside(dist):
    """The distribution of elements, and whether the last dimension of it is one event."""
    event = isinstance(dist, D.Independent) and dist.reinterpreted_batch_ndims == 1
    return (dist.base_dist, True) if event else (dist, False)


MADE_OF_LOGITS = {
    "MaskedCategorical": D.Categorical,
    "Ordinal": D.Categorical,
    "MaskedOneHotCategorical": td_distributions.OneHotCategorical,
    "OneHotOrdinal": td_distributions.OneHotCategorical,
}
ONE_EVENT = ("MultivariateNormal", "Dirichlet")
ELEMENTWISE = ("Categorical", "OneHotCategorical", "Bernoulli", *(name for name in OF_TORCH if name not in ONE_EVENT))
# The same as another one, with parameters that the network computes.
OTHER_PARAMETERS = {D.Chi2: "Gamma", D.LowRankMultivariateNormal: "MultivariateNormal"}
MIXED = ("Normal", "IndependentNormal", *OF_TORCH)
# Those whose parameters the network computes if the library would take others from the keys: a fixed scale, a temperature.
PLAIN = {
    "Normal": (D.Normal, ["loc", "scale"]),
    "IndependentNormal": (independent_normal, ["loc", "scale"]),
    "Categorical": (D.Categorical, ["logits"]),
    "OneHotCategorical": (td_distributions.OneHotCategorical, ["logits"]),
    "Bernoulli": (D.Bernoulli, ["logits"]),
    **{name: (getattr(D, name), params) for name, params in OF_TORCH.items()},
}


def parameters_of(module, td):
    """What the network computes for such a distribution, or None for another."""
    dist = module.get_dist(td)
    inner, event = inside(dist)
    plain = MADE_OF_LOGITS.get(type(inner).__name__)
    if plain is not None and isinstance(inner, D.Categorical):
        return ParametersOf(module, of_event(plain, event), ["logits"])
    if isinstance(dist, CompositeDistribution) or is_transformed(dist):
        return None
    try:
        shape = shape_of(dist)
        plain = PLAIN.get(shape["distribution"])
    except CannotExport:
        return None
    try:
        parts_of(module, td)
        return None
    except CannotExport:
        if plain and shape.get("mixture"):
            plain = mixture_of(plain[0]), ["logits", *plain[1]]
        return plain and ParametersOf(module, of_event(plain[0], shape.get("event")), plain[1])


def bounds(dist, low, high):
    made = {"low": bound(low, "low"), "high": bound(high, "high")}
    if getattr(dist, "tanh_loc", False):
        made["tanh_loc"] = True
        made["upscale"] = number(dist.upscale, "upscale")
    return made


def is_tanh_normal(dist):
    """Of the usual form, one event. That of TorchRL is a transformed distribution too."""
    return type(dist).__name__ == "TanhNormal" and len(dist.event_shape) == 1


def is_transformed(dist):
    """Behind transforms, and no kind of its own, such as torch's HalfNormal."""
    inner = export_transformed.unwrapped(dist)
    return inner is not None and not (type(inner).__name__ in OF_TORCH and type(inner) is getattr(D, type(inner).__name__))


def shape_of(dist):
    """The members that say which distribution this is. The class may be a function of the user's, so what it
    made is looked at."""
    name, ours = type(dist).__name__, None
    if is_tanh_normal(dist):
        ours = {"distribution": "TanhNormal", **bounds(dist, dist.low, dist.high)}
    elif name == "TruncatedNormal" and isinstance(dist, D.Independent):
        ours = {"distribution": "TruncatedNormal", **bounds(dist, dist.low, dist.high)}
    elif isinstance(dist, D.Independent):
        base, dims = dist.base_dist, dist.reinterpreted_batch_ndims
        if dims == 0:
            return shape_of(base)
        if dims == 1 and type(base) is D.Normal:
            ours = {"distribution": "IndependentNormal"}
        elif dims == 1 and type(base) is td_distributions.TruncatedNormal:
            ours = {"distribution": "TruncatedNormal", **bounds(dist, base._non_std_a, base._non_std_b)}
        elif dims == 1 and shape_of(base)["distribution"] in (*ELEMENTWISE, *["Normal"] * isinstance(base, D.MixtureSameFamily)):
            ours = {**shape_of(base), "event": True}
    elif type(dist) is D.MixtureSameFamily:
        ours = {**shape_of(dist.component_distribution), "mixture": True}
        if ours["distribution"] not in MIXED or ours.get("event"):
            kind = ours["distribution"] if not ours.get("event") else f"Independent({ours['distribution']}, 1)"
            raise CannotExport(f"MixtureSameFamily of {kind} is not supported; of {', '.join(MIXED)} it is{WAY_OUT}")
    elif type(dist) is D.Normal:
        ours = {"distribution": "Normal"}
    elif type(dist) is D.Categorical or (name == "Categorical" and isinstance(dist, D.Categorical)):
        ours = {"distribution": "Categorical"}
    elif type(dist) is td_distributions.OneHotCategorical or (name == "OneHotCategorical" and isinstance(dist, D.Categorical)):
        ours = {"distribution": "OneHotCategorical"}
    elif type(dist) in OTHER_PARAMETERS:
        ours = {"distribution": OTHER_PARAMETERS[type(dist)]}
    elif type(dist) is D.Bernoulli or type(dist) is getattr(D, name, None) and name in OF_TORCH:
        ours = {"distribution": name}
    elif name == "Delta":
        if len(dist.event_shape) != 1 or (dist.atol, dist.rtol) != (1e-6, 1e-6):
            raise CannotExport("Delta is supported with one event dimension and its usual tolerances")
        ours = {"distribution": "Delta"}
    if ours is not None:
        return ours
    if type(dist) is td_distributions.TruncatedNormal:
        raise CannotExport(
            "TruncatedNormal of tensordict.nn takes each element by itself; wrap it: "
            "torch.distributions.Independent(TruncatedNormal(...), 1)"
        )
    if type(dist) is D.OneHotCategorical:
        raise CannotExport("OneHotCategorical of torch gives other dtypes; take that of tensordict.nn")
    raise CannotExport(
        f"the distribution {' '.join(str(dist).split())} is not supported; Normal, Independent(Normal, 1), TanhNormal, TruncatedNormal, "
        f"Categorical, OneHotCategorical, Bernoulli, Delta, {', '.join(OF_TORCH)}, Independent(…, 1) of those of elements, "
        f"MixtureSameFamily of those of numbers, TransformedDistribution of normal ones and CompositeDistribution of these are{WAY_OUT}"
    )


def part_of(td, dist, names, in_keys, out_key, log_prob_key, estimates=1000, composite=False):
    values = {name: td.get(tuple(one)) for name, one in zip(names, in_keys)}
    try:
        if is_transformed(dist) and not is_tanh_normal(dist):
            part, off = export_transformed.part_of(dist, shape_of, values, estimates, composite)
        else:
            part = shape_of(dist)
            off = disagreement(part, dist, values)
    except KeyError as error:
        part, off = {"distribution": type(dist).__name__}, f"parameter {error} is missing"
    if off is not None:
        raise CannotExport(f"{type(dist).__name__} is not the {part['distribution']} of the library: the {off}{WAY_OUT}")
    part.update(in_keys=in_keys, names=names, out_key=out_key, log_prob_key=log_prob_key)
    return part


def parts_of(module, td):
    """The distributions of a module. What the description holds must not depend on the values of the parameters."""
    made, other = parts_in(module, td), parts_in(module, moved(td, module.in_keys))
    for one, again in zip(made, other):
        for name in one:
            if one[name] != again.get(name):
                raise CannotExport(
                    f"the distribution's {name} depends on the values of its parameters: {one[name]}, then {again.get(name)}; "
                    "let the network compute it"
                )
    return made


def moved(td, names):
    """Other parameters, which are positive or parts of one where these are."""
    td = td.clone()
    for name in names:
        value = td.get(name)
        change = lambda one: one * 0.7 + 0.1 if one.is_floating_point() else one  # noqa: E731
        td.set(name, change(value) if isinstance(value, torch.Tensor) else value.apply(change))
    return td


def parts_in(module, td):
    """One distribution, or each of a CompositeDistribution with the place of its parameters."""
    dist = module.get_dist(td)
    out_keys = [key(one) for one in module.dist_sample_keys]
    log_prob_keys = [key(one) for one in module.log_prob_keys]
    if not isinstance(dist, CompositeDistribution):
        names = [one if isinstance(one, str) else one[-1] for one in module.dist_keys]
        in_keys = [key(one) for one in module.in_keys]
        return [part_of(td, dist, names, in_keys, out_keys[0], log_prob_keys[0], module.n_empirical_estimate)]
    if len(module.in_keys) != 1:
        raise CannotExport("a CompositeDistribution is supported with one in_key, that of its parameters")
    params = td.get(module.in_keys[0])
    parts = []
    for name, (written, one) in zip(module.distribution_kwargs["distribution_map"], dist.dists.items()):
        leaves = list(params.get(name).keys())
        at = out_keys.index(key(written))
        if module.return_log_prob and log_prob_keys[at][:-1] != key(written)[:-1]:
            raise CannotExport(f"the log-probability of {written} stands in another dictionary than its value")
        in_keys = [key(module.in_keys[0]) + key(name) + [leaf] for leaf in leaves]
        parts.append(part_of(td, one, leaves, in_keys, key(written), log_prob_keys[at], composite=True))
    return parts


def describe(module, td):
    """The object in "then" for a module that is_follower(); `td` holds its inputs."""
    if isinstance(module, TensorDictModule):
        loc, scale = module.out_keys
        return {
            "kind": "normal_params",
            "in_key": key(module.in_keys[0]),
            "loc_key": key(loc),
            "scale_key": key(scale),
            "scale_mapping": scale_mapping(module.module),
            "scale_lb": float(module.module.scale_lb),
        }
    distributions = parts_of(module, td)
    if module.return_log_prob and any(one.get("base") == "Delta" for one in distributions):
        raise CannotExport("the log-probability of a Delta behind transforms is one of two infinities; take return_log_prob=False")
    made = {
        "kind": "probabilistic",
        "distributions": distributions,
        "interaction": str(module.default_interaction_type.value),
        "return_log_prob": bool(module.return_log_prob),
    }
    if module.num_samples is not None:
        if len(module.num_samples) > 1:
            raise CannotExport(f"num_samples is {tuple(module.num_samples)}; one dimension is supported")
        if 0 in module.num_samples:
            raise CannotExport("num_samples is 0: the module draws nothing")
        if module.num_samples:
            made["num_samples"] = module.num_samples[0]
    if module._generator is not None:
        made["seed"] = module._generator.initial_seed()
    if module._generator_key is not None:
        made["seed_key"] = key(module._generator_key)
    return made
