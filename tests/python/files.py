#!/usr/bin/env python3
"""Files of Python's tensordict, torch, h5py and NumPy, and of this library: files.py TDTOOL

Each dictionary is written by Python in each format that it has, converted into a folder by tdtool, and loaded from there; then
tdtool converts the folder into each format, and Python reads it. Skips, with a word why, what is not installed.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from tensordict import LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict, TensorDictParams, is_tensorclass, tensorclass


@tensorclass
class FileSample:
    x: torch.Tensor
    label: str
    y: torch.Tensor = None


def dictionaries():
    plain = TensorDict(
        a=torch.arange(8.0).reshape(4, 2) / 3,
        i=torch.tensor([2**62, -1, 0, 5]),
        b=torch.tensor([True, False, True, True]),
        n=TensorDict(c=torch.arange(4, dtype=torch.int16), batch_size=[4]),
        batch_size=[4],
    )
    rich = plain.clone()
    rich["s"] = "text"
    rich["n", "nan"] = NonTensorData(float("nan"), batch_size=[4])
    rich["half"] = torch.arange(4, dtype=torch.bfloat16)
    named = rich.clone()
    named["n"] = TensorDict(c=torch.zeros(4, 3), batch_size=[4, 3])
    named.names = ["time"]
    lazy = LazyStackedTensorDict(
        TensorDict(a=torch.zeros(2), both=torch.ones(1)), TensorDict(a=torch.arange(3.0), only=torch.ones(1)), stack_dim=0
    )
    each = plain.clone()
    each["each"] = NonTensorStack("p", "q", "r", "s")
    return {
        "plain": plain,
        "rich": rich,
        "named": named,
        "each": each,
        "lazy": lazy,
        "locked": plain.clone().lock_(),
        "tensorclass": TensorDict(t=FileSample(x=torch.arange(2.0), label="l", batch_size=[2]), batch_size=[2]),
        "unbatched": TensorDict(w=torch.arange(3.0), n=TensorDict(v=torch.ones(2, 2))),
    }


def same(one, other, path=()):
    """Equal in keys, dtypes, values, batch sizes, names and classes; None, or what differs."""
    if is_tensorclass(one) and not isinstance(one, NonTensorData):
        return same(one.to_tensordict(), other.to_tensordict() if is_tensorclass(other) else other, path)
    if isinstance(one, (NonTensorData, NonTensorStack)):
        a, b = (value.tolist() if isinstance(value, NonTensorStack) else value.data for value in (one, other))
        return None if a == b or (a != a and b != b) else (path, a, b)
    if isinstance(one, torch.Tensor):
        close = one.dtype == other.dtype and torch.equal(one.nan_to_num(7), other.nan_to_num(7))
        return None if close else (path, one, other)
    if one.batch_size != other.batch_size or list(one.names) != list(other.names):
        return (path, one.batch_size, other.batch_size, one.names, other.names)
    if isinstance(one, LazyStackedTensorDict):
        if not isinstance(other, LazyStackedTensorDict) or len(one.tensordicts) != len(other.tensordicts):
            return (path, type(other))
        pairs = [(a, b, (*path, k)) for k, (a, b) in enumerate(zip(one.tensordicts, other.tensordicts))]
    else:
        if set(one.keys()) != set(other.keys()):
            return (path, set(one.keys()), set(other.keys()))
        pairs = [(one.get(key), other.get(key), (*path, key)) for key in one.keys()]
    return next((found for found in (same(*pair) for pair in pairs) if found), None)


def flat(td, separator="."):
    return {separator.join(key) if isinstance(key, tuple) else key: value.numpy() for key, value in td.items(True, True)}


def has_safetensors():
    try:
        import safetensors  # noqa: F401
        from tensordict import to_safetensors  # noqa: F401
    except ImportError as why:
        print("skip: safetensors:", why)
        return False
    return True


def writers():
    """Formats that Python writes: suffix, names that it can hold, how, and whether names of dimensions survive."""
    every = set(dictionaries())
    tensors = {"plain", "unbatched"}
    found = [
        (".pt", every, lambda td, path: torch.save(td, path)),
        (".consolidated.pt", every - {"lazy", "each", "tensorclass", "locked"}, lambda td, path: torch.save(td.consolidate(), path)),
        (".parameters.pt", {"unbatched"}, lambda td, path: torch.save(TensorDictParams(td), path)),
    ]
    if has_safetensors():
        from tensordict import to_safetensors

        found.append((".safetensors", tensors | {"rich", "named", "tensorclass"}, to_safetensors))
    try:
        import h5py  # noqa: F401

        found.append((".h5", {"plain"}, lambda td, path: td.to_h5(path)))
        found.append((".lzf.h5", {"plain"}, lambda td, path: td.to_h5(path, compression="lzf")))
    except ImportError as why:
        print("skip: HDF5:", why)
    return found


def readers():
    every = set(dictionaries())
    found = [
        (".pt", every, lambda path: torch.load(path, weights_only=False)),
        # What torch.load() does by default takes no classes of others.
        (".safe.pt", every - {"tensorclass"}, lambda path: torch.load(path, weights_only=True)),
        (".mapped.pt", every - {"tensorclass"}, lambda path: torch.load(path, weights_only=True, mmap=True)),
    ]
    if has_safetensors():
        from tensordict import from_safetensors

        found.append((".safetensors", {"plain", "unbatched", "rich", "named"}, from_safetensors))
    return found


def main():
    tdtool = sys.argv[1]

    def convert(*words):
        done = subprocess.run([tdtool, "convert", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    there = back = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, td in dictionaries().items():
            for suffix, names, write in writers():
                if name not in names:
                    continue
                path = scratch / (name + suffix)
                write(td, path)
                more = ["--batch-dims", td.batch_dims] if suffix.endswith(".h5") else []
                folder = scratch / (name + suffix.replace(".", "_"))
                convert(path, folder, *more)
                loaded = TensorDict.load_memmap(folder)
                assert not same(td, loaded), (name, suffix, same(td, loaded))
                there += 1
            td.memmap(scratch / name)
            for suffix, names, read in readers():
                if name not in names:
                    continue
                path = scratch / (name + ".back" + suffix)
                convert(scratch / name, path)
                loaded = read(path)
                assert type(loaded) is type(td), (name, suffix, type(loaded))
                assert not same(td, loaded), (name, suffix, same(td, loaded))
                back += 1
        arrays = dictionaries()["plain"]
        np.savez(scratch / "a.npz", **{"a.b": np.arange(3.0)})
        convert(scratch / "a.npz", scratch / "npz")
        assert list(TensorDict.load_memmap(scratch / "npz").keys()) == ["a.b"]
        arrays.memmap(scratch / "arrays")
        convert(scratch / "arrays", scratch / "arrays.npz")
        with np.load(scratch / "arrays.npz") as loaded:
            assert {key: value.tolist() for key, value in loaded.items()} == {k: v.tolist() for k, v in flat(arrays).items()}
        convert(scratch / "arrays.npz", scratch / "again", "--batch-dims", 1)
        assert not same(arrays, TensorDict.load_memmap(scratch / "again"))
    print(f"files: {there} of Python's were read, {back} were read by Python")


if __name__ == "__main__":
    main()
