"""Modules of each kind that tools/export_module.py can export, with an example of their inputs."""
import torch
from tensordict import TensorDict
from tensordict.nn import (
    AddStateIndependentNormalScale,
    CompositeDistribution,
    NormalParamExtractor,
    OneHotCategorical,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
    TruncatedNormal,
    WrapModule,
)
from tensordict.nn.distributions import Delta
from torch import distributions as D
from torch import nn

ROWS = 5


def observation(rows=ROWS, width=4):
    return TensorDict({"observation": torch.randn(rows, width)}, [rows])


def mlp(out=4, width=4):
    return nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, out))


def params(out=4):
    return TensorDictModule(mlp(out), ["observation"], ["params"])


def sampled(distribution, names, keys=None, network=None, **options):
    """A network, and a distribution of its outputs."""
    keys = keys or names
    if network is None and len(names) == 2:
        network = TensorDictModule(nn.Sequential(mlp(), NormalParamExtractor()), ["observation"], keys)
    network = network or TensorDictModule(mlp(3), ["observation"], keys)
    options.setdefault("return_log_prob", True)
    in_keys = dict(zip(names, keys)) if keys != names else keys
    last = ProbabilisticTensorDictModule(in_keys, ["action"], distribution_class=distribution, **options)
    return ProbabilisticTensorDictSequential(network, last)


class Branch(nn.Module):
    """What it does depends on the data."""

    def __init__(self):
        super().__init__()
        self.near, self.far = nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.abs().sum() > 100):
            return self.far(x)
        return self.near(x)


class Vision(nn.Module):
    """Sizes are computed from the input's."""

    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(1, 2, 3), nn.Linear(2 * 4 * 4 + 2, 3)
        self.register_buffer("offset", torch.tensor([0.5, -0.5]))
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, image, goal):
        flat = self.conv(image).relu().reshape(image.shape[0], -1)
        logits = self.out(torch.cat([flat, goal + self.offset], -1))
        return logits, logits.argmax(-1)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


def plain():
    return TensorDictModule(mlp(2), ["observation"], ["action"]), observation()


def unbatched():
    return TensorDictModule(mlp(2), ["observation"], ["action"]), TensorDict({"observation": torch.randn(4)}, [])


def two_batch_dims():
    return TensorDictModule(mlp(2), ["observation"], ["action"]), TensorDict({"observation": torch.randn(2, 3, 4)}, [2, 3])


def vision():
    td = TensorDict({"agents": {"image": torch.randn(ROWS, 1, 6, 6)}, "goal": torch.randn(ROWS, 2)}, [ROWS])
    keys = [("agents", "logits"), ("agents", "choice")]
    return TensorDictModule(Vision(), [("agents", "image"), "goal"], keys), td


def recurrent():
    td = TensorDict({"observation": torch.randn(ROWS, 4), "hidden": torch.randn(ROWS, 8)}, [ROWS])
    return (
        TensorDictSequential(
            TensorDictModule(nn.GRUCell(4, 8), ["observation", "hidden"], [("next", "hidden")]),
            TensorDictModule(nn.Linear(8, 2), [("next", "hidden")], ["action"]),
        ),
        td,
    )


def keyword_arguments():
    td = TensorDict({"a": torch.randn(ROWS, 3), "b": torch.randn(ROWS, 3)}, [ROWS])
    return TensorDictModule(lambda left, right: left - 2 * right, {"left": "b", "right": "a"}, ["c"]), td


def whole_dictionary():
    halve = WrapModule(lambda td: td.set("half", td["observation"] / 2), in_keys=["observation"], out_keys=["half"])
    return TensorDictSequential(halve, TensorDictModule(mlp(2), ["half"], ["action"])), observation()


def batch_size_in_code():
    def noisy(td):
        return td.set("action", torch.full((*td.batch_size, 2), 3.0) + td["observation"][..., :2])

    return TensorDictSequential(WrapModule(noisy, in_keys=["observation"], out_keys=["action"])), observation()


def normalised():
    return TensorDictModule(nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(), mlp(2)), ["observation"], ["action"]), observation()


def tied():
    return TensorDictModule(Tied(), ["observation"], ["action"]), observation()


def branch():
    return TensorDictModule(Branch(), ["observation"], ["action"]), observation()


def some_outputs():
    both = TensorDictSequential(TensorDictModule(mlp(3), ["observation"], ["hidden"]), TensorDictModule(nn.Linear(3, 2), ["hidden"], ["action"]))
    return both.select_out_keys("action"), observation()


def dropped_output():
    return TensorDictModule(lambda x: (x + 1, x * 2), ["observation"], ["_", "action"]), observation()


def size_of_data():
    return TensorDictModule(lambda x: x[x > 0], ["observation"], ["action"]), TensorDict({"observation": torch.randn(4)}, [])


def normal():
    extract = TensorDictModule(NormalParamExtractor("softplus", 0.5), ["params"], [("d", "loc"), ("d", "scale")])
    last = ProbabilisticTensorDictModule([("d", "loc"), ("d", "scale")], ["action"], distribution_class=D.Normal, return_log_prob=True)
    return ProbabilisticTensorDictSequential(params(), extract, last), observation()


def chosen_action():
    module, td = normal()
    return module.select_out_keys("action"), td


def independent_normal():
    def make(**arguments):
        return D.Independent(D.Normal(**arguments), 1)

    return sampled(make, ["loc", "scale"], default_interaction_type="mean"), observation()


def state_independent():
    network = TensorDictModule(nn.Sequential(mlp(2), AddStateIndependentNormalScale(2)), ["observation"], ["loc", "scale"])
    return sampled(D.Normal, ["loc", "scale"], network=network), observation()


def tanh_normal():
    from torchrl.modules.distributions.continuous import TanhNormal

    limits = {"low": -2.0, "high": 3.0, "tanh_loc": True, "upscale": 2.0}
    return sampled(TanhNormal, ["loc", "scale"], distribution_kwargs=limits), observation()


def truncated_normal():
    def make(loc, scale):
        return D.Independent(TruncatedNormal(loc, scale, a=-0.5, b=1.5), 1)

    return sampled(make, ["loc", "scale"], ["m", "s"]), observation()


def categorical():
    return sampled(D.Categorical, ["logits"]), observation()


def one_hot():
    return sampled(OneHotCategorical, ["logits"], [("agent", "scores")], default_interaction_type="mode"), observation()


def bernoulli():
    network = TensorDictModule(nn.Sequential(mlp(3), nn.Sigmoid()), ["observation"], ["probs"])
    return sampled(D.Bernoulli, ["probs"], network=network), observation()


def delta():
    return sampled(Delta, ["param"]), observation()


def composite():
    keys = [("params", "steer", "loc"), ("params", "steer", "scale"), ("params", "gear", "logits")]

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.steer, self.gear = nn.Sequential(mlp(4), NormalParamExtractor()), mlp(3)

        def forward(self, x):
            return (*self.steer(x), self.gear(x))

    last = ProbabilisticTensorDictModule(
        ["params"],
        [("out", "steer"), ("out", "gear")],
        distribution_class=CompositeDistribution,
        distribution_kwargs={
            "distribution_map": {"steer": D.Normal, "gear": D.Categorical},
            "name_map": {"steer": ("out", "steer"), "gear": ("out", "gear")},
        },
        default_interaction_type="mode",
        return_log_prob=True,
    )
    return ProbabilisticTensorDictSequential(TensorDictModule(Heads(), ["observation"], keys), last), observation()


GOOD = [
    plain, unbatched, two_batch_dims, vision, recurrent, keyword_arguments, whole_dictionary, batch_size_in_code, normalised, tied, branch,
    some_outputs, dropped_output, size_of_data, normal, chosen_action, independent_normal, state_independent, tanh_normal,
    truncated_normal, categorical, one_hot, bernoulli, delta, composite,
]  # fmt: skip


def branching_policy():
    """For the command, which cannot trace it."""
    return branch()[0]


def policy():
    """For the command."""
    return normal()[0]


# What cannot be exported, and a part of the message.


def unknown_distribution():
    def make(loc, scale):
        return D.Laplace(loc, scale)

    return sampled(make, ["loc", "scale"]), observation()


def another_of_that_name():
    class TanhNormal(D.Independent):
        low, high = -1.0, 1.0

        def __init__(self, loc, scale):
            super().__init__(D.Normal(loc * 2, scale), 1)

    return sampled(TanhNormal, ["loc", "scale"]), observation()


def different_bounds():
    def make(loc, scale):
        return D.Independent(TruncatedNormal(loc, scale, a=torch.tensor([-1.0, -2.0]), b=torch.tensor(1.0)), 1)

    return sampled(make, ["loc", "scale"]), observation()


def network_behind_a_sample():
    return TensorDictSequential(*categorical()[0], TensorDictModule(lambda action: action + 1, ["action"], ["next"])), observation()


def no_python_outside():
    return TensorDictModule(lambda x: torch.from_numpy(x.numpy() * 2), ["observation"], ["action"]), observation()


def missing_input():
    return plain()[0], TensorDict({"image": torch.randn(2)}, [2])


def no_module():
    return nn.Linear(4, 2), observation()


BAD = {
    unknown_distribution: "Laplace",
    another_of_that_name: "is not the TanhNormal of the library: the value differs",
    different_bounds: "differs among elements",
    network_behind_a_sample: "computes with the sample",
    no_python_outside: "cannot be exported",
    missing_input: "lacks the input 'observation'",
    no_module: "wrap it in a TensorDictModule",
}
