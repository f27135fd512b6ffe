"""Distributions behind transforms, as the archive describes them and as the library computes them. For export_followers.py."""
import warnings

import torch
from export_check import COMPUTED, WAY_OUT, CannotExport, bound, deterministic, difference_of
from tensordict import TensorDict
from tensordict.nn import CompositeDistribution, ProbabilisticTensorDictModule
from torch import distributions as D
from torch.distributions import transforms as T

BASES = ("Normal", "IndependentNormal", "TanhNormal", "TruncatedNormal", "Delta")
SIMPLE = {T.TanhTransform: "tanh", T.SigmoidTransform: "sigmoid", T.ExpTransform: "exp", T.SoftplusTransform: "softplus"}


def unwrapped(dist):
    """The transformed distribution below Independent, or None."""
    while isinstance(dist, D.Independent):
        dist = dist.base_dist
    return dist if isinstance(dist, D.TransformedDistribution) else None


def parts(transform, width):
    """The objects in "transforms" for a transform, in the order in which they act."""
    if isinstance(transform, T.ComposeTransform):
        return [one for part in transform.parts for one in parts(part, width)]
    if isinstance(transform, T.IndependentTransform):
        return parts(transform.base_transform, width)
    if isinstance(transform, T._InverseTransform):
        turned = parts(transform._inv, width)[::-1]
        return [{**one, "inverse": not one.get("inverse", False)} for one in turned]
    name = type(transform).__name__
    made = None
    if type(transform) in SIMPLE:
        made = {"transform": SIMPLE[type(transform)]}
    elif name == "SafeTanhTransform" and isinstance(transform, T.TanhTransform):
        made = {"transform": "safe_tanh"}
    elif isinstance(transform, T.AffineTransform):
        made = {"transform": "affine", "loc": bound(transform.loc, "loc"), "scale": bound(transform.scale, "scale")}
    elif type(transform) is T.PowerTransform:
        made = {"transform": "power", "exponent": bound(transform.exponent, "exponent")}
    for one in (made or {}).values():
        if isinstance(one, list) and len(one) != width:
            raise CannotExport(f"{name} has numbers for {len(one)} elements, the distribution {width}")
    if made is None:
        raise CannotExport(
            f"the transform {name} is not supported; AffineTransform, TanhTransform, SafeTanhTransform, SigmoidTransform, "
            f"ExpTransform, SoftplusTransform, PowerTransform, their inverses and ComposeTransform of these are{WAY_OUT}"
        )
    if transform._cache_size:
        made["cached"] = True
    return [made]


def described(dist, shape_of, values):
    """The members that say which transformed distribution this is; `values`: its parameters."""
    inner = unwrapped(dist)
    if len(dist.event_shape) > 1:
        raise CannotExport(f"{type(inner).__name__} has {len(dist.event_shape)} event dimensions; none or one is supported")
    shape = inner.batch_shape + inner.event_shape
    steps, base, outer = [], dist, inner
    while outer is not None:
        steps = [one for t in outer.transforms for one in parts(t, shape[-1] if shape else 1)] + steps
        base, outer = outer.base_dist, unwrapped(outer.base_dist)
    try:
        own = shape_of(base)
    except CannotExport as error:
        raise CannotExport(f"{type(inner).__name__} transforms what is not supported: {error}") from None
    if own["distribution"] not in BASES:
        raise CannotExport(f"{type(inner).__name__} transforms a distribution {own['distribution']}; of {', '.join(BASES)} it is supported{WAY_OUT}")
    if not steps:
        raise CannotExport(f"{type(inner).__name__} has no transforms")
    if own["distribution"] == "Delta" and "param" in values:
        off = base.param - values["param"]  # TorchRL's TanhDelta puts its parameter between its bounds
        if off.numel() and off.abs().max() > 1e-6:
            shift = bound(off.double().round(decimals=6), "middle")
            steps = [{"transform": "affine", "loc": shift, "scale": 1.0}] + steps
    event = len(dist.event_shape) == 1
    if not event and own["distribution"] != "Normal":
        raise CannotExport(f"{type(inner).__name__} transforms a {own['distribution']}, which is one event")
    made = {**own, "distribution": "Transformed", "base": own["distribution"], "transforms": steps, "event": event}
    scored = "rsample_and_log_prob" if dist.has_rsample else "sample_and_log_prob"
    if callable(getattr(type(dist), scored, None)):
        made["joint"] = True
    return made


def transform_of(step, like):
    """The transform of torch that a description stands for."""
    if step.get("inverse"):
        return transform_of({**step, "inverse": False}, like).inv
    if step["transform"] == "affine":
        return T.AffineTransform(*(torch.as_tensor(step[name], dtype=like.dtype) for name in ("loc", "scale")))
    if step["transform"] == "power":
        return T.PowerTransform(torch.as_tensor(step["exponent"], dtype=like.dtype))
    if step["transform"] == "safe_tanh":
        return SafeTanh()
    return next(kind for kind, name in SIMPLE.items() if name == step["transform"])()


class SafeTanh(T.TanhTransform):
    def _call(self, x):
        limit = 1 - torch.finfo(x.dtype).resolution
        return x.tanh().clamp(-limit, limit)

    def _inverse(self, y):
        limit = 1 - torch.finfo(y.dtype).resolution
        return y.clamp(-limit, limit).atanh()


def forward(part, base):
    """The value of the base, and what it is behind each transform."""
    path = [base]
    for step in part["transforms"]:
        path.append(transform_of(step, base)(path[-1]))
    return path


def computed(part, values):
    """What the library computes: a value of the base behind the transforms, and the log-probability of it."""
    own = {**part, "distribution": part["base"]}
    path = forward(part, COMPUTED[part["base"]](own, values)[0])
    value, slopes, known = path[-1], 0, True
    for step, x in zip(reversed(part["transforms"]), reversed(path[:-1])):
        known, transform = known and step.get("cached", False), transform_of(step, value)
        x = x if known else transform.inv(value)
        slopes, value = slopes + transform.log_abs_det_jacobian(x, value), x
    log_prob = log_prob_of(own, values, value)
    if part["event"]:
        slopes, log_prob = slopes.sum(-1), log_prob.sum(-1) if part["base"] == "Normal" else log_prob
    return path[-1], log_prob - slopes


def log_prob_of(part, values, value):
    """Of a value of the base that may be another than its deterministic one."""
    if part["distribution"] in ("Normal", "IndependentNormal"):
        found = D.Normal(values["loc"], values["scale"]).log_prob(value)
        return found.sum(-1) if part["distribution"] == "IndependentNormal" else found
    return COMPUTED[part["distribution"]](part, values)[1]


def own_value(dist):
    """The deterministic value of the base behind the transforms of Python."""
    inner = unwrapped(dist)
    value = own_value(inner.base_dist) if unwrapped(inner.base_dist) is not None else deterministic(inner.base_dist)
    for transform in inner.transforms:
        value = transform(value)
    return value


def part_of(dist, shape_of, values, estimates, composite):
    """The members that describe it, and what differs between Python and the library, or None."""
    part = described(dist, shape_of, values)
    ours, theirs = computed(part, values), own_value(dist)
    if part["base"] == "Delta":  # whose log-probability is one of two infinities, as the last digit is
        ours = ours[0], dist.log_prob(theirs)
    part["values"] = sources(dist, part, ours[0], values, estimates, composite)
    if estimates != 1000:
        part["estimates"] = estimates
    return part, difference_of(ours, theirs, dist)


def sources(dist, part, moved, values, estimates, composite):
    """Where each value of the distribution comes from, found by asking tensordict for it twice."""
    made = {}
    for how in ("mode", "median", "mean", "deterministic"):
        first, again = (asked(dist, how, estimates, seed, composite) for seed in (0, 1))
        if first is None or first.shape != moved.shape:
            made[how] = "none"
        elif torch.allclose(first, again) and torch.allclose(first, moved, rtol=1e-4, atol=1e-5):
            made[how] = "moved"
        elif torch.allclose(first, again) and how != "median" and log_normal(part, how, values, first):
            made[how] = "log_normal"
        elif how in ("mean", "deterministic") and not composite and estimated(dist, estimates, first):
            made[how] = "estimate"
        else:
            made[how] = "none"
    return made


def asked(dist, how, estimates, seed, composite):
    def given(p):
        params = TensorDict({"x": {"p": p}}, dist.batch_shape)
        return CompositeDistribution(params, {"x": lambda p: dist}) if composite else dist

    module = ProbabilisticTensorDictModule(
        ["p"], ["x"], distribution_class=given, default_interaction_type=how, n_empirical_estimate=estimates
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.manual_seed(seed)
        try:
            return module(TensorDict({"p": torch.zeros(dist.batch_shape)}, dist.batch_shape)).get("x")
        except Exception:  # noqa: BLE001: it has no such value
            return None


def log_normal(part, how, values, found):
    if part["base"] not in ("Normal", "IndependentNormal"):
        return False
    loc, scale = values["loc"], values["scale"]
    want = (loc - scale**2).exp() if how == "mode" else (loc + scale**2 / 2).exp()
    return want.shape == found.shape and torch.allclose(want, found, rtol=1e-4)


def estimated(dist, estimates, found):
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        draw = dist.rsample if dist.has_rsample else dist.sample
        return torch.allclose(draw((estimates,)).mean(0), found)
