#!/usr/bin/env python3
"""Random data sets beside the libraries that own them: random_sets.py TDTOOL [SETS [SEED [KIND]]]

Minari, LeRobot, h5py in robomimic's and in D4RL's layout write a set at random. `tdtool verify` finds nothing wrong with it, `tdtool convert`
makes a folder of rows, which tensordict opens and finds equal, and a set of the same kind, which its library opens and finds equal.
What another kind takes without --lossy comes back from it with the same values.
Skips the kinds whose library is not installed.
"""
import base64
import importlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch
from PIL import Image
from tensordict import TensorDict

TDTOOL = sys.argv[1]
SETS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 0
KIND = sys.argv[4] if len(sys.argv) > 4 else None
WIDE = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}  # which older libtorch lacks, so they become these
KEYS = ["b", "a", "Z", "joint pos", "é", "10", "9", "_x", "state"]


def run(*arguments):
    return subprocess.run([TDTOOL, *map(str, arguments)], capture_output=True, text=True)


def tdtool(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, (arguments[0], arguments[3:], done.stdout[-600:], done.stderr[-600:])


def same(got, want, where=""):
    if isinstance(want, dict):
        assert isinstance(got, dict) and set(got) == set(want), (where, set(got), set(want))
        for key in want:
            same(got[key], want[key], f"{where}/{key}")
    elif isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want), (where, type(got))
        for i, one in enumerate(want):
            same(got[i], one, f"{where}/{i}")
    elif isinstance(want, (list, str)) or want is None:
        assert list(got) == list(want) if isinstance(want, list) else got == want, (where, got, want)
    else:
        one, other = (np.asarray(value).astype(WIDE.get(np.asarray(value).dtype.name, np.asarray(value).dtype)) for value in (got, want))
        assert one.dtype == other.dtype and one.shape == other.shape, (where, one.dtype, one.shape, other.dtype, other.shape)
        assert np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"), (where, one, other)


def same_value(one, other):
    if isinstance(one, dict):
        return isinstance(other, dict) and set(one) == set(other) and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return np.isclose(one, other)
    return np.array_equal(np.asarray(one), np.asarray(other)) and isinstance(one, str) == isinstance(other, str)


def there_and_back(folder, made, kind, suffix=""):
    """What another kind takes without --lossy comes back from it."""
    tdtool("convert", made, folder / "first", "--as", "tensordict")
    first = TensorDict.load_memmap(folder / "first")
    for other in ("minari", "lerobot", "lerobot-v2.1", "robomimic", "d4rl", "torchrl"):
        there, back, rows = folder / f"via-{other}-v0", folder / f"back-{other}{suffix}", folder / f"rows-{other[:10]}"
        lossy = []
        done = run("convert", made, there, "--as", other)
        if done.returncode != 0:
            assert done.returncode == 3 and not there.exists(), (other, done.returncode, done.stderr)
            if "needs" in done.stderr:
                continue
            assert "lossy" in done.stderr, (other, done.stderr)
            lossy = ["--lossy"]
            tdtool("convert", made, there, "--as", other, *lossy)
        if other != "robomimic":  # which wants actions between -1 and 1
            tdtool("verify", there)
        done = run("convert", there, back, "--as", kind, "--lossy")
        if lossy and "needs" in done.stderr:
            continue
        assert done.returncode == 0, (other, done.stderr)
        tdtool("convert", back, rows, "--as", "tensordict")
        second = TensorDict.load_memmap(rows)
        assert lossy or second.shape == first.shape
        for key in first.keys(True, True):
            one, two = first.get(key), second.get(key, None)
            if two is None or (lossy and "next" in key):
                assert lossy, (other, key, "is missing")
            elif isinstance(one, torch.Tensor):
                same(two.numpy(), one.numpy(), f"{other} {key} {lossy}")
            else:
                assert one.tolist() == two.tolist(), (other, key)


# Minari


def space(rnd, gym, depth, texts, pictures):
    kinds = ["box", "box", "box", "discrete", "multi", "binary"] + (["text"] if texts else []) + (["image"] if pictures else [])
    kind = rnd.choice(kinds + (["dict", "dict", "tuple"] if depth else []))
    if kind == "dict":
        return gym.spaces.Dict({key: space(rnd, gym, depth - 1, texts, pictures) for key in rnd.sample(KEYS, rnd.randint(1, 3))})
    if kind == "tuple":
        return gym.spaces.Tuple([space(rnd, gym, depth - 1, texts, pictures) for _ in range(rnd.randint(1, 3))])
    if kind == "discrete":
        return gym.spaces.Discrete(rnd.randint(1, 7), start=rnd.choice([0, -3, 2]))
    if kind == "image":  # which Minari stores as JPEG, unless it is told not to
        return gym.spaces.Box(0, 255, rnd.choice([(32, 40, 3), (33, 32)]), np.uint8)
    if kind == "multi":
        counts = np.array(rnd.choice([[3, 4], [2], [2, 3, 4], [[2, 3], [4, 5]]]))
        return gym.spaces.MultiDiscrete(counts, dtype=rnd.choice([np.int64, np.int32]), start=np.full_like(counts, rnd.choice([0, -2, 5])))
    if kind == "binary":
        return gym.spaces.MultiBinary(rnd.choice([3, [2, 2], 1]))
    if kind == "text":
        return gym.spaces.Text(rnd.randint(1, 9), charset="abcé ")
    dtype = rnd.choice(["float32", "float64", "uint8", "int8", "int16", "int32", "int64", "float16", "bool", *WIDE])
    shape = rnd.choice([(), (1,), (3,), (2, 2), (4, 1, 2), (1, 1)])
    if np.issubdtype(dtype, np.integer):
        low, high = rnd.choice([(0, 100), (1, 2)])
    elif dtype == "bool":
        low, high = False, True
    else:
        low, high = rnd.choice([(-1, 1), (-np.inf, np.inf), (0, np.inf)])
    return gym.spaces.Box(low, high, shape, np.dtype(dtype))


def stacked(values):
    if isinstance(values[0], dict):
        return {key: stacked([one[key] for one in values]) for key in values[0]}
    if isinstance(values[0], tuple):
        return tuple(stacked([one[i] for one in values]) for i in range(len(values[0])))
    return list(values) if isinstance(values[0], str) else np.stack(values)


def infos(rnd, keys, dtype, wide, nested, rows):
    def values():
        return np.arange(rows * 2).astype(dtype).reshape(rows, 2) if wide else np.asarray([rnd.random() for _ in range(rows)])

    made = {key: values() for key in keys}
    return {**made, "more": {"inner": np.arange(rows, dtype=np.int64), "deep": {"x": np.ones((rows, 2, 1), bool)}}} if nested else made


def options(rnd):
    return rnd.choice([None, {"level": 2, "where": {"x": 0.5}}, {"name": "é", "on": True, "many": [1, 2, 3], "deep": {"a": {"b": [0.5, 1.5]}}},
                       {"big": 2**40, "low": -1.5, "texts": ["a", "bc"], "none": {"e": ""}}])


def part(value, keep):
    if isinstance(value, dict):
        return {key: part(one, keep) for key, one in value.items()}
    if isinstance(value, tuple):
        return {str(i): part(one, keep) for i, one in enumerate(value)}
    return value[keep]


def minari(rnd, folder):
    os.environ["MINARI_DATASETS_PATH"] = str(folder / "minari")
    import gymnasium as gym
    import minari as library

    form = rnd.choice(["hdf5", "arrow", "parquet"])
    texts = rnd.random() < 0.3
    seen, done = space(rnd, gym, rnd.choice([0, 1, 2]), texts, True), space(rnd, gym, rnd.choice([0, 0, 1]), False, form == "hdf5")
    seen.seed(rnd.randrange(2**31)), done.seed(rnd.randrange(2**31))
    # Minari fails to read infos of single numbers, and nested ones, from its tables.
    beside = (rnd.sample(["speed", "x y", "q"], rnd.randint(0, 2)), rnd.choice(["float32", "int64", "bool", "float16", "uint8"]), form != "hdf5" or rnd.random() < 0.5,
              form == "hdf5" and rnd.random() < 0.4)
    buffers = []
    less = int(form == "hdf5" and rnd.random() < 0.2)  # some published sets lack the row of the reset
    numbers = rnd.choice([np.float64, np.float32]) if form == "hdf5" else np.float64
    for n in range(rnd.choice([1, 2, 5, 12])):
        length = rnd.choice([1, 2, 4, 9])
        ends = rnd.random() < 0.5
        buffers.append(library.data_collector.EpisodeBuffer(
            observations=stacked([seen.sample() for _ in range(length + 1)]), actions=stacked([done.sample() for _ in range(length)]),
            rewards=np.array([rnd.gauss(0, 1) for _ in range(length)], numbers), terminations=[False] * (length - 1) + [ends],
            truncations=[False] * (length - 1) + [not ends], infos=infos(rnd, *beside, length + 1 - less),
            seed=rnd.choice([None, n, 2**40 + n, np.uint64(2**64 - 3) if form == "hdf5" else 7]), options=options(rnd)))
    library.create_dataset_from_buffers("test/made-v0", buffers, observation_space=seen, action_space=done, data_format=form,
                                        author=rnd.choice([None, "A. Bee"]), description=rnd.choice([None, "é \"quoted\""]))
    root = folder / "minari" / "test"
    tdtool("verify", root / "made-v0")
    tdtool("convert", root / "made-v0", folder / "rows", "--as", "tensordict")
    one = library.load_dataset("test/made-v0")
    rows = TensorDict.load_memmap(folder / "rows")
    numbers = rows["episode"].numpy()

    def compare(path, value, here):
        if isinstance(value, dict):
            for key, inner in value.items():
                compare((*path, key), inner, here)
            return
        found = rows.get(path)
        found = found.numpy() if isinstance(found, torch.Tensor) else found.tolist()
        if isinstance(found, list) and isinstance(found[0], dict):
            found = [np.asarray(Image.open(io.BytesIO(base64.b64decode(one["$bytes"])))) for one in found]
        found = np.asarray(found)[here]
        same(list(found) if isinstance(value, list) else found, value, path)

    for episode in one.iterate_episodes():
        here = numbers == episode.id
        if len(episode.rewards):
            compare(("observation",), part(episode.observations, slice(0, -1)), here)
            compare(("next", "observation"), part(episode.observations, slice(1, None)), here)
            compare(("action",), part(episode.actions, slice(None)), here)
            same(rows["next", "reward"].squeeze(-1).numpy()[here], np.asarray(episode.rewards), "reward")
    tdtool("convert", root / "made-v0", root / "copy-v0", "--as", "minari")
    other = library.load_dataset("test/copy-v0")
    assert one.observation_space == other.observation_space and one.action_space == other.action_space
    assert one.total_episodes == other.total_episodes and one.total_steps == other.total_steps
    for a, b in zip(one.iterate_episodes(), other.iterate_episodes()):
        for name in ("observations", "actions", "rewards", "terminations", "truncations", "infos"):
            same(getattr(b, name), getattr(a, name), name)
    for a, b in zip(one.storage.get_episode_metadata(range(one.total_episodes)), other.storage.get_episode_metadata(range(one.total_episodes))):
        for key in a:
            assert key in b and same_value(a[key], b[key]), (key, a, b)
    there_and_back(folder, root / "made-v0", "minari", "-v0")


# LeRobot


def lerobot(rnd, folder):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    features = {}
    for key in rnd.sample(["observation.state", "action", "next.done", "pose", "observation.x.y", "extra", "observation.images.front"], rnd.randint(1, 6)):
        if "images" in key:
            features[key] = {"dtype": "image", "shape": (rnd.choice([8, 33]), rnd.choice([10, 16]), 3), "names": ["height", "width", "channels"]}
        elif rnd.random() < 0.1:
            features[key] = {"dtype": "string", "shape": (1,), "names": None}
        else:
            dtype = "bool" if key == "next.done" else rnd.choice(["float32", "float64", "int64", "int32", "uint8", "bool", "int16"])
            # LeRobot with today's numpy fails to write numbers of shape [1].
            shape = (1,) if dtype == "bool" else rnd.choice([(3,), (2,), (2, 3), (2, 1, 2), (2, 2, 1, 3)])
            features[key] = {"dtype": dtype, "shape": shape, "names": rnd.choice([None, [f"n{i}" for i in range(shape[0])]])}
    numbers = np.random.default_rng(rnd.randrange(2**31))

    def value(feature):
        if feature["dtype"] == "string":
            return rnd.choice(["", "é", "long text"])
        if feature["dtype"] == "image":
            return numbers.integers(0, 256, feature["shape"], dtype=np.uint8)
        if feature["dtype"].startswith("float"):
            return numbers.normal(size=feature["shape"]).astype(feature["dtype"])
        return numbers.integers(0, 2, feature["shape"]).astype(feature["dtype"])

    dataset = LeRobotDataset.create("local/set", fps=rnd.choice([10, 30, 7]), features=dict(features), root=folder / "made", use_videos=False,
                                    robot_type=rnd.choice([None, "arm"]))
    tasks = rnd.sample(["push", "ziehe die Tür", "a", "zz"], rnd.randint(1, 3))
    for _ in range(rnd.choice([1, 2, 6])):
        for _ in range(rnd.choice([2, 3, 8])):
            dataset.add_frame({**{key: value(feature) for key, feature in features.items()}, "task": rnd.choice(tasks)})
        dataset.save_episode()
    dataset.finalize()
    tdtool("verify", folder / "made")
    tdtool("convert", folder / "made", folder / "copy", "--as", "lerobot")
    tdtool("convert", folder / "made", folder / "old", "--as", "lerobot-v2.1")
    tdtool("convert", folder / "old", folder / "again", "--as", "lerobot")
    one = LeRobotDataset("local/set", root=folder / "made")
    for name in ("copy", "again"):
        other = LeRobotDataset("local/set", root=folder / name)
        assert len(one) == len(other) and one.num_episodes == other.num_episodes and one.fps == other.fps
        assert one.meta.features == other.meta.features, (name, one.meta.features, other.meta.features)
        for i in range(len(one)):
            a, b = one[i], other[i]
            assert set(a) == set(b), (name, set(a) ^ set(b))
            for key, wanted in a.items():
                if isinstance(wanted, str):
                    assert wanted == b[key], (name, key)
                else:
                    same(b[key].numpy(), wanted.numpy(), f"{name} {i} {key}")
        for key, stats in one.meta.stats.items():
            for stat in ("min", "max", "mean"):
                mine, theirs = (np.asarray(stats_of[stat], float) for stats_of in (other.meta.stats[key], stats))
                assert np.allclose(mine, theirs, atol=1e-4), (name, key, stat, mine, theirs)
    there_and_back(folder, folder / "made", "lerobot")


# HDF5


def tree(file):
    found = {}

    def add(name, one):
        if isinstance(one, h5py.Dataset):
            value = one[()]
            texts = isinstance(value, np.ndarray) and value.dtype.kind in "OS"  # of fixed length or not
            found[name] = [bytes(text) for text in value] if texts else value

    file.visititems(add)
    return found


def equal_files(got, want):
    with h5py.File(want) as a, h5py.File(got) as b:
        one, other = tree(a), tree(b)
        same(other, one)


def array(rnd, rows, dtypes=("float32", "float64", "uint8", "int64", "int32")):
    dtype = rnd.choice(dtypes)
    shape = (rows, *rnd.choice([(), (1,), (3,), (2, 2), (5, 4, 3)]))
    numbers = np.random.default_rng(rnd.randrange(2**31))
    return numbers.normal(size=shape).astype(dtype) if dtype.startswith("float") else numbers.integers(0, 200, shape).astype(dtype)


def robomimic(rnd, folder):
    keys = {key: rnd.randrange(2**31) for key in rnd.sample(KEYS, rnd.randint(1, 4))}
    extra = {key: rnd.randrange(2**31) for key in rnd.sample(["interventions", "extra"], rnd.randint(0, 2))}
    how = rnd.choice([{}, {"compression": "gzip"}])
    following, states, width = rnd.random() < 0.6, rnd.random() < 0.7, rnd.randint(1, 4)
    numbers = rnd.sample(range(30), rnd.choice([1, 3, 7]))
    with h5py.File(folder / "made.hdf5", "w") as file:
        total = 0
        data = file.create_group("data")
        for number in numbers:
            length = rnd.choice([1, 2, 6])
            total += length
            demo = data.create_group(f"demo_{number}")
            demo.attrs["num_samples"] = length
            if states:
                demo.attrs["model_file"] = f"<mujoco n=\"{number}\"/>"
                demo.create_dataset("states", data=np.random.default_rng(number).normal(size=(length, 5)), **how)
            demo.create_dataset("actions", data=np.random.default_rng(number).uniform(-1, 1, (length, width)), **how)
            demo.create_dataset("rewards", data=np.arange(length, dtype=np.float64), **how)
            demo.create_dataset("dones", data=np.asarray([0] * (length - 1) + [1]), **how)
            for key, seed in keys.items():
                whole = array(random.Random(seed), length + 1)
                demo.create_dataset(f"obs/{key}", data=whole[:-1], **how)
                if following:
                    demo.create_dataset(f"next_obs/{key}", data=whole[1:], **how)
            for key, seed in extra.items():
                demo.create_dataset(key, data=array(random.Random(seed), length), **how)
        data.attrs["total"] = total
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_version": "1.4.1", "env_kwargs": {"x": [1, None]}})
        names = [f"demo_{number}" for number in sorted(numbers)]
        if rnd.random() < 0.5:
            file.create_dataset("mask/train", data=np.array(names[:1], dtype="S"))
            file.create_dataset("mask/valid", data=np.array(names[1:] or names, dtype="S"))
    tdtool("verify", folder / "made.hdf5")
    tdtool("convert", folder / "made.hdf5", folder / "copy.hdf5", "--as", "robomimic")
    equal_files(folder / "copy.hdf5", folder / "made.hdf5")
    with h5py.File(folder / "made.hdf5") as a, h5py.File(folder / "copy.hdf5") as b:
        assert json.loads(a["data"].attrs["env_args"]) == json.loads(b["data"].attrs["env_args"])
        assert a["data"].attrs["total"] == b["data"].attrs["total"]
        for demo in a["data"]:
            assert dict(a["data"][demo].attrs) == dict(b["data"][demo].attrs)
    tdtool("convert", folder / "made.hdf5", folder / "rows", "--as", "tensordict")
    rows = TensorDict.load_memmap(folder / "rows")
    with h5py.File(folder / "made.hdf5") as file:
        for key in keys:
            whole = np.concatenate([file[f"data/demo_{number}/obs/{key}"][()] for number in sorted(numbers)])
            same(rows["observation", key].numpy(), whole, key)
    there_and_back(folder, folder / "made.hdf5", "robomimic", ".hdf5")


def d4rl(rnd, folder):
    n = rnd.choice([5, 12, 40])
    how = rnd.choice([{}, {"compression": "gzip"}])
    seed = rnd.randrange(2**31)
    with h5py.File(folder / "made.hdf5", "w") as file:
        whole = array(random.Random(seed), n + 1, ("float32", "float64"))
        file.create_dataset("observations", data=whole[:-1], **how)
        if rnd.random() < 0.4:
            file.create_dataset("next_observations", data=whole[1:], **how)
        file.create_dataset("actions", data=array(rnd, n, ("float32",)), **how)
        column = (n, 1) if rnd.random() < 0.2 else (n,)
        file.create_dataset("rewards", data=np.random.default_rng(seed).normal(size=column).astype(rnd.choice(["float32", "float64"])), **how)
        file.create_dataset("terminals", data=np.random.default_rng(seed).random(column) < 0.15, **how)
        if rnd.random() < 0.7:
            file.create_dataset("timeouts", data=np.random.default_rng(seed + 1).random(column) < 0.15, **how)
        for key in rnd.sample(["infos/qpos", "infos/qvel", "infos/goal"], rnd.randint(0, 2)):
            file.create_dataset(key, data=array(rnd, n), **how)
        if rnd.random() < 0.4:
            file["metadata/algorithm"] = "SAC"
            file["metadata/iteration"] = 3
            file.create_dataset("metadata/policy/fc0/weight", data=array(rnd, 4))
    tdtool("verify", folder / "made.hdf5")
    tdtool("convert", folder / "made.hdf5", folder / "copy.hdf5", "--as", "d4rl")
    equal_files(folder / "copy.hdf5", folder / "made.hdf5")
    there_and_back(folder, folder / "made.hdf5", "d4rl", ".hdf5")


def main():
    any_failed = False
    for kind, library in ((minari, "minari"), (lerobot, "lerobot"), (robomimic, "h5py"), (d4rl, "h5py")):
        if KIND not in (None, kind.__name__):
            continue
        try:
            importlib.import_module(library)
        except ImportError as missing:
            print(f"skip: data sets of {library}: {missing}")
            continue
        failed = 0
        for seed in range(SEED, SEED + SETS):
            with tempfile.TemporaryDirectory() as scratch:
                rnd = random.Random(f"{kind.__name__} {seed}")
                try:
                    kind(rnd, pathlib.Path(scratch))
                except Exception as error:
                    failed += 1
                    print(f"{kind.__name__} {seed}: {type(error).__name__} {str(error)[:1200]}")
        print(f"{kind.__name__}: {SETS} sets, {failed} failed")
        any_failed |= failed > 0
    return any_failed


sys.exit(main())
