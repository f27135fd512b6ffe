#!/usr/bin/env python3
"""Trains a network that juggles like the script in examples/c/juggler.c, from what `rollout` has recorded.

    train_juggler.py OUT FOLDER... [--epochs N]

FOLDERs are recordings; those with --nudge show how to recover. OUT becomes an archive for `rollout --policy OUT`. Needs
Python's torch and tensordict; examples/models/juggler_policy.pt was written by this program.
"""
import argparse
import pathlib
import sys

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from export_module import export  # noqa: E402


# [policy]
class Juggler(nn.Module):
    """From position and velocity of all joints to what the motors shall do."""

    def __init__(self, positions, velocities, motors, width=48):
        super().__init__()
        self.register_buffer("mean", torch.zeros(positions + velocities))
        self.register_buffer("scale", torch.ones(positions + velocities))
        self.layers = nn.Sequential(
            nn.Linear(positions + velocities, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, motors)
        )

    def forward(self, position, velocity):
        state = torch.cat([position, velocity], -1).float()
        return self.layers((state - self.mean) / self.scale)


def make_policy(step):
    network = Juggler(*(step[key].shape[-1] for key in (("observation", "position"), ("observation", "velocity"), "action")))
    return TensorDictModule(network, [("observation", "position"), ("observation", "velocity")], ["action"])
# [/policy]


def load(folders):
    """All steps of all recordings, in one row."""
    keys = [("observation", "position"), ("observation", "velocity"), "action"]
    return torch.cat([TensorDict.load_memmap(folder).select(*keys).clone().reshape(-1) for folder in folders])


def train(policy, steps, epochs, batch=512):
    network = policy.module
    state = torch.cat([steps["observation", "position"], steps["observation", "velocity"]], -1).float()
    network.mean.copy_(state.mean(0))
    network.scale.copy_(state.std(0).clamp_min(1e-3))
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(steps)).split(batch):
            part = steps[rows]
            loss = (policy(part.exclude("action"))["action"] - part["action"]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(rows)
        schedule.step()
        if epoch % 5 == 4 or epoch == epochs - 1:
            print(f"epoch {epoch + 1}: loss {total / len(steps):.6f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("folders", metavar="FOLDER", nargs="+")
    parser.add_argument("--epochs", type=int, default=30)
    given = parser.parse_args()
    torch.manual_seed(0)
    steps = load(given.folders)
    # [train]
    policy = make_policy(steps[0])
    train(policy, steps, given.epochs)
    export(policy, steps[:8], given.out)
    # [/train]


main()
