"""Modules of each kind that tools/export_module.py can export, with an example of their inputs."""
import math

import torch
from tensordict import TensorDict
from tensordict.nn import (
    AddStateIndependentNormalScale,
    CompositeDistribution,
    EnsembleModule,
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


def discrete_state():
    """Its input has no dimension behind the batch."""
    network = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 2))
    return TensorDictModule(network, ["observation"], ["action"]), TensorDict({"observation": torch.randint(7, (ROWS,))}, [ROWS])


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


def in_training():
    """Batch normalisation of rows, and of images behind it."""

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows, self.images = nn.BatchNorm1d(4), nn.BatchNorm2d(2, momentum=0.3)
            self.out = nn.Linear(4, 2)

        def forward(self, x):
            rows = self.rows(x)
            images = self.images(rows.reshape(x.shape[0], 1, 2, 2).expand(x.shape[0], 2, 2, 2))
            return self.out(images.sum(1).reshape(x.shape[0], 4))

    return TensorDictModule(Both(), ["observation"], ["action"]), observation()


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


# A network of torch.export holds the example's number of batch dimensions: with another these would compute something else.


def fancy_index():
    return TensorDictModule(lambda x: x[..., [3, 2, 1, 0]] + 0.5, ["observation"], ["action"]), observation()


def assigned():
    def without_first(x):
        y = x.clone()
        y[..., 0] = 0
        return y

    return TensorDictModule(without_first, ["observation"], ["action"]), observation()


def above_first():
    return TensorDictModule(lambda x: torch.where(x > x[..., :1], x, -x), ["observation"], ["action"]), observation()


def index_without_batch():
    return fancy_index()[0], TensorDict({"observation": torch.randn(4)}, [])


class OneStep(nn.Module):
    """A recurrent layer over a time of one step. at::gru crashes where its input has four dimensions."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 3, batch_first=True)

    def forward(self, x):
        return self.gru(x.unsqueeze(-2))[0].squeeze(-2)


def one_step():
    return TensorDictModule(OneStep(), ["observation"], ["action"]), observation()


def cell():
    td = observation()
    td["h"], td["c"] = torch.randn(ROWS, 3), torch.randn(ROWS, 3)

    class Cell(nn.LSTMCell):
        def forward(self, x, h, c):
            return super().forward(x, (h, c))

    return TensorDictModule(Cell(4, 3), ["observation", "h", "c"], [("next", "h"), ("next", "c")]), td


def across_the_batch():
    """What it computes depends on the rows beside: no batch of it is another one flattened."""
    return TensorDictModule(lambda x: x[..., [3, 2, 1, 0]] - x.mean(0), ["observation"], ["action"]), observation()


def ensemble():
    return EnsembleModule(TensorDictModule(mlp(2), ["observation"], ["action"]), num_copies=3), observation()


def hook():
    module = TensorDictSequential(TensorDictModule(mlp(2), ["observation"], ["action"]))
    module.register_forward_hook(lambda own, given, td: td.set("action", td["action"] * 2))
    return module, observation()


# The usual actors of TorchRL.


def actor(width=4, key="observation", distribution=None, **options):
    from torchrl.modules import ProbabilisticActor, TanhNormal

    network = TensorDictModule(nn.Sequential(mlp(4, width), NormalParamExtractor()), [key], ["loc", "scale"])
    return ProbabilisticActor(
        network, in_keys=["loc", "scale"], distribution_class=distribution or TanhNormal, return_log_prob=True, **options
    )


def probabilistic_actor():
    return actor(), observation()


def actor_value_operator():
    """The value head stands behind the sample, and reads what stands before it."""
    from torchrl.modules import ActorValueOperator, ValueOperator

    common = TensorDictModule(mlp(6), ["observation"], ["hidden"])
    return ActorValueOperator(common, actor(6, "hidden"), ValueOperator(nn.Linear(6, 1), in_keys=["hidden"])), observation()


def actor_critic_operator():
    from torchrl.modules import ActorCriticOperator, ValueOperator

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.out = nn.Linear(8, 1)

        def forward(self, hidden, action):
            return self.out(torch.cat([hidden, action], -1))

    common = TensorDictModule(mlp(6), ["observation"], ["hidden"])
    policy = TensorDictModule(nn.Linear(6, 2), ["hidden"], ["action"])
    return ActorCriticOperator(common, policy, ValueOperator(Critic(), in_keys=["hidden", "action"])), observation()


class Critic(nn.Module):
    """Reads the action as numbers: a class becomes one."""

    def __init__(self, width):
        super().__init__()
        self.out = mlp(1, width)

    def forward(self, hidden, action):
        action = action.unsqueeze(-1) if action.dim() < hidden.dim() else action
        return self.out(torch.cat([hidden, action.to(hidden.dtype)], -1))


def judged(policy, acted, action="action", hidden="hidden", value="state_action_value"):
    """A policy that samples, and a network that reads the sample, behind one that both read."""
    from torchrl.modules import ActorCriticOperator, ValueOperator

    common = TensorDictModule(mlp(6), ["observation"], [hidden])
    critic = ValueOperator(Critic(6 + acted), in_keys=[hidden, action], out_keys=[value])
    return ActorCriticOperator(common, policy, critic), observation()


def critic_of_a_sample():
    return judged(actor(6, "hidden"), 2)


def critic_of_elements():
    return judged(actor(6, "hidden", distribution=D.Normal), 2)


def classes(distribution, **options):
    from torchrl.modules import ProbabilisticActor

    network = TensorDictModule(mlp(3, 6), ["hidden"], ["logits"])
    return ProbabilisticActor(network, in_keys=["logits"], distribution_class=distribution, return_log_prob=True, **options)


def critic_of_a_class():
    return judged(classes(D.Categorical), 1)


def critic_of_one_hot():
    return judged(classes(OneHotCategorical, default_interaction_type="mode"), 3)


def critic_of_nested_keys():
    from torchrl.modules import ProbabilisticActor, TanhNormal

    names = [("agent", "loc"), ("agent", "scale")]
    network = TensorDictModule(nn.Sequential(mlp(4, 6), NormalParamExtractor()), [("agent", "hidden")], names)
    keys = dict(zip(["loc", "scale"], names))
    limits = {"low": -2.0, "high": 3.0}
    policy = ProbabilisticActor(
        network, keys, [("agent", "action")], distribution_class=TanhNormal, distribution_kwargs=limits, return_log_prob=True
    )
    return judged(policy, 2, *(("agent", name) for name in ("action", "hidden", "value")))


def three_networks():
    """A sample that follows from another, and what is read of both; of all that only some is kept."""
    first = sampled(D.Categorical, ["logits"])
    second = TensorDictModule(nn.Sequential(nn.Embedding(3, 4), NormalParamExtractor()), ["action"], ["loc", "scale"])
    force = ProbabilisticTensorDictModule(["loc", "scale"], ["force"], distribution_class=independent_normals, return_log_prob=True)
    value = TensorDictModule(Critic(6), ["force", "observation"], ["value"])
    whole = TensorDictSequential(*first, second, force, value)
    return whole.select_out_keys("action", "force", "force_log_prob", "value"), observation()


def independent_normals(loc, scale):
    return D.Independent(D.Normal(loc, scale), 1)


def critics_of_a_sample():
    """Several critics: their values have the copies in front, and so has all that stands before them."""
    both = EnsembleModule(TensorDictModule(Critic(6), ["observation", "action"], ["value"]), num_copies=3)
    return TensorDictSequential(*independent_normal()[0], both), observation()


def tied_critic():
    """The network behind the sample has a layer of the first one."""
    layer = nn.Linear(4, 4)
    extract = nn.Sequential(layer, NormalParamExtractor())
    sample = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=D.Normal)
    value = TensorDictModule(nn.Sequential(nn.Linear(2, 4), layer), ["action"], ["value"])
    return TensorDictSequential(TensorDictModule(extract, ["observation"], ["loc", "scale"]), sample, value), observation()


def choosing_critic():
    """Behind the sample stands code with a branch, which a compiler reads."""
    return TensorDictSequential(*normal()[0], TensorDictModule(Branch2(), ["action"], ["value"])), observation()


class Branch2(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.abs().sum() > 100):
            return self.far(x)
        return self.near(x)


def unwanted_critic():
    module, td = critic_of_a_class()
    return module.select_out_keys("action", "sample_log_prob" if "sample_log_prob" in module.out_keys else "action_log_prob"), td


def critic_of_a_composite():
    """Two actions at once, and what both are worth."""
    value = TensorDictModule(Critic(3), [("out", "steer"), ("out", "gear")], ["value"])
    return TensorDictSequential(*composite()[0], value), observation()


def judged_samples():
    """Several samples of each state, each with its value."""
    sample = ProbabilisticTensorDictModule(
        ["loc", "scale"], ["action"], distribution_class=independent_normals, return_log_prob=True, num_samples=torch.Size([3])
    )
    value = TensorDictModule(Critic(6), ["observation", "action"], ["value"])
    return TensorDictSequential(independent_normal()[0][0], sample, value), observation()


def q_value_actor():
    from torchrl.modules import QValueActor

    return QValueActor(mlp(3), in_keys=["observation"], action_space="one_hot"), observation()


def with_memory(layer):
    memory = layer(input_size=4, hidden_size=6, in_key="observation", out_key="features")
    td = observation()
    td["is_init"] = torch.zeros(ROWS, 1, dtype=torch.bool)  # a branch looks at it: a plain trace would never reset
    for key in memory.in_keys:
        if key not in td.keys():
            td[key] = torch.randn(ROWS, 1, 6)
    return TensorDictSequential(memory, TensorDictModule(nn.Linear(6, 2), ["features"], ["action"])), td


def lstm_module():
    from torchrl.modules import LSTMModule

    return with_memory(LSTMModule)


def gru_module():
    from torchrl.modules import GRUModule

    return with_memory(GRUModule)


def agents(**options):
    from torchrl.modules import MultiAgentMLP

    network = MultiAgentMLP(4, 2, n_agents=3, depth=2, num_cells=8, **options)
    td = TensorDict({"agents": {"observation": torch.randn(ROWS, 3, 4)}}, [ROWS])
    return TensorDictModule(network, [("agents", "observation")], [("agents", "action")]), td


def own_networks():
    return agents(centralized=False, share_params=False)


def shared_network():
    return agents(centralized=True, share_params=True)


def own_convolutions(**options):
    """A network for each agent. The rule of vmap for a convolution takes the batch size for a constant."""
    from torchrl.modules import MultiAgentConvNet

    network = MultiAgentConvNet(n_agents=3, share_params=False, in_features=2, num_cells=[4, 4], kernel_sizes=3, strides=1, **options)
    td = TensorDict({"agents": {"image": torch.rand(ROWS, 3, 2, 8, 8)}}, [ROWS])
    return TensorDictModule(network, [("agents", "image")], [("agents", "features")]), td


def own_images():
    return own_convolutions(centralized=False)


def common_images():
    return own_convolutions(centralized=True)


def critics():
    """An ensemble behind a network: what stands before it gets the copies in front, too."""
    before = TensorDictModule(mlp(3), ["observation"], ["hidden"])
    return TensorDictSequential(before, EnsembleModule(TensorDictModule(mlp(2, 3), ["hidden"], ["value"]), num_copies=4)), observation()


def two_ensembles():
    first = EnsembleModule(TensorDictModule(mlp(3), ["observation"], ["hidden"]), num_copies=2)
    second = EnsembleModule(TensorDictModule(mlp(2, 3), ["hidden"], ["value"]), num_copies=2, expand_input=False)
    return TensorDictSequential(first, second), observation()


def both_ways():
    """Its state has a size that is computed: in a trace it would be the example's, and at::lstm reads beyond it."""

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.read, self.out = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), nn.Linear(6, 2)

        def forward(self, x):
            return self.out(self.read(x)[0][..., -1, :])

    return TensorDictModule(Reader(), ["x"], ["action"]), TensorDict({"x": torch.randn(ROWS, 5, 4)}, [ROWS])


def causal():
    """A transformer over the steps of an episode, of which some are padding."""

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu")
            self.see, self.read = nn.Linear(4, 8), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.place, self.out = nn.Parameter(torch.randn(6, 8)), nn.Linear(8, 2)

        def forward(self, x, padding):
            later = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
            return self.out(self.read(self.see(x) + self.place, mask=later, src_key_padding_mask=padding)[..., -1, :])

    padding = torch.arange(6).expand(ROWS, 6) >= torch.tensor([6, 5, 4, 3, 2]).unsqueeze(-1)
    return TensorDictModule(Reader(), ["x", "padding"], ["action"]), TensorDict({"x": torch.randn(ROWS, 6, 4), "padding": padding}, [ROWS])


def summed_behind():
    """It takes any number of dimensions, but the sum over dimension 1 is behind the batch for one alone."""
    td = TensorDict({"x": torch.randn(ROWS, 3, 4)}, [ROWS])
    return TensorDictModule(lambda x: (x.amax(1), x.flatten(1).sum(1)), ["x"], ["largest", "sum"]), td


def pixels():
    from torchrl.modules import ConvNet

    class Pixels(nn.Module):
        def __init__(self):
            super().__init__()
            self.see = ConvNet(in_features=3, num_cells=[4, 4], kernel_sizes=[3, 3], strides=1)
            self.out = nn.Linear(64, 2)

        def forward(self, image):
            return self.out(self.see(image.float() / 255))

    td = TensorDict({"image": torch.randint(0, 255, (ROWS, 3, 8, 8), dtype=torch.uint8)}, [ROWS])
    return TensorDictModule(Pixels(), ["image"], ["action"]), td


def noisy():
    from torchrl.modules import NoisyLinear

    return TensorDictModule(nn.Sequential(NoisyLinear(4, 8), nn.ReLU(), NoisyLinear(8, 2)), ["observation"], ["action"]), observation()


def transformer():
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
            self.read, self.out = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(8, 2)

        def forward(self, tokens, mask):
            return self.out(self.read(tokens, src_key_padding_mask=mask).mean(-2))

    td = TensorDict({"tokens": torch.randn(ROWS, 5, 8), "mask": torch.rand(ROWS, 5) > 2}, [ROWS])
    return TensorDictModule(Reader(), ["tokens", "mask"], ["action"]), td


def distributional():
    """It checks its input by a branch on real numbers whose other way is an error."""
    from torchrl.modules import MLP, DistributionalQValueActor

    network = MLP(in_features=4, out_features=(7, 3), depth=1, num_cells=8)
    return DistributionalQValueActor(network, support=torch.linspace(-1, 1, 7), in_keys=["observation"], action_space="categorical"), observation()


def checks():
    class Checked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp(2)

        def forward(self, x):
            assert torch.isfinite(x).all(), "not finite"
            if (x.abs() > 1e6).any():
                raise ValueError("too large")
            return self.layers(x)

    return TensorDictModule(Checked(), ["observation"], ["action"]), observation()


def units():
    """What a new torch has operators for and an old libtorch lacks: attention in one operator, and RMSNorm."""

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.see, self.read = nn.Linear(3, 8), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.norm, self.out = nn.RMSNorm(8), nn.Linear(8, 2)

        def forward(self, x, present):
            found = self.norm(self.read(self.see(x), src_key_padding_mask=~present))
            found = nn.functional.scaled_dot_product_attention(found, found, found, attn_mask=present.unsqueeze(-2))
            share = present.unsqueeze(-1).to(x.dtype)
            return self.out((found * share).sum(-2) / share.sum(-2).clamp_min(1))

    if not hasattr(nn, "RMSNorm"):
        raise ImportError("this torch has no RMSNorm")
    present = torch.arange(5).expand(ROWS, 5) < torch.tensor([1, 2, 3, 4, 5]).unsqueeze(-1)
    td = TensorDict({"units": {"x": torch.randn(ROWS, 5, 3), "present": present}}, [ROWS])
    return TensorDictModule(Reader(), [("units", "x"), ("units", "present")], ["action"]), td


def mapped():
    """Below vmap a product with one row takes away dimensions by a list, which an old libtorch lacks."""
    from torchrl.modules import VmapModule

    return VmapModule(TensorDictModule(mlp(2), ["observation"], ["action"]), 0), observation()


def two(kind, names, event=False):
    """A distribution of two parameters above 1 for each of two elements."""

    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp(4)

        def forward(self, x):
            return tuple(self.layers(x).exp().add(1).chunk(2, -1))

    def make(**params):
        return D.Independent(kind(**params), 1) if event else kind(**params)

    network = TensorDictModule(Halves(), ["observation"], list(names))
    return sampled(make, names, network=network), observation()


def beta():
    return two(D.Beta, ["concentration1", "concentration0"])


def beta_of_joints():
    return two(D.Beta, ["concentration1", "concentration0"], event=True)


def gamma():
    return two(D.Gamma, ["concentration", "rate"])


def uniform():
    return two(lambda low, width: D.Uniform(low - 3, low + width), ["low", "width"], event=True)


def laplace():
    return two(D.Laplace, ["loc", "scale"])


def exponential():
    return sampled(D.Exponential, ["rate"], network=TensorDictModule(nn.Sequential(mlp(3), nn.Softplus()), ["observation"], ["rate"])), observation()


def cauchy():
    return sampled(D.Cauchy, ["loc", "scale"], default_interaction_type="mode"), observation()


def doubled_cauchy():
    """Its mean is NaN, whatever its parameters are."""

    def make(loc, scale):
        return D.Cauchy(loc * 2, scale)

    return sampled(make, ["loc", "scale"], default_interaction_type="mode"), observation()


def student_t():
    """With a number of degrees that is fixed."""
    return sampled(D.StudentT, ["loc", "scale"], distribution_kwargs={"df": 3.0}), observation()


def student_t_of_joints():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp(6)

        def forward(self, x):
            df, loc, scale = self.layers(x).chunk(3, -1)
            return df.exp() + 0.8, loc, scale.exp()

    def make(df, loc, scale):
        return D.Independent(D.StudentT(df, loc, scale), 1)

    names = ["df", "loc", "scale"]
    return sampled(make, names, network=TensorDictModule(Heads(), ["observation"], names)), observation()


def positive(kind, name, out=3, **options):
    network = TensorDictModule(nn.Sequential(mlp(out), nn.Softplus()), ["observation"], [name])
    return sampled(kind, [name], network=network, **options), observation()


def poisson():
    return positive(D.Poisson, "rate", default_interaction_type="mode")


def dirichlet():
    return positive(D.Dirichlet, "concentration")


def mode_of_dirichlet():
    return positive(D.Dirichlet, "concentration", default_interaction_type="mode")


def half_normal():
    def make(scale):
        return D.Independent(D.HalfNormal(scale), 1)

    return positive(make, "scale")


def mixed(make, shape, weights=(), name="logits", **options):
    """A mixture of three components; `shape`: of one component."""

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            count = 3 * math.prod(weights or (1,))
            self.logits, self.loc, self.scale = mlp(count), mlp(3 * math.prod(shape)), mlp(3 * math.prod(shape))

        def forward(self, x):
            logits = self.logits(x).unflatten(-1, (*weights, 3))
            sizes = (*weights, 3) if weights else (3, *shape)
            loc, scale = (one(x).unflatten(-1, sizes) for one in (self.loc, self.scale))
            return logits if name == "logits" else logits.softmax(-1), loc * 2, scale.exp()

    names = [name, "loc", "scale"]
    return sampled(make, names, network=TensorDictModule(Heads(), ["observation"], names), **options), observation()


def mixture():
    def make(logits, loc, scale):
        return D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(loc, scale))

    return mixed(make, ())


def mixture_of_vectors():
    def make(probs, loc, scale):
        return D.MixtureSameFamily(D.Categorical(probs), D.Independent(D.Normal(loc, scale), 1))

    return mixed(make, (2,), name="probs")


def mixture_of_joints():
    """Each joint has its mixture, and at a temperature."""

    def make(logits, loc, scale):
        return D.Independent(D.MixtureSameFamily(D.Categorical(logits=logits / 0.5), D.Laplace(loc, scale)), 1)

    return mixed(make, (2,), weights=(2,))


def buttons():
    def make(logits):
        return D.Independent(D.Bernoulli(logits=logits), 1)

    return sampled(make, ["logits"]), observation()


def choices():
    """Three choices at once, of which some are forbidden."""
    from torchrl.modules import MaskedCategorical

    def make(logits, mask):
        return D.Independent(MaskedCategorical(logits=logits, mask=mask), 1)

    network = TensorDictModule(nn.Sequential(mlp(6), nn.Unflatten(-1, (3, 2))), ["observation"], ["logits"])
    allowed = torch.tensor([[True, True], [False, True], [True, False]]).expand(ROWS, 3, 2).clone()
    return sampled(make, ["logits", "mask"], network=network), observation().set("mask", allowed)


def full_covariance():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.loc, self.root = mlp(2), mlp(4)

        def forward(self, x):
            root = self.root(x).unflatten(-1, (2, 2))
            return self.loc(x), root @ root.transpose(-1, -2) + torch.eye(2)

    names = ["loc", "covariance_matrix"]
    return sampled(D.MultivariateNormal, names, network=TensorDictModule(Heads(), ["observation"], names)), observation()


def joints():
    """Each joint has its bounds."""
    limits = {"low": torch.tensor([-1.0, -2.0]), "high": torch.tensor([1.0, 3.0]), "tanh_loc": True}
    return actor(distribution_kwargs=limits), observation()


def truncated_joints():
    def make(loc, scale):
        return D.Independent(TruncatedNormal(loc, scale, a=torch.tensor([-0.5, -2.0]), b=torch.tensor(1.0)), 1)

    return sampled(make, ["loc", "scale"]), observation()


def masked(distribution):
    from torchrl.modules import ProbabilisticActor

    td = observation()
    td["mask"] = torch.tensor([False, True, True, True]).expand(ROWS, 4).clone()
    network = TensorDictModule(mlp(4), ["observation"], ["logits"])
    return ProbabilisticActor(network, in_keys=["logits", "mask"], distribution_class=distribution, return_log_prob=True), td


def masked_categorical():
    from torchrl.modules import MaskedCategorical

    return masked(MaskedCategorical)


def fixed_scale():
    """What the distribution is made of is not what the keys hold."""
    network = TensorDictModule(mlp(2), ["observation"], ["loc"])
    return sampled(D.Normal, ["loc"], network=network, distribution_kwargs={"scale": 0.3}), observation()


def temperature():
    def make(logits):
        return OneHotCategorical(logits=logits / 0.5)

    return sampled(make, ["logits"], default_interaction_type="mode"), observation()


def some_classes():
    """The classes that are allowed are listed."""
    from torchrl.modules import MaskedCategorical, ProbabilisticActor

    td = observation()
    td["allowed"] = torch.stack([torch.randperm(6)[:3].sort().values for _ in range(ROWS)])
    network = TensorDictModule(mlp(6), ["observation"], ["logits"])
    in_keys = {"logits": "logits", "indices": "allowed"}
    return ProbabilisticActor(network, in_keys=in_keys, distribution_class=MaskedCategorical, return_log_prob=True), td


def masked_one_hot():
    from torchrl.modules import MaskedOneHotCategorical

    return masked(MaskedOneHotCategorical)


def ordinal():
    from torchrl.modules import Ordinal, ProbabilisticActor

    network = TensorDictModule(mlp(4), ["observation"], ["scores"])
    return ProbabilisticActor(network, in_keys={"scores": "scores"}, distribution_class=Ordinal, return_log_prob=True), observation()


def dropout_of_a_policy():
    """In eval() it does nothing, and neither reads nor writes its mask."""
    from torchrl.modules import ConsistentDropoutModule

    dropout = ConsistentDropoutModule(0.5, in_keys="hidden")
    first, last = TensorDictModule(mlp(6), ["observation"], ["hidden"]), TensorDictModule(nn.Linear(6, 2), ["hidden"], ["action"])
    return TensorDictSequential(first, dropout, last), observation()


def several_steps(**options):
    """An actor that says what to do in the next three steps; some rows begin anew."""
    from torchrl.modules import MultiStepActorWrapper

    planner = TensorDictModule(nn.Sequential(mlp(6), nn.Unflatten(-1, (3, 2))), ["observation"], ["action"])
    td = observation()
    td["is_init"] = torch.arange(ROWS).unsqueeze(-1) % 2 == 0
    td["counter"] = torch.tensor([1, 2, 3, 1, 2], dtype=torch.int32).unsqueeze(-1)
    td["action_orig"] = torch.randn(ROWS, 3, 2)
    return MultiStepActorWrapper(planner, n_steps=3, **options), td


def every_second_step():
    return several_steps(replan_interval=2, keep_dim=True)


# Distributions behind transforms.


def squashed(steps, event=1, **values):
    """As programs define their own: a transformed normal distribution, with the values that `values` define."""

    class Squashed(D.TransformedDistribution):
        def __init__(self, loc, scale):
            super().__init__(D.Independent(D.Normal(loc, scale), event) if event else D.Normal(loc, scale), steps)

    def moved(self):
        value = self.base_dist.mean
        for one in self.transforms:
            value = one(value)
        return value

    for name in values:
        setattr(Squashed, name, property(moved))
    return Squashed


def tanh_of_normal():
    """The usual actor of SAC: the tangent remembers what it was made of."""
    steps = [D.transforms.TanhTransform(cache_size=1)]
    return sampled(squashed(steps, deterministic_sample=1), ["loc", "scale"]), observation()


def affine_of_tanh():
    steps = [D.transforms.TanhTransform(), D.transforms.AffineTransform(torch.tensor([1.0, -2.0]), torch.tensor([2.0, -0.5]))]
    kind = squashed([D.transforms.ComposeTransform(steps)], mode=1, mean=1)
    return sampled(kind, ["loc", "scale"], default_interaction_type="mode"), observation()


def sigmoid_of_each():
    kind = squashed([D.transforms.SigmoidTransform(), D.transforms.AffineTransform(-1.0, 3.0)], event=0, mean=1)
    return sampled(kind, ["loc", "scale"], default_interaction_type="mean"), observation()


def softplus_of_each():
    def make(loc, scale):
        return D.Independent(squashed([D.transforms.SoftplusTransform()], event=0, mean=1)(loc, scale), 1)

    return sampled(make, ["loc", "scale"], default_interaction_type="mean"), observation()


def logit_of_each():
    """Inverses: what a value is before a transform."""
    steps = [D.transforms.SigmoidTransform(), D.transforms.AffineTransform(torch.tensor([1.0, -2.0]), 2.0).inv.inv]
    back = [D.transforms.AffineTransform(1.0, torch.tensor([2.0, -3.0])).inv, D.transforms.ComposeTransform(steps).inv]
    forth = [D.transforms.SigmoidTransform(), D.transforms.AffineTransform(torch.tensor([1.1, -1.9]), 1.5)]
    return sampled(squashed([*forth, back[1], back[0]], mean=1), ["loc", "scale"], default_interaction_type="mean"), observation()


def power_of_each():
    steps = [D.transforms.ExpTransform(), D.transforms.PowerTransform(torch.tensor([0.5, -2.0])), D.transforms.ExpTransform().inv]
    return sampled(squashed(steps, mean=1, mode=1), ["loc", "scale"], default_interaction_type="mode"), observation()


def log_normal():
    return sampled(D.LogNormal, ["loc", "scale"]), observation()


def mode_of_log_normal():
    def make(loc, scale):
        return D.Independent(D.LogNormal(loc, scale), 1)

    return sampled(make, ["loc", "scale"], default_interaction_type="mode"), observation()


def estimated_mean():
    """Python averages 20000 samples, and so does the library: they are near one another."""

    def make(loc, scale):
        return D.TransformedDistribution(D.Normal(loc, scale), [D.transforms.TanhTransform()])

    return sampled(make, ["loc", "scale"], return_log_prob=False, n_empirical_estimate=20000), observation()


def tanh_delta():
    from torchrl.modules import TanhDelta

    limits = {"low": -2.0, "high": 3.0}
    return sampled(TanhDelta, ["param"], return_log_prob=False, distribution_kwargs=limits), observation()


def tanh_delta_of_joints():
    from torchrl.modules import TanhDelta

    limits = {"low": torch.tensor([-1.0, -2.0, 0.0]), "high": torch.tensor([1.0, 3.0, 0.5])}
    return sampled(TanhDelta, ["param"], return_log_prob=False, distribution_kwargs=limits), observation()


def tanh_normal_of_each():
    from torchrl.modules import TanhNormal

    limits = {"low": -2.0, "high": 3.0, "event_dims": 0}
    return sampled(TanhNormal, ["loc", "scale"], distribution_kwargs=limits), observation()


def composite_of_transformed():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.steer, self.gear = nn.Sequential(mlp(4), NormalParamExtractor()), mlp(3)

        def forward(self, x):
            return (*self.steer(x), self.gear(x))

    kind = squashed([D.transforms.TanhTransform()], event=0, mean=1, mode=1)
    last = ProbabilisticTensorDictModule(
        ["params"],
        ["steer", "gear"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"steer": kind, "gear": D.Categorical}},
        default_interaction_type="mode",
        return_log_prob=True,
    )
    keys = [("params", "steer", "loc"), ("params", "steer", "scale"), ("params", "gear", "logits")]
    return ProbabilisticTensorDictSequential(TensorDictModule(Heads(), ["observation"], keys), last), observation()


class Shape(nn.Module):
    """Parameters of a distribution Beta, whose mean and mode differ."""

    def __init__(self):
        super().__init__()
        self.network = mlp()

    def forward(self, x):
        above, below = nn.functional.softplus(self.network(x)).chunk(2, -1)
        return above + 1.5, below + 3.0


def two_samples(nested=False, **options):
    """A sample that follows from another; their types differ."""
    shape = TensorDictModule(Shape(), ["observation"], ["concentration1", "concentration0"])
    keys = ["concentration1", "concentration0"]
    first = ProbabilisticTensorDictModule(keys, ["z"], distribution_class=D.Beta, default_interaction_type="mean")
    second = TensorDictModule(nn.Sequential(mlp(4, 2), NormalParamExtractor()), ["z"], ["loc", "scale"])
    last = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=D.Normal, default_interaction_type="mode")
    front = [ProbabilisticTensorDictSequential(shape, first)] if nested else [shape, first]
    return ProbabilisticTensorDictSequential(*front, second, last, **options), observation()


def last_decides():
    return two_samples(return_composite=False)


def last_decides_about_nested():
    return two_samples(nested=True)


def each_decides():
    return two_samples(return_composite=True)


def normal_of(*between, **options):
    network = TensorDictModule(nn.Sequential(mlp(), NormalParamExtractor()), ["observation"], ["loc", "scale"])
    last = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=D.Normal, **options)
    return ProbabilisticTensorDictSequential(network, *between, last), observation()


def action_of_loc():
    return TensorDictModule(nn.Linear(2, 2), ["loc"], ["action"])


def kept_action():
    """The network writes the action itself: Python draws none."""
    return normal_of(action_of_loc(), default_interaction_type="random")


def draws_of_no_dimension():
    return normal_of(num_samples=torch.Size([]))


def batch_for_channels():
    """With a second dimension of a batch, of the size that the first had, Python takes that for the channels."""
    layer = nn.BatchNorm1d(4)
    layer.running_mean.copy_(torch.arange(4.0))
    layer.running_var.copy_(torch.arange(1.0, 5.0))
    return TensorDictModule(layer, ["observation"], ["y"]), observation()


def groups_for_channels():
    return TensorDictModule(nn.GroupNorm(2, 4), ["observation"], ["y"]), observation()


GOOD = [
    last_decides, last_decides_about_nested, each_decides, kept_action, draws_of_no_dimension, batch_for_channels, groups_for_channels,
    distributional, checks, units, mapped,
    beta, beta_of_joints, gamma, uniform, laplace, exponential, cauchy, doubled_cauchy, student_t, student_t_of_joints, poisson, dirichlet, mode_of_dirichlet, half_normal, mixture, mixture_of_vectors, mixture_of_joints, buttons, choices, full_covariance,
    fancy_index, assigned, above_first, index_without_batch, one_step, cell, across_the_batch, ensemble, hook,
    probabilistic_actor, actor_value_operator, actor_critic_operator, q_value_actor,
    critic_of_a_sample, critic_of_elements, critic_of_a_class, critic_of_one_hot, critic_of_nested_keys, three_networks, critics_of_a_sample, choosing_critic, unwanted_critic, critic_of_a_composite, judged_samples, lstm_module, gru_module, own_networks,
    shared_network, own_images, common_images, critics, two_ensembles, both_ways, causal, summed_behind, some_classes, fixed_scale, temperature, dropout_of_a_policy, several_steps, every_second_step, tanh_delta_of_joints,
    tanh_of_normal, affine_of_tanh, sigmoid_of_each, softplus_of_each, log_normal, mode_of_log_normal,
    logit_of_each, power_of_each, estimated_mean, tanh_delta, tanh_normal_of_each, composite_of_transformed, joints, truncated_joints, pixels, noisy, transformer, masked_categorical, masked_one_hot, ordinal,
    plain, discrete_state, unbatched, two_batch_dims, vision, recurrent, keyword_arguments, whole_dictionary, batch_size_in_code, normalised, tied, tied_critic, branch,
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
        return D.VonMises(loc, scale)

    return sampled(make, ["loc", "scale"]), observation()


def mixture_of_bounded():
    from torchrl.modules import TanhNormal

    def make(logits, loc, scale):
        return D.MixtureSameFamily(D.Categorical(logits=logits), TanhNormal(loc, scale))

    return mixed(make, (2,))


def cumulative_statistics():
    """Without a momentum."""
    return TensorDictModule(nn.Sequential(nn.BatchNorm1d(4, momentum=None), mlp(2)), ["observation"], ["action"]), observation()


def transform_of_another_kind():
    def make(loc, scale):
        return D.TransformedDistribution(D.Normal(loc, scale), [D.transforms.CumulativeDistributionTransform(D.Normal(0.0, 1.0))])

    return sampled(make, ["loc", "scale"]), observation()


def transformed_uniform():
    def make(loc, scale):
        return D.TransformedDistribution(D.Uniform(loc, loc + scale), [D.transforms.ExpTransform()])

    return sampled(make, ["loc", "scale"]), observation()


def transform_that_lies():
    """Another function below the name of a transform."""

    class SafeTanhTransform(D.transforms.TanhTransform):
        def _call(self, x):
            return x.tanh() * 0.9

    return sampled(squashed([SafeTanhTransform()], deterministic_sample=1), ["loc", "scale"]), observation()


def log_prob_of_tanh_delta():
    from torchrl.modules import TanhDelta

    return sampled(TanhDelta, ["param"]), observation()


def scale_of_the_values():
    """A number of the example would be written down for ever."""

    def make(loc, scale):
        return D.TransformedDistribution(D.Normal(loc, scale), [D.transforms.AffineTransform(0.0, 1 + float(loc.abs().max()))])

    return sampled(make, ["loc", "scale"]), observation()


def bounds_of_the_values():
    from torchrl.modules import TanhNormal

    def make(loc, scale):
        return TanhNormal(loc, scale, high=1 + float(scale.max()))

    return sampled(make, ["loc", "scale"]), observation()


def another_of_that_name():
    class TanhNormal(D.Independent):
        low, high = -1.0, 1.0

        def __init__(self, loc, scale):
            super().__init__(D.Normal(loc * 2, scale), 1)

    return sampled(TanhNormal, ["loc", "scale"]), observation()


def bounds_of_rows():
    def make(loc, scale):
        low = -torch.arange(1.0, 1 + loc.numel()).reshape(loc.shape)
        return D.Independent(TruncatedNormal(loc, scale, a=low, b=torch.tensor(1.0)), 1)

    return sampled(make, ["loc", "scale"]), observation()


def undeclared_output():
    halve = WrapModule(lambda td: td.set("half", td["observation"] / 2))
    return TensorDictSequential(halve, TensorDictModule(mlp(2), ["observation"], ["action"])), observation()


def removed_entry():
    forget = WrapModule(lambda td: td.exclude("observation"))
    return TensorDictSequential(TensorDictModule(mlp(2), ["observation"], ["action"]), forget), observation()


def changed_input():
    return TensorDictModule(nn.Sequential(nn.ReLU(inplace=True), mlp(2)), ["observation"], ["action"]), observation()


def whole_episodes():
    from torchrl.modules import GRUModule

    memory = GRUModule(input_size=4, hidden_size=6, in_key="observation", out_key="features", default_recurrent_mode=True)
    td = TensorDict({"observation": torch.randn(ROWS, 3, 4), "is_init": torch.zeros(ROWS, 3, 1, dtype=torch.bool)}, [ROWS, 3])
    return memory, td.set("recurrent_state", torch.zeros(ROWS, 3, 1, 6))


def exploring():
    return TensorDictModule(lambda x: x + 0.1 * torch.randn_like(x), ["observation"], ["action"]), observation()


def median_that_python_lacks():
    return actor(default_interaction_type="median"), observation()


def own_counter():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    return TensorDictModule(Counter(), ["observation"], ["action"]), observation()


def last_state():
    """Its memory is no entry."""

    class Remembering(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.last = nn.GRUCell(4, 3), None

        def forward(self, x):
            self.last = self.cell(x, self.last)
            return self.last

    return TensorDictModule(Remembering(), ["observation"], ["action"]), observation()


def branch_that_fails():
    """The other side of the branch fails by an operator: that is no check."""

    class Sides(nn.Module):
        def __init__(self):
            super().__init__()
            self.near, self.far = mlp(2), mlp(2, 5)

        def forward(self, x):
            sides = [self.near, self.far]
            return sides[int(bool((x.abs() > 1e6).any()))](x)

    return TensorDictModule(Sides(), ["observation"], ["action"]), observation()


def tolerant():
    modules = TensorDictModule(mlp(2), ["observation"], ["action"]), TensorDictModule(nn.Linear(3, 2), ["goal"], ["plan"])
    return TensorDictSequential(*modules, partial_tolerant=True), observation().set("goal", torch.randn(ROWS, 3))


def hook_of_a_sample():
    module = categorical()[0]
    module[-1].register_forward_hook(lambda own, given, td: td)
    return module, observation()


def branch_on_numbers():
    """No way keeps the branch: one of TorchScript's compiler cannot read the lambda, a trace would take it for ever."""
    near, far = nn.Linear(4, 2), nn.Linear(4, 2)
    return TensorDictModule(lambda x: far(x) if bool(x.abs().sum() > 1000) else near(x), ["observation"], ["action"]), observation()


def branch_on_size():
    """The sizes that are tried first lie all on one side of it."""
    return TensorDictModule(lambda x: x * 2 if x.shape[0] > 20 else x * 3, ["observation"], ["action"]), observation()


def branch_on_a_list():
    """Numbers leave the tensor without an operator."""
    return TensorDictModule(lambda x: x * (2 if max([0, *x.flatten().tolist()]) > 20 else 1), ["observation"], ["action"]), observation()


def branch_on_numpy():
    return TensorDictModule(lambda x: x * (2 if (x.numpy() > 20).any() else 1), ["observation"], ["action"]), observation()


def no_python_outside():
    return TensorDictModule(lambda x: torch.from_numpy(x.numpy() * 2), ["observation"], ["action"]), observation()


def no_draws():
    return normal_of(num_samples=0)


def scored_action_of_the_network():
    return normal_of(action_of_loc(), return_log_prob=True)


def missing_input():
    return plain()[0], TensorDict({"image": torch.randn(2)}, [2])


def whole_input():
    td = TensorDict({"n": {"a": torch.randn(ROWS, 2)}}, [ROWS])
    return TensorDictModule(lambda n: n["a"] * 2, ["n"], ["action"]), td


def text_input():
    return TensorDictModule(lambda x, text: x * len(text), ["observation", "text"], ["action"]), observation().set("text", "abc")


def no_module():
    return nn.Linear(4, 2), observation()


def dropout_in_training():
    return dropout_of_a_policy()


def actor_in_training():
    """An actor with batch normalisation in its network."""
    from torchrl.modules import ProbabilisticActor, TanhNormal

    layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4), NormalParamExtractor())
    network = TensorDictModule(layers, ["observation"], ["loc", "scale"])
    policy = ProbabilisticActor(network, in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True)
    return policy, observation()


def critic_in_training():
    """Batch normalisation on both sides of a sample."""
    critic = TensorDictModule(nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)), ["action"], ["value"])
    return TensorDictSequential(*actor_in_training()[0], critic), observation()


# Modules that are exported with train=True, and those that this refuses.
TRAINED = [in_training, actor_in_training, critic_in_training]
BAD_TRAINED = {cumulative_statistics: "has no momentum", dropout_in_training: "keeps its mask from call to call in training"}

BAD = {
    no_draws: "num_samples is 0",
    scored_action_of_the_network: "writes 'action' itself",
    unknown_distribution: "VonMises",
    mixture_of_bounded: "MixtureSameFamily of TanhNormal is not supported; of Normal",
    transform_of_another_kind: "the transform CumulativeDistributionTransform is not supported",
    transformed_uniform: "transforms a distribution Uniform; of Normal",
    transform_that_lies: "is not the Transformed of the library: the value differs",
    log_prob_of_tanh_delta: "is one of two infinities",
    scale_of_the_values: "the distribution's transforms depends on the values of its parameters",
    bounds_of_the_values: "the distribution's high depends on the values of its parameters",
    another_of_that_name: "is not the TanhNormal of the library: the value differs",
    bounds_of_rows: "differs among rows",
    undeclared_output: "writes the entry 'half', which none of its out_keys names",
    removed_entry: "removes the entry 'observation'",
    changed_input: "changes its input 'observation' in place",
    whole_episodes: "is in recurrent mode",
    exploring: "the network draws random numbers",
    median_that_python_lacks: "the module itself fails on the example: NotImplementedError",
    last_state: "the module keeps something in itself",
    branch_that_fails: "a branch depends on the values of 'observation'",
    own_counter: "changes the module's own tensor 'module.calls'",
    tolerant: "is partial_tolerant",
    hook_of_a_sample: "has a hook",
    branch_on_numbers: "a branch depends on the values of 'observation'",
    branch_on_size: "a branch or a loop depends on the batch size",
    branch_on_a_list: "a branch depends on the values of 'observation'",
    branch_on_numpy: "a branch depends on the values of 'observation'",
    no_python_outside: "cannot be exported",
    missing_input: "lacks the input 'observation'",
    whole_input: "the input 'n' is no tensor",
    text_input: "the input 'text' is no tensor",
    no_module: "wrap it in a TensorDictModule",
}
