"""Sets of Minari at random."""
import base64
import io
import os

import numpy as np
import torch
from PIL import Image
from set_checks import KEYS, WIDE, same, same_value, tdtool, there_and_back
from tensordict import TensorDict


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
