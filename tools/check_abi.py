#!/usr/bin/env python3
"""Compares every list of what the library offers: all must name the same.

    check_abi.py                  headers, their TD_API marks, layout.txt and the raw layers
    check_abi.py --library FILE   the exported symbols of a built library as well
    check_abi.py --write-layout   adds to layout.txt what is new in the headers; what is there stays
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "capi/include"
sys.path.insert(0, str(ROOT / "bindings/tools"))

import abi_layout  # noqa: E402
from tdgen import ir, marks, swig  # noqa: E402
from tdgen.cdecl import PRIMITIVES  # noqa: E402

# How a raw layer declares a function of the library.
RAW_LAYERS = {
    "bindings/rust/tensordict-sys/src/ffi.rs": r"^    pub fn (\w+)\(",
    "bindings/julia/src/ffi.jl": r"^    ccall\(_sym\(_p_\w+, :(\w+)\)",
    "bindings/csharp/src/TensorDict/Interop/Native.g.cs": r"static extern [\w*]+ (\w+)\(",
}

# Object-like macros that are no constants, as a pattern and the reason.
NOT_CONSTANTS = {
    r"TENSORDICT_TD_\w+_H|TENSORDICT_TD_H": "include guards",
    r"TD_NULLABLE|TD_MUST_USE|TD_NOEXCEPT|TD_BEGIN_C|TD_END_C": "marks on declarations",
    r"TD_\w+_OPTIONS_INIT": "brace initialisers; the raw layers write their own default",
    r"TD_I_\w+": "brace initialisers of index items, sugar for C99",
}


def abi_number() -> str:
    header = (INCLUDE / "tensordict/td_base.h").read_text(encoding="utf-8")
    return re.search(r"^#define TD_ABI_VERSION (\d+)$", header, re.MULTILINE)[1]


def exported(library: Path) -> list[str]:
    run = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", str(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [line.split()[0].split("@")[0] for line in run.stdout.splitlines()]
    nodes = {f"TENSORDICT_{abi_number()}", "TENSORDICT_PRIVATE"}
    return [name for name in names if name not in nodes and not name.startswith(marks.PRIVATE)]


def macros(compiler: list[str]) -> dict[str, str]:
    """The object-like macros that td.h brings along, with their expansion."""
    command = [
        *compiler,
        "-dM",
        "-E",
        "-std=c11",
        "-x",
        "c",
        f"-I{INCLUDE}",
        "-include",
        "tensordict/td.h",
        "/dev/null",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.findall(
        r"^#define ((?:TD|TENSORDICT)_\w+)(?!\()(?: (.*))?$", run.stdout, re.MULTILINE
    )
    return {name: value for name, value in found}


def compare(what: str, found: set[str], wanted: set[str], errors: list[str]) -> None:
    errors += [f"{what}: '{name}' is missing" for name in sorted(wanted - found)]
    errors += [f"{what}: '{name}' should not be there" for name in sorted(found - wanted)]


def check_macros(api: ir.Api, compiler: list[str], errors: list[str]) -> None:
    constants = {c.name for c in api.constants}
    left = {m for m in macros(compiler) if not any(re.fullmatch(p, m) for p in NOT_CONSTANTS)}
    compare("object-like macros against the constants of the raw layers", constants, left, errors)


def layout_of(api: ir.Api) -> dict[str, str]:
    """Each type with its line in layout.txt, as the headers have it."""
    found = {}
    for enum in api.enums:
        sign = "unsigned" if enum.base.startswith("u") else "signed"
        items = " ".join(f"{item.name}={item.value}" for item in enum.items)
        found[enum.name] = f"{sign} {PRIMITIVES[enum.base]}: {items}"
    for struct in api.structs:
        size, _, offsets = api.layout(struct)
        members = " ".join(
            f"{member.name}@{offset}+{api.size_align(member.type)[0]}"
            for member, offset in zip(struct.fields, offsets)
        )
        found[struct.name] = f"struct {size}: {members}"
    return found


def check_layout(api: ir.Api, errors: list[str]) -> None:
    now, kept = layout_of(api), abi_layout.read()
    for name in sorted(now.keys() | kept.keys()):
        if now.get(name) != kept.get(name):
            errors.append(f"layout.txt has '{name} {kept.get(name)}', the headers have '{now.get(name)}'")


def merged_layout(now: dict[str, str], kept: dict[str, str]) -> dict[str, str]:
    """What the headers have, unless it changes a number or a place that was given away. A reserved one may get a name."""
    for name, line in kept.items():
        lost = set(line.split()[2:]) - set(now.get(name, "").split()[2:])
        lost = {one for one in lost if not one.startswith("reserved@")}
        if name not in now or lost:
            sys.exit(f"'{name}' had {' '.join(sorted(lost)) or line}: a released type does not change")
    return now


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", type=Path, help="the shared library, to compare its exports")
    parser.add_argument("--write-layout", action="store_true", help="write layout.txt and stop")
    parser.add_argument("--swig", default="swig")
    parser.add_argument("--cc", default="cc", help="a compiler that knows -dM -E")
    options = parser.parse_args()

    errors: list[str] = []
    api = swig.read(ROOT / "bindings/swig/tensordict.i", INCLUDE, options.swig)
    declared = {f.name for f in api.functions}
    if options.write_layout:
        layout = merged_layout(layout_of(api), abi_layout.read())
        abi_layout.LAYOUT.write_text(abi_layout.written(layout), encoding="utf-8")
        return 0
    # The version script exports what is marked.
    compare("functions with TD_API against those that SWIG reads", set(marks.of_folder(INCLUDE)), declared, errors)
    for path, pattern in RAW_LAYERS.items():
        found = re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        compare(f"{path} against the headers", set(found), declared, errors)
    check_macros(api, options.cc.split(), errors)
    check_layout(api, errors)
    if options.library:
        compare(
            f"exports of {options.library.name} against the headers",
            set(exported(options.library)),
            declared,
            errors,
        )
    print("\n".join(errors) if errors else f"{len(declared)} functions, the same in every list")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
