"""What random data sets are checked with: set_checks.TDTOOL is the tool."""
import subprocess

import numpy as np
import torch
from tensordict import TensorDict

TDTOOL = None
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
            if two is None or (lossy and ("next" in key or key == "timestamp")):  # without its rate LeRobot's clock is another
                assert lossy, (other, key, "is missing")
            elif isinstance(one, torch.Tensor):
                same(two.numpy(), one.numpy(), f"{other} {key} {lossy}")
            else:
                assert one.tolist() == two.tolist(), (other, key)
