#!/usr/bin/env python3
"""Numbers, sizes and offsets that a compiled client has built in: capi/abi/layout.txt.

    abi_layout.py OUT.c    writes assertions for a compiler, which fail where the headers say something else

A line is a type with its size: enums with each name and its number, structs with the offset and the size of each
member. Lines may be added with declarations, by tools/check_abi.py --write-layout; none may change after a release.
Sizes are those of platforms with 64-bit pointers.
"""
from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

LAYOUT = Path(__file__).resolve().parents[1] / "capi/abi/layout.txt"
HEAD = "# What a compiled client has built in. Written by tools/check_abi.py --write-layout; tools/abi_layout.py explains it.\n"


def read(path: Path = LAYOUT) -> dict[str, str]:
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\n +", " ", text).splitlines()
    return dict(line.split(" ", 1) for line in lines)


def written(layout: dict[str, str]) -> str:
    lines = (f"{name} {line}" for name, line in layout.items())
    wrapped = (textwrap.fill(line, 118, subsequent_indent="  ", break_long_words=False) for line in lines)
    return HEAD + "".join(f"{line}\n" for line in wrapped)


def assertions(layout: dict[str, str]) -> str:
    """C99 that compiles if the headers agree."""
    conditions = []
    for name, line in layout.items():
        kind, size, items = re.fullmatch(r"(\w+) (\d+): (.*)", line).groups()
        conditions.append(f"sizeof({name}) == {size}")
        if kind != "struct":
            conditions.append(f"({name})-1 {'<' if kind == 'signed' else '>'} 0")
        for item in items.split():
            if kind != "struct":
                conditions.append("{} == {}".format(*item.split("=")))
                continue
            member, offset, bytes_ = re.split("[@+]", item)
            conditions.append(f"offsetof({name}, {member}) == {offset}")
            conditions.append(f"sizeof((({name} *)0)->{member}) == {bytes_}")
    lines = (f"typedef char holds_{i}[({text}) ? 1 : -1];\n" for i, text in enumerate(conditions))
    return '#include <stddef.h>\n#include "tensordict/td.h"\n' + "".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(assertions(read()), encoding="utf-8")
