#!/usr/bin/env python3
"""Python's TensorDictStore and the store of this library on one Redis server: store.py PROGRAM

PROGRAM is made from store_peer.c. Each side writes dictionaries which the other reads: values of all dtypes, nested ones, rows,
values that are no tensors, and what was removed. Skips, with a word why, where something is missing.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import torch
from tensordict import lazy_stack, NonTensorData, NonTensorStack, TensorDict, tensorclass

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
INFO = {"list": [1, 2.5, None, True], "nested": {"a b": "c"}}


@tensorclass
class Sample:
    x: torch.Tensor
    y: torch.Tensor


def numbers(shape, dtype):
    return torch.arange(torch.Size(shape).numel(), dtype=torch.int32).view(shape).to(dtype)


def tensors(dtypes):
    """The tensors of values() in store_peer.c, by path."""
    found = {("dtypes", name): numbers([4, 3], getattr(torch, name)) for name in dtypes}
    found["x"] = numbers([4, 3, 2], torch.float32)
    found["n", "m", "y"] = numbers([4], torch.int64)
    return found


def values():
    td = TensorDict({}, [4])
    for key, tensor in tensors(DTYPES).items():
        td[key] = tensor
    td.set_non_tensor("text", "caf\u00e9 \U0001F600")
    td.set("n", td["n"].set("info", NonTensorData(INFO, batch_size=[4])))
    return td


def stack(dim):
    """stack_of() in store_peer.c"""
    return lazy_stack([TensorDict({"a": numbers([2, 3], torch.int64) + 10 * i,
                                   "n": {"h": numbers([2, i + 1], torch.float32) + 100 * i}}, [2]) for i in range(3)], dim)


def same(got, want, what):
    assert got.dtype == want.dtype and got.shape == want.shape and torch.equal(got, want), (what, got, want)


def plain(value):
    return value.data if isinstance(value, NonTensorData) else value


class Sides:
    """Both sides of one server."""

    def __init__(self, program, socket):
        from tensordict.store import TensorDictStore
        self.program, self.socket, self.kind = program, socket, TensorDictStore
        self.done = 0

    def c(self, step, store_id):
        got = subprocess.run([self.program, self.socket, step, store_id], check=True, text=True, stdout=subprocess.PIPE)
        self.done += 1
        print(f"  C: {step}", flush=True)
        return got.stdout

    def opened(self, store_id):
        return self.kind.from_store(unix_socket_path=self.socket, td_id=store_id)

    def written(self, td):
        store = self.kind.from_tensordict(td, unix_socket_path=self.socket)
        return store, store._td_id

    def python(self, what):
        self.done += 1
        print(f"  Python: {what}", flush=True)

    def from_c(self):
        self.c("write", "from-c")
        store = self.opened("from-c")
        assert store.batch_size == torch.Size([4])
        for key, want in tensors([*DTYPES, "bfloat16"]).items():
            same(store[key], want, key)
            same(store.get_at(key, 2), want[2], key)
            same(store.get_at(key, [3, 0]), want[[3, 0]], key)
        assert plain(store.get("text")) == "caf\u00e9 \U0001F600"
        assert plain(store.get(("n", "info"))) == INFO
        each = [plain(one) for one in store.get("each").tensordicts]
        assert each == ["p", [1], None, 2.5], each
        self.python("read")
        part = store[1:3]
        same(part["n", "m", "y"], torch.tensor([1, 2]), "part")
        self.python("read rows")
        self.c("write rows", "from-c")
        self.check_rows(self.opened("from-c"))
        self.c("read rows", "from-c")
        self.c("remove", "from-c")
        store = self.opened("from-c")
        keys = set(store.keys(include_nested=True, leaves_only=True))
        assert keys == {"x", "each", ("n", "info"), ("n", "m", "y")}, keys
        self.python("removed")
        store.clear_redis()

    def check_rows(self, store):
        same(store["n", "m", "y"], torch.tensor([1, 0, 2, 0]), "n.m.y")
        x = numbers([4, 3, 2], torch.float32)
        x[1], x[0], x[2] = x[0].clone(), x[0].clone(), x[1].clone()
        same(store["x"], x, "x")
        self.python("read rows")

    def from_python(self):
        store, name = self.written(values())
        self.c("read", name)
        store.set_at_("x", numbers([3, 2], torch.float32), -3)
        store.set_at_("x", numbers([2, 3, 2], torch.float32), slice(0, 4, 2))
        store.set_at_(("n", "m", "y"), numbers([2], torch.int64), [3, 0])
        store.set_at_(("n", "m", "y"), torch.tensor(0), 1)
        self.python("write rows")
        self.check_rows(store)
        self.c("read rows", name)
        store.del_("dtypes")
        store.del_("text")
        self.python("remove")
        self.c("removed", name)
        store.clear_redis()

    def other_values(self):
        store = self.kind(unix_socket_path=self.socket, batch_size=[4])
        store.set_at_("each", "q", slice(1, 4, 2))
        store.set_at_("each", {"k": 1}, 2)
        self.python("write each")
        self.c("read each", store._td_id)
        store.clear_redis()
        # What JSON has not is pickled, and no plain value.
        store, name = self.written(TensorDict({}, [4]).set_non_tensor("bytes", b"\x00\x01"))
        store.set("object", NonTensorData(torch.Generator, batch_size=[4]))
        print(self.c("read pickled", name).strip())
        store.clear_redis()

    def other_forms(self):
        schema = {"a": ([3], torch.int16), "none": ([0], torch.bool)}
        store = self.kind.from_schema(schema, batch_size=[2], unix_socket_path=self.socket)
        self.c("read zeros", store._td_id)
        store.clear_redis()
        # Names of dimensions are not kept. The class of a tensorclass stands beside its entries: it survives what C does.
        td = values().exclude("text", ("n", "info"), "dtypes")
        td.names = ["time"]
        store, name = self.written(td)
        assert self.opened(name).names == [None]
        store.clear_redis()
        self.python("names are not kept")
        store, name = self.written(Sample(x=td["x"], y=td["n", "m", "y"], batch_size=[4]))
        again = self.opened(name)
        assert type(again) is Sample, type(again)
        store.clear_redis()
        self.python("a tensorclass")

    def texts(self):
        """A value for each row, in one batch dimension and in two, and a list that stands for the whole batch."""
        td = TensorDict({}, [2])
        td["t"] = ["a", "b"]
        td["n"] = TensorDict({"t": NonTensorStack("c", "d")}, [2])
        td.set_non_tensor("list", ["e", {"f": 1}])
        store, name = self.written(td)
        self.python("write texts")
        self.c("read texts", name)
        store.clear_redis()
        store, name = self.written(TensorDict({"t": NonTensorStack(NonTensorStack("a", "b"), NonTensorStack("c", "d"))}, [2, 2]))
        self.python("write texts of two dimensions")
        self.c("read texts 2", name)
        store.clear_redis()
        for step, key, want in (("write texts", "t", ["a", "b"]), ("write texts 2", "t", [["a", "b"], ["c", "d"]])):
            self.c(step, "texts")
            store = self.opened("texts")
            got = store.to_tensordict().get(key)
            assert isinstance(got, NonTensorStack) and got.tolist() == want, got
            self.python("read texts")
            store.clear_redis()

    def stacks(self):
        """Lazy stacks along either dimension, whose elements differ in shape, and the same change made by each side."""
        from tensordict.store import LazyStackedTensorDictStore
        for dim in (0, 1):
            store, name = self.written(stack(dim))
            assert type(store) is LazyStackedTensorDictStore
            self.c(f"read stack {dim}", name)
            self.c(f"change stack {dim}", name)
            self.check_stack(store, dim, changed=True)
            self.c(f"read changed stack {dim}", name)
            store.clear_redis()
            self.c(f"write stack {dim}", "stack")
            store = LazyStackedTensorDictStore.from_store(unix_socket_path=self.socket, td_id="stack")
            self.check_stack(store, dim, changed=False)
            store.set_at_("a", torch.tensor([7, 7, 7]), (1, 0) if dim == 0 else (0, 1))
            if dim == 0:
                store[1].set_at_(("n", "h"), torch.tensor([9.0, 9.0]), 0)
            self.python("change a stack")
            self.check_stack(store, dim, changed=True)
            self.c(f"read changed stack {dim}", "stack")
            # One tensor for all elements: Python writes it in the order of the batch.
            store.set(("n", "h"), numbers([3, 2] if dim == 0 else [2, 3], torch.float32))
            self.python("set a tensor of a stack")
            self.c(f"read set stack {dim}", "stack")
            self.c(f"set stack {dim}", "stack")
            # Python remembers shapes: another handle.
            store = LazyStackedTensorDictStore.from_store(unix_socket_path=self.socket, td_id="stack")
            same(store["a"], numbers([3, 2] if dim == 0 else [2, 3], torch.int64), "a")
            self.python("read what was set")
            store.clear_redis()

    def check_stack(self, store, dim, changed):
        from tensordict.store._lazy import _StoreStackElementView
        want = stack(dim)
        assert store.batch_size == want.batch_size, store.batch_size
        for i, element in enumerate(want.tensordicts):
            if changed and i == 1:
                element["a"][0] = 7
                if dim == 0:
                    element["n", "h"][0] = 9
            got = _StoreStackElementView(store, i).to_tensordict()
            assert got.batch_size == element.batch_size and (got == element).all(), (i, got, element)
        self.python("read a stack")


def reason_to_skip(program):
    if subprocess.run([program, "/nowhere", "probe", "x"], stderr=subprocess.DEVNULL).returncode == 77:
        return "a build without a client of Redis"
    if shutil.which("redis-server") is None:
        return "there is no redis-server"
    try:
        import redis.asyncio  # noqa: F401
        from tensordict.store import TensorDictStore  # noqa: F401
    except ImportError as missing:
        return str(missing)
    return None


def main(program):
    reason = reason_to_skip(program)
    if reason:
        print(f"skip: {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/s"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
                                   "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            for _ in range(600):
                if pathlib.Path(socket).exists():
                    break
                time.sleep(0.1)
            sides = Sides(program, socket)
            for steps in (sides.from_c, sides.from_python, sides.other_values, sides.other_forms, sides.texts, sides.stacks):
                print(f"store: {steps.__name__}", flush=True)
                steps()
        finally:
            server.kill()
            server.wait()
    print(f"{sides.done} passed")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(str(pathlib.Path(sys.argv[1]).resolve()))
