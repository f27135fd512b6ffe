#!/usr/bin/env python3
"""Random dictionaries between Python and this library in one process group: group_cases.py PROGRAM [CASES [SEED]]

PROGRAM is made from group_peer.c. Keys come in any order, values in each dtype, nested, in lazy stacks, with texts and without
elements; each is sent, broadcast, gathered, scattered and reduced both ways.
"""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from random_dictionaries import DTYPES, dictionary, difference
from tensordict import TensorDict

REDUCED = ["float32", "float64", "int8", "int32", "int64", "uint8", "bool", "complex64"]  # by gloo in Python
OPS = {"sum": (0, dist.ReduceOp.SUM), "product": (2, dist.ReduceOp.PRODUCT), "min": (3, dist.ReduceOp.MIN), "max": (4, dist.ReduceOp.MAX)}


class Pair:
    def __init__(self, program, rank, folder):
        with socket.socket() as listens:
            listens.bind(("127.0.0.1", 0))
            port = listens.getsockname()[1]
        url = f"tcp://127.0.0.1:{port}"
        self.rank, self.folder, self.refused, self.done = rank, pathlib.Path(folder), {}, 0
        self.process = subprocess.Popen([program, str(1 - rank), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        dist.init_process_group("gloo", init_method=url + "?use_libuv=0", rank=rank, world_size=2)

    def tell(self, name, folder, result, number=0):
        self.process.stdin.write(f"{name}\t{folder}\t{result}\t{number}\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def put(self, td, name):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        td.clone().memmap(path)
        return path

    def got(self, what, td, want, texts=True):
        answer = self.answer()
        assert answer == "ok", (what, answer)
        found = difference(td() if callable(td) else td, want, texts)
        assert found is None, (what, found, want)
        self.done += 1

    def load(self, name):
        return TensorDict.load_memmap(self.folder / name)

    def new(self, name):
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name


def blank(td):
    """The same dictionary with other values."""
    return td.clone().apply(torch.zeros_like, filter_empty=False)


def point_to_point(pair, rnd, td):
    other = 1 - pair.rank
    zeros = blank(td)
    # Python sends leaf by leaf what both sides have the structure of; texts do not travel.
    pair.tell("recv", pair.put(zeros, "zeros"), pair.new("out"))
    td.send(other)
    pair.got("send", lambda: pair.load("out"), td, texts=False)
    pair.tell("send", pair.put(td, "in"), "-")
    mine = zeros.clone()
    mine.recv(other)
    pair.got("recv", mine, td, texts=False)
    pair.tell("from_remote", "-", pair.new("out"))
    td.clone().init_remote(dst=other)
    pair.got("init_remote", lambda: pair.load("out"), td)
    pair.tell("init_remote", pair.put(td, "in"), "-")
    pair.got("from_remote", TensorDict.from_remote_init(src=other), td)


def collective(pair, rnd, td):
    other = 1 - pair.rank
    pair.tell("broadcast", "-", pair.new("out"), pair.rank)
    td.clone().broadcast(src=pair.rank)
    pair.got("broadcast", lambda: pair.load("out"), td)
    pair.tell("broadcast", pair.put(td, "in"), "-", other)
    pair.got("broadcast from the library", TensorDict({}).broadcast(src=other), td)
    second = dictionary(rnd, td.batch_size, lazy=False)
    pair.tell("all_gather", pair.put(second, "in"), pair.new("out"))
    for i in (0, 1):
        pair.new(f"out{i}")
    both = td.clone().all_gather()
    pair.got("all_gather", both[other], second)
    found = difference(pair.load(f"out{pair.rank}"), td) or difference(pair.load(f"out{other}"), second)
    assert found is None, ("all_gather in the library", found)
    pair.tell("scatter", "-", pair.new("out"), pair.rank)
    TensorDict.scatter(td.clone(), pair.rank, [td.clone(), td.clone()])
    pair.got("scatter", lambda: pair.load("out"), td)
    pair.tell("scatter", pair.put(second, "in"), "-", other)
    pair.got("scatter from the library", TensorDict.scatter(td.clone(), other), second)


def reductions(pair, rnd, batch):
    other = 1 - pair.rank
    for name, (number, op) in OPS.items():
        real = name != "sum"
        dtypes = [one for one in REDUCED if not (real and one.startswith("complex"))]
        td = dictionary(rnd, batch, dtypes=dtypes, texts=rnd.random() < 0.3, lazy=False)
        pair.put(td, "in")
        td = pair.load("in").clone()  # the order of a loaded dictionary is the same on both sides
        ours = td.apply(lambda one: (one + 1).to(one.dtype) if one.dtype != torch.bool else ~one, filter_empty=False)
        pair.put(ours, "in")
        combined = {
            "sum": torch.add, "product": torch.mul, "min": torch.minimum, "max": torch.maximum,
        }[name]
        want = td.apply(lambda a, b: combined(a, b).to(a.dtype), ours, filter_empty=False)
        pair.tell("all_reduce", pair.folder / "in", pair.new("out"), number)
        mine = td.clone()
        mine.all_reduce(op=op)
        pair.got(("all_reduce", name), lambda: pair.load("out"), mine)
        found = difference(mine, want)
        assert found is None, ("all_reduce", name, found)
        pair.tell("reduce", pair.folder / "in", pair.new("out"), other + 2 * number)
        td.clone().reduce(other, op=op)
        pair.got(("reduce to the library", name), lambda: pair.load("out"), want)
        pair.tell("reduce", pair.folder / "in", "-", pair.rank + 2 * number)
        mine = td.clone()
        mine.reduce(pair.rank, op=op)
        pair.got(("reduce to Python", name), mine, want)


def one_rank(program, rank, cases, seed):
    torch.manual_seed(seed)
    rnd = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(program, rank, folder)
        for _ in range(cases):
            batch = rnd.choice([[], [2], [3, 2], [0], [1]])
            point_to_point(pair, rnd, dictionary(rnd, batch))
            collective(pair, rnd, dictionary(rnd, batch, lazy=False))
            reductions(pair, rnd, batch)
        pair.process.stdin.close()
        dist.destroy_process_group()
        assert pair.process.wait(60) == 0
    print(f"{pair.done} passed with Python as rank {rank}")


def main():
    program, cases, seed = sys.argv[1], int((sys.argv[2:] or [6])[0]), int((sys.argv[3:] or [1])[0])
    if subprocess.run([program, "0", "none://"], stderr=subprocess.DEVNULL).returncode == 77:
        print("skip: a build without process groups")
        return
    for rank in (0, 1):
        if os.fork() == 0:
            try:
                one_rank(program, rank, cases, seed + rank)
            except BaseException:  # noqa: BLE001
                import traceback

                traceback.print_exc()
                os._exit(1)
            sys.stdout.flush()
            os._exit(0)
        if os.wait()[1] != 0:
            sys.exit("failed")


if __name__ == "__main__":
    main()
