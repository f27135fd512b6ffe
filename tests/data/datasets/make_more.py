"""Writes data sets of forms that the libraries themselves no longer write.

    python3 make_more.py OUT      (Python with h5py and NumPy)
"""
import json
import os
import struct
import sys
import zlib

import h5py
import numpy as np

out = sys.argv[1]


def png(pixels):
    """A PNG file of uint8 [H, W, 3]."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


# Minari 0.4: what is metadata.json later are attributes of the file. Eleven episodes, so that episode_10 sorts before
# episode_2 as text; pictures as PNG in lists of bytes; infos of T rows; a seed beyond int64; T = 0.
os.makedirs(f"{out}/minari/attributes/data", exist_ok=True)
with h5py.File(f"{out}/minari/attributes/data/main_data.hdf5", "w") as f:
    f.attrs["minari_version"], f.attrs["dataset_id"] = "0.4.3", "old/set-v1"
    f.attrs["total_episodes"], f.attrs["total_steps"] = np.int64(11), np.int64(20)
    f.attrs["action_space"] = '{"type": "Tuple", "subspaces": [{"type": "Discrete", "dtype": "int64", "start": 0, "n": 9}]}'
    f.attrs["observation_space"] = (
        '{"type": "Dict", "subspaces": {"cam": {"type": "Box", "dtype": "uint8", "shape": [4, 5, 3], "low": 0, "high": 255},'
        ' "x": {"type": "Box", "dtype": "float32", "shape": [2], "low": [-Infinity, 0], "high": [Infinity, 1]}}}')
    for e, n in enumerate([4, 1, 3, 2, 0, 2, 2, 1, 2, 2, 1]):
        g = f.create_group(f"episode_{e}")
        g.attrs["total_steps"] = np.int64(n)
        g.attrs["seed"] = np.uint64(2**64 - 1 - e)
        if e == 1:
            g.attrs["options/a/b"] = 1.5
            g["extra"] = np.arange(7)
        frames = g.create_dataset("observations/cam", (n + 1,), dtype=h5py.vlen_dtype(np.uint8))
        for t in range(n + 1):
            frames[t] = np.frombuffer(png(np.full((4, 5, 3), 10 * e + t, np.uint8)), np.uint8)
        g["observations/x"] = np.arange(2 * n + 2, dtype="f4").reshape(n + 1, 2) + 100 * e
        g["actions/_index_0"] = np.arange(n) + e
        g["rewards"] = np.arange(n, dtype="f8") / 4
        g["terminations"] = np.arange(n) == n - 1
        g["truncations"] = np.zeros(n, bool)
        g["infos/temp"] = np.arange(n, dtype="f8") + e

# D4RL in chunks, without timeouts: an episode goes on in the next chunk.
os.makedirs(f"{out}/d4rl", exist_ok=True)
with h5py.File(f"{out}/d4rl/chunks.hdf5", "w") as f:
    terminals = np.zeros(30, bool)
    terminals[[11, 24]] = True
    for chunk in range(3):
        rows = slice(10 * chunk, 10 * chunk + 10)
        g = f.create_group(f"virtual/{chunk}")
        g["observations"] = np.arange(60, dtype="f4").reshape(30, 2)[rows]
        g["actions"] = np.arange(30, dtype="f4").reshape(30, 1)[rows]
        g["rewards"] = np.arange(30, dtype="f4")[rows]
        g["terminals"] = terminals[rows]

# D4RL with unsigned numbers, which libtorch lacks in older versions.
with h5py.File(f"{out}/d4rl/unsigned.hdf5", "w") as f:
    f["observations"] = np.array([[1, 65535], [2, 3], [4, 5], [6, 7]], np.uint16)
    f["actions"] = np.array([0, 2**32 - 1, 2, 3], np.uint32)
    f["rewards"] = np.zeros(4, np.float32)
    f["terminals"] = np.array([0, 1, 0, 1], bool)
    f["infos/hash"] = np.array([0, 2**64 - 1, 2**63, 5], np.uint64)
    f["infos/big"] = np.array([1, 2, 3, 2**63 - 1], ">u8")

# Demonstrations of robosuite as it records them, with a gap in their numbers.
with h5py.File(f"{out}/robomimic/raw.hdf5", "w") as f:
    data = f.create_group("data")
    data.attrs["env"], data.attrs["env_info"], data.attrs["repository_version"] = "Lift", '{"robots": ["Panda"]}', "1.4.1"
    f.attrs["comment"] = "of the file"
    for name, n in (("demo_1", 3), ("demo_3", 2), ("demo_10", 4)):
        g = data.create_group(name)
        g.attrs["model_file"] = "<mujoco/>"
        g["states"] = np.arange(5 * n, dtype="f8").reshape(n, 5)
        g["actions"] = np.arange(2 * n, dtype="f8").reshape(n, 2)

# A writer that was killed in a file of HDF5's newest form, which says since then that it is open.
child = os.fork()
if child == 0:
    f = h5py.File(f"{out}/robomimic/killed.hdf5", "w", libver="latest")
    data = f.create_group("data")
    data.attrs["total"], data.attrs["env_args"] = 7, json.dumps({"env_name": "Lift", "type": 1, "env_version": "1.4.1", "env_kwargs": {}})
    for n, length in ((0, 4), (1, 3)):
        demo = data.create_group(f"demo_{n}")
        demo.attrs["num_samples"] = length
        demo["actions"] = np.linspace(-1, 1, length * 2).reshape(length, 2)
        demo["obs/state"] = np.arange(length * 3.0).reshape(length, 3) + 100 * n
        demo["rewards"], demo["dones"] = np.arange(length * 1.0), np.array([0] * (length - 1) + [1])
    f.flush()
    os._exit(0)
os.waitpid(child, 0)
