#!/usr/bin/env python3
"""Finds phrases that a reader must decode, in sources and pages.

usage: check_words.py [--list] [--update]

Each pattern below stands with the reason why it is refused. tools/words.txt counts what older files still hold, by
the outermost folder; a count may only shrink. --list prints each place, --update writes smaller counts.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "tools" / "words.txt"
FILES = ("core", "capi", "modules", "tools", "docs", "README.md", "SECURITY.md", "CONTRIBUTING.md")
SUFFIXES = {".c", ".h", ".hpp", ".cpp", ".md", ".1"}

REFUSED = {
    r"whoever|whomever": "name the caller, the thread or the program",
    r"nobody|somebody|anybody": "name the caller, the thread or the process; or use the passive",
    r"none such|no such one": "say what is missing",
    r"there (?:is|are|was|were) none": "say what is missing: 'there is no …'",
    r"(?:is|are|was|were|be|being) none": "'is not a …', or 'there is no …'",
    r"(?:has|have|had) none": "'has no …'",
    r"none of (?:its|their|his) own": "'has no …'",
    r"(?:is|are|was|were|be) had\b": "'is allocated', 'is available'",
    r"what (?:stands|stood|lies|lay)": "name it: the entry, the bytes, the comment",
    r"stands? (?:in|beside|behind|under) one another": "'are nested', 'are adjacent'",
    r"(?:so|as) many (?:bytes|rows|elements|entries|levels|places|items|values|files|names)": "name the number: '`count` rows'",
    r"let go of|lets go of|letting go of": "'released'",
    r"(?:is|are|was|were) told": "'reports', 'says', 'is detected by'; name who says what",
    r"comes? along|goes? along|come by itself": "say what is copied, passed or visited",
    r"all the same": "'anyway', or 'equal'",
    r"(?:'s|s') business|business of": "say what the code must not do",
    r"(?:are|is) no gaps?": "name the slots",
    r"of whom|in whose": "use two sentences",
    r"in turn of": "'one after the other'",
    r"may be none": "'may be empty', 'may be null'",
    r"they are none|it is none|as is none": "'is not a …'",
}
# A comment may break the line within a phrase.
PATTERN = re.compile("|".join(rf"(\b(?:{words})\b)" for words in REFUSED).replace(" ", r"[\s/*]+"), re.IGNORECASE)


def files():
    """Tracked files below FILES, without what is generated."""
    listed = subprocess.run(["git", "ls-files", "-z", *FILES], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    for name in sorted(listed.decode().split("\0")):
        path = ROOT / name
        if name and path.suffix in SUFFIXES and path.is_file() and path != pathlib.Path(__file__).resolve():
            yield name, path


def found():
    """(folder, file, line, phrase, reason) of each refused phrase."""
    reasons = list(REFUSED.values())
    for name, path in files():
        text = path.read_text(encoding="utf-8")
        for match in PATTERN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield name.split("/")[0], name, line, " ".join(match[0].split()), reasons[match.lastindex - 1]


def read_counts():
    lines = COUNTS.read_text(encoding="utf-8").splitlines() if COUNTS.exists() else []
    return {folder: int(count) for folder, count in (line.split() for line in lines if not line.startswith("#"))}


def main():
    places = list(found())
    counts = collections.Counter(folder for folder, *_ in places)
    kept = read_counts()
    if "--list" in sys.argv:
        print("\n".join(f"{name}:{line}: '{phrase}': {reason}" for _, name, line, phrase, reason in places))
        return
    grown = {folder for folder in counts if counts[folder] > kept.get(folder, 0)}
    if "--update" in sys.argv:
        if COUNTS.exists() and grown:
            sys.exit(f"more than before in {', '.join(sorted(grown))}")
        lines = (f"{folder} {count}\n" for folder, count in sorted(counts.items()))
        COUNTS.write_text("# Refused phrases in older files; see check_words.py. A count may only shrink.\n" + "".join(lines))
        return
    for _, name, line, phrase, reason in places:
        if name.split("/")[0] in grown:
            print(f"{name}:{line}: '{phrase}': {reason}")
    for folder in sorted(grown):
        print(f"{folder}: {counts[folder]} refused phrases, {kept.get(folder, 0)} were there")
    print(f"{len(places)} refused phrases, {sum(kept.values())} allowed")
    sys.exit(1 if grown else 0)


main()
