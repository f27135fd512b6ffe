#!/usr/bin/env python3
"""Prints what ninja has to build for suites of tests, libraries and modules included.

usage: targets.py BUILD SUITE...
"""
import json
import os
import subprocess
import sys

LIBRARIES = ("shared library", "shared module")


def introspected(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], check=True, stdout=subprocess.PIPE).stdout)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, suites = sys.argv[1], set(sys.argv[2:])
    tests = [test for test in introspected(build, "--tests") if suites & {suite.split(":")[-1] for suite in test["suite"]}]
    wanted = {target for test in tests for target in test["depends"]}
    for target in introspected(build, "--targets"):
        if target["id"] in wanted or target["type"] in LIBRARIES:
            print(*(os.path.relpath(file, build) for file in target["filename"]), sep="\n")


if __name__ == "__main__":
    main()
