#!/usr/bin/env python3
"""Writes the raw layers of Rust, Julia and C#, and the file formats that they show, from the public headers.

    bindgen.py            writes the committed files
    bindgen.py --check    compares them with what would be written; 1 when they differ
    bindgen.py --roundtrip FILE    writes the C file that proves the reading right
"""
from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tdgen import cdecl, csharp, docs, formats, julia, roundtrip, rust, swig

ROOT = Path(__file__).resolve().parents[2]
INTERFACE = ROOT / "bindings/swig/tensordict.i"
INCLUDE = ROOT / "capi/include"
OUTPUTS = {
    "bindings/rust/tensordict-sys/src/ffi.rs": rust.write,
    "bindings/julia/src/ffi.jl": julia.write,
    "bindings/csharp/src/TensorDict/Interop/Native.g.cs": csharp.write,
    "bindings/rust/tensordict/src/file_format.rs": formats.rust,
    "bindings/julia/src/file_format.jl": formats.julia,
    "bindings/csharp/src/TensorDict/TensorFileFormat.g.cs": formats.csharp,
}


def check(api) -> int:
    """Shows how the committed files differ from fresh ones; gives back how many do."""
    stale = 0
    for path, write in OUTPUTS.items():
        committed = (
            (ROOT / path).read_text(encoding="utf-8").splitlines() if (ROOT / path).exists() else []
        )
        diff = list(
            difflib.unified_diff(committed, write(api).splitlines(), path, "generated", lineterm="")
        )
        if diff:
            stale += 1
            print("\n".join(diff[:60]))
    print(f"{len(OUTPUTS) - stale} of {len(OUTPUTS)} generated files are fresh")
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--swig", default="swig", help="the program to parse with")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--roundtrip", metavar="FILE", type=Path, help="write only the C proof")
    options = parser.parse_args()
    try:
        api = swig.read(INTERFACE, INCLUDE, options.swig)
        if options.roundtrip:
            options.roundtrip.write_text(roundtrip.write(api), encoding="utf-8")
            return 0
        if options.check:
            return 1 if check(api) else 0
        for path, write in OUTPUTS.items():
            target = ROOT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(write(api), encoding="utf-8")
            print(path)
    except (swig.SwigError, cdecl.UnknownType, docs.DocError) as error:
        print(f"bindgen: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
