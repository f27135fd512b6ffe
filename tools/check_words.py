#!/usr/bin/env python3
"""Refuses phrases that a reader must decode, in sources and pages.

Each pattern below stands with the reason why it is refused, or what to write instead.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
    r"what (?:came|comes|has come|was there|is there)": "name it: the data, the entry, the request",
    r"worked out|come to lie|put aside": "'computed', 'placed', 'kept'",
    r"(?:and|but|nor) is had|can(?:not)? be had": "'available'",
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


def main():
    reasons = list(REFUSED.values())
    places = 0
    for name, path in files():
        text = path.read_text(encoding="utf-8")
        for match in PATTERN.finditer(text):
            places += 1
            line = text.count("\n", 0, match.start()) + 1
            print(f"{name}:{line}: '{' '.join(match[0].split())}': {reasons[match.lastindex - 1]}")
    print(f"{places} refused phrases")
    sys.exit(1 if places else 0)


main()
