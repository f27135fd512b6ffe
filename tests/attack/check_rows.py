#!/usr/bin/env python3
"""Says which functions of the C interface no row of the attack calls.

What is left out on purpose stands in tests/attack/not_attacked.txt: function, reason. A line there about
a function that is called after all is an error too.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bindings/tools"))

from tdgen import marks  # noqa: E402


def main() -> int:
    functions = set(marks.of_folder(HERE.parents[1] / "capi/include"))
    called: set[str] = set()
    for rows in HERE.glob("rows_*.cpp"):
        for line in rows.read_text(encoding="utf-8").splitlines():
            code = line.split("//")[0]
            called.update(re.findall(r"\b(td_\w+)\(", code) + re.findall(r"\bROW\((td_\w+)", code))
    left_out, errors = set(), []
    lines = (HERE / "not_attacked.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=1)
        if len(words) < 2 or words[0] not in functions:
            errors.append(f"not_attacked.txt:{number}: not 'function reason': '{line}'")
        left_out.add(words[0])
    errors += [f"{name} has no row and is not in not_attacked.txt"
               for name in sorted(functions - called - left_out)]
    errors += [f"{name} has a row and is in not_attacked.txt" for name in sorted(called & left_out)]
    print(f"{len(functions & called)} of {len(functions)} functions are called by rows")
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
