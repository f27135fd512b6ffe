#!/usr/bin/env python3
"""Lets a policy that learnt elsewhere balance Gymnasium's pole: balances.py FILE STEPS

FILE is what examples/ppo wrote. Fails unless 20 episodes last STEPS steps on average, with the action that is most likely.
"""
import sys

import gymnasium
import torch

EPISODES = 20


def main():
    policy, least = torch.jit.load(sys.argv[1]), int(sys.argv[2])
    env, steps = gymnasium.make("CartPole-v1"), 0
    for episode in range(EPISODES):
        seen, over = env.reset(seed=episode)[0], False
        while not over:
            logits, _ = policy(torch.as_tensor(seen).unsqueeze(0))
            seen, _, fell, late, _ = env.step(int(logits.argmax()))
            steps, over = steps + 1, fell or late
    print(f"in Gymnasium {gymnasium.__version__} it balances for {steps / EPISODES:.0f} steps")
    assert steps / EPISODES >= least, "what was learnt is lost"


main()
