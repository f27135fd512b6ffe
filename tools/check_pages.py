#!/usr/bin/env python3
"""Finds C names and files that the pages of this repository mention and that do not exist.

A C name (`td_…`, `TD_…`) must be in the public headers or in what the tests share; the changelog may also use the
names of version 0.1. A file or folder in backticks must exist, seen from the root or from the page. What ends with
`…`, `*` or `<`, or holds a placeholder in capitals, stands for several names.

A comment `<!-- test FILE NAME... -->` at a claim says which tests hold it: the file exists and has these names. Each page of
the guide and of docs/coming-from has such a comment. A program of the cookbook has at most 60 lines, without the marks of quotes.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = re.compile(r"(?<![\w./-])(?:td|TD)_\w*[A-Za-z0-9](?![\w…*<])")
FOLDERS = "core|capi|tests|tools|docs|bench|bindings|examples"
PATH = re.compile(rf"`((?:{FOLDERS})/[^`\s]*)[^`]*`")
CLAIM = re.compile(r"<!-- test (\S+)((?: \w+)+) -->")
MARK = re.compile(r"\s*/\* \[/?[\w-]+\] \*/\s*")
RECIPE_LINES = 60
PLACEHOLDER = re.compile(r"[*<…]|\b[A-Z]+\b(?!\.md)")


def names(*patterns):
    files = [file for pattern in patterns for file in ROOT.glob(pattern) if file.is_file()]
    found = {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}
    return found | {file.name.partition(".")[0] for file in files}


def main():
    known = names("capi/include/tensordict/*", "tests/support/*", "tests/capi/meson.build", "tests/capi/*.c")
    old = names("capi/abi/renamed.txt", "capi/abi/declarations.txt")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("bindings/*.md"), *ROOT.glob("tests/**/*.md")]
    pages += [file for form in ("*.md", "*.txt") for file in ROOT.glob(f"docs/**/{form}")]
    wrong = []
    mentioned = claims = 0
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        allowed = known | old if page.name == "CHANGELOG.md" else known
        for match in NAME.finditer(text):
            mentioned += 1
            if match[0] not in allowed:
                wrong.append((page, text.count("\n", 0, match.start()) + 1, match[0]))
        for match in PATH.finditer(text):
            mentioned += 1
            path = match[1].rstrip(".,:)")
            if not PLACEHOLDER.search(path) and not any((at / path).exists() for at in (ROOT, page.parent)):
                wrong.append((page, text.count("\n", 0, match.start()) + 1, path))
        for match in CLAIM.finditer(text):
            claims += 1
            file = ROOT / match[1]
            held = file.read_text(encoding="utf-8") if file.is_file() else ""
            missing = [name for name in match[2].split() if not re.search(rf"\b{name}\b", held)]
            wrong += [(page, text.count("\n", 0, match.start()) + 1, f"{match[1]} {name}") for name in missing]
        if len(CLAIM.findall(text)) != text.count("<!-- test "):
            wrong.append((page, 1, "the file or name in a comment that names a test"))
        if page.suffix == ".md" and page.name != "README.md" and page.parent.name in ("guide", "coming-from") and not CLAIM.search(text):
            wrong.append((page, 1, "a comment that names a test"))
    for page, line, what in wrong:
        print(f"{page.relative_to(ROOT)}:{line}: {what} does not exist")
    print(f"{mentioned} names and files in {len(pages)} pages, tests of {claims} claims, {len(wrong)} do not exist")
    long = 0
    for recipe in sorted(ROOT.glob("examples/cookbook/*.c")):
        lines = [line for line in recipe.read_text(encoding="utf-8").splitlines() if not MARK.fullmatch(line)]
        if len(lines) > RECIPE_LINES:
            long += 1
            print(f"{recipe.relative_to(ROOT)}: {len(lines)} lines; a recipe has at most {RECIPE_LINES}")
    sys.exit(1 if wrong or long or not mentioned else 0)


main()
