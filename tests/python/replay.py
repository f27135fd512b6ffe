#!/usr/bin/env python3
"""Replay buffers of TorchRL and of this library on the same folders: replay.py PROGRAM

PROGRAM is made from replay_peer.c. A buffer of each kind goes to and fro: one side dumps it, the other loads, extends, draws and
dumps it, and TorchRL, which has done the same in memory, finds the same rows, counts, priorities and ranks. Skips, with a word why,
where TorchRL is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
from tensordict import TensorDict

CAPACITY = 40


def rows(first, n, batch=()):
    number = torch.arange(first, first + n, dtype=torch.float32)
    number = number.reshape(n, *[1] * len(batch)).expand(n, *batch)
    return TensorDict(
        {
            "obs": number.unsqueeze(-1) + torch.arange(3) / 8,
            "action": number.long() * 2,
            "td_error": (number * 7) % 13 + 0.25,
            "next": {"done": (number % 9 == 8).unsqueeze(-1), "reward": (number * 5 % 11).unsqueeze(-1)},
        },
        batch_size=[n, *batch],
    )


def kinds():
    from torchrl.data import replay_buffers as r

    def memmap(**more):
        return r.LazyMemmapStorage(CAPACITY, **more)

    def buffer(cls=r.TensorDictReplayBuffer, storage=memmap, **parts):
        return lambda: cls(storage=storage(), batch_size=8, **{name: make() for name, make in parts.items()})

    slices = {"slice_len": 4, "end_key": ("next", "done"), "strict_length": False}
    per = lambda: r.PrioritizedSampler(CAPACITY, alpha=0.7, beta=0.9)
    # TorchRL itself cannot go on with a nested key that it has loaded: JSON makes a list of it.
    by_rank = lambda: r.TensorDictMaxValueWriter(rank_key="td_error")
    return {  # name: (how to make it, sampler for the peer, batch behind the rows)
        "random": (buffer(), 0, ()),
        "plain": (buffer(r.ReplayBuffer), 0, ()),
        "tensor_storage": (buffer(storage=lambda: r.LazyTensorStorage(CAPACITY)), 0, ()),
        # After more rows its list may be one of slices, so the peer has to name the sampler.
        "without": (buffer(sampler=lambda: r.SamplerWithoutReplacement()), 2, ()),
        "without_drop_last": (buffer(sampler=lambda: r.SamplerWithoutReplacement(drop_last=True)), 2, ()),
        # A TensorDictReplayBuffer takes priorities from "td_error" of new rows; a peer gives them by update_priority.
        "prioritized": (buffer(r.ReplayBuffer, sampler=per), 0, ()),
        "by_entry": (buffer(sampler=per), 104, ()),
        "within": (buffer(sampler=lambda: r.PrioritizedSampler(CAPACITY, alpha=0.7, beta=0.9, max_priority_within_buffer=True)), 204, ()),
        "prioritized_slices": (buffer(sampler=lambda: r.PrioritizedSliceSampler(CAPACITY, alpha=0.7, beta=0.9, **slices)), 106, ()),
        "slices_without": (buffer(sampler=lambda: r.SliceSamplerWithoutReplacement(**slices)), 5, ()),
        "slices": (buffer(sampler=lambda: r.SliceSampler(slice_len=4, end_key=("next", "done"), strict_length=False)), 3, ()),
        "by_rank": (buffer(writer=by_rank), 0, ()),
        "by_rank_prioritized": (buffer(r.ReplayBuffer, writer=by_rank, sampler=per), 0, ()),
        "generations": (buffer(writer=lambda: r.TensorDictRoundRobinWriter(track_generations=True)), 0, ()),
        # Time first. TorchRL would take it for the second dimension of new rows.
        "two_dims": (buffer(storage=lambda: memmap(ndim=2), dim_extend=lambda: 0), 0, (4,)),
    }


def state(buffer):
    """What must be equal, by name."""
    writer, sampler = buffer._writer, buffer._sampler
    found = {"len": len(buffer), "cursor": writer._cursor, "written": writer._write_count}
    ranks = getattr(writer, "_current_top_values", None)
    if ranks is not None:
        found["ranks"] = sorted((float(rank), int(place)) for rank, place in ranks)
    generation = getattr(writer, "_generation", None)
    if generation is not None:
        found["generations"] = generation.tolist()
    tree = getattr(sampler, "_sum_tree", None)
    if tree is not None:
        found["priorities"] = [round(float(tree[i]), 4) for i in range(CAPACITY)]
        found["largest"] = round(float(sampler._max_priority[0]), 4)  # trees are of float32
    return found


def check_equal(name, one, other):
    a, b = state(one), state(other)
    assert a == b, (name, {key: (a[key], b.get(key)) for key in a if a[key] != b.get(key)})
    a, b = one[:], other[:]
    for key in ["obs", "action", "td_error", ("next", "done"), ("next", "reward")]:
        assert torch.equal(a[key], b[key]), (name, key)


def add(buffer, some):
    # extend() of some writers changes the dictionary that it is given.
    buffer.extend(some.clone())


def there_and_back(peer, name, make, sampler, batch, folder):
    def told(*words):
        done = subprocess.run([peer, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, (name, words[0], done.stdout, done.stderr)

    wide = 12 // (4 if batch else 1)
    plan = [rows(0, wide, batch), rows(100, wide, batch), rows(200, wide, batch), rows(300, 3 * wide, batch)]
    for k, some in enumerate(plan):
        some.memmap(folder / f"rows{k}")
    model, first = make(), make()
    for buffer in (model, first):
        add(buffer, plan[0])
    first.dumps(folder / "a")  # never drawn from
    told("extend", folder / "a", folder / "rows1", folder / "b", sampler, 0)
    add(model, plan[1])
    second = make()
    add(second, plan[0])  # storages are made by their first rows
    second.loads(folder / "b")
    check_equal(name, model, second)
    second.sample()
    for buffer in (model, second):
        add(buffer, plan[2])
    second.dumps(folder / "c")
    told("extend", folder / "c", folder / "rows3", folder / "c", sampler, 0)
    add(model, plan[3])
    third = make()
    add(third, plan[0])
    third.loads(folder / "c")
    check_equal(name, model, third)
    third.sample()
    third.dumps(folder / "c")  # over the folder that this library wrote
    told("copy", folder / "c", "-", folder / "d", sampler, 0)
    fourth = make()
    add(fourth, plan[0])
    fourth.loads(folder / "d")
    check_equal(name, model, fourth)


def ours_first(peer, name, make, sampler, folder):
    """A buffer that this library has made."""
    rows(0, 50).memmap(folder / "first")
    done = subprocess.run([peer, "create", "-", folder / "first", folder / "made", str(sampler), str(CAPACITY)], capture_output=True, text=True)
    assert done.returncode == 0, (name, done.stdout)
    model, loaded = make(), make()
    add(model, rows(0, 50))
    add(loaded, rows(0, 1))
    loaded.loads(folder / "made")
    check_equal(name, model, loaded)
    loaded.sample()
    for buffer in (model, loaded):
        add(buffer, rows(500, 3))
    loaded.dumps(folder / "made")
    subprocess.run([peer, "copy", folder / "made", "-", folder / "again", str(sampler), "0"], check=True)
    last = make()
    add(last, rows(0, 1))
    last.loads(folder / "again")
    check_equal(name, model, last)


def first_rows(peer, folder):
    """Both sides begin slices at the same rows, with the same weights."""
    from torchrl.data import replay_buffers as r

    for span in (False, 2):
        for total in (30, 47):
            if span and total > CAPACITY:
                continue  # TorchRL lets a slice that begins behind the end of the memory run over the border of its episode
            sampler = r.PrioritizedSliceSampler(
                CAPACITY, alpha=0.7, beta=0.9, slice_len=4, end_key=("next", "done"), strict_length=False, span=(False, span)
            )
            buffer = r.TensorDictReplayBuffer(storage=r.LazyMemmapStorage(CAPACITY), sampler=sampler, batch_size=400)
            for first in range(0, total, 30):
                add(buffer, rows(first, min(30, total - first)))
            buffer.dumps(folder / "slices")
            theirs, ours = {}, {}
            for _ in range(100):
                batch = buffer.sample()
                index, weight = batch["index"].reshape(-1), batch["priority_weight"].reshape(-1)
                first = 0
                for end in batch["next", "truncated"].reshape(-1).nonzero().reshape(-1).tolist():
                    theirs[int(index[first])] = (end + 1 - first, float(weight[first]))
                    first = end + 1
            told = subprocess.run(
                [peer, "draw", folder / "slices", "-", "-", "6", str(int(span))], capture_output=True, text=True, check=True
            )
            for line in told.stdout.splitlines():
                place, length, weight = line.split()
                ours[int(place)] = (int(length), float(weight))
            assert theirs.keys() == ours.keys(), (span, total, theirs, ours)
            for place, (length, weight) in theirs.items():
                assert ours[place][0] == length and abs(ours[place][1] / weight - 1) < 1e-4, (place, theirs[place], ours[place])


def same(name, ours, theirs):
    assert ours.dtype == theirs.dtype, (name, ours.dtype, theirs.dtype)
    assert torch.allclose(ours.reshape(-1).double(), theirs.reshape(-1).double(), atol=1e-5), (name, ours, theirs)


def returns(peer, folder):
    """Returns of several steps: of all rows those of MultiStep, and those that MultiStepTransform writes."""
    from torchrl.data import replay_buffers as r
    from torchrl.data.postprocs import MultiStep
    from torchrl.envs.transforms import MultiStepTransform

    keys = ["steps_to_next_obs", "gamma", "nonterminal", "obs", ("next", "reward"), ("next", "original_reward"), ("next", "obs"), ("next", "done")]

    def played(n, batch=()):
        some = rows(0, n, batch)
        some["next", "obs"] = some["obs"] + 1
        some["mask"] = some["action"] % 5 != 2
        return some

    def told(steps, name):
        result = folder / f"{name}_{steps}"
        subprocess.run([peer, "returns", folder / name, "-", result, str(steps), "0"], check=True)
        return TensorDict.load_memmap(result)

    for steps in (1, 2, 3, 5, 60):
        buffer = r.TensorDictReplayBuffer(storage=r.LazyMemmapStorage(CAPACITY), batch_size=8)
        buffer.extend(played(30))
        buffer.dumps(folder / "plain")
        ours = told(steps, "plain")
        module = MultiStep(gamma=0.9, n_steps=steps)
        module.mask_key = "mask"
        theirs = module(played(30))
        for key in keys:
            same((steps, key), ours[key], theirs[key])
        if steps < 30:
            written = r.TensorDictReplayBuffer(
                storage=r.LazyTensorStorage(CAPACITY), transform=MultiStepTransform(n_steps=steps, gamma=0.9), batch_size=8
            )
            for first in range(0, 30, 10):
                written.extend(played(30)[first : first + 10])
            theirs = written._storage[:]
            for key in keys:
                same((steps, key), ours[key][: len(theirs)], theirs[key])
    # Time first here, last there; a ring that was cut.
    wide = r.TensorDictReplayBuffer(storage=r.LazyMemmapStorage(CAPACITY, ndim=2), dim_extend=0, batch_size=8)
    wide.extend(played(10, (4,)))
    wide.dumps(folder / "wide")
    ours, theirs = told(3, "wide"), MultiStep(gamma=0.9, n_steps=3)(played(10, (4,)).exclude("mask").transpose(0, 1).contiguous())
    for key in keys:
        if key != "nonterminal":
            same(("wide", key), ours[key], theirs.transpose(0, 1)[key])


def hindsight(peer, folder):
    """Goals that were reached: the same ones may come to a row, and rewards follow."""
    from torchrl.data import HERReplayBuffer, LazyMemmapStorage

    some = rows(0, 27)
    some["achieved_goal"] = some["obs"].clone()
    some["desired_goal"] = torch.full_like(some["obs"], -1.0)
    some["next", "desired_goal"] = torch.full_like(some["obs"], -1.0)
    for number, strategy in enumerate(["future", "final", "episode", "random"]):
        buffer = HERReplayBuffer(
            lambda td: td["desired_goal"][:, :1] * 2, her_ratio=0.7, strategy=strategy, storage=LazyMemmapStorage(CAPACITY), batch_size=64
        )
        buffer.extend(some)
        buffer.dumps(folder / "goals")
        subprocess.run([peer, "hindsight", folder / "goals", "-", folder / strategy, str(number), "5400"], check=True)
        ours = TensorDict.load_memmap(folder / strategy)
        theirs = torch.cat([buffer.sample()[: int(64 * 0.7)] for _ in range(120)])
        first = int(5400 * 0.7)
        pairs = lambda td: set(zip(td["index"].reshape(-1).tolist(), td["desired_goal"][:, 0].long().tolist()))
        if strategy == "random":  # too many pairs for each to come
            assert {goal for _, goal in pairs(ours[:first])} == {goal for _, goal in pairs(theirs)} == set(range(27))
        else:
            assert pairs(ours[:first]) == pairs(theirs), strategy
        assert (ours["desired_goal"][first:] == -1).all() and torch.equal(ours["desired_goal"], ours["next", "desired_goal"])
        assert torch.equal(ours["next", "reward"][:first], ours["desired_goal"][:first, :1] * 2)
        assert torch.equal(ours["next", "reward"][first:], some["next", "reward"][ours["index"][first:]])


def refused(peer, folder):
    """What this library may not extend, or draw from, or read."""
    from torchrl.data import replay_buffers as r

    def refusal(words, *told):
        done = subprocess.run([peer, *map(str, told)], capture_output=True, text=True)
        assert done.returncode == 3 and words in done.stdout, (words, done)

    rows(100, 2).memmap(folder / "some")
    immutable = r.TensorDictReplayBuffer(storage=r.TensorStorage(rows(0, 30)), writer=r.ImmutableDatasetWriter(), batch_size=8)
    immutable.dumps(folder / "immutable")
    refusal("immutable", "extend", folder / "immutable", folder / "some", folder / "no", 0, 0)
    subprocess.run([peer, "copy", folder / "immutable", "-", folder / "copied", "0", "0"], check=True)
    again = r.TensorDictReplayBuffer(storage=r.TensorStorage(rows(500, 30)), writer=r.ImmutableDatasetWriter(), batch_size=8)
    again.loads(folder / "copied")
    assert torch.equal(again[:]["obs"], rows(0, 30)["obs"])
    pytree = r.ReplayBuffer(storage=r.LazyMemmapStorage(10), batch_size=2)
    pytree.extend((torch.ones(4, 2), torch.zeros(4)))
    pytree.dumps(folder / "pytree")
    refusal("pytree", "copy", folder / "pytree", "-", folder / "no", 0, 0)


def main():
    try:
        import torchrl
    except ImportError as missing:
        print(f"skip: replay buffers of TorchRL: {missing}")
        return
    peer = sys.argv[1]
    passed = 0
    with tempfile.TemporaryDirectory() as temp:
        for name, (make, sampler, batch) in kinds().items():
            folder = pathlib.Path(temp) / name
            folder.mkdir()
            there_and_back(peer, name, make, sampler, batch, folder)
            passed += 1
        for name, number in [("random", 1), ("without", 2), ("slices", 3), ("prioritized", 4)]:
            folder = pathlib.Path(temp) / f"ours_{name}"
            folder.mkdir()
            ours_first(peer, name, kinds()[name][0], number, folder)
            passed += 1
        folder = pathlib.Path(temp) / "refused"
        folder.mkdir()
        refused(peer, folder)
        folder = pathlib.Path(temp) / "first_rows"
        folder.mkdir()
        first_rows(peer, folder)
        for check in (returns, hindsight):
            folder = pathlib.Path(temp) / check.__name__
            folder.mkdir()
            check(peer, folder)
    print(f"{passed + 4} passed: replay buffers to and fro with TorchRL {torchrl.__version__}")


if __name__ == "__main__":
    main()
