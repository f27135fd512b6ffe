#!/usr/bin/env python3
"""The same learning in Python, with TorchRL and Gymnasium, for comparison: with_torchrl.py cartpole.pt [--until N] [--curve]

As many environments, steps, rows and epochs as ppo.c, the same first weights, losses and optimiser, until the last 50
episodes lasted N steps on average (475). Prints how many steps a second it took in all, and with --curve how long episodes
last on the way. Fails if the network has not learnt after 500,000 steps.
"""
import argparse
import collections
import sys
import time

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import Compose, GymEnv, RewardSum, SerialEnv, TransformedEnv
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

POLES, STEPS, ROWS, EPOCHS, EPISODES, MOST = 8, 64, 128, 8, 50, 500_000


def layers(outputs, saved, name):
    network = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    network.load_state_dict({key.split(name)[1]: value for key, value in saved.items() if name in key})
    return network


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("network")
    parser.add_argument("--until", type=int, default=475)
    parser.add_argument("--curve", action="store_true")
    wanted = parser.parse_args()
    torch.manual_seed(0)
    saved = torch.jit.load(wanted.network).state_dict()
    actor = ProbabilisticActor(
        TensorDictModule(layers(2, saved, "actor."), ["observation"], ["logits"]),
        in_keys=["logits"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )
    critic = ValueOperator(layers(1, saved, "critic."), in_keys=["observation"])
    env = TransformedEnv(
        SerialEnv(POLES, lambda: GymEnv("CartPole-v1", categorical_action_encoding=True)), Compose(RewardSum())
    )
    collector = Collector(env, actor, frames_per_batch=STEPS * POLES, total_frames=MOST)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss_of = ClipPPOLoss(
        actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=1.0, loss_critic_type="l2", normalize_advantage=True
    )
    optimizer = torch.optim.Adam(loss_of.parameters(), 1e-3)
    rows = ReplayBuffer(storage=LazyTensorStorage(STEPS * POLES), sampler=SamplerWithoutReplacement(), batch_size=ROWS)
    lengths = collections.deque(maxlen=EPISODES)
    began = time.monotonic()
    steps = 0
    learning = 0.0
    for rollout in collector:
        steps += rollout.numel()
        done = rollout["next", "done"]
        lengths.extend(rollout["next", "episode_reward"][done].tolist())
        before = time.monotonic()
        with torch.no_grad():
            advantage(rollout)
        rows.empty()
        rows.extend(rollout.reshape(-1))
        for _ in range(EPOCHS):
            for _ in range(STEPS * POLES // ROWS):
                loss = loss_of(rows.sample())
                (loss["loss_objective"] + 0.5 * loss["loss_critic"] + loss["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
        learning += time.monotonic() - before
        mean = sum(lengths) / EPISODES if len(lengths) == EPISODES else 0
        if wanted.curve:
            print(steps, round(mean), flush=True)
        if mean >= wanted.until:
            break
    took = time.monotonic() - began
    print(
        f"{took:.1f} s for {steps} steps: {steps / took:.0f} steps a second, {steps / (took - learning):.0f} of acting alone",
        file=sys.stderr,
    )
    print(f"it {'balances' if mean >= wanted.until else 'does not balance'} for {wanted.until} steps")
    return 0 if mean >= wanted.until else 1


if __name__ == "__main__":
    sys.exit(main())
