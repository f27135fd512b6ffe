#!/usr/bin/env python3
"""Writes td_own.h and td_own.c: each function of the headers under another name, which a test calls in its place.

    gen_owned.py INCLUDE td_own.h td_own.c

The stand-in of td_view is td_own_view. It makes the call and gives the handles that come out to td_owned_keep()
(td_owned.h), so that a test need not free them.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

FUNCTION = re.compile(
    r"\bTD_API\(\d+, \d+\)\s+(?:TD_MUST_USE\s+)?td_status\s+td_(\w+)\s*\(([^;{]*?)\)\s*TD_NOEXCEPT\s*;"
)
PARAMETER = re.compile(r"(.*?)(\w+)(\[\d*\])?$")
HANDLE = re.compile(r"(td_\w+) \*\*(?:TD_NULLABLE )?$")


def functions(folder: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Name behind td_, and type and name of each parameter, of all functions that return a status."""
    found = []
    for header in sorted(folder.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
        for name, parameters in FUNCTION.findall(text):
            parts = [" ".join(part.split()) for part in parameters.split(",")]
            found.append((name, [PARAMETER.match(part).group(1, 2) for part in parts if part != "void"]))
    return found


def kept(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Type and call for the handles that come out. An array of handles is followed by its room and the count."""
    calls = []
    for i, (kind, name) in enumerate(parameters):
        handle = HANDLE.match(kind)
        if handle is None:
            continue
        count = "1"
        if name == "results" and parameters[i + 1][1] == "results_cap":
            count = f"results_cap == 0 ? 0 : *{parameters[i + 2][1]}"
        calls.append((handle[1], f"    td_owned_keep((void **){name}, {count}, free_{handle[1]});\n"))
    return calls


def main() -> None:
    folder, header, source = (Path(argument) for argument in sys.argv[1:])
    declared, defined, types = [], [], set()
    for name, parameters in functions(folder / "tensordict"):
        text = ", ".join(kind + name for kind, name in parameters) or "void"
        names = ", ".join(name for _, name in parameters)
        calls = kept(parameters)
        types.update(kind for kind, _ in calls)
        declared.append(f"TD_MUST_USE td_status td_own_{name}({text});\n#define td_{name} td_own_{name}\n")
        defined.append(
            f"td_status td_own_{name}({text}) {{\n"
            "  td_owned_enter();\n"
            f"  const td_status status = td_{name}({names});\n"
            "  if (td_owned_leave() && status == TD_OK) {\n"
            f"{''.join(call for _, call in calls)}"
            "  }\n"
            "  return status;\n"
            "}\n"
        )
    note = "/* Written by tests/support/gen_owned.py. */\n"
    header.write_text(
        f'{note}#include "tensordict/td.h"\n#ifdef __cplusplus\nextern "C" {{\n#endif\n{"".join(declared)}'
        "#ifdef __cplusplus\n}\n#endif\n",
        encoding="utf-8",
    )
    frees = "".join(
        f"static void free_{kind}(void *handle) {{ {'td_free' if kind == 'td_tensordict' else kind + '_free'}(handle); }}\n"
        for kind in sorted(types)
    )
    source.write_text(
        f'{note}#include "td_owned.h"\n#include "tensordict/td.h"\n{frees}{"".join(defined)}', encoding="utf-8"
    )


main()
