"""Folders for the tests of tdtool, written byte by byte."""
import json
import pathlib
import shutil
import struct
import zipfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "data/golden"
MODULES = pathlib.Path(__file__).resolve().parent.parent / "golden2/data/modules"
ITEM = {"float32": "f", "float64": "d", "int64": "q", "int32": "i", "uint8": "B", "bool": "?"}


def write_node(folder, batch, leaves, nodes=(), values=()):
    """leaves: {name: (dtype, shape, numbers)}; nodes: names of folders inside; values: {name: value}."""
    folder.mkdir(parents=True, exist_ok=True)
    meta = {}
    for name, (dtype, shape, numbers) in leaves.items():
        numbers = list(numbers)
        meta[name] = {"device": "cpu", "shape": list(shape), "dtype": f"torch.{dtype}", "is_nested": False}
        if numbers:
            (folder / f"{name}.memmap").write_bytes(struct.pack(f"<{len(numbers)}{ITEM[dtype]}", *numbers))
    for name in nodes:
        meta[name] = {"type": "TensorDict"}
    for name, value in dict(values).items():
        meta[name] = {"type": "NonTensorData"}
        (folder / name).mkdir(exist_ok=True)
        data = {"_type": "<class 'tensordict.tensorclass.NonTensorData'>", "data": value, "_metadata": None}
        (folder / name / "meta.json").write_text(json.dumps(data))
    meta |= {"shape": list(batch), "device": "cpu", "_type": "<class 'tensordict._td.TensorDict'>"}
    (folder / "meta.json").write_text(json.dumps(meta))


def rollout(folder, episodes=4, steps=25, change=0.0):
    """A recording: action, next/{reward, done}, step, task."""
    count = episodes * steps
    action = [((i * 37) % 101 - 50) / 50 for i in range(2 * count)]
    reward = [((i * 17) % 29) / 10 + change for i in range(count)]
    write_node(folder, [episodes, steps], {
        "action": ("float32", [episodes, steps, 2], action),
        "step": ("int64", [episodes, steps, 1], [i % steps for i in range(count)]),
    }, ["next"], {"task": "keep the ball in the air"})
    write_node(folder / "next", [episodes, steps], {
        "reward": ("float32", [episodes, steps, 1], reward),
        "done": ("bool", [episodes, steps, 1], [i % steps == steps - 1 for i in range(count)]),
    })


def stack(folder, lengths):
    """A lazy stack of dictionaries whose tensors have different lengths."""
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({"_type": "<class 'tensordict._lazy.LazyStackedTensorDict'>", "stack_dim": 0}))
    for at, length in enumerate(lengths):
        write_node(folder / str(at), [], {"points": ("float64", [length, 2], [i / 4 for i in range(2 * length)])})


def left(folder):
    """Two rows, four more that a writer left which was killed, and half of one. The count goes with this meta.json."""
    folder.mkdir()
    (folder / "meta.json").write_text(
        '{"step":{"device":"cpu","shape":[2],"dtype":"torch.int64","is_nested":false},"shape":[2],"device":"None",'
        '"_type":"<class \'tensordict._td.TensorDict\'>"}')
    (folder / "step.memmap").write_bytes(struct.pack("<6q4x", *range(6)))
    (folder / ".%rows").write_bytes(bytes.fromhex(
        "544425726f77733102000000000000000200000000000000020000000000000093"
        "82712b3e211e28a19caad6638891600000000000000000e2e66da774eebbe0"))


def module(path, arguments, result, body, keys=None):
    """A TorchScript archive without parameters, as torch.jit.save writes one."""
    code = "\n".join([
        "class M(Module):", "  __parameters__ = []", "  __buffers__ = []", "  training : bool",
        f"  def forward(self: __torch__.M, {arguments}) -> {result}:", *("    " + line for line in body), ""])
    entries = {
        "data.pkl": b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00training\x89ub.",
        "code/__torch__.py": code.encode(),
        "constants.pkl": b"\x80\x02).",
        "version": b"3\n",
    }
    if keys is not None:
        text = {"version": 1, "in_keys": keys[0], "out_keys": keys[1]}
        entries["extra/tensordict.json"] = json.dumps(text).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}"), content)


def prepare(where):
    """What the transcripts find in their folder."""
    rollout(where / "rollout")
    rollout(where / "later", episodes=2)
    rollout(where / "other", change=0.25)
    stack(where / "clouds", [3, 1, 2])
    left(where / "left")
    write_node(where / "numbers", [5], {
        "x": ("float64", [5], [1.5, float("nan"), float("-inf"), 2.0, -0.5]),
        "n": ("int64", [5], [2**62, -7, 0, 3, 3]),
        "none": ("float32", [5, 0], []),
    })
    write_node(where / "names", [1], {"e\u0301t\u00e9": ("uint8", [1], [1]), "bell\x07": ("uint8", [1], [2])})
    (where / "names" / "bell\x07.memmap").rename(where / "names" / "bell%07.memmap")
    (where / "table.csv").write_text('name,score,"agent.age"\n"Ada",1.5,36\n"Bo",,41\n')
    module(where / "double.pt", "x: Tensor", "Tensor", ["return torch.mul(x, 2)"], [[["action"]], [["next", "double"]]])
    for name in ("basic", "digits", "lazy_hetero", "nontensor", "tensorclass"):
        shutil.copytree(GOLDEN / name, where / name)
    shutil.copytree(GOLDEN / "basic", where / "short")
    (where / "short" / "a.memmap").write_bytes(b"\0" * 20)
