#!/usr/bin/env python3
"""Data sets of LeRobot, and this library: recordings.py TDTOOL SET_GROWS

LeRobot writes a set, tdtool reads and writes it, and LeRobot opens what was written, finds the same in each frame, and records on.
set_grows.c records a set by episodes and is killed, again and again: LeRobot opens what is there, with all episodes, and records on.
LeRobot writes videos, and the frames that tdtool reads, and those of its copy, are the ones that PyAV decodes.
random_sets.py has those at random, and of other kinds.
Skips, with a word why, what is not installed.
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from tensordict import TensorDict

TDTOOL, SET_GROWS = sys.argv[1:]


def tdtool(*arguments):
    done = subprocess.run([TDTOOL, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def lerobot_sets(folder):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    random = np.random.default_rng(0)
    features = {
        "observation.state": {"dtype": "float32", "shape": (4,), "names": ["a", "b", "c", "d"]},
        "action": {"dtype": "float64", "shape": (2,), "names": None},
        "pose": {"dtype": "float32", "shape": (2, 3), "names": None},
        "observation.images.front": {"dtype": "image", "shape": (24, 32, 3), "names": ["height", "width", "channels"]},
    }

    def record(dataset, lengths):
        for episode, length in enumerate(lengths):
            for step in range(length):
                dataset.add_frame({
                    "observation.state": random.normal(size=4).astype(np.float32),
                    "action": random.normal(size=2),
                    "pose": random.normal(size=(2, 3)).astype(np.float32),
                    "observation.images.front": random.integers(0, 256, (24, 32, 3), dtype=np.uint8),
                    "task": ["push", "ziehe die Tür"][(episode + step // 2) % 2],
                })
            dataset.save_episode()
        dataset.finalize()

    def load(path):
        return LeRobotDataset("local/set", root=path)

    def same(one, other):
        assert len(one) == len(other) and one.num_episodes == other.num_episodes and one.fps == other.fps
        for i in range(len(one)):
            a, b = one[i], other[i]
            assert set(a) == set(b), set(a) ^ set(b)
            for key, value in a.items():
                equal = value == b[key] if isinstance(value, str) else torch.equal(value, b[key]) and value.dtype == b[key].dtype
                assert equal, (i, key, value, b[key])
        assert one.meta.features == other.meta.features
        for key, stats in one.meta.stats.items():
            for name in ("min", "max", "mean", "count") + (() if "images" in key else ("std",)):
                assert np.allclose(np.asarray(stats[name], float), np.asarray(other.meta.stats[key][name], float), atol=1e-5), (key, name)

    made, copy = folder / "made", folder / "copy"
    record(LeRobotDataset.create("local/set", fps=10, features=features, root=made, use_videos=False), [5, 2, 6])
    tdtool("convert", made, copy, "--as", "lerobot")
    same(load(made), load(copy))
    front = np.stack([load(copy)[i]["observation.images.front"].numpy() for i in range(13)])
    std = np.asarray(load(copy).meta.stats["observation.images.front"]["std"])
    assert np.allclose(std.ravel(), front.std(axis=(0, 2, 3)), atol=1e-3), std
    window = LeRobotDataset("local/set", root=copy, delta_timestamps={"action": [-0.1, 0, 0.1]})
    assert window[3]["action"].shape == (3, 2)
    record(load(copy), [3])
    assert load(copy).num_episodes == 4 and len(load(copy)) == 16
    print(tdtool("show", copy).splitlines()[0])


def lerobot_videos(folder):
    import av
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    camera = "observation.images.front"
    features = {camera: {"dtype": "video", "shape": (64, 96, 3), "names": ["height", "width", "channels"]},
                "action": {"dtype": "float32", "shape": (2,), "names": None}}
    made, copy, plain = folder / "made", folder / "copy", folder / "plain"
    dataset = LeRobotDataset.create("local/set", fps=10, features=features, root=made, use_videos=True)
    for length in (5, 2, 6):
        for step in range(length):
            picture = np.zeros((64, 96, 3), np.uint8)
            picture[:, : step * 8 + 8] = 40 * step + 20
            picture[step * 4 :, :, 1] = 200
            dataset.add_frame({camera: picture, "action": np.full(2, step, np.float32), "task": "push"})
        dataset.save_episode()
    dataset.finalize()

    def frames(path):
        files = sorted((path / "videos").rglob("*.mp4"))
        return np.stack([frame.to_ndarray(format="rgb24") for file in files for frame in av.open(str(file)).decode(video=0)])

    tdtool("convert", made, copy, "--as", "lerobot")
    tdtool("convert", made, plain, "--as", "tensordict")
    wanted = frames(made)
    assert np.array_equal(frames(copy), wanted)
    assert np.array_equal(TensorDict.load_memmap(plain)["observation", "image", "front"].numpy(), wanted)
    one, other = (LeRobotDataset("local/set", root=path).meta for path in (made, copy))
    assert one.features == other.features and len(one.episodes) == len(other.episodes)
    for key in one.episodes.column_names:
        if key.startswith("videos/"):
            assert one.episodes[key] == other.episodes[key], key
    print(f"LeRobot's videos: {len(wanted)} frames")


def grown_sets(folder):
    from sets_of_lerobot import library

    LeRobotDataset = library()
    place, rnd, kills = folder / "grown", random.Random(0), 0

    def check(least):
        dataset = LeRobotDataset("local/set", root=place)
        assert dataset.num_episodes >= least, (dataset.num_episodes, least)
        row = 0
        for episode in range(dataset.num_episodes):
            for step in range(3 + episode % 4):
                frame = dataset[row]
                assert (int(frame["episode_index"]), int(frame["frame_index"]), int(frame["index"])) == (episode, step, row)
                assert frame["task"] == f"task {episode // 5}" and abs(float(frame["timestamp"]) - step / 20) < 1e-6
                assert frame["observation.state"].tolist() == [100 * episode + 10 * step + j for j in range(4)]
                assert frame["action"].tolist() == [(episode - step) / 2] * 2 and float(frame["next.reward"]) == step
                assert round(float(frame["observation.images.top"].max()) * 255) == (episode * 7 + step) % 256
                row += 1
        assert row == len(dataset)
        return dataset

    there = 0
    while there < 40:
        with subprocess.Popen([SET_GROWS, place, "40", "1000"], stdout=subprocess.PIPE, text=True) as grows:
            lines = [grows.stdout.readline()]
            time.sleep(rnd.random() * 0.1)
            grows.kill()
            lines += grows.stdout.read().split()
        kills += 1
        there = int(lines[-1])
        check(there)
    subprocess.run([SET_GROWS, place, "40"], check=True, stdout=subprocess.DEVNULL)
    assert tdtool("verify", place) is not None
    dataset = check(40)
    states = np.stack([dataset[i]["observation.state"].numpy() for i in range(len(dataset))]).astype(float)
    stats = dataset.meta.stats["observation.state"]
    assert np.allclose(stats["mean"], states.mean(0)) and np.allclose(stats["std"], states.std(0))
    assert stats["count"] == [len(dataset)] and np.allclose(stats["max"], states.max(0))
    for step in range(3):  # episode 40, by LeRobot
        dataset.add_frame({"observation.state": np.float32([4000 + 10 * step + j for j in range(4)]), "action": np.full(2, (40 - step) / 2),
                           "next.reward": np.float32([step]), "observation.images.top": np.full((8, 10, 3), (280 + step) % 256, np.uint8),
                           "task": "task 8"})
    dataset.save_episode()
    dataset.finalize()
    check(41)
    subprocess.run([SET_GROWS, place, "45"], check=True, stdout=subprocess.DEVNULL)
    check(45)
    print(f"grown sets: 45 episodes, killed {kills} times")


try:
    import lerobot
except ImportError as missing:
    sys.exit(print(f"skip: data sets of LeRobot: {missing}"))
for test in (lerobot_sets, grown_sets, lerobot_videos):
    with tempfile.TemporaryDirectory() as scratch:
        test(pathlib.Path(scratch))
