#!/usr/bin/env python3
"""Files of random dictionaries, there and back: file_cases.py FILE_TOLD [CASES] [SEED]

Python writes a dictionary at random as a folder, a consolidated file, a file of torch.save() or of safetensors; this library
reads it and writes it in each form; Python reads that and compares. Either the values are the same or the form is refused by a
status; what was refused is counted by its message. Ends with 1 after a difference.
"""
import collections
import itertools
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import torch
from random_dictionaries import DTYPES, dictionary, difference
from tensordict import LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict, tensorclass

try:
    from tensordict import from_safetensors, to_safetensors
except ImportError:
    to_safetensors = None

WRITERS = {
    "": lambda td, path: td.memmap(path),
    ".consolidated": lambda td, path: td.consolidate(path),
    ".pt": lambda td, path: torch.save(td, path),
}
READERS = {
    "": TensorDict.load_memmap,
    ".consolidated": TensorDict.from_consolidated,
    ".pt": lambda path: torch.load(path, weights_only=False),
}
if to_safetensors:
    WRITERS[".safetensors"] = lambda td, path: to_safetensors(td, path)
    READERS[".safetensors"] = lambda path: from_safetensors(path)


VALUES = [None, float("nan"), float("-inf"), -0.0, 2**53 + 1, True, "", "a\nb\0c", [], {}, [1, [2.5, None]], {"k": {"l": []}}, "é" * 300]


@tensorclass
class Sample:
    x: torch.Tensor
    text: str
    y: torch.Tensor = None


def any_dictionary(rnd):
    batch = rnd.choice([[], [1], [2], [3], [2, 2], [0], [2, 0]])
    dtypes = rnd.choice([[*DTYPES, "complex128"], ["float32"], ["int64", "bool"]])
    td = dictionary(rnd, batch, dtypes=dtypes)
    if rnd.random() < 0.4:
        td["values"] = TensorDict({str(i): NonTensorData(rnd.choice(VALUES), batch_size=batch) for i in range(2)}, batch)
    if rnd.random() < 0.2 and batch and batch[0] and len(batch) == 1:
        td["rows"] = NonTensorStack(*[rnd.choice([one for one in VALUES if not isinstance(one, list)]) for _ in range(batch[0])])
    if rnd.random() < 0.2:
        td["sample"] = Sample(x=torch.rand(*batch, 2), text="t", batch_size=batch)
    if rnd.random() < 0.2:
        td["empty"] = TensorDict({"e": TensorDict({}, batch)}, batch)
    if batch and rnd.random() < 0.3:
        td.names = ["time", *[None] * (len(batch) - 1)]
    if rnd.random() < 0.15:
        parts = [td.clone() for _ in range(rnd.choice([1, 2, 3]))]
        if rnd.random() < 0.5:
            parts[0]["only"] = torch.ones(batch)
        td = LazyStackedTensorDict(*parts, stack_dim=rnd.randint(0, len(batch)))
    return td


class Told:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def convert(self, source, target):
        self.process.stdin.write(f"{source}\t{target}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer, f"the program ended with {self.process.wait()} after {source} {target}"
        return answer


def main():
    program, cases, seed = sys.argv[1], int((sys.argv[2:] or [100])[0]), int((sys.argv[3:] or [1])[0])
    told, done, failed, refused = Told(program), 0, 0, collections.Counter()
    for case in range(cases):
        rnd = random.Random(seed * 1000003 + case)
        torch.manual_seed(rnd.random())
        td = any_dictionary(rnd)
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            wanted = {}
            for written, write in WRITERS.items():
                try:
                    write(td, scratch / ("python" + written))
                    wanted[written] = READERS[written](scratch / ("python" + written))
                except Exception as why:  # Python's own limits
                    refused[f"Python {written or 'folder'}: {type(why).__name__} {str(why)[:40]}"] += 1
            for written, asked in itertools.product(wanted, READERS):
                target = scratch / ("ours" + written[1:] + asked)
                answer = told.convert(scratch / ("python" + written), target)
                if answer != "ok":
                    refused[f"{written or 'folder'} to {asked or 'folder'}: " + re.sub(r'"[^"]*"|\d+|/\S*', "…", answer)] += 1
                    continue
                want = wanted[written]
                # A safetensors file has no form for a lazy stack inside a lazy stack: Python's own reading counts.
                if asked == ".safetensors" and isinstance(td, LazyStackedTensorDict):
                    want = wanted.get(asked)
                    if want is None:
                        continue
                try:
                    got = READERS[asked](target)
                    differs = difference(got, want) or (got.names != want.names and f"names {got.names} are not {want.names}")
                except Exception as why:
                    differs = f"Python: {type(why).__name__} {why}"
                done += 1
                if differs:
                    failed += 1
                    print(f"case {case} of seed {seed}, {written or 'folder'} to {asked or 'folder'}: {differs}\n{td}")
    for message, times in sorted(refused.items()):
        print(f"  {times:4} {message}")
    print(f"file cases: {done} files agree of {cases} dictionaries, {failed} differ, {sum(refused.values())} were refused")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
