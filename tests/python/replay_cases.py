#!/usr/bin/env python3
"""Random buffers of TorchRL, and of this library on their folders: replay_cases.py PROGRAM [CASES [SEED]]

PROGRAM is made from replay_told.c. Storages of one and more dimensions, writers and samplers of each kind get calls of each length,
also of more rows than there are places. TorchRL dumps, the library loads, extends and saves, TorchRL goes on from there, and so
again; a buffer of TorchRL alone, which has done the same, must have the same rows, counts, priorities and ranks each time.
"""
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import torch
from tensordict import TensorDict

KEYS = ["obs", "action", "td_error", "episode", "pixels", "half", ("next", "done"), ("next", "reward")]


def rows(first, n, batch=()):
    number = torch.arange(first, first + n, dtype=torch.float32).reshape(n, *[1] * len(batch)).expand(n, *batch)
    inner = torch.arange(torch.Size(batch).numel()).reshape(batch) / 64
    return TensorDict(
        {
            "obs": (number + inner).unsqueeze(-1) + torch.arange(3) / 8,
            "action": number.long() * 2,
            "td_error": ((number + inner) * 7) % 13 + 0.25,
            "episode": number.long() // 9,
            "pixels": (number % 256).to(torch.uint8).unsqueeze(-1).expand(*number.shape, 4).contiguous(),
            "half": number.bfloat16(),
            "next": {"done": (number % 9 == 8).unsqueeze(-1), "reward": (number * 5 % 11).unsqueeze(-1)},
        },
        batch_size=[n, *batch],
    )


class Case:
    """A kind of buffer, and what the library is told about it."""

    def __init__(self, rnd):
        from torchrl.data import replay_buffers as r

        self.batch = rnd.choice([(), (), (), (3,), (2, 3), (1,)])
        ndim = rnd.choice([1, 1 + len(self.batch)])
        inner = torch.Size(self.batch).numel() if ndim > 1 else 1
        self.time = rnd.choice([5, 12, 20, 40])
        self.capacity = capacity = self.time * inner
        storage = rnd.choice([r.LazyMemmapStorage, r.LazyMemmapStorage, r.LazyTensorStorage])
        slices = {"slice_len": rnd.choice([1, 2, 4]), "strict_length": rnd.choice([False, False, True])}
        by_end, by_episode = {**slices, "end_key": ("next", "done")}, {**slices, "traj_key": "episode"}
        priorities = {"max_capacity": capacity, "alpha": 0.7, "beta": 0.9}
        samplers = {  # name: (how to make it, number and flags of the library's, borders)
            "random": (r.RandomSampler, 0, 0, "-"),
            "without": (r.SamplerWithoutReplacement, 2, 0, "-"),
            "without_drop_last": (lambda: r.SamplerWithoutReplacement(drop_last=True), 2, 1, "-"),
            "prioritized": (lambda: r.PrioritizedSampler(**priorities), 0, 0, "-"),
            "within": (lambda: r.PrioritizedSampler(**priorities, max_priority_within_buffer=True), 0, 64, "-"),
            "slices": (lambda: r.SliceSampler(**by_end), 3, 4, "ends"),
            "episodes": (lambda: r.SliceSampler(**by_episode), 3, 4, "episodes"),
            "slices_without": (lambda: r.SliceSamplerWithoutReplacement(**by_end), 5, 4, "ends"),
            "prioritized_slices": (lambda: r.PrioritizedSliceSampler(**priorities, **by_end), 6, 4, "ends"),
        }
        name = rnd.choice(list(samplers))
        sampler, number, flags, borders = samplers[name]
        if slices["strict_length"]:
            flags &= ~4
        writers = {
            "ring": r.TensorDictRoundRobinWriter,
            "generations": lambda: r.TensorDictRoundRobinWriter(track_generations=True),
            "ranked": lambda: r.TensorDictMaxValueWriter(rank_key="td_error"),
        }
        # Of several numbers in a row nothing in the folder says how they become one rank.
        writer = rnd.choice(["ring", "ring", "generations"] if self.batch else ["ring", "ring", *writers])
        kind = rnd.choice([r.ReplayBuffer, r.TensorDictReplayBuffer])
        self.weighs = name in ("prioritized", "within", "prioritized_slices")
        by_error = int(self.weighs and kind is r.TensorDictReplayBuffer)
        self.options = [number, flags, slices["slice_len"] if borders != "-" else 0, by_error, borders]
        more = {"dim_extend": 0} if ndim > 1 else {}
        self.make = lambda: kind(
            storage=storage(capacity, ndim=ndim), sampler=sampler(), writer=writers[writer](), batch_size=8, **more
        )
        self.name = f"{kind.__name__}, {name}, {writer}, {storage.__name__}({capacity}, ndim={ndim}), batch {self.batch}, {slices}"

    def lengths(self, rnd):
        return [rnd.choice([1, 3, self.time // 2 + 1, self.time, self.time + 3, 2 * self.time + 1]) for _ in range(4)]

    def state(self, buffer):
        writer, sampler = buffer._writer, buffer._sampler
        found = {"len": len(buffer), "cursor": writer._cursor, "written": writer._write_count}
        ranks, generation = (getattr(writer, one, None) for one in ("_current_top_values", "_generation"))
        if ranks is not None:
            found["ranks"] = sorted((float(rank), int(place)) for rank, place in ranks)
        if generation is not None:
            found["generations"] = generation.tolist()
        if self.weighs:
            found["priorities"] = [round(float(sampler._sum_tree[i]), 3) for i in range(self.capacity)]
            found["largest"] = sampler._max_priority[0] and round(float(sampler._max_priority[0]), 3)
        return found

    def check(self, step, model, buffer):
        one, other = self.state(model), self.state(buffer)
        assert one == other, (self.name, step, {key: (one[key], other.get(key)) for key in one if one[key] != other.get(key)})
        self.check_rows(step, model[:], buffer[:])

    def check_rows(self, step, one, other):
        for key in KEYS:
            assert torch.equal(one[key], other[key]), (self.name, step, key)


class Peer:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def told(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def attempt(function, *arguments):
    try:
        function(*arguments)
        return True
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError):
        return False


def sampled(buffer, folder, *arguments):
    """Whether TorchRL draws; a failure of its slices by priority leaves priorities of 0 behind, which are mended."""
    before = folder / "before"
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir()
    kept = attempt(buffer._sampler.dumps, before)
    done = attempt(buffer.sample, *arguments)
    if kept and not done:
        buffer._sampler.loads(before)
    return done


def one_case(peer, rnd, folder):
    """None where TorchRL itself does not do it."""
    case = Case(rnd)
    plan = [rows(100 * k, n, case.batch) for k, n in enumerate(case.lengths(rnd))]

    def told(*words):
        answer = peer.told(*words)
        assert answer == "ok", (case.name, [len(some) for some in plan], words, answer)

    def dumped(buffer, name):
        shutil.rmtree(folder / name, ignore_errors=True)
        return attempt(buffer.dumps, folder / name)

    def loaded(name):
        buffer = case.make()
        buffer.extend(plan[0][:1].clone())  # storages are made by their first rows
        buffer.loads(folder / name)
        return buffer

    if not attempt(case.make):
        return None
    model, first = case.make(), case.make()
    if not all(attempt(buffer.extend, plan[0].clone()) for buffer in (model, first)):
        return None
    if case.weighs and len(case.batch) == 0 and rnd.random() < 0.6:
        places = torch.arange(len(first))[:: rnd.randint(1, 3)]
        given = torch.rand(len(places)) * 9 + 0.1
        for buffer in (model, first):
            buffer.update_priority(places, given)
    if rnd.random() < 0.5:
        sampled(first, folder)
    if not dumped(first, "a"):
        return None
    told("load", folder / "a", *case.options)
    told("rows", folder / "rows_a")
    case.check_rows("loaded", TensorDict.load_memmap(folder / "rows_a"), first[:])
    plan[1].memmap(folder / "rows1")
    told("extend", folder / "rows1")
    if not attempt(model.extend, plan[1].clone()):
        return None
    if peer.told("sample", 8) != "ok":
        assert not sampled(model, folder, 8), (case.name, "no sample")
    told("save", folder / "b")
    second = loaded("b")
    case.check("after the library", model, second)
    for buffer in (model, second):
        buffer.extend(plan[2].clone())
    if not dumped(second, "c"):
        assert not dumped(model, "m"), (case.name, "cannot be dumped again")
        return None
    told("load", folder / "c", *case.options)
    plan[3].memmap(folder / "rows3")
    told("extend", folder / "rows3")
    model.extend(plan[3].clone())
    told("save", folder / "c")
    case.check("over TorchRL's folder", model, loaded("c"))
    return case.name


def main():
    try:
        import torchrl
    except ImportError as missing:
        print(f"skip: random buffers of TorchRL: {missing}")
        return
    import logging

    logging.disable(logging.CRITICAL)
    program, cases, seed = sys.argv[1], int((sys.argv[2:] or [25])[0]), int((sys.argv[3:] or [1])[0])
    peer, done, failed = Peer(program), 0, 0
    for number in range(seed, seed + cases):
        torch.manual_seed(number)
        with tempfile.TemporaryDirectory() as folder:
            try:
                done += one_case(peer, random.Random(number), pathlib.Path(folder)) is not None
            except AssertionError as error:
                print(f"case {number}: {error}")
                failed += 1
    peer.process.stdin.close()
    assert peer.process.wait() == 0
    print(f"{done} passed of {cases} random buffers of TorchRL {torchrl.__version__}, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
