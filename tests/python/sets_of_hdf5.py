"""Files in the layouts of robomimic, robosuite and D4RL at random."""
import json

import h5py
import numpy as np
from set_checks import KEYS, WIDE, same, tdtool, there_and_back
from tensordict import TensorDict

FLOATS = ["float32", "float64", "float16"]
DTYPES = FLOATS + ["uint8", "int8", "int16", "int32", "int64", "bool", *WIDE]
FILTERS = [{}, {}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True, "chunks": True}, {"compression": "lzf"}]


def tree(file):
    """All datasets of a file. What ends episodes is true or false, whatever its dtype."""
    found = {}

    def add(name, one):
        if isinstance(one, h5py.Dataset):
            value = one[()] != 0 if name.rpartition("/")[2] in ("terminals", "timeouts", "dones") else one[()]
            texts = isinstance(value, np.ndarray) and value.dtype.kind in "OS"  # of fixed length or not
            found[name] = [bytes(text) for text in value] if texts else value

    file.visititems(add)
    return found


def equal_files(got, want, made=()):
    """`made`: what the copy may have beside the datasets of the other."""
    with h5py.File(want) as a, h5py.File(got) as b:
        one, other = tree(a), {key: value for key, value in tree(b).items() if key.rpartition("/")[2] not in made}
        same(other, one)


def equal_attributes(got, want, where):
    assert set(got) == set(want), (where, set(got), set(want))
    for key in want:
        one, other = want[key], got[key]
        if key in ("env_args", "ep_meta"):
            one, other = json.loads(one), json.loads(other)
        assert np.array_equal(one, other), (where, key, one, other)


class Columns:
    """Columns of one dtype and shape for all episodes."""

    def __init__(self, rnd, dtypes=DTYPES, shapes=((), (1,), (3,), (2, 2), (5, 4, 3), (1, 1))):
        self.dtype, self.shape = rnd.choice(dtypes), rnd.choice(shapes)
        self.numbers = np.random.default_rng(rnd.randrange(2**31))

    def __call__(self, rows):
        shape = (rows, *self.shape)
        if self.dtype.startswith("float"):
            return self.numbers.normal(size=shape).astype(self.dtype)
        return self.numbers.integers(0, {"bool": 2, "int8": 120}.get(self.dtype, 200), shape).astype(self.dtype)


def lengths_of(rnd):
    return {number: rnd.choice([1, 2, 6]) for number in rnd.sample(range(30), rnd.choice([1, 3, 7, 12]))}


def put_masks(rnd, file, names):
    if rnd.random() < 0.5:
        return
    texts = rnd.choice([lambda chosen: np.array(chosen, dtype="S"), lambda chosen: np.array(chosen, dtype=h5py.string_dtype())])
    file.create_dataset("mask/train", data=texts(names[:1]))
    file.create_dataset("mask/valid", data=texts(names[1:] or names))
    if rnd.random() < 0.5:
        file.create_dataset("mask/20_percent", data=texts(rnd.sample(names, 1)))


def equal_demos(got, want):
    equal_files(got, want)
    with h5py.File(want) as a, h5py.File(got) as b:
        equal_attributes(b["data"].attrs, a["data"].attrs, "data")
        for demo in a["data"]:
            equal_attributes(b["data"][demo].attrs, a["data"][demo].attrs, demo)


def sequences(path, keys, following):
    """What robomimic reads of a file, or nothing without it."""
    try:
        from robomimic.utils.dataset import SequenceDataset
    except ImportError:
        return
    read = SequenceDataset(hdf5_path=str(path), obs_keys=sorted(keys), dataset_keys=("actions", "rewards"), load_next_obs=following, frame_stack=1, seq_length=2,
                           pad_seq_length=True, hdf5_cache_mode=None, hdf5_use_swmr=True)
    yield from (read[i] for i in range(len(read)))


def robomimic(rnd, folder):
    keys = {key: Columns(rnd) for key in rnd.sample([*KEYS, "arm/pos", "arm/left/pos"], rnd.randint(1, 4))}
    extra = {key: Columns(rnd) for key in rnd.sample(["interventions", "extra", "action_dict/abs_pos", "action_dict/gripper"], rnd.randint(0, 3))}
    how = rnd.choice(FILTERS)
    following, states, width = rnd.random() < 0.6, rnd.random() < 0.7, rnd.randint(1, 4)
    numbers = np.random.default_rng(rnd.randrange(2**31))
    acts, ends, gains = rnd.choice(["float32", "float64"]), rnd.choice(["int64", "int32", "bool", "uint8"]), rnd.choice(["float32", "float64"])
    lengths = lengths_of(rnd)
    with h5py.File(folder / "made.hdf5", "w") as file:
        data = file.create_group("data")
        for number, length in lengths.items():
            demo = data.create_group(f"demo_{number}")
            demo.attrs["num_samples"] = length
            if states:
                demo.attrs["model_file"] = f"<mujoco n=\"{number}\"/>"
                demo.create_dataset("states", data=numbers.normal(size=(length, 5)), **how)
            demo.create_dataset("actions", data=numbers.uniform(-1, 1, (length, width)).astype(acts), **how)
            demo.create_dataset("rewards", data=np.arange(length, dtype=gains), **how)
            demo.create_dataset("dones", data=np.asarray([0] * (length - 1) + [1], dtype=ends), **how)
            for key, column in keys.items():
                whole = column(length + 1)
                demo.create_dataset(f"obs/{key}", data=whole[:-1], **how)
                if following:
                    demo.create_dataset(f"next_obs/{key}", data=whole[1:], **how)
            for key, column in extra.items():
                demo.create_dataset(key, data=column(length), **how)
            if rnd.random() < 0.5:
                demo.attrs["ep_meta"] = json.dumps({"lang": "öffne", "n": [1, 0.5, None]})
        data.attrs["total"] = sum(lengths.values())
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_version": "1.4.1", "env_kwargs": {"x": [1, None]}})
        put_masks(rnd, file, [f"demo_{number}" for number in sorted(lengths)])
    tdtool("verify", folder / "made.hdf5")
    tdtool("convert", folder / "made.hdf5", folder / "copy.hdf5", "--as", "robomimic")
    equal_demos(folder / "copy.hdf5", folder / "made.hdf5")
    for got, want in zip(sequences(folder / "copy.hdf5", keys, following), sequences(folder / "made.hdf5", keys, following), strict=True):
        same(got, want)
    tdtool("convert", folder / "made.hdf5", folder / "rows", "--as", "tensordict")
    rows = TensorDict.load_memmap(folder / "rows")
    with h5py.File(folder / "made.hdf5") as file:
        def whole(name):
            return np.concatenate([file[f"data/demo_{number}/{name}"][()] for number in sorted(lengths)])

        for key in keys:
            same(rows[("observation", *key.split("/"))].numpy(), whole(f"obs/{key}"), key)
            if following:
                same(rows[("next", "observation", *key.split("/"))].numpy(), whole(f"next_obs/{key}"), key)
        for key in extra:
            same(rows[tuple(key.split("/"))].numpy(), whole(key), key)
        same(rows["action"].numpy(), whole("actions"), "action")
        same(rows["next", "reward"].squeeze(-1).numpy(), whole("rewards"), "reward")
        assert np.array_equal(rows["next", "done"].squeeze(-1).numpy(), whole("dones")), "done"
        same(rows["episode"].numpy(), np.repeat(np.arange(len(lengths)), [lengths[number] for number in sorted(lengths)]), "episode")
    there_and_back(folder, folder / "made.hdf5", "robomimic", ".hdf5")


def robosuite(rnd, folder):
    """Raw demonstrations, of states and actions alone."""
    numbers = np.random.default_rng(rnd.randrange(2**31))
    lengths, how = lengths_of(rnd), rnd.choice(FILTERS)
    width, size = rnd.randint(1, 8), rnd.randint(1, 30)
    with h5py.File(folder / "made.hdf5", "w") as file:
        data = file.create_group("data")
        for number, length in lengths.items():
            demo = data.create_group(f"demo_{number + 1}")
            demo.attrs["model_file"] = f"<mujoco n=\"{number}\"/>"
            demo.create_dataset("states", data=numbers.normal(size=(length, size)), **how)
            demo.create_dataset("actions", data=numbers.uniform(-1, 1, (length, width)), **how)
        for key, text in (("date", "11-27-2026"), ("time", "1:2:3"), ("repository_version", "1.4.1"), ("env", "Lift"), ("env_info", "{\"robots\": \"Panda\"}")):
            data.attrs[key] = text
    tdtool("verify", folder / "made.hdf5")
    tdtool("convert", folder / "made.hdf5", folder / "copy.hdf5", "--as", "robomimic")
    equal_files(folder / "copy.hdf5", folder / "made.hdf5", made=("dones",))
    tdtool("convert", folder / "made.hdf5", folder / "rows", "--as", "tensordict")
    rows = TensorDict.load_memmap(folder / "rows")
    with h5py.File(folder / "made.hdf5") as a, h5py.File(folder / "copy.hdf5") as b:
        for key, text in a["data"].attrs.items():
            assert b["data"].attrs[key] == text, key
        for number, length in lengths.items():
            one, other = a[f"data/demo_{number + 1}"], b[f"data/demo_{number + 1}"]
            assert other.attrs["model_file"] == one.attrs["model_file"] and other.attrs["num_samples"] == length
        for key, name in (("action", "actions"), ("states", "states")):
            same(rows[key].numpy(), np.concatenate([a[f"data/demo_{number + 1}/{name}"][()] for number in sorted(lengths)]), key)
    there_and_back(folder, folder / "made.hdf5", "robomimic", ".hdf5")


def d4rl(rnd, folder):
    n = rnd.choice([1, 5, 12, 40])
    how = rnd.choice(FILTERS)
    numbers = np.random.default_rng(rnd.randrange(2**31))
    with h5py.File(folder / "made.hdf5", "w") as file:
        seen = Columns(rnd, FLOATS + ["uint8"], ((3,), (1,), (7,), (4, 5, 3)))(n + 1)
        file.create_dataset("observations", data=seen[:-1], **how)
        if rnd.random() < 0.4:
            file.create_dataset("next_observations", data=seen[1:], **how)
        file.create_dataset("actions", data=Columns(rnd, FLOATS + ["int64"], ((2,), (1,), (6,), ()))(n), **how)
        column = (n, 1) if rnd.random() < 0.2 else (n,)
        file.create_dataset("rewards", data=numbers.normal(size=column).astype(rnd.choice(FLOATS)), **how)
        flags = rnd.choice(["bool", "bool", "uint8", "float32"])
        ends = (numbers.random(column) < 0.15).astype(flags)
        file.create_dataset("terminals", data=ends, **how)
        if rnd.random() < 0.7:
            file.create_dataset("timeouts", data=(numbers.random(column) < 0.15).astype(rnd.choice(["bool", flags])), **how)
        for key in rnd.sample(["infos/qpos", "infos/qvel", "infos/goal", "infos/deep/x", "infos/action_log_probs", "extra"], rnd.randint(0, 3)):
            file.create_dataset(key, data=Columns(rnd)(n), **how)
        if rnd.random() < 0.5:
            file["metadata/algorithm"] = rnd.choice(["SAC", np.bytes_("SAC")])
            file["metadata/iteration"] = rnd.choice([3, np.int32(7), 2.5])
            file["metadata/is_expert"] = True
            for key in ("policy/fc0/weight", "policy/fc0/bias", "policy/output_distribution"):
                file.create_dataset(f"metadata/{key}", data=Columns(rnd)(rnd.choice([2, 4, n])))
        if rnd.random() < 0.3:
            file.attrs["env"], file.attrs["seed"] = "hopper", 3
    tdtool("verify", folder / "made.hdf5")
    tdtool("convert", folder / "made.hdf5", folder / "copy.hdf5", "--as", "d4rl")
    equal_files(folder / "copy.hdf5", folder / "made.hdf5")
    with h5py.File(folder / "made.hdf5") as a, h5py.File(folder / "copy.hdf5") as b:
        equal_attributes(b.attrs, a.attrs, "file")
    tdtool("convert", folder / "made.hdf5", folder / "rows", "--as", "tensordict")
    rows = TensorDict.load_memmap(folder / "rows")
    with h5py.File(folder / "made.hdf5") as file:
        same(rows["observation"].numpy(), file["observations"][()], "observation")
        same(rows["action"].numpy(), file["actions"][()], "action")
        same(rows["next", "reward"].numpy(), file["rewards"][()].reshape(n, 1), "reward")
        over = file["terminals"][()].reshape(n) != 0
        assert np.array_equal(rows["next", "terminated"].numpy().reshape(n), over), "terminated"
        over = over | (file["timeouts"][()].reshape(n) != 0) if "timeouts" in file else over
        same(rows["episode"].numpy(), np.concatenate([[0], np.cumsum(over)[:-1]]).astype(np.int64), "episode")
    there_and_back(folder, folder / "made.hdf5", "d4rl", ".hdf5")
