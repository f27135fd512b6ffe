#!/usr/bin/env python3
"""Writes the files of this folder that tensordict 0.15.3, torch 2.15 and h5py 3.16 wrote: make15.py [FOLDER]

tests/capi/test_torch_files.c and test_hdf5.c know the values. make.py writes the others, in plain Python.
"""
import pathlib
import sys

import h5py
import numpy as np
import torch
from tensordict import LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict, TensorDictParams, tensorclass

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


@tensorclass
class Sample:
    x: torch.Tensor
    label: str
    y: torch.Tensor = None


def save(name, value):
    torch.save(value, FOLDER / name)


save(
    "dict15.pt",
    TensorDict(
        a=torch.arange(4.0),
        n=TensorDict(b=torch.arange(8).reshape(4, 2), batch_size=[4, 2], names=["time", None]),
        empty=TensorDict(batch_size=[4]),
        s="txt",
        nan=NonTensorData(float("nan"), batch_size=[4]),
        raw=NonTensorData(b"ab\xff", batch_size=[4]),
        each=NonTensorStack("p", "q", "r", "s"),
        small=torch.arange(4, dtype=torch.int16),
        half=torch.arange(4, dtype=torch.bfloat16),
        batch_size=[4],
        names=["time"],
        device="cpu",
    ),
)
save(
    "lazy15.pt",
    LazyStackedTensorDict(
        TensorDict(a=torch.arange(2.0)), TensorDict(a=torch.arange(3.0), b=torch.ones(1)), stack_dim=0, stack_dim_name="st"
    ),
)
save("tensorclass15.pt", TensorDict(t=Sample(x=torch.arange(2.0), label="l", batch_size=[2]), batch_size=[2]))
save("parameters15.pt", TensorDictParams(TensorDict(w=torch.arange(2.0), n=TensorDict(v=torch.ones(3)))))
save("locked15.pt", TensorDict(a=torch.arange(2.0), n=TensorDict(b=torch.zeros(2))).lock_())
save("consolidated15.pt", TensorDict(a=torch.arange(3.0), s="x", n=TensorDict(b=torch.arange(3)), batch_size=[3]).consolidate())
save("checkpoint15.pt", {"step": 3, "td": TensorDict(a=torch.arange(2.0), batch_size=[2]), "list": [NonTensorData("v")]})
mapped = TensorDict(a=torch.zeros(2), batch_size=[2]).memmap("/tmp/make15")
save("mapped15.pt", mapped)

with h5py.File(FOLDER / "lzf.h5", "w", libver="earliest") as file:
    options = {"compression": "lzf", "track_times": False}
    file.create_dataset("a", data=np.arange(2000, dtype=np.int32).reshape(500, 4) // 7, chunks=(64, 4), **options)
    file.create_dataset("s", data=np.arange(1000, dtype=np.float64) / 8, chunks=(100,), shuffle=True, fletcher32=True, **options)
    noise = np.random.default_rng(0).integers(0, 255, 500, dtype=np.uint8)  # cannot be packed
    file.create_dataset("noise", data=noise, chunks=(128,), **options)
    file.create_dataset("text", data=["yes", "no"] * 20, chunks=(16,), dtype=h5py.string_dtype(), **options)
    file["data/x"] = np.arange(3.0)
    file["data"].attrs["total"] = 3
    file["data/x"].attrs["unit"] = "m/s"
    file["data/x"].attrs["range"] = [0.5, 2.5]
    file.attrs["note"] = "café"
    file.attrs["yes"] = np.bool_(True)
    file.attrs["none"] = h5py.Empty("f")
    file.attrs["names"] = ["x", "y"]
