"""Distributions as the library computes them, held against those of Python, for export_followers.py."""
import math

import torch
from torch import distributions as D


class CannotExport(Exception):
    """What stands in the way, in one line."""


# What to do about a distribution that is not here.
WAY_OUT = ". Export the network alone, and sample here with td_module_from_function()"


def number(value, name):
    """What has to be one number for all elements."""
    made = bound(value, name)
    if isinstance(made, list):
        raise CannotExport(f"the distribution's {name} differs among elements: {made}; one number is supported")
    return made


def bound(value, name):
    """A number for all elements, or a list with one for each element of an event, such as the joints of a robot."""
    tensor = torch.as_tensor(value, dtype=torch.float64)
    if tensor.numel() == 0:
        raise CannotExport(f"the distribution's {name} is empty")
    if (tensor == tensor.flatten()[0]).all():
        return float(tensor.flatten()[0])
    rows = tensor.reshape(-1, tensor.shape[-1])
    if (rows != rows[0]).any():
        raise CannotExport(f"the distribution's {name} differs among rows: {rows[:2].tolist()}; one for each element is supported{WAY_OUT}")
    return rows[0].tolist()


def loc_of(part, values):
    loc = values["loc"]
    if not part.get("tanh_loc"):
        return loc
    loc = (loc / part["upscale"]).tanh() * part["upscale"]
    moved = part["distribution"] == "TanhNormal" and (part["low"], part["high"]) != (-1, 1)
    low, high = limits(part, loc)
    return loc + (high + low) / 2 if moved else loc


def limits(part, like):
    """One number, or one for each element of the event."""
    return (torch.as_tensor(part[name], dtype=like.dtype) for name in ("low", "high"))


def tanh_normal(part, values):
    loc = loc_of(part, values)
    low, high = limits(part, loc)
    middle, half = (high + low) / 2, (high - low) / 2
    inside = 1 - (1e-15 if loc.dtype == torch.float64 else 1e-6)
    value = loc.tanh().clamp(-inside, inside) * half + middle
    before = ((value - middle) / half).clamp(-inside, inside).atanh()
    slope = 2 * (math.log(2) - before - torch.nn.functional.softplus(-2 * before))
    return value, (D.Normal(loc, values["scale"]).log_prob(before) - slope - half.log()).sum(-1)


def truncated_normal(part, values):
    loc, scale = loc_of(part, values), values["scale"]
    normal, standard = D.Normal(loc, scale), D.Normal(0.0, 1.0)
    low, high = limits(part, loc)
    first, last = (low - loc) / scale, (high - loc) / scale
    share = (standard.cdf(last) - standard.cdf(first)).clamp_min(1e-6)
    value = loc + scale * (standard.log_prob(first).exp() - standard.log_prob(last).exp()) / share
    return value, (normal.log_prob(value) - share.log()).sum(-1)


def classes(part, values):
    logits = values["logits"] if "logits" in values else values["probs"].log()
    value = logits.argmax(-1)
    log_prob = logits.log_softmax(-1).gather(-1, value.unsqueeze(-1)).squeeze(-1)
    one_hot = part["distribution"] == "OneHotCategorical"
    return torch.nn.functional.one_hot(value, logits.shape[-1]) if one_hot else value, log_prob


def bernoulli(part, values):
    probs = values["probs"] if "probs" in values else values["logits"].sigmoid()
    value = (probs >= 0.5).to(probs.dtype)
    return value, torch.where(value > 0, probs, 1 - probs).log()


def normal(part, values):
    log_prob = D.Normal(values["loc"], values["scale"]).log_prob(values["loc"])
    return values["loc"], log_prob.sum(-1) if part["distribution"] == "IndependentNormal" else log_prob


def delta(part, values):
    return values["param"], torch.full(values["param"].shape[:-1], math.inf, dtype=values["param"].dtype)


# Distributions of torch whose parameters alone say everything, and the names of these.
OF_TORCH = {
    "Beta": ["concentration1", "concentration0"],
    "Gamma": ["concentration", "rate"],
    "Uniform": ["low", "high"],
    "Laplace": ["loc", "scale"],
    "Exponential": ["rate"],
    "MultivariateNormal": ["loc", "scale_tril"],
    "Cauchy": ["loc", "scale"],
    "StudentT": ["df", "loc", "scale"],
    "Poisson": ["rate"],
    "Dirichlet": ["concentration"],
    "HalfNormal": ["scale"],
}


def of_torch(part, values):
    kind = part["distribution"]
    dist = getattr(D, kind)(**{name: values[name] for name in OF_TORCH[kind]})
    return dist.mean, dist.log_prob(dist.mean)


def mixture(part, values):
    weights = {name: one for name, one in values.items() if name in ("logits", "probs")}
    others = {name: one for name, one in values.items() if name not in weights}
    kind = part["distribution"]
    each = D.Independent(D.Normal(**others), 1) if kind == "IndependentNormal" else getattr(D, kind)(**others)
    dist = D.MixtureSameFamily(D.Categorical(**weights), each)
    return dist.mean, dist.log_prob(dist.mean)


COMPUTED = {
    **dict.fromkeys(OF_TORCH, of_torch),
    "Normal": normal,
    "IndependentNormal": normal,
    "TanhNormal": tanh_normal,
    "TruncatedNormal": truncated_normal,
    "Categorical": classes,
    "OneHotCategorical": classes,
    "Bernoulli": bernoulli,
    "Delta": delta,
}


def deterministic(dist):
    if hasattr(dist, "deterministic_sample"):
        return dist.deterministic_sample
    inner = dist.base_dist if isinstance(dist, D.Independent) else dist
    return dist.mode if getattr(inner, "has_enumerate_support", False) else dist.mean


def disagreement(part, dist, values, tolerance=1e-3):
    """What differs between a distribution of Python and its description, or None."""
    inner = dist.base_dist if isinstance(dist, D.Independent) else dist
    mixed = part.get("mixture", False)
    if mixed:
        inner = inner.component_distribution
        inner = inner.base_dist if isinstance(inner, D.Independent) else inner
    for name in OF_TORCH.get(part["distribution"], ["loc", "scale"] if mixed else []):  # the mean may be NaN whatever they are
        ours, theirs = values[name], getattr(inner, name)
        if ours.shape != theirs.shape or not torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance):
            return f"parameter {name} differs"
    value, log_prob = (mixture if mixed else COMPUTED[part["distribution"]])(part, values)
    return difference_of((value, log_prob.sum(-1) if part.get("event") else log_prob), deterministic(dist), dist, tolerance)


def difference_of(computed, theirs, dist, tolerance=1e-3):
    """What differs between the value and the log-probability that the library computes and those of Python, or None."""
    value, log_prob = computed
    for what, ours, other in (("value", value, theirs), ("log-probability", log_prob, dist.log_prob(theirs))):
        if ours.shape != other.shape or ours.dtype != other.dtype:
            return f"{what} is {other.dtype} {list(other.shape)} in Python, and would be {ours.dtype} {list(ours.shape)}"
        if not torch.allclose(ours.double(), other.double(), rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"{what} differs by {float((ours.double() - other.double()).abs().max()):.3g}"
    return None
