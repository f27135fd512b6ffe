"""TD_API(major, minor) in the headers: what is exported, and since when."""
from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

MARKED = re.compile(r"^TD_API\((\d+), (\d+)\)[\w\s*]*?\b(td_\w+)\(", re.MULTILINE)
PRIVATE = "td_tool_"  # what the library exports for tdtool alone


def read(headers: Iterable[Path]) -> dict[str, str]:
    """Each function that is marked, with the version in its mark."""
    return {
        name: f"{major}.{minor}"
        for header in headers
        for major, minor, name in MARKED.findall(header.read_text(encoding="utf-8"))
    }


def of_folder(include: Path) -> dict[str, str]:
    """Those of all headers in a folder and below."""
    return read(sorted(include.rglob("td_*.h")))
