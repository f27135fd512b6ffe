#!/usr/bin/env python3
"""Says where a binding reaches past its layers.

Names of the C interface stand in the sources of a binding only, and those that decide about ownership,
errors and callbacks in one file of each. Comments count for nothing.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Where code by hand lies, and what begins a comment.
WRITTEN = {
    ".rs": (("bindings/rust", "examples/rust"), "//"),
    ".jl": (("bindings/julia", "examples/julia"), "#"),
    ".cs": (("bindings/csharp", "examples/csharp"), "//"),
}
GENERATED = {
    "bindings/rust/tensordict-sys/src/ffi.rs",
    "bindings/julia/src/ffi.jl",
    "bindings/csharp/src/TensorDict/Interop/Native.g.cs",
}
BUILT = {"obj", "bin", "target"}

# What: a pattern of names, and the files or folders (with a slash) that may use them.
RULES = {
    "the raw layer": (
        r"\b(tensordict_sys|sys)::|\bccall\b|\btd_\w+\(|\bNative\.\w",
        (
            "bindings/rust/tensordict/src/",
            "bindings/rust/tensordict-sys/src/",
            "bindings/julia/src/",
            "bindings/julia/test/conformance.jl",  # the status behind an exception of Base
            "bindings/julia/test/arrow.jl",  # functions of Arrow's structs
            "bindings/csharp/src/TensorDict/",
            "bindings/csharp/test/TensorDict.Tests/LibraryTests.cs",  # numbers against their copies
        ),
    ),
    "giving a handle back": (
        r"\btd_(\w+_)?free\b",
        (
            "bindings/rust/tensordict/src/handle.rs",
            "bindings/julia/src/handles.jl",
            "bindings/csharp/src/TensorDict/Interop/Handles.cs",
        ),
    ),
    "the last error": (
        r"\btd_(last_error_\w+|status_name)\b",
        (
            "bindings/rust/tensordict/src/error.rs",
            "bindings/julia/src/errors.jl",
            "bindings/julia/test/conformance.jl",
            "bindings/csharp/src/TensorDict/Interop/Status.cs",
        ),
    ),
    "the error of a callback": (
        r"\btd_set_error\b",
        (
            "bindings/rust/tensordict/src/callback.rs",
            "bindings/julia/src/apply.jl",
            "bindings/csharp/src/TensorDict/Interop/Trampolines.cs",
        ),
    ),
    "lists of keys": (
        r"\btd_keys_(len|at|kind_at)\b",
        (
            "bindings/rust/tensordict/src/iter.rs",
            "bindings/julia/src/dict.jl",
            "bindings/csharp/src/TensorDict/Interop/KeyList.cs",
        ),
    ),
    "the fields of an index item": (
        r"\bTD_INDEX_\w+",
        (
            "bindings/rust/tensordict/src/index.rs",
            "bindings/julia/src/index.jl",
            "bindings/csharp/src/TensorDict/TensorIndex.cs",
            "bindings/csharp/src/TensorDict/Interop/IndexItems.cs",
        ),
    ),
}


def may(path: str, allowed: tuple[str, ...]) -> bool:
    return any(path == a or a.endswith("/") and path.startswith(a) for a in allowed)


def sources(root: Path):
    """Path from the root and text without comments, of each file written by hand."""
    for suffix, (folders, comment) in WRITTEN.items():
        for folder in folders:
            for file in sorted((root / folder).rglob(f"*{suffix}")):
                path = file.relative_to(root)
                if path.as_posix() not in GENERATED and not BUILT & set(path.parts):
                    lines = file.read_text(encoding="utf-8").splitlines()
                    yield path.as_posix(), [line.split(comment)[0] for line in lines]


def offences(root: Path) -> list[str]:
    found = []
    for path, lines in sources(root):
        for what, (pattern, allowed) in RULES.items():
            if may(path, allowed):
                continue
            for number, line in enumerate(lines, 1):
                if name := re.search(pattern, line):
                    found.append(f"{path}:{number}: '{name[0]}' is {what}, which others see to")
    return found


def main() -> int:
    found = offences(ROOT)
    print("\n".join(found) if found else f"{sum(1 for _ in sources(ROOT))} files keep to their layer")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
