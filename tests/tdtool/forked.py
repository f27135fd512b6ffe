#!/usr/bin/env python3
"""Runs a test of tdtool with a tdtool-main that is loaded once (forking.c).

usage: forked.py FORKING FORKED SCRIPT TDTOOL ARGUMENT…
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

forking, forked, script, tool, *arguments = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder).resolve()
    shutil.copy(tool, here / "tdtool")
    shutil.copy(forked, here / "tdtool-main")
    server = subprocess.Popen([forking, "--listen", here / "server"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        if server.stdout.readline() != b"ready\n":
            sys.exit("the server does not start")
        main = pathlib.Path(tool).resolve().with_name("tdtool-main")
        done = subprocess.run([sys.executable, script, here / "tdtool", *arguments], env={**os.environ, "TDTOOL_MAIN": main})
    finally:
        server.terminate()
        server.wait()
sys.exit(done.returncode)
