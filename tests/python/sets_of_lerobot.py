"""Sets of LeRobot at random."""
import base64
import contextlib
import io
import json
import logging
import os
import shutil

os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import numpy as np
import torch
import torchvision

from PIL import Image
from set_checks import WIDE, same, tdtool, there_and_back
from tensordict import TensorDict

KEYS = ["observation.state", "action", "next.done", "next.reward", "pose", "observation.x.y", "observation.z", "extra", "é", "joint pos", "9",
        "observation.images.front", "observation.images.left.top", "mask"]
# Of float16 LeRobot fails to make quantiles; what it reads is looked at below.
DTYPES = ["float32", "float32", "float64", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]
TASKS = ["push", "ziehe die Tür", "a", "zz", "say \"no\"", "1", "a\nb"]


def is_number(feature):
    return feature["dtype"] not in ("image", "string", "video")


def library():
    """LeRobotDataset, which with today's numpy fails to write numbers of shape [1] unless they are flat."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    logging.disable(logging.WARNING)
    if not hasattr(LeRobotDataset, "_save_as_it_is"):
        LeRobotDataset._save_as_it_is = LeRobotDataset._save_episode_data

        def save(self, buffer):
            for key, feature in self.features.items():
                if is_number(feature) and tuple(feature["shape"]) == (1,):
                    buffer[key] = np.asarray(buffer[key]).reshape(-1)
            return self._save_as_it_is(buffer)

        LeRobotDataset._save_episode_data = save
    return LeRobotDataset


def names(rnd, size):
    return rnd.choice([None, [f"n{i}" for i in range(size)], [f"arm/{i}.pos" for i in range(size)], {"motors": [f"é{i}" for i in range(size)]}])


def features_of(rnd, deep):
    made = {}
    for key in rnd.sample(KEYS, rnd.randint(1, 7)):
        if "images" in key:
            made[key] = {"dtype": "image", "shape": (rnd.choice([8, 33]), rnd.choice([10, 16]), 3), "names": ["height", "width", "channels"]}
        elif key != "next.done" and rnd.random() < 0.1:  # that is a flag
            made[key] = {"dtype": "string", "shape": (1,), "names": None}
        else:
            dtype = "bool" if key == "next.done" else rnd.choice(DTYPES)
            shape = (1,) if key == "next.done" else rnd.choice([(1,), (1,), (3,), (2,)] + [(2, 3), (2, 1, 2), (2, 2, 1, 3), (1, 1)] * deep)
            made[key] = {"dtype": dtype, "shape": shape, "names": names(rnd, shape[0])}
    return made


def value(rnd, numbers, feature):
    if feature["dtype"] == "string":
        return rnd.choice(["", "é", "long text", "{}", "a\nb"])
    if feature["dtype"] == "image":
        return numbers.integers(0, 256, feature["shape"], dtype=np.uint8)
    if feature["dtype"].startswith("float"):
        return numbers.normal(size=feature["shape"]).astype(feature["dtype"])
    if feature["dtype"] == "bool":
        return numbers.integers(0, 2, feature["shape"]).astype(bool)
    # LeRobot squares small integers in their own dtype for their statistics, which verify then finds wrong.
    return numbers.integers(0 if feature["dtype"].startswith("u") else -10, 10, feature["shape"]).astype(feature["dtype"])


def record(rnd, root, features, deep):
    """Writes a set; what its frames and tasks are."""
    LeRobotDataset = library()
    numbers = np.random.default_rng(rnd.randrange(2**31))
    dataset = LeRobotDataset.create("local/set", fps=rnd.choice([10, 30, 7]), features=dict(features), root=root, use_videos=False,
                                    robot_type=rnd.choice([None, "arm"]), metadata_buffer_size=rnd.choice([1, 2, 10]))
    dataset.meta.update_chunk_settings(chunks_size=rnd.choice([None, 1, 2]), data_files_size_in_mb=rnd.choice([None, 1]))
    tasks = rnd.sample(TASKS, rnd.randint(1, 3))
    frames, said = [], []
    # In episodes of one frame LeRobot keeps the full shape of statistics, which it then fails to combine.
    lengths = [2, 3, 8] if deep else [1, 1, 2, 8]
    for _ in range(rnd.choice([1, 2, 6])):
        if frames and rnd.random() < 0.3:  # what goes on with a set begins another file
            dataset.finalize()
            dataset = LeRobotDataset("local/set", root=root)
        for _ in range(rnd.choice(lengths)):
            frames.append({key: value(rnd, numbers, feature) for key, feature in features.items()})
            said.append(rnd.choice(tasks))
            dataset.add_frame({**frames[-1], "task": said[-1]})
        dataset.save_episode()
    dataset.finalize()
    return frames, said


def key_of(name):
    parts = name.split(".")
    if parts[:2] == ["observation", "images"]:
        return "observation", "image", ".".join(parts[2:])
    return tuple(parts)


def picture(value):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(value["$bytes"]))))


def compare_rows(folder, features, frames, said):
    """What the folder has is what was recorded."""
    rows = TensorDict.load_memmap(folder)
    for name, feature in features.items():
        found, wanted = rows.get(key_of(name)), [frame[name] for frame in frames]
        if feature["dtype"] == "string":
            assert found.tolist() == wanted, (name, found.tolist(), wanted)
        elif feature["dtype"] == "image":
            same(np.stack([picture(one) for one in found.tolist()]), np.stack(wanted), name)
        else:
            same(found.numpy().reshape(len(frames), *feature["shape"]), np.stack(wanted), name)
    assert rows.get("language_instruction").tolist() == said


def told(dataset):
    """The features, without the rate that LeRobot's converter adds to each."""
    return {key: {**{name: one for name, one in feature.items() if name != "fps"}, "dtype": WIDE.get(feature["dtype"], feature["dtype"])}
            for key, feature in dataset.meta.features.items()}


def compare_sets(one, other, name):
    assert len(one) == len(other) and one.num_episodes == other.num_episodes and one.fps == other.fps, name
    assert told(one) == told(other), (name, told(one), told(other))
    assert one.meta.robot_type == other.meta.robot_type, name
    assert one.meta.tasks.equals(other.meta.tasks), (name, one.meta.tasks, other.meta.tasks)
    for a, b in zip(one.meta.episodes, other.meta.episodes):
        for key in ("episode_index", "length", "dataset_from_index", "dataset_to_index"):
            assert a[key] == b[key], (name, key, a[key], b[key])
        assert sorted(a["tasks"]) == sorted(b["tasks"]), (name, a["tasks"], b["tasks"])
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
            assert np.allclose(mine, theirs, atol=1e-4, rtol=1e-3), (name, key, stat, mine, theirs)


def as_v20(old, root, stats):
    """A set of v2.1 as v2.0, which has statistics of all episodes alone."""
    shutil.copytree(old, root)
    info = json.loads((root / "meta/info.json").read_text())
    (root / "meta/info.json").write_text(json.dumps({**info, "codebase_version": "v2.0"}))
    (root / "meta/episodes_stats.jsonl").unlink()
    told_of = {key: {name: np.asarray(one).tolist() for name, one in of.items()} for key, of in stats.items()}
    (root / "meta/stats.json").write_text(json.dumps(told_of))


class VideoReader:
    """That of torchvision, which has none any more; LeRobot asks for it where torchcodec is missing."""

    def __init__(self, path, _stream):
        import av

        self.container = av.open(path)
        self.stream = self.container.streams.video[0]

    def seek(self, seconds, keyframes_only=False):
        self.container.seek(int(seconds / self.stream.time_base), stream=self.stream)

    def __iter__(self):
        for frame in self.container.decode(self.stream):
            yield {"data": torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1), "pts": float(frame.pts * frame.time_base)}


def brightness(picture):
    return (picture.numpy() * np.array([0.299, 0.587, 0.114]).reshape(3, 1, 1)).sum(0) * 255


def videos(rnd, folder, one, features):
    """Pictures that became videos, read by LeRobot."""
    cameras = [name for name, feature in features.items() if feature["dtype"] == "image"]
    if not cameras:
        return
    if not hasattr(torchvision.io, "VideoReader"):
        torchvision.io.VideoReader, torchvision.set_video_backend = VideoReader, lambda name: None
    even = all(size % 2 == 0 for name in cameras for size in features[name]["shape"][:2])
    codec = rnd.choice(["h264", "av1"]) if even else "av1"
    tdtool("convert", folder / "made", folder / "filmed", "--as", "lerobot", "--video", codec, "--video-quality", 5)
    tdtool("verify", folder / "filmed")
    other = library()("local/set", root=folder / "filmed", video_backend="pyav")
    assert sorted(other.meta.video_keys) == sorted(cameras), other.meta.video_keys
    for i in range(len(one)):
        a, b = one[i], other[i]
        assert set(a) == set(b), (set(a) ^ set(b))
        for key in a:
            if key in cameras:  # noise, of which half the colours are lost
                assert a[key].shape == b[key].shape, (key, a[key].shape, b[key].shape)
                far = np.abs(brightness(a[key]) - brightness(b[key])).mean()
                assert far < 8, (codec, key, i, far)
            elif not isinstance(a[key], str):
                same(b[key].numpy(), a[key].numpy(), f"filmed {i} {key}")


def halves(rnd, folder):
    """Numbers of float16, which LeRobot does not write, and reads."""
    shapes = {"small": (), "wide": (3,), "deep": (2, 3), "deeper": (1, 2, 2)}
    numbers = np.random.default_rng(rnd.randrange(2**31))
    rows = {key: torch.from_numpy(numbers.normal(size=(6, *shape)).astype(np.float16)) for key, shape in shapes.items()}
    TensorDict({**rows, "timestamp": torch.arange(6) / 10, "episode": torch.tensor([0, 0, 0, 1, 1, 1])}, [6]).memmap(folder / "halves")
    tdtool("convert", folder / "halves", folder / "half", "--as", "lerobot", "--lossy")
    tdtool("verify", folder / "half")
    dataset = library()("local/set", root=folder / "half")
    for key, wanted in rows.items():
        assert dataset.meta.features[key]["dtype"] == "float16"
        found = np.stack([np.asarray(dataset[i][key], np.float32) for i in range(6)])
        assert np.array_equal(found.reshape(wanted.shape), wanted.float().numpy()), (key, found, wanted)
    tdtool("convert", folder / "half", folder / "half_rows", "--as", "tensordict")
    back = TensorDict.load_memmap(folder / "half_rows")
    for key, wanted in rows.items():
        same(back[key].numpy().reshape(wanted.shape), wanted.numpy(), key)


def lerobot(rnd, folder):
    from lerobot.datasets.v30.convert_dataset_v21_to_v30 import convert_dataset

    LeRobotDataset = library()
    deep = rnd.random() < 0.5
    features = features_of(rnd, deep)
    frames, said = record(rnd, folder / "made", features, deep)
    tdtool("verify", folder / "made")
    tdtool("convert", folder / "made", folder / "rows", "--as", "tensordict")
    compare_rows(folder / "rows", features, frames, said)
    tdtool("convert", folder / "made", folder / "copy", "--as", "lerobot")
    tdtool("convert", folder / "made", folder / "old", "--as", "lerobot-v2.1")
    tdtool("convert", folder / "old", folder / "again", "--as", "lerobot")
    one = LeRobotDataset("local/set", root=folder / "made")
    for name in ("copy", "again"):
        tdtool("verify", folder / name)
        compare_sets(one, LeRobotDataset("local/set", root=folder / name), name)
    as_v20(folder / "old", folder / "older", one.meta.stats)
    tdtool("verify", folder / "older")
    tdtool("convert", folder / "older", folder / "rows_older", "--as", "tensordict")
    compare_rows(folder / "rows_older", features, frames, said)
    # LeRobot's own way from v2.1 to v3.0.
    shutil.copytree(folder / "old", folder / "theirs")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        convert_dataset("theirs", root=folder, push_to_hub=False)
    compare_sets(one, LeRobotDataset("local/set", root=folder / "theirs"), "theirs")
    videos(rnd, folder, one, features)
    halves(rnd, folder)
    there_and_back(folder, folder / "made", "lerobot")
