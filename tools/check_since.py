#!/usr/bin/env python3
"""Holds the headers against the declarations of the last release.

    check_since.py           a released declaration stands as it was; a new one carries this version.
                             Under another ABI number it may go or change, and what changed is new
    check_since.py --write   writes capi/abi/declarations.txt: part of making a release
"""
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "capi/include"
RELEASED = ROOT / "capi/abi/declarations.txt"
sys.path.insert(0, str(ROOT / "bindings/tools"))

from tdgen import ir, swig  # noqa: E402
from tdgen.cdecl import to_c  # noqa: E402
from tdgen.text import nullable  # noqa: E402

HEAD = """\
# What was declared at the last release: the version it came with, and its C form, one a line.
# Written by tools/check_since.py --write when a release is made, and at no other time.
# ABI {abi}
"""


def declaration(api: ir.Api, owner: ir.Function | ir.Callback) -> str:
    """The C form without parameter names, which a release may improve."""
    marks = ["TD_NULLABLE " if nullable(p.type) else "" for p in owner.params]
    params = (
        ", ".join(m + to_c(p.type, "", api.foreign) for m, p in zip(marks, owner.params)) or "void"
    )
    name = f"(*{owner.name})" if isinstance(owner, ir.Callback) else owner.name
    return to_c(owner.result, f"{name}({params})", api.foreign)


def declarations(api: ir.Api) -> dict[str, tuple[str, str]]:
    """name -> version and C form. Numbers and layouts are in capi/abi/layout.txt."""
    found = {f.name: (f.doc.since, declaration(api, f)) for f in api.functions}
    found |= {c.name: ("-", declaration(api, c)) for c in api.callbacks}
    return found


def read_released() -> dict[str, tuple[str, str]]:
    found = {}
    for line in RELEASED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            since, form = line.split(" ", 1)
            found[re.search(r"\b(td_\w+)\)?\(", form)[1]] = (since, form)
    return found


def released_abi() -> int | None:
    """The ABI number of the last release."""
    found = re.search(r"^# ABI (\d+)$", RELEASED.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else None


def check(api: ir.Api) -> list[str]:
    numbers = {c.name: c.value for c in api.constants}
    current = f"{numbers['TD_VERSION_MAJOR']}.{numbers['TD_VERSION_MINOR']}"
    now, released = declarations(api), read_released()
    errors = []
    if numbers.get("TD_ABI_VERSION", released_abi()) != released_abi():
        released = {n: r for n, r in released.items() if n in now and now[n][1] == r[1]}
    for name, (since, form) in released.items():
        if name not in now:
            errors.append(f"'{name}' was released with {since} and is gone")
        elif now[name] != (since, form):
            errors.append(
                f"'{name}' was released as '{since} {form}' and is now '{' '.join(now[name])}'"
            )
    for name, (since, _) in now.items():
        if since == "-":
            continue
        if name not in released and since != current:
            errors.append(f"'{name}' is new and has TD_API of {since or 'nothing'}; this is {current}")
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the list of a release")
    parser.add_argument("--swig", default="swig")
    options = parser.parse_args()
    api = swig.read(ROOT / "bindings/swig/tensordict.i", INCLUDE, options.swig)
    if options.write:
        lines = (f"{since} {form}\n" for since, form in declarations(api).values())
        abi = {c.name: c.value for c in api.constants}["TD_ABI_VERSION"]
        RELEASED.write_text(HEAD.format(abi=abi) + "".join(lines), encoding="utf-8")
        return 0
    errors = check(api)
    print("\n".join(errors) if errors else f"{len(read_released())} released declarations stand")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
