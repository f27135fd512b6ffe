#!/usr/bin/env python3
"""Random data sets beside the libraries that own them: random_sets.py TDTOOL [SETS [SEED [KIND]]]

Minari, LeRobot, h5py in robomimic's, robosuite's and D4RL's layout write a set at random. `tdtool verify` finds nothing wrong with it,
`tdtool convert` makes a folder of rows, which tensordict opens and finds equal, and a set of the same kind, which its library opens and
finds equal. What another kind takes without --lossy comes back from it with the same values.
Skips the kinds whose library is not installed.
"""
import importlib
import pathlib
import random
import sys
import tempfile

import set_checks

set_checks.TDTOOL = sys.argv[1]
SETS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 0
KIND = sys.argv[4] if len(sys.argv) > 4 else None
# The library that must be there, and the file that makes its sets.
KINDS = {"minari": ("minari", "sets_of_minari"), "lerobot": ("lerobot", "sets_of_lerobot"), "robomimic": ("h5py", "sets_of_hdf5"),
         "robosuite": ("h5py", "sets_of_hdf5"), "d4rl": ("h5py", "sets_of_hdf5")}


def main():
    any_failed = False
    for kind, (library, module) in KINDS.items():
        if KIND not in (None, kind):
            continue
        try:
            importlib.import_module(library)
        except ImportError as missing:
            print(f"skip: data sets of {library}: {missing}")
            continue
        make = getattr(importlib.import_module(module), kind)
        failed = 0
        for seed in range(SEED, SEED + SETS):
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    make(random.Random(f"{kind} {seed}"), pathlib.Path(scratch))
                except Exception as error:
                    failed += 1
                    print(f"{kind} {seed}: {type(error).__name__} {' '.join(str(error).split())[:1200]}")
        print(f"{kind}: {SETS} sets, {failed} failed")
        any_failed |= failed > 0
    return any_failed


sys.exit(main())
