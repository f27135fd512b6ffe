#!/usr/bin/env python3
"""Policies of the usual kinds, exported for programs without Python: gallery.py DIR [--time]

DIR gets an archive for each, an example of its inputs, and what Python computes of them, as tests/golden2 reads it. With
--time, DIR is left as it is, and what a step costs in Python is printed instead.
"""
import json
import pathlib
import sys
import time
import warnings

import torch
from tensordict import TensorDict
from tensordict.nn import NormalParamExtractor, TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.modules import ConvNet, LSTMModule, MaskedCategorical, MultiAgentMLP, ProbabilisticActor, QValueActor, TanhNormal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from export_followers import key  # noqa: E402
from export_module import export  # noqa: E402

ROWS, STEPS = 4, 6


def mlp(inputs, outputs, width=32):
    return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs))


# [feed_forward]
def feed_forward():
    network = TensorDictModule(nn.Sequential(mlp(8, 4), NormalParamExtractor()), ["observation"], ["loc", "scale"])
    policy = ProbabilisticActor(network, in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True)
    return policy, TensorDict({"observation": torch.randn(ROWS, 8)}, [ROWS])
# [/feed_forward]


# [recurrent]
def recurrent():
    memory = LSTMModule(input_size=8, hidden_size=32, in_key="observation", out_key="features")
    policy = TensorDictSequential(memory, TensorDictModule(nn.Linear(32, 2), ["features"], ["action"]))
    example = TensorDict({
        "observation": torch.randn(ROWS, 8),
        "is_init": torch.tensor([[True], [False], [False], [True]]),
        "recurrent_state_h": torch.randn(ROWS, 1, 32),
        "recurrent_state_c": torch.randn(ROWS, 1, 32),
    }, [ROWS])
    return policy, example
# [/recurrent]


# [masked]
def masked():
    network = TensorDictModule(mlp(8, 5), ["observation"], ["logits"])
    policy = ProbabilisticActor(network, in_keys=["logits", "mask"], distribution_class=MaskedCategorical, return_log_prob=True)
    allowed = torch.tensor([False, True, True, False, True]).expand(ROWS, 5).clone()
    return policy, TensorDict({"observation": torch.randn(ROWS, 8), "mask": allowed}, [ROWS])
# [/masked]


# [image]
class FromPixels(nn.Module):
    """A network takes numbers from 0 to 1; cameras give bytes."""

    def __init__(self):
        super().__init__()
        self.see = ConvNet(in_features=3, num_cells=[8, 16], kernel_sizes=[5, 3], strides=[2, 2])
        self.value = nn.Sequential(nn.Linear(16 * 5 * 5, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, pixels):
        return self.value(self.see(pixels.float() / 255))


def image():
    policy = QValueActor(FromPixels(), in_keys=["pixels"], action_space="one_hot")
    return policy, TensorDict({"pixels": torch.randint(0, 256, (ROWS, 3, 28, 28), dtype=torch.uint8)}, [ROWS])
# [/image]


# [multi_agent]
def multi_agent():
    network = MultiAgentMLP(6, 4, n_agents=3, centralized=False, share_params=False, depth=2, num_cells=16)
    keys = [("agents", "loc"), ("agents", "scale")]
    policy = ProbabilisticActor(
        TensorDictModule(nn.Sequential(network, NormalParamExtractor()), [("agents", "observation")], keys),
        in_keys=keys, out_keys=[("agents", "action")], distribution_class=TanhNormal,
    )  # fmt: skip
    return policy, TensorDict({"agents": {"observation": torch.randn(ROWS, 3, 6)}}, [ROWS])
# [/multi_agent]


POLICIES = [feed_forward, recurrent, masked, image, multi_agent]


def made(make):
    torch.manual_seed(0)
    policy, example = make()
    return policy.eval(), example


def write(make, folder):
    policy, example = made(make)
    name = make.__name__
    export(policy, example, folder / f"{name}.pt", quiet=True)
    example.clone().memmap(folder / f"{name}_data")
    policy(example.clone()).detach().memmap(folder / f"{name}_expected")
    return {
        "kind": "module",
        "file": f"{name}.pt",
        "data": f"{name}_data",
        "expected": f"{name}_expected",
        "in_keys": [key(one) for one in policy.in_keys],
        "out_keys": [key(one) for one in policy.out_keys],
        "tolerance": 1e-5,
    }


def write_episodes(folder):
    """What the recurrent policy does in some steps of each environment, one after the other."""
    policy, state = made(recurrent)
    for name in ("recurrent_state_h", "recurrent_state_c"):
        state[name].zero_()
    steps = []
    for i in range(STEPS):
        state["observation"] = torch.randn(ROWS, 8)
        state["is_init"] = torch.tensor([[i == 0 or i == row + 1] for row in range(ROWS)])
        after = policy(state.clone())
        steps.append(after.select("observation", "is_init", "action").detach())
        for name in ("recurrent_state_h", "recurrent_state_c"):
            state[name] = after["next", name]
    torch.stack(steps).contiguous().memmap(folder / "recurrent_steps")


def cost(make):
    """Microseconds of a step: the best of some hundred."""
    policy, example = made(make)
    with torch.no_grad():
        best = 1.0
        for _ in range(500):
            td = example.clone(False)
            before = time.perf_counter()
            policy(td)
            best = min(best, time.perf_counter() - before)
    return best * 1e6


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    torch.distributions.Distribution.set_default_validate_args(False)
    if "--time" in sys.argv:
        torch.set_num_threads(1)
        for make in POLICIES:
            print(f"{make.__name__} {cost(make):.1f}")
        return
    folder.mkdir(parents=True, exist_ok=True)
    cases = [write(make, folder) for make in POLICIES]
    write_episodes(folder)
    (folder / "manifest.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")


main()
