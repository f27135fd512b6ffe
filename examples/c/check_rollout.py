#!/usr/bin/env python3
"""Runs rollout and read_rollout and reads the folder a second time, with nothing but files.

usage: check_rollout.py ROLLOUT READ_ROLLOUT MODEL [DIGITS_DIR]
"""
import array
import json
import pathlib
import re
import subprocess
import sys
import tempfile

EPISODES, STEPS, ROWS = 6, 40, 16
DTYPES = {
    "observation/position": ("torch.float64", 12, 8),
    "observation/velocity": ("torch.float64", 11, 8),
    "observation/sensor": ("torch.float32", 7, 4),
    "action": ("torch.float32", 5, 4),
    "next/reward": ("torch.float32", 1, 4),
    "next/done": ("torch.bool", 1, 1),
    "step": ("torch.int32", 1, 4),
    "info/contacts": ("torch.uint8", 1, 1),
    "info/episode": ("torch.int64", 1, 8),
}
MASK = (1 << 64) - 1


def fnv1a(data):
    value = 14695981039346656037
    for byte in data:
        value = ((value ^ byte) * 1099511628211) & MASK
    return value


def mixed(seed, number):
    """The last step of SplitMix64, as the loader has it."""
    x = (seed + (number + 1) * 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def chosen_rows(count, rows):
    """The first rows of the first epoch that a loader shuffles by seed 42; it keeps orders of up to 65,536 rows."""
    order, seed = list(range(rows)), mixed(42, 0)
    for i in range(rows - 1, 0, -1):
        other = mixed(seed, i) * (i + 1) >> 64
        order[i], order[other] = order[other], order[i]
    return order[:count]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found!r}, expected {wanted!r}")


def check_layout(folder):
    for path, (dtype, width, size) in DTYPES.items():
        file = folder / (path + ".memmap")
        meta = json.loads((file.parent / "meta.json").read_text())[file.stem]
        expect(f"dtype of {path}", meta["dtype"], dtype)
        expect(f"shape of {path}", meta["shape"], [EPISODES, STEPS, width])
        expect(f"bytes of {path}", file.stat().st_size, EPISODES * STEPS * width * size)
    expect("batch size", json.loads((folder / "meta.json").read_text())["shape"], [EPISODES, STEPS])


def values(folder, path, code):
    return array.array(code, (folder / (path + ".memmap")).read_bytes())


def check_values(folder):
    rows = EPISODES * STEPS
    expect("steps", list(values(folder, "step", "i")), [row % STEPS for row in range(rows)])
    expect("episodes", list(values(folder, "info/episode", "q")), [row // STEPS for row in range(rows)])
    done = values(folder, "next/done", "B")
    expect("last step of each episode", [done[row] for row in range(STEPS - 1, rows, STEPS)], [1] * EPISODES)
    position = values(folder, "observation/position", "d")
    height = position[7::12]
    if not (0.8 < height[0] < 1.0 and max(height) < 3):
        sys.exit(f"the ball begins at {height[0]} and comes up to {max(height)}")
    if not any(values(folder, "info/contacts", "B")):
        sys.exit("the ball has never touched the tray")
    if len(set(values(folder, "action", "f"))) < rows:
        sys.exit("the controls hardly vary")


def expected_line(folder):
    reward = values(folder, "next/reward", "f")
    returns = array.array("d")
    for episode in range(EPISODES):
        total = 0.0
        for value in reward[episode * STEPS : (episode + 1) * STEPS]:
            total += value
        returns.append(total)
    mean = 0.0
    for value in returns:
        mean += value
    mean /= EPISODES
    position = (folder / "observation/position.memmap").read_bytes()
    batch = b"".join(position[row * 96 : row * 96 + 96] for row in chosen_rows(ROWS, EPISODES * STEPS))
    return f"returns {fnv1a(returns.tobytes()):016x} mean {mean:.6f} minibatch {fnv1a(batch):016x}"


def expected_digits(digits):
    label = values(pathlib.Path(digits), "label", "q")
    counts = [0] * 10
    for row in chosen_rows(256, len(label)):
        counts[label[row]] += 1
    return "digits " + " ".join(f"{digit}:{count}" for digit, count in enumerate(counts))


def main():
    rollout, reader, model, *digits = sys.argv[1:]
    size = ["--episodes", str(EPISODES), "--steps", str(STEPS), "--model", model]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "first"
        again = pathlib.Path(scratch) / "again"
        summary = run(rollout, *size, str(folder))
        run(rollout, *size, str(again))
        for file in folder.rglob("*.memmap"):
            expect(f"second run of {file.name}", (again / file.relative_to(folder)).read_bytes() == file.read_bytes(), True)
        # A network that was trained in Python plays, and loses no ball.
        played = run(rollout, *size, "--policy", str(pathlib.Path(model).with_name("juggler_policy.pt")), str(pathlib.Path(scratch) / "played"))
        expect("drops", re.search(r"the ball fell (\d+) times", played).group(1), "0")
        expect("steps told", re.search(r"(\d+) steps, ", summary).group(1), str(EPISODES * STEPS))
        check_layout(folder)
        check_values(folder)
        lines = run(reader, str(folder), *digits).splitlines()
        expect("first line", lines[0], f"TensorDict(batch_size=[{EPISODES},{STEPS}], device=cpu, fields={{")
        expect("minibatch", [line for line in lines if line.startswith("minibatch")], ["minibatch of batch size [16]"])
        expect("returns", [line for line in lines if line.startswith("returns")], [expected_line(folder)])
        if digits:
            expect("digits", lines[-1], expected_digits(digits[0]))


main()
