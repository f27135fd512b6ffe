#!/usr/bin/env python3
"""Each public method of the tensordict that is installed has its row: methods.py DOCS_PARITY

Compares names with methods.txt, so that a new version of tensordict shows what it brought. missing_methods.txt lists what
is known to be missing here. What only older versions have is no failure.
"""
import pathlib
import sys

import tensordict

CLASSES = (tensordict.TensorDict, tensordict.LazyStackedTensorDict)


def listed(path):
    """First cells without a class before the name and without what tells two groups apart."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = (line.split(" | ")[0].split(" (")[0] for line in lines if line and not line.startswith("#"))
    return {cell.rpartition(".")[2] for cell in cells}


def main(folder):
    here, folder = pathlib.Path(__file__).parent, pathlib.Path(folder)
    known, missing = listed(folder / "methods.txt"), listed(here / "missing_methods.txt")
    there = {name for one in CLASSES for name in dir(one) if not name.startswith("_")}
    new = sorted(there - known - missing)
    print(f"tensordict {tensordict.__version__}: {len(there)} methods, {len(there & missing - known)} known to be missing, {len(new)} new")
    for name in new:
        print(f"no row in docs/parity: {name}")
    return bool(new)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
