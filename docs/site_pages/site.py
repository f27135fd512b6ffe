"""Which pages there are, what they are made of, and how they are laid out."""
from __future__ import annotations

import html
import json
import os
import re
import shutil
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

from . import reference
from .markup import Markup, Rendered, plain

HERE = Path(__file__).resolve().parent
SOURCE_LIMIT = 200_000


def listed(root: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """The navigation: groups of (page of the repository or of the site, name)."""
    guide = (root / "docs/guide/README.md").read_text(encoding="utf-8")
    pages = re.findall(r"\[([^\]]+)\]\(((?:\.\./)?\w[\w-]*\.md)\)", guide)
    pages = [(name, file) for name, file in pages if name != "format"]
    design = (root / "docs/design/README.md").read_text(encoding="utf-8")
    def existing(*pairs):
        return [(path, name) for path, name in pairs if (root / path).exists()]
    return [
        ("", [("index.html", "Start")]),
        ("Guide", [("docs/guide/README.md", "Overview")] + [(os.path.normpath(f"docs/guide/{file}"), name) for name, file in pages]
         + existing(("docs/gpu.md", "GPUs"), ("docs/other-systems.md", "Windows and macOS"))),
        ("Coming from", existing(*((f"docs/coming-from/{f}.md", n) for f, n in (
            ("tensordict", "Python's tensordict"), ("tch-rs", "tch-rs"), ("torchsharp", "TorchSharp"), ("hdf5", "HDF5"),
            ("mcap", "MCAP"), ("lerobot", "LeRobot"))))),
        ("Reference", [("api/c/index.html", "C")] + [(f"api/{k}.html", v[0]) for k, v in reference.LANGUAGES.items()]
         + existing(("docs/format.md", "File format"), ("docs/parity.md", "Parity with Python"), ("docs/figures.md", "Figures"))),
        ("Design", [("docs/design/README.md", "Overview")]
         + [(f"docs/design/{file}", name.upper() if name == "abi" else name.capitalize()) for name, file in re.findall(r"\[(\w+)\]\((\w+\.md)\)", design)]),
        ("Project", existing(("CHANGELOG.md", "Changelog"), ("CONTRIBUTING.md", "Contributing"), ("SECURITY.md", "Security"),
                             ("tests/README.md", "Tests"), ("bindings/README.md", "Bindings"))),
    ]


def address(path: str) -> str:
    """Where a page of the repository lies in the site."""
    if path.endswith(".html"):
        return path
    short = path.removeprefix("docs/")
    if short == "README.md":
        return "index.html"
    return re.sub(r"(?:README|([\w.-]+))\.md$", lambda m: (m[1] or "index").lower() + ".html", short)


class Site:
    def __init__(self, root: Path, out: Path):
        self.root, self.out = root, out
        self.groups = listed(root)
        self.pages = {path: address(path) for _, pages in self.groups for path, _ in pages}
        self.pages["README.md"] = "index.html"
        self.sources: dict[str, str] = {}
        self.index: list[tuple[str, str, str, str]] = []
        self.template = (HERE / "page.html").read_text(encoding="utf-8")
        self.c = reference.C(root)
        self.version = re.search(r"version: '([\d.]+)'", (root / "meson.build").read_text())[1]
        self.count = 0

    # Links.

    def source(self, path: str) -> str | None:
        """The page that shows a file of the repository, which is made at the end."""
        file = self.root / path
        if not file.is_file() or file.stat().st_size > SOURCE_LIMIT or not file.resolve().is_relative_to(self.root):
            return None
        path = str(file.resolve().relative_to(self.root))
        self.sources[path] = f"source/{path}.html"
        return self.sources[path]

    def target(self, page: str, url: str, at: str) -> str | None:
        if re.match(r"[a-z]+:", url) or url.startswith("#"):
            return url
        path, _, anchor = url.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path))
        anchor = f"#{anchor}" if anchor else ""
        if (self.root / full).is_dir():
            full += "/README.md"
        found = self.pages.get(full)
        if not found and full.endswith((".svg", ".png")) and (self.root / full).is_file():
            found = "files/" + full
            to = self.out / found
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / full, to)
        found = found or self.source(full)
        return found and self.between(at, found) + anchor

    def named(self, text: str, at: str) -> str | None:
        found = self.c.page_of(text.rstrip("()"))
        if not found and "/" in text and re.fullmatch(r"[\w./+-]+\.\w+", text):
            found = self.pages.get(text) or self.source(text)
        return found and self.between(at, found)

    @staticmethod
    def between(at: str, to: str) -> str:
        path, _, anchor = to.partition("#")
        relative = os.path.relpath(path, os.path.dirname(at) or ".")
        return ("" if path == at else relative) + (f"#{anchor}" if anchor else "")

    def markup(self, page: str, at: str) -> Markup:
        return Markup(lambda url: self.target(page, url, at), lambda text: self.named(text, at))

    # Pages.

    def navigation(self, at: str) -> str:
        out = []
        for title, pages in self.groups:
            if not pages:
                continue
            links = []
            for path, name in pages:
                to = self.pages[path]
                here = ' aria-current="page"' if to == at else ""
                links.append(f'<li><a href="{self.between(at, to) or os.path.basename(at)}"{here}>{html.escape(name)}</a></li>')
            head = f"<h2>{title}</h2>" if title else ""
            out.append(f"{head}<ul>{''.join(links)}</ul>")
        return "".join(out)

    def write(self, at: str, page: Rendered, title: str = "", kind: str = "", found: bool = True) -> None:
        to = self.out / at
        to.parent.mkdir(parents=True, exist_ok=True)
        base = os.path.relpath(".", os.path.dirname(at) or ".")
        contents = "".join(f'<li class="l{level}"><a href="#{html.escape(anchor)}">{html.escape(name)}</a></li>'
                           for level, anchor, name in page.contents if anchor)
        side = f'<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>{contents}</ul></nav>' if contents else ""
        text = self.template
        for key, value in {
            "title": html.escape(title or page.title), "base": base, "nav": self.navigation(at), "body": page.body, "toc": side,
            "version": self.version, "kind": kind,
        }.items():
            text = text.replace("{{" + key + "}}", value)
        to.write_text(text, encoding="utf-8")
        self.count += 1
        if found:
            for section in page.sections:
                url = at + (f"#{section.anchor}" if section.anchor else "")
                self.index.append((section.title, url, page.title, section.text[:280]))

    def markdown(self, path: str, at: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        if path in ("docs/design/README.md",):
            text = text.replace("\n```\n Rust", "\n```text\n Rust")
        self.write(at, self.markup(path, at).page(self.figures(text)), kind="wide" if path == "docs/parity.md" else "")

    def figures(self, text: str) -> str:
        """Pictures of the project stand in the page itself, so that they follow its colours."""
        return re.sub(r"^!\[([^\]]*)\]\((?:[\w./-]*/)?pictures/(\w+)\.svg\)$", lambda m: self.figure(m[2]), text, flags=re.M)

    def figure(self, name: str) -> str:
        svg = (self.root / f"docs/pictures/{name}.svg").read_text(encoding="utf-8")
        return f'<div class="figure scroll" tabindex="0">{re.sub(r"<!--.*?-->|<[?]xml.*?[?]>", "", svg, flags=re.S).replace(chr(10), "")}</div>'

    def start(self) -> None:
        text = (HERE / "start.txt").read_text(encoding="utf-8")
        figures = re.search(r"<!-- figures -->\n.*?<!-- /figures -->", (self.root / "README.md").read_text(encoding="utf-8"), re.S)
        text = text.replace("<!-- figures -->", figures[0])
        text = re.sub(r"<!-- quote (\S+) (\S+) -->", self.quote, text)
        page = self.markup("README.md", "index.html").page(self.figures(text))
        self.write("index.html", page, title="TensorDict for every language that is not Python")

    def quote(self, match: re.Match) -> str:
        """A part of a tested program."""
        file, name = match[1], match[2]
        body = re.search(rf"\[{name}\][^\n]*\n(.*?)\n[^\n]*\[/{name}\]", (self.root / file).read_text(encoding="utf-8"), re.S)[1]
        kind = {"c": "c", "rs": "rust", "jl": "julia", "cs": "csharp", "txt": "text", "py": "python"}[file.rsplit(".", 1)[1]]
        lines = body.split("\n")
        margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return f"```{kind}\n" + "\n".join(line[margin:] for line in lines) + "\n```"

    def made(self, at: str) -> Markup:
        """For pages that are no Markdown: their links are those of the site."""
        return Markup(lambda url: url, lambda text: self.named(text, at))

    def references(self) -> None:
        c = "api/c/index.html"
        markup = self.made(c)
        self.write(c, markup.described(markup.finish(self.c.index())))
        for header in self.c.headers():
            at = f"api/c/{header[:-2]}.html"
            markup = self.made(at)
            self.write(at, markup.described(self.links_kept(self.c.header(header), at)))
        for key, (title, *_) in reference.LANGUAGES.items():
            at = f"api/{key}.html"
            markup = self.made(at)
            self.write(at, markup.described(markup.finish(reference.language(self.root, key))))
            for name, entries in reference.groups(self.root, key).items():
                at = reference.place(key, name)
                markup = self.made(at)
                page = markup.described(markup.finish(reference.group(title, name, entries)))
                page.contents = [entry for entry in page.contents if entry[0] == 2]
                self.write(at, page, kind="language")

    def links_kept(self, body: str, at: str) -> str:
        """Names in signatures lead to their description, too."""
        markup = self.made(at)
        body = markup.finish(body)

        def link(match: re.Match) -> str:
            to = self.c.page_of(match[2])
            return f'{match[1]}<a href="{self.between(at, to)}">{match[2]}</a></span>' if to else match[0]

        return re.sub(r'(<span class="(?:n|nf|kt|nc|k)">)(td_\w+)</span>', link, body)

    def show_sources(self) -> None:
        """Programs and test vectors that pages name, as they are; what is no text, as bytes."""
        for path, at in sorted(self.sources.items()):
            data = (self.root / path).read_bytes()
            try:
                text = data.decode()
                if "\0" in text:
                    raise UnicodeDecodeError("utf-8", data, 0, 1, "binary")
                try:
                    lexer = get_lexer_for_filename(path)
                except ClassNotFound:
                    lexer = TextLexer()
                shown = highlight(text, lexer, HtmlFormatter(nowrap=True))
                if path.endswith(".json") or path.endswith("meta.json"):
                    shown = html.escape(text) if len(text) > 4000 else shown
            except UnicodeDecodeError:
                shown = html.escape(dump(data))
            body = f'<h1>{html.escape(path)}</h1><p class="dim">{len(data):,} bytes</p><pre tabindex="0"><code>{shown}</code></pre>'
            self.write(at, Rendered(path, body), found=False)

    def build(self) -> str:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        (self.out / ".tensordict-site").write_text("made by docs/build\n", encoding="utf-8")
        for name in ("style.css", "site.js"):
            shutil.copyfile(HERE / name, self.out / name)
        self.start()
        for path, at in self.pages.items():
            if path.endswith(".md") and path != "README.md":
                self.markdown(path, at)
        self.references()
        self.show_sources()
        entries = json.dumps(self.index, ensure_ascii=False, separators=(",", ":"))
        (self.out / "search.js").write_text(f"window.searchIndex={entries};\n", encoding="utf-8")
        size = sum(file.stat().st_size for file in self.out.rglob("*") if file.is_file())
        return f"{self.out}: {self.count} pages, {size / 1e6:.1f} MB; open {self.out}/index.html"


def dump(data: bytes, limit: int = 4096) -> str:
    lines = []
    for at in range(0, min(len(data), limit), 16):
        part = data[at : at + 16]
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        lines.append(f"{at:08x}  {part.hex(' '):<47}  {shown}")
    if len(data) > limit:
        lines.append(f"… {len(data) - limit} bytes more")
    return "\n".join(lines) + "\n"


def build(root: Path, out: Path) -> str:
    if out.exists() and any(out.iterdir()) and not (out / ".tensordict-site").exists():
        raise SystemExit(f"{out} is no folder that docs/build made; name another one")
    return Site(root, out).build()
