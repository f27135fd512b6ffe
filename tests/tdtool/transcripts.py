#!/usr/bin/env python3
"""Replays what a person typed, and compares what the tool answers.

usage: transcripts.py TDTOOL TRANSCRIPT [--update]

A transcript has lines `$ command`, each followed by what it prints (both streams) and, unless it ends well,
by `[status N]`. Lines such as `# [name]` mark what the guide quotes. --update writes the answers anew.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import sample


def answer(command, where, tool):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": f"{where}/.bin:{os.environ['PATH']}"}
    environment.pop("NO_COLOR", None)
    command = command.replace("DATA", str(sample.GOLDEN.parent)).replace("MODULES", str(sample.MODULES))
    done = subprocess.run(["bash", "-c", command], cwd=where, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    text = done.stdout.replace(str(where), "HERE").replace(str(sample.GOLDEN.parent), "DATA")
    return text + (f"[status {done.returncode}]\n" if done.returncode else "")


def main():
    tool, transcript = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = transcript.read_text(encoding="utf-8")
    found = ""
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch).resolve()
        (where / ".bin").mkdir()
        (where / ".bin/tdtool").symlink_to(tool)
        sample.prepare(where)
        for line in wanted.splitlines():
            if line.startswith("$ "):
                found += line + "\n" + answer(line[2:], where, tool)
            elif re.fullmatch(r"# .*", line):
                found += line + "\n"
    # An empty line belongs to the transcript when the tool did not print it itself.
    strip = lambda text: [line for line in text.splitlines() if line]
    if sys.argv[3:] == ["--update"]:
        transcript.write_text(found, encoding="utf-8")
        return
    print("\n".join(difflib.unified_diff(strip(wanted), strip(found), "expected", "found", lineterm="")))
    sys.exit(strip(wanted) != strip(found))


main()
