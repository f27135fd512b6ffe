#!/usr/bin/env python3
"""Writes the linker's version script: the library exports what its headers mark with TD_API, and nothing else.

    version_script.py ABI OUT HEADER...
"""
from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings/tools"))

from tdgen import marks  # noqa: E402


def version_script(functions: list[str], abi: str) -> str:
    """One version node an ABI number: packagers see which one a program was linked with."""
    body = "".join(f"    {name};\n" for name in sorted(functions))
    return f"TENSORDICT_{abi} {{\n  global:\n{body}  local:\n    *;\n}};\n"


if __name__ == "__main__":
    abi, out, *headers = sys.argv[1:]
    Path(out).write_text(version_script(list(marks.read(map(Path, headers))), abi), encoding="utf-8")
