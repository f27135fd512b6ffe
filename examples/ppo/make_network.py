#!/usr/bin/env python3
"""Writes the network that ppo.c trains, with weights as they begin: make_network.py cartpole.pt

Needs Python's torch and tensordict; examples/ppo/cartpole.pt was written by this program.
"""
import pathlib
import sys

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from export_module import export  # noqa: E402


def layers(outputs, gain):
    """Two hidden layers; the last one begins small, so that the first actions are drawn evenly."""
    linear = [nn.Linear(4, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, scale in zip(linear, [2**0.5, 2**0.5, gain], strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(linear[0], nn.Tanh(), linear[1], nn.Tanh(), linear[2])


class ActorCritic(nn.Module):
    """From what is seen to how good each action is, and how good the place is."""

    def __init__(self):
        super().__init__()
        self.actor = layers(2, 0.01)
        self.critic = layers(1, 1.0)

    def forward(self, observation):
        return self.actor(observation), self.critic(observation).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    module = TensorDictModule(ActorCritic(), ["observation"], ["logits", "value"])
    export(module, TensorDict({"observation": torch.rand(8, 4)}, [8]), sys.argv[1])
