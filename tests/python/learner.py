#!/usr/bin/env python3
"""Pushes weights into a folder until a program that takes them has seen enough: learner.py ACTOR DIR

Writes a policy into DIR with export_module.py, maps its parameters beside a number that is odd while they are
written, and starts ACTOR.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import modules  # noqa: E402
import torch  # noqa: E402
from export_module import export  # noqa: E402
from tensordict import TensorDict  # noqa: E402

actor, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
policy, td = modules.normal()
export(policy, td, folder / "policy.pt")

# [push]
shared = TensorDict({"params": TensorDict.from_module(policy).data, "sequence": torch.zeros(1, dtype=torch.int64)})
shared = shared.memmap(folder / "weights")


def push(params):
    """An odd number, the values, an even number."""
    shared["sequence"].add_(1)
    shared["params"].update_(params)
    shared["sequence"].add_(1)
# [/push]


process = subprocess.Popen([actor, str(folder / "policy.pt"), str(folder / "weights"), "20"])
value = 0
push(shared["params"].apply(torch.zeros_like))
while process.poll() is None:
    value += 1
    push(shared["params"].apply(lambda tensor: torch.full_like(tensor, value)))
print(f"pushed {value} sets")
sys.exit(process.returncode)
