#!/usr/bin/env python3
"""The guide quotes files that are tests. This finds quotes that differ from their file.

usage: check_quotes.py [--update]

A quote is a comment and a code block in a page:

    <!-- quote examples/c/rollout.c put -->
    ```c
    ...
    ```

It holds what stands in the file between the lines `[put]` and `[/put]`, which are comments there;
without a name the whole file. --update rewrites the pages. In README.md every block of output (```text) is a quote;
`<!-- drawing -->` stands before one that a person drew.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTE = re.compile(r"(<!-- quote (\S+)(?: ([\w-]+))? -->\n```\w*\n)(.*?)(^```$)", re.S | re.M)


OUTPUT = re.compile(r"(^.*\n)^```text$", re.M)


class Missing(Exception):
    pass


def mark(line):
    """The name in a marker line such as `/* [put] */`, `// [/put]` or `# [put]`."""
    found = re.fullmatch(r"\s*(?:/\*|//|#|<!--)\s*\[(/?[\w-]+)\]\s*(?:\*/|-->)?\s*", line)
    return found and found.group(1)


def region(file, name):
    path = ROOT / file
    if not path.is_file():
        raise Missing(f"no file {file}")
    lines = path.read_text(encoding="utf-8").splitlines()
    if name:
        marks = [mark(line) for line in lines]
        if marks.count(name) != 1 or marks.count("/" + name) != 1:
            raise Missing(f"{file} has no region [{name}] … [/{name}]")
        lines = lines[marks.index(name) + 1 : marks.index("/" + name)]
    lines = [line for line in lines if not mark(line)]
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"


def main():
    update = sys.argv[1:] == ["--update"]
    if sys.argv[1:] and not update:
        sys.exit(__doc__)
    quotes = 0
    problems = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        place = page.relative_to(ROOT)

        def fresh(match):
            nonlocal quotes
            quotes += 1
            head, file, name, body, end = match.groups()
            try:
                wanted = region(file, name)
            except Missing as missing:
                problems.append(f"{place}: {missing}")
                return match.group(0)
            if body != wanted and not update:
                problems.append(f"{place}: the quote of {file} {name or ''} differs; run tools/check_quotes.py --update")
            return head + wanted + end

        written = QUOTE.sub(fresh, text)
        if len(QUOTE.findall(text)) != text.count("<!-- quote "):
            problems.append(f"{place}: a quote comment without a code block behind it")
        if place.name == "README.md" and len(place.parts) == 1:
            bare = [line for line in OUTPUT.findall(text) if not line.startswith(("<!-- quote ", "<!-- drawing -->"))]
            problems += [f"{place}: a block of output that is no quote"] * len(bare)
        if update and written != text:
            page.write_text(written, encoding="utf-8")
    for problem in problems:
        print(problem)
    if not quotes:
        problems.append("no quote found")
    print(f"{quotes} quotes, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
