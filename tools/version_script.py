#!/usr/bin/env python3
"""Writes the linker's version script: the library exports what its headers mark with TD_API, and what td_tool.h
marks for tdtool in a node of its own.

    version_script.py ABI OUT HEADER...
"""
from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings/tools"))

from tdgen import marks  # noqa: E402


def version_script(functions: list[str], abi: str) -> str:
    """One version node an ABI number: packagers see which one a program was linked with."""
    def lines(names: list[str]) -> str:
        return "".join(f"    {name};\n" for name in sorted(names))

    private = [name for name in functions if name.startswith(marks.PRIVATE)]
    public = [name for name in functions if name not in private]
    node = f"TENSORDICT_{abi} {{\n  global:\n{lines(public)}  local:\n    *;\n}};\n"
    return node + (f"TENSORDICT_PRIVATE {{\n  global:\n{lines(private)}}};\n" if private else "")


if __name__ == "__main__":
    abi, out, *headers = sys.argv[1:]
    Path(out).write_text(version_script(list(marks.read(map(Path, headers))), abi), encoding="utf-8")
