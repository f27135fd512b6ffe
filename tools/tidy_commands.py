#!/usr/bin/env python3
"""Prints a compile_commands.json that clang-tidy can use, made from one of a gcc build.

The precompiled header of gcc is left out, each source includes what it needs; so is OpenMP, whose
header clang does not have.
"""
import json
import os
import shlex
import sys


def usable(arguments):
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "-include":
            skip = True
        elif argument not in ("-Winvalid-pch", "-fpch-preprocess", "-fopenmp"):
            yield argument


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        arguments = list(usable(shlex.split(entry.pop("command"))))
        entry["arguments"] = [a for a in arguments if not a.endswith(".pch")]
        entry["file"] = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    json.dump(entries, sys.stdout)


main()
