#!/usr/bin/env python3
"""Says which functions the hand-written layer of a language leaves unused.

What is left out on purpose stands in bindings/uncovered.txt: language, function, reason. A line
there about a function that is used after all is an error too.
"""
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNCOVERED = ROOT / "bindings/uncovered.txt"

# language -> sources by hand, the generated file among them, what begins a comment
LANGUAGES = {
    "rust": (
        "bindings/rust/tensordict/src/**/*.rs",
        "bindings/rust/tensordict-sys/src/ffi.rs",
        "//",
    ),
    "julia": ("bindings/julia/src/**/*.jl", "bindings/julia/src/ffi.jl", "#"),
    "csharp": (
        "bindings/csharp/src/TensorDict/**/*.cs",
        "bindings/csharp/src/TensorDict/Interop/Native.g.cs",
        "//",
    ),
}


def used_names(sources: str, generated: str, comment: str) -> set[str]:
    """Names of the library that stand in code written by hand, comments left out."""
    names: set[str] = set()
    for path in ROOT.glob(sources):
        if path == ROOT / generated or {"obj", "bin", "target"} & set(path.relative_to(ROOT).parts):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            names.update(re.findall(r"\btd_\w+", line.split(comment)[0]))
    return names


def read_uncovered(functions: set[str]) -> tuple[dict[str, set[str]], list[str]]:
    """The list by language, and what is wrong with it."""
    left_out: dict[str, set[str]] = {language: set() for language in LANGUAGES}
    errors = []
    for number, line in enumerate(UNCOVERED.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) < 3 or words[0] not in LANGUAGES or words[1] not in functions:
            errors.append(f"uncovered.txt:{number}: not 'language function reason': '{line}'")
        else:
            left_out[words[0]].add(words[1])
    return left_out, errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "language", nargs="*", choices=[[], *LANGUAGES], help="all of them when none is named"
    )
    languages = parser.parse_args().language or list(LANGUAGES)
    raw = (ROOT / LANGUAGES["rust"][1]).read_text(encoding="utf-8")
    functions = set(re.findall(r"^    pub fn (\w+)\(", raw, re.MULTILINE))
    left_out, errors = read_uncovered(functions)
    for language in languages:
        used = used_names(*LANGUAGES[language]) & functions
        missing = functions - used - left_out[language]
        errors += [
            f"{language}: {name} is neither used nor in uncovered.txt" for name in sorted(missing)
        ]
        errors += [
            f"{language}: {name} is used and in uncovered.txt"
            for name in sorted(used & left_out[language])
        ]
        counts = f"{len(used)} of {len(functions)} functions are used"
        print(f"{language}: {counts}, {len(left_out[language])} left out")
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
