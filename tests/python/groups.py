#!/usr/bin/env python3
"""Python and other languages in one process group: groups.py LANGUAGE=COMMAND…

Starts each COMMAND, made from group_rank.c, rank_rust or rank_csharp, as the other of two ranks, for each order of the ranks
and each kind of meeting. Each step sends values both ways and compares them. In the end the rank in Python is killed, and
the other one must get an error.
"""
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from tensordict import LazyStackedTensorDict, TensorDict


def values(first):
    """What values() of group_rank.c makes."""
    return TensorDict({
        "b": torch.arange(first, first + 6, dtype=torch.float32).view(2, 3) / 4,
        "a": torch.tensor([first, -first]),
        "n": TensorDict({
            "u": torch.tensor([[first, 0], [255, 7]], dtype=torch.uint8),
            "m": TensorDict({"t": torch.tensor([first % 2 == 1, True])}, [2]),
        }, [2]),
        "none": torch.zeros(2, 0, dtype=torch.float64),
    }, [2])


def with_text(first):
    return values(first).set_non_tensor("text", "made by a rank")


def lazy(first, second):
    return TensorDict({"z": LazyStackedTensorDict(values(first), values(second), stack_dim=0)}, [])


def numbers(value):
    return TensorDict({"x": torch.tensor([value, -value], dtype=torch.float32), "n": {"i": torch.tensor(10 * value)}}, [])


def same(got, want):
    """Keys, dtypes, shapes and values."""
    got_leaves, want_leaves = dict(leaves(got)), dict(leaves(want))
    assert got_leaves.keys() == want_leaves.keys(), (got_leaves.keys(), want_leaves.keys())
    assert got.batch_size == want.batch_size
    for key, tensor in want_leaves.items():
        other = got_leaves[key]
        if isinstance(tensor, torch.Tensor):
            assert other.dtype == tensor.dtype and other.shape == tensor.shape and torch.equal(other, tensor), (key, other)
        else:
            assert other == tensor, (key, other)


def leaves(td):
    for key in td.keys(include_nested=True, leaves_only=True):
        value = td.get(key)
        if isinstance(value, LazyStackedTensorDict):
            for i, element in enumerate(value.tensordicts):
                yield from (((key, i, name), leaf) for name, leaf in leaves(element))
        else:
            yield key, getattr(value, "data", value)


def steps(rank):
    """Yields the name of each step that was done."""
    other = 1 - rank
    values(1).send(other)
    yield "send"
    td = values(0)
    td.recv(other)
    same(td, values(2))
    yield "recv"
    td = values(0)
    came = td.irecv(other, init_tag=70, return_premature=True)
    sent = values(4).isend(other, init_tag=50, return_early=True)
    for work in [*came, *sent]:
        work.wait()
    same(td, values(3))
    yield "isend and irecv"
    lazy(11, 12).send(other)
    td = lazy(0, 0)
    td.recv(other)
    for got, want in zip(td["z"].tensordicts, lazy(13, 14)["z"].tensordicts, strict=True):
        same(got, want)
    yield "a lazy stack"
    values(5).consolidate().send(other, consolidated=True)
    td = values(0).consolidate()
    td.recv(other, consolidated=True)
    same(td, values(6))
    yield "consolidated"
    with_text(7).init_remote(dst=other)
    yield "init_remote"
    same(TensorDict.from_remote_init(src=other), with_text(8))
    yield "from_remote_init"
    with_text(9).broadcast(src=rank)
    same(TensorDict({}).broadcast(src=other), with_text(8))
    yield "broadcast"
    both = values(10 + rank).all_gather()
    same(both[rank], values(10 + rank))
    same(both[other], with_text(10 + other))
    yield "all_gather"
    parts = [values(20), with_text(21)]
    same(TensorDict.scatter(parts[0], rank, parts), parts[rank])
    same(TensorDict.scatter(parts[0], other), values(30) if rank == 0 else with_text(31))
    yield "scatter"
    td = numbers(3)
    td.all_reduce()
    same(td, numbers(5))
    td = numbers(3)
    td.all_reduce(op=dist.ReduceOp.PRODUCT)
    assert td["x"].tolist() == [6, 6] and td["n", "i"] == 600
    yield "all_reduce"
    numbers(3).reduce(other)
    td = numbers(3)
    td.reduce(rank)
    same(td, numbers(5))
    yield "reduce"
    part = dist.new_group([0, 1])
    td = values(0)
    td.recv(other, group=part)
    same(td, values(15))
    same(TensorDict({}).broadcast(src=other, group=part), values(16))
    yield "a group of some ranks"
    dist.barrier()
    yield "barrier"


def in_python(rank, url):
    with_libuv = "" if url.startswith("file:") else "?use_libuv=0"
    dist.init_process_group("gloo", init_method=url + with_libuv, rank=rank, world_size=2)
    for name in steps(rank):
        print(f"  {name}", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def free_port():
    with socket.socket() as listens:
        listens.bind(("127.0.0.1", 0))
        return listens.getsockname()[1]


def meet(language, command, rank, url):
    """Both ranks, until Python is killed and the other one has noticed."""
    print(f"Python is rank {rank}, {language} is rank {1 - rank}, {url.split(':')[0]}", flush=True)
    other = subprocess.Popen([*command, str(1 - rank), url])
    python = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--rank", str(rank), url])
    try:
        python.wait(1800)
        if other.wait(1200) != 0 or python.returncode != -signal.SIGKILL:
            sys.exit(f"failed: {language} ended with {other.returncode}, Python with {python.returncode}")
    finally:
        other.kill()
        python.kill()


def main(programs):
    done = 0
    for language, _, command in (program.partition("=") for program in programs):
        command = shlex.split(command)
        if subprocess.run([*command, "0", "none://"], stderr=subprocess.DEVNULL).returncode == 77:
            print("skip: a build without process groups")
            return
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                for url in (f"tcp://127.0.0.1:{free_port()}", f"file://{folder}/meet{rank}"):
                    meet(language, command, rank, url)
                    done += 1
    print(f"{done} passed")


if __name__ == "__main__":
    if sys.argv[1] == "--rank":
        in_python(int(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1:])
