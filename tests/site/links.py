"""What can be seen of a site without a browser: links, anchors, names, words."""
import html.parser
import json
import pathlib
import re
from urllib.parse import unquote


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.problems, self.open, self.headings = [], [], [], [], 0
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"<{self.open[-1]}> is not closed")

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.ids += [given["id"]] if "id" in given else []
        if tag == "img" and not given.get("alt"):
            self.problems.append(f"an image without words: {given.get('src')}")
        self.headings += tag == "h1"
        if tag not in ("meta", "link", "img", "br", "hr", "input", "path", "circle", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("path", "circle", "rect"):
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> at line {self.getpos()[0]} closes <{self.open[-1] if self.open else ''}>")
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag):]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()


def check(site: pathlib.Path):
    """Gives problems, and how many links there are."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    problems, links, reached = [], 0, {site / "index.html"}
    for file, page in pages.items():
        where = file.relative_to(site)
        problems += [f"{where}: {problem}" for problem in page.problems[:3]]
        if page.headings != 1:
            problems.append(f"{where}: {page.headings} headings of the first level")
        problems += [f"{where}: two parts are called {name}" for name in sorted({n for n in page.ids if page.ids.count(n) > 1})]
        for link in page.links:
            if re.match(r"https?://|mailto:|data:", link):
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.is_file():
                problems.append(f"{where}: {link} leads nowhere")
            else:
                reached.add(target)
            if anchor and target in pages and unquote(anchor) not in pages[target].ids:
                problems.append(f"{where}: {link} has no such part")
    if "C#" not in re.findall(r"<h1[^>]*>([^<]+)<", (site / "guide/csharp.html").read_text(encoding="utf-8")):
        problems.append("guide/csharp.html: the heading is not C#")
    listed = set(pages[site / "api/c/index.html"].links)
    problems += [f"the list of headers lacks {file.name}" for file in (site / "api/c").glob("td_*.html") if file.name not in listed]
    problems += [f"no link leads to {file.relative_to(site)}" for file in pages if file not in reached]
    index = (site / "search.js").read_text(encoding="utf-8")
    for title, url, *_ in json.loads(index.partition("=")[2].rstrip(";\n")):
        path, _, anchor = url.partition("#")
        if site / path not in pages or (anchor and anchor not in pages[site / path].ids):
            problems.append(f"the search finds {url} for {title}, which is not there")
    return problems, links, pages
