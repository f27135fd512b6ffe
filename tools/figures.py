"""What the scripts that write figures into a page share."""
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def show_time(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= 0.9995 * size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def page_with(path, name, fresh):
    """The text of a page with `fresh` between its comments NAME and /NAME, which stand on lines of their own."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    page = path.read_text(encoding="utf-8")
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"{path.relative_to(ROOT)} wants one line {begin.strip()} and one line {end.strip()}")
    before, _, rest = page.partition(begin)
    return before + begin + fresh + end + rest.partition(end)[2]


def picture(width, height, label, parts):
    """An SVG in the colours of the other pictures, light and dark: var(--p-ink), --p-soft, --p-line, --p-a, --p-b."""
    style = re.search(r"<style>.*?</style>", (ROOT / "docs/pictures/flow.svg").read_text(encoding="utf-8"), re.S)[0]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" class="td-picture" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" role="img" aria-label="{html.escape(label)}" font-family="sans-serif" font-size="11">',
                      style, f'<rect width="{width}" height="{height}" fill="var(--p-page)"/>', *parts, "</svg>"]) + "\n"


def keep(wanted, check, source, command):
    """Writes the texts, by path; with `check`, ends the program when one is not there as it should be."""
    for path, text in wanted.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} does not have the figures of {source}; run {command}")
