#!/usr/bin/env python3
"""Starts a server, a program that writes a board of scores, and one that reads it.

usage: check_scoreboard.py READER WRITER…
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

if shutil.which("redis-server") is None:
    print("skip: there is no redis-server")
    sys.exit(77)
reader, *writer = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    socket = str(pathlib.Path(folder, "s"))
    server = subprocess.Popen(["redis-server", "--port", "0", "--save", "", "--appendonly", "no", "--dir", folder,
                               "--unixsocket", socket], stdout=subprocess.DEVNULL)
    try:
        with subprocess.Popen([reader, socket], stdout=subprocess.PIPE, text=True) as reading:
            subprocess.run([*writer, socket], check=True, timeout=500)
            found, _ = reading.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
wanted = "after 50 steps: 50 100 150 200\n"
if found != wanted:
    sys.exit(f"found {found!r}, not {wanted!r}")
