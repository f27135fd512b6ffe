"""More modules for tools/export_module.py: those of TorchRL that modules.py has not, and layers of torch that trip exporters.
Each is left out where TorchRL lacks it."""
import torch
from modules import ROWS, mlp, observation
from tensordict import TensorDict
from tensordict.nn import InteractionType, NormalParamExtractor, TensorDictModule, TensorDictSequential
from torch import nn


def rl():
    """The modules of TorchRL; an ImportError leaves the case out."""
    from torchrl import modules

    return modules


def given(**entries):
    return TensorDict(entries, [ROWS])


def of(network, *keys, out=("action",), **entries):
    """A network of these entries, and an example of them."""
    return TensorDictModule(network, list(keys or entries), list(out)), given(**entries)


# Networks of usual shapes.


def layer_norm():
    network = rl().MLP(4, 2, depth=2, num_cells=8, norm_class=nn.LayerNorm, norm_kwargs={"normalized_shape": 8}, dropout=0.3)
    return TensorDictModule(network, ["observation"], ["action"]), observation()


def lazy_layers():
    """Their sizes become known in the first call."""
    return TensorDictModule(rl().MLP(out_features=(3, 2), depth=1, num_cells=8), ["observation"], ["action"]), observation()


def dueling_of_pixels():
    network = rl().DuelingCnnDQNet(4)
    return rl().QValueActor(network, in_keys=["pixels"], action_space="one_hot"), given(pixels=torch.rand(ROWS, 3, 84, 84))


def dueling():
    from torchrl.modules.models import DuelingMlpDQNet

    features = {"in_features": 4, "num_cells": [8], "out_features": 8, "depth": 1}
    network = DuelingMlpDQNet(3, mlp_kwargs_feature=features)
    return rl().QValueActor(network, in_keys=["observation"], action_space="categorical"), observation()


def ddpg():
    """The actor, and the critic that judges what it does."""
    actor = TensorDictModule(rl().DdpgMlpActor(2), ["observation"], ["action"])
    return TensorDictSequential(actor, rl().ValueOperator(rl().DdpgMlpQNet(), in_keys=["observation", "action"])), observation()


def ddpg_of_pixels():
    return of(rl().DdpgCnnActor(2), out=("action", "hidden"), pixels=torch.rand(ROWS, 3, 64, 64))


def video():
    network = rl().Conv3dNet(in_features=2, num_cells=[4, 4], kernel_sizes=2, strides=1, depth=2)
    return of(network, video=torch.rand(ROWS, 2, 5, 6, 6))


def bounded_actor():
    last = rl().TanhModule(in_keys=["action"], low=-2.0, high=torch.tensor([1.0, 3.0]), clamp=True)
    return TensorDictSequential(TensorDictModule(mlp(2), ["observation"], ["action"]), last), observation()


def projected_actor():
    """What is out of bounds is moved inside, by a hook."""
    from torchrl.data import Bounded

    return rl().Actor(mlp(2), in_keys=["observation"], spec=Bounded(-0.1, 0.1, shape=(2,)), safe=True), observation()


def masked_values():
    td = observation().set("action_mask", torch.tensor([True, False, True]).expand(ROWS, 3).clone())
    return rl().QValueActor(mlp(3), in_keys=["observation"], action_space="one_hot", action_mask_key="action_mask"), td


def distributional_one_hot():
    network = rl().MLP(in_features=4, out_features=(7, 3), depth=1, num_cells=8)
    support = torch.linspace(-1, 1, 7)
    return rl().DistributionalQValueActor(network, support=support, in_keys=["observation"], action_space="one_hot"), observation()


def actor_and_value():
    network = TensorDictModule(nn.Sequential(mlp(4), NormalParamExtractor()), ["observation"], ["loc", "scale"])
    kind = rl().IndependentNormal
    actor = rl().ProbabilisticActor(network, in_keys=["loc", "scale"], distribution_class=kind, return_log_prob=True)
    return rl().ActorCriticWrapper(actor, rl().ValueOperator(mlp(1), in_keys=["observation"])), observation()


# Memories.


def memory(layer, layers, **options):
    module = getattr(rl(), layer)(input_size=4, hidden_size=6, num_layers=layers, in_key="observation", out_key="features", **options)
    td = observation().set("is_init", torch.zeros(ROWS, 1, dtype=torch.bool))
    for key in module.in_keys:
        if key not in td.keys():
            td[key] = torch.randn(ROWS, layers, 6)
    return module, td


def lstm_of_layers():
    module, td = memory("LSTMModule", 2, dropout=0.2)
    return TensorDictSequential(module, TensorDictModule(nn.Linear(6, 2), ["features"], ["action"])), td


def gru_of_python():
    module, td = memory("GRUModule", 2, python_based=True)
    return TensorDictSequential(module, TensorDictModule(nn.Linear(6, 2), ["features"], ["action"])), td


def remembering_actor():
    module, td = memory("GRUModule", 2, bias=False)
    network = TensorDictModule(nn.Sequential(nn.Linear(6, 4), NormalParamExtractor()), ["features"], ["loc", "scale"])
    kind = rl().TanhNormal
    actor = rl().ProbabilisticActor(network, in_keys=["loc", "scale"], distribution_class=kind, return_log_prob=True)
    return TensorDictSequential(module, actor), td


def two_memories():
    first = rl().GRUModule(input_size=4, hidden_size=6, in_keys=["observation", "h1", "is_init"], out_keys=["seen", ("next", "h1")])
    keys = ["seen", "h2", "c2", "is_init"], ["action", ("next", "h2"), ("next", "c2")]
    second = rl().LSTMModule(input_size=6, hidden_size=3, in_keys=keys[0], out_keys=keys[1])
    td = observation().set("is_init", torch.zeros(ROWS, 1, dtype=torch.bool)).set("h1", torch.randn(ROWS, 1, 6))
    return TensorDictSequential(first, second), td.update({"h2": torch.randn(ROWS, 1, 3), "c2": torch.randn(ROWS, 1, 3)})


# Several agents.


def mixed_values():
    """VDNMixer and QMixer of the same values."""
    both = [
        TensorDictModule(rl().VDNMixer(n_agents=3, device="cpu"), [("agents", "q")], ["sum"]),
        TensorDictModule(rl().QMixer(state_shape=(6,), mixing_embed_dim=8, n_agents=3, device="cpu"), [("agents", "q"), "state"], ["q"]),
    ]
    return TensorDictSequential(*both), given(agents={"q": torch.randn(ROWS, 3, 1)}, state=torch.randn(ROWS, 6))


def agents_that_draw():
    """Their dictionary has the agents in its batch."""
    network = nn.Sequential(
        rl().MultiAgentMLP(4, 4, n_agents=3, depth=1, num_cells=8, centralized=True, share_params=False), NormalParamExtractor()
    )
    keys = [("agents", "loc"), ("agents", "scale")]
    actor = rl().ProbabilisticActor(
        TensorDictModule(network, [("agents", "observation")], keys),
        in_keys=keys,
        out_keys=[("agents", "action")],
        distribution_class=rl().TanhNormal,
        return_log_prob=True,
    )
    return actor, given(agents=TensorDict({"observation": torch.randn(ROWS, 3, 4)}, [ROWS, 3]))


def groups_of_agents():
    spec = rl().CrossCriticGroupSpec
    groups = {"a": spec(4, 2, ("a", "observation"), ("a", "value")), "b": spec(3, 1, ("b", "observation"), ("b", "value"))}
    td = given(a={"observation": torch.randn(ROWS, 2, 4)}, b={"observation": torch.randn(ROWS, 1, 3)})
    return rl().CrossGroupCritic(groups), td


# Models of a world.


def dreamer():
    network = TensorDictModule(rl().DreamerActor(out_features=2, depth=1, num_cells=8), ["state", "belief"], ["loc", "scale"])
    limits = {"tanh_loc": True}
    actor = rl().ProbabilisticActor(network, in_keys=["loc", "scale"], distribution_class=rl().TanhNormal, distribution_kwargs=limits)
    return actor, given(state=torch.randn(ROWS, 6), belief=torch.randn(ROWS, 5))


def dreamer_of_classes():
    actor = rl().DreamerV3DiscreteActor(11, 3, depth=2, num_cells=16)
    actor[-1].default_interaction_type = InteractionType.MODE  # it draws unless told otherwise
    return actor, given(state=torch.randn(ROWS, 6), belief=torch.randn(ROWS, 5))


def dreamed_images():
    from torchrl.modules import ObsDecoder, ObsEncoder

    see = TensorDictModule(ObsEncoder(channels=4, num_layers=2, in_channels=3), ["pixels"], ["seen"])
    return TensorDictSequential(see, TensorDictModule(ObsDecoder(channels=4), ["state", "belief"], ["dreamed"])), given(
        pixels=torch.rand(ROWS, 3, 64, 64), state=torch.randn(ROWS, 6), belief=torch.randn(ROWS, 5)
    )


def blocks_of_memory():
    cell = rl().DreamerV3BlockGRUCell(4, 16, projection_size=16, num_blocks=4)
    return of(cell, out=(("next", "h"),), observation=torch.randn(ROWS, 4), h=torch.randn(ROWS, 16))


def world():
    parts = [(mlp(3), ["observation"], ["state"]), (rl().MLP(5, 3, depth=1, num_cells=8), ["state", "action"], ["state"]), (mlp(1, 3), ["state"], ["reward"])]
    module = rl().WorldModel(*(TensorDictModule(*one) for one in parts), done_head=TensorDictModule(mlp(1, 3), ["state"], ["ends"]))
    return module, observation().set("action", torch.randn(ROWS, 2))


def value_in_classes():
    return TensorDictModule(nn.Sequential(mlp(255), rl().SymExpTwoHot()), ["observation"], ["value"]), observation()


def radial_basis():
    controller = rl().RBFController(3, 2, 1.0, n_basis=4)
    spread = torch.eye(3).expand(ROWS, 3, 3).clone() * 0.1
    return of(controller, out=("action", "covariance", "cross"), mean=torch.randn(ROWS, 3), spread=spread)


def chunks_of_actions():
    from torchrl.modules.models import ACTModel

    network = ACTModel(4, 2, 3, hidden_dim=16, nheads=2, num_encoder_layers=1, num_decoder_layers=1, latent_dim=4)
    return TensorDictModule(network, ["observation"], ["action", "mu", "log_var"]), observation()


# Distributions whose parameters have other names.


def chi2():
    from modules import positive
    from torch import distributions as D

    return positive(D.Chi2, "df")


def low_rank():
    from modules import sampled
    from torch import distributions as D

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp(9)

        def forward(self, x):
            loc, factor, diag = self.layers(x).chunk(3, -1)
            return loc, factor.unsqueeze(-1), diag.exp()

    names = ["loc", "cov_factor", "cov_diag"]
    network = TensorDictModule(Heads(), ["observation"], names)
    return sampled(D.LowRankMultivariateNormal, names, network=network), observation()


# Normalisation.


def renormalised():
    return TensorDictModule(nn.Sequential(rl().BatchRenorm1d(4), mlp(2)), ["observation"], ["action"]), observation()


def scaled_value():
    norm = rl().PopArtValueNorm(shape=1)
    norm.update(torch.randn(20, 1) * 3 + 2)

    class Value(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.norm = mlp(1), norm

        def forward(self, x):
            return self.norm.denormalize(self.layers(x))

    return rl().ValueOperator(Value(), in_keys=["observation"]), observation()


# Layers of torch.


def parametrized():
    from torch.nn.utils import parametrizations

    layers = [parametrizations.weight_norm(nn.Linear(4, 4)), parametrizations.spectral_norm(nn.Linear(4, 4))]
    network = nn.Sequential(*layers, parametrizations.orthogonal(nn.Linear(4, 4)), nn.utils.weight_norm(nn.Linear(4, 2)))
    return TensorDictModule(network, ["observation"], ["action"]), observation()


def attending():
    class Attends(nn.Module):
        def __init__(self):
            super().__init__()
            self.attend, self.turn = nn.MultiheadAttention(8, 2, batch_first=True), nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

        def forward(self, x, y):
            seen, weights = self.attend(x, x, x)
            return self.turn(seen, y, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3)), weights

    return of(Attends(), out=("y", "weights"), x=torch.randn(ROWS, 6, 8), past=torch.randn(ROWS, 3, 8))


def resampled():
    """What images are put through."""

    class Warp(nn.Module):
        def __init__(self):
            super().__init__()
            self.turn = nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.PixelShuffle(2))
            self.small = nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.AdaptiveAvgPool2d(4))

        def forward(self, image, how):
            grid = nn.functional.affine_grid(how, [image.shape[0], 3, 5, 5], align_corners=False)
            return self.small(self.turn(image)), nn.functional.grid_sample(image, grid, align_corners=False)

    return of(Warp(), out=("small", "moved"), pixels=torch.rand(ROWS, 3, 6, 6), how=torch.randn(ROWS, 2, 3))


def ordered():
    def forward(x, place):
        largest, where = x.topk(2, -1)
        counted = torch.zeros(*x.shape[:-1], 6).scatter_add(-1, place, x)
        return largest, where, x.sort(-1).values, x.cumsum(-1), counted, x > 0

    td = observation().set("place", torch.randint(6, (ROWS, 4)))
    return TensorDictModule(forward, ["observation", "place"], ["largest", "where", "sorted", "sums", "counted", "positive"]), td


def spectrum():
    return TensorDictModule(lambda x: (torch.fft.rfft(x, dim=-1), torch.fft.rfft(x, dim=-1).abs()), ["observation"], ["waves", "power"]), observation()


def half_as_long():
    td = given(observation=torch.randn(ROWS, 4, dtype=torch.bfloat16))
    return TensorDictModule(mlp(2).to(torch.bfloat16), ["observation"], ["action"]), td


GOOD = [
    layer_norm, lazy_layers, dueling_of_pixels, dueling, ddpg, ddpg_of_pixels, video, bounded_actor, projected_actor, masked_values,
    distributional_one_hot, actor_and_value, lstm_of_layers, gru_of_python, remembering_actor, two_memories, mixed_values, agents_that_draw,
    groups_of_agents, dreamer, dreamer_of_classes, dreamed_images, blocks_of_memory, world, value_in_classes, radial_basis,
    chunks_of_actions, chi2, low_rank, renormalised, scaled_value, parametrized, attending, resampled, ordered, spectrum, half_as_long,
]  # fmt: skip


# What cannot be exported, and a part of the message.


def guarded_actor():
    """A sample that is moved within its bounds by a hook."""
    from torchrl.data import Bounded

    network = TensorDictModule(nn.Sequential(mlp(4), NormalParamExtractor()), ["observation"], ["loc", "scale"])
    spec = Bounded(-1.0, 1.0, shape=(2,))
    return rl().ProbabilisticActor(network, in_keys=["loc", "scale"], spec=spec, distribution_class=rl().TanhNormal, safe=True), observation()


def greedy():
    from torchrl.data import OneHot

    actor = rl().QValueActor(mlp(3), in_keys=["observation"], spec=OneHot(3))
    return TensorDictSequential(actor, rl().EGreedyModule(spec=OneHot(3), eps_init=0.5)), observation()


def noise_of_a_process():
    from torchrl.data import Bounded

    spec = Bounded(-1.0, 1.0, shape=(2,))
    noise = rl().OrnsteinUhlenbeckProcessModule(spec=spec)
    td = observation().set("is_init", torch.zeros(ROWS, 1, dtype=torch.bool))
    return TensorDictSequential(rl().Actor(mlp(2), in_keys=["observation"], spec=spec), noise), td


def dreamed_state():
    """It draws inside the network."""
    return of(rl().RSSMPosterior(hidden_dim=8, state_dim=4), out=("loc", "scale", "state"), belief=torch.randn(ROWS, 8), seen=torch.randn(ROWS, 6))


def denoised():
    return rl().DiffusionActor(action_dim=2, obs_dim=4, num_steps=5), observation()


def gumbel():
    """A transform whose numbers the network computes."""
    from modules import sampled
    from torch import distributions as D

    return sampled(D.Gumbel, ["loc", "scale"]), observation()


BAD = {
    gumbel: "sample here with td_module_from_function()",
    guarded_actor: "as safe=True adds one",
    greedy: "leave out what explores",
    noise_of_a_process: "leave out what explores",
    dreamed_state: "the network draws random numbers",
    denoised: "the network draws random numbers",
}
