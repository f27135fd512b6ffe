#!/usr/bin/env python3
"""Writes C that includes the present headers and declares the functions of older ones again: it compiles only if
each is still declared, with the same types.

    redeclare.py OLDER.h OUT.c
"""
import re
import sys
from pathlib import Path

lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
functions = [line for line in lines if re.match(r"(?!typedef)[\w *]*\btd_\w+\(.*\);$", line)]
names = (re.search(r"(td_[a-z0-9_]+)[(]", line)[1] for line in functions)
present = ", ".join(f"(void (*)(void)){name}" for name in names)
Path(sys.argv[2]).write_text(
    f'#include "tensordict/td.h"\nvoid (*const td_declared[])(void) = {{{present}}};\n' + "\n".join(functions) + "\n",
    encoding="utf-8",
)
