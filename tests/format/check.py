#!/usr/bin/env python3
"""Reads the test vectors of docs/format.md by its rules alone, and compares them with what Python said of them.

Each rule of the page has a vector that exists, or is the only one without (a pickle, which is not opened).
"""
import hashlib
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
PAGE = HERE.parent.parent / "docs/format.md"
sys.dont_write_bytecode = True
import reader  # noqa: E402

WITHOUT_VECTOR = {"F14"}
KINDS = {"memmap", "archive", "consolidated"}


def plain(value):
    """A value in the notation of the manifests, which have no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def differences(tree, case):
    leaves = {tuple(json.loads(path)): leaf for path, leaf in case["leaves"].items()}
    if set(leaves) != set(tree.leaves):
        yield f"tensors {sorted(tree.leaves)}, not {sorted(leaves)}"
        return
    for path, wanted in leaves.items():
        dtype, shape, values = tree.leaves[path]
        found = dtype, shape, hashlib.sha256(values).hexdigest()
        if found != (wanted["dtype"], wanted.get("ragged", wanted.get("shape")), wanted["sha256"]):
            yield f"{path} is {found}, not {wanted}"
    data = {tuple(json.loads(path)): value for path, value in case["data"].items()}
    if {path: plain(value) for path, value in tree.data.items()} != data:
        yield f"values {tree.data}, not {data}"
    for path, wanted in case["nodes"].items():
        if wanted["class"] in ("NonTensorData", "NonTensorStack"):
            continue
        batch, names = tree.nodes.get(tuple(json.loads(path)), (None, None))
        if batch != wanted["batch"] or names != wanted.get("names"):
            yield f"node {path} has batch size {batch} and names {names}, not {wanted}"


def main():
    problems, read = [], set()
    for group in ("golden", "golden15"):
        cases = json.loads((DATA / group / "manifest.json").read_text(encoding="utf-8"))["cases"]
        for name, case in cases.items():
            place = DATA / group / name
            if case["kind"] == "refuse" and place.is_dir():
                read.add(place)
                try:
                    reader.read(place)
                    problems.append(f"{group}/{name} is not refused")
                except reader.Refused:
                    pass
            if case["kind"] in KINDS and not case.get("refused"):
                read.add(place)
                problems += [f"{group}/{name}: {difference}" for difference in differences(reader.read(place), case)]
    parts = re.split(r"^\*\*(F\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), flags=re.M)
    rules = dict(zip(parts[1::2], parts[2::2]))
    if list(rules) != [f"F{number}" for number in range(1, len(rules) + 1)]:
        problems.append(f"the rules are numbered {', '.join(rules)}")
    for rule, text in rules.items():
        vectors = [(PAGE.parent / link).resolve() for link in re.findall(r"\]\((\.\./tests/data/[^)]+)\)", text)]
        if not vectors and rule not in WITHOUT_VECTOR:
            problems.append(f"{rule} names no vector")
        problems += [f"{rule}: {v} is no vector that was read" for v in vectors if v not in read and not read & set(v.parents)]
    if problems:
        print("\n".join(problems))
    print(f"{len(read)} vectors read by {len(rules)} rules, {len(problems)} problems")
    sys.exit(1 if problems or not read else 0)


main()
