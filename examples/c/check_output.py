#!/usr/bin/env python3
"""Runs a program in an empty folder and compares what it prints with a file.

usage: check_output.py PROGRAM EXPECTED [ARGUMENT…]

Lines such as `# [name]` in the file mark what the guide quotes; they are not expected.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    program, expected, *arguments = sys.argv[1:]
    wanted = [
        line
        for line in pathlib.Path(expected).read_text(encoding="utf-8").splitlines()
        if not re.fullmatch(r"# \[/?[\w-]+\]", line)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([pathlib.Path(program).resolve(), *arguments], cwd=scratch, stdout=subprocess.PIPE, text=True)
    found = done.stdout.splitlines()
    print("\n".join(difflib.unified_diff(wanted, found, "expected", "found", lineterm="")))
    sys.exit(done.returncode or found != wanted)


main()
