#!/usr/bin/env python3
"""Process groups are built without any header of gloo: other_gloo.py SOURCE COMPILER ARGUMENT…

Compiles SOURCE where the system has headers of gloo that fit no libtorch: each one is an error. The gloo inside libtorch may
be of another version than the headers that are installed, and classes of another size would be taken for its own.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HEADERS = ("algorithm.h", "context.h", "common/error.h", "common/logging.h", "rendezvous/store.h", "transport/device.h",
           "transport/unbound_buffer.h")  # fmt: skip


def compiles(source, command, folder):
    """Whether it does, with `folder` before the system's own and after what the build names."""
    return subprocess.run([*command, "-fsyntax-only", source], env={**os.environ, "CPLUS_INCLUDE_PATH": folder}).returncode == 0


def main(source, *command):
    with tempfile.TemporaryDirectory() as folder:
        for name in HEADERS:
            header = pathlib.Path(folder, "gloo", name)
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text('#error "a header of another gloo was read"\n')
        reads = pathlib.Path(folder, "reads.cpp")
        reads.write_text("#include <gloo/transport/unbound_buffer.h>\n")
        if compiles(reads, command, folder):
            sys.exit("the headers that do not fit are not found, so this test finds nothing")
        if not compiles(source, command, folder):
            sys.exit(f"{source} needs headers of gloo")
    print(f"{source} was compiled without any header of gloo")


if __name__ == "__main__":
    main(*sys.argv[1:])
