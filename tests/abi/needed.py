#!/usr/bin/env python3
"""Which libraries of libtorch the loader opens together with ours.

    needed.py LIBRARY --devices=cuda,...

The kernels of a device register themselves when their library is loaded, and nothing in ours refers to it: a
linker that drops what is not referred to leaves a library which says that there are no kernels for a GPU.
"""
from __future__ import annotations

import re
import shutil
import subprocess
import sys


def needed(library: str) -> set[str]:
    """Names, without version, of what the library asks the loader for."""
    text = subprocess.run(["readelf", "--dynamic", "--wide", library], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[lib(\w+)\.so", text))


def main() -> int:
    if shutil.which("readelf") is None:
        print("no readelf")
        return 77
    library, devices = sys.argv[1], sys.argv[2].removeprefix("--devices=")
    found = needed(library)
    wanted = {"torch_cpu", "c10"}
    for device in filter(None, devices.split(",")):
        wanted |= {f"torch_{device}", f"c10_{device}"}
    for name in sorted(wanted - found):
        print(f"{library} does not ask for lib{name}.so")
    others = {name for name in found if re.fullmatch(r"(torch|c10)_(?!cpu)\w+", name)} - wanted
    for name in sorted(others):
        print(f"{library} asks for lib{name}.so, which is for a device that libtorch was not built for")
    return 1 if wanted - found or others else 0


if __name__ == "__main__":
    sys.exit(main())
