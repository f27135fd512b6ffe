#!/usr/bin/env python3
"""Writes a text as an array of C, which may be longer than a literal: embed.py TEXT HEADER"""
import sys
from pathlib import Path

text, header = map(Path, sys.argv[1:])
name = text.name.replace(".", "_")
codes = ",".join(map(str, text.read_bytes()))
header.write_text(f"static const char {name}[] = {{{codes},0}};\n", encoding="utf-8")
