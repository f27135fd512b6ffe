"""Markdown of this repository as HTML: tabs, links between pages, names of C that lead to the reference."""
from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

import markdown
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->$", re.S | re.M)
PANEL = re.compile(r"^\*\*([\w+#]+)\*\*:?\n", re.M)
FENCE = re.compile(r"^(```|~~~)")
ITEM = re.compile(r"^(?:[-*+]|\d+\.) ")
LEXERS = {"jldoctest": "jlcon", "json": "json", "text": "text", "csharp": "csharp", "": "text"}


@dataclass
class Section:
    """A part of a page that the search can find."""

    title: str
    anchor: str
    text: str = ""


@dataclass
class Rendered:
    title: str
    body: str
    sections: list[Section] = field(default_factory=list)
    contents: list[tuple[int, str, str]] = field(default_factory=list)  # level, anchor, title


def slug(value: str, separator: str = "-") -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", value.lower()).strip().replace(" ", "-")


def code(text: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name(LEXERS.get(language, language), stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    inner = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0"><code>{inner}</code></pre>'


def plain(fragment: str) -> str:
    text = re.sub(r"<[^>]+>", " ", fragment)
    return re.sub(r"\s+", " ", html.unescape(text)).strip()


class Markup:
    def __init__(self, link, name):
        """`link` gives the target of a link, `name` that of code in a line; each may give None."""
        self.link, self.name = link, name
        self.kept: list[str] = []
        self.tabs = 0

    def keep(self, fragment: str) -> str:
        self.kept.append(fragment)
        return f"\n\n<div data-kept=\"{len(self.kept) - 1}\"></div>\n\n"

    def blocks(self, text: str) -> str:
        """Takes out code, and gives lists the empty line that Python-Markdown wants before them."""
        lines, out, listed = text.split("\n"), [], False
        at = 0
        while at < len(lines):
            line = lines[at]
            if FENCE.match(line.strip()) and line == line.lstrip():
                end = at + 1
                while end < len(lines) and lines[end].strip() != line[:3]:
                    end += 1
                out.append(self.keep(code("\n".join(lines[at + 1 : end]) + "\n", line[3:].strip())))
                at, listed = end + 1, False
                continue
            if not line.strip():
                listed = False
            elif ITEM.match(line):
                if not listed and out and out[-1].strip():
                    out.append("")
                listed = True
            out.append(re.sub(r"^(#+ .*\S)#$", r"\1\#", line))  # "# C#" keeps its end
            at += 1
        return "\n".join(out)

    def tab_set(self, match: re.Match) -> str:
        parts = PANEL.split(match[1])[1:]
        self.tabs += 1
        buttons, panels = [], []
        for place, (language, body) in enumerate(zip(parts[::2], parts[1::2])):
            own = f"tabs-{self.tabs}-{place}"
            chosen = "true" if place == 0 else "false"
            buttons.append(
                f'<button role="tab" id="{own}-b" aria-controls="{own}" aria-selected="{chosen}" '
                f'tabindex="{0 if place == 0 else -1}" data-language="{language}">{language}</button>'
            )
            hidden = "" if place == 0 else " hidden"
            panels.append(
                f'<div role="tabpanel" id="{own}" aria-labelledby="{own}-b"{hidden}>{self.convert(body)}</div>'
            )
        return self.keep(
            f'<div class="tabs"><div role="tablist" aria-label="Language">{"".join(buttons)}</div>'
            f'{"".join(panels)}</div>'
        )

    def convert(self, text: str) -> str:
        engine = markdown.Markdown(
            extensions=["tables", "sane_lists", "toc"],
            extension_configs={"toc": {"slugify": slug}},
            tab_length=2,
        )
        body = engine.convert(self.blocks(text))
        return re.sub(r'<div data-kept="(\d+)"></div>', lambda m: self.kept[int(m[1])], body)

    def finish(self, body: str) -> str:
        body = re.sub(r'(<(?:a|img) [^>]*?(?:href|src)=")([^"]+)(")', self.relink, body)
        body = re.sub(r"<a href=\"\">(.*?)</a>", r"\1", body, flags=re.S)
        body = re.sub(r"(<a [^>]*>.*?</a>|<pre.*?</pre>|<h\d.*?</h\d>)|<code>([^<]+)</code>", self.named, body, flags=re.S)
        body = re.sub(r"<thead>\s*<tr>\s*(?:<th[^>]*></th>\s*)+</tr>\s*</thead>", "", body)
        body = re.sub(r"(<table[^>]*>)", r'<div class="scroll" tabindex="0">\1', body).replace("</table>", "</table></div>")
        return re.sub(r"(<h([2-4]) id=\"([^\"]+)\">)(.*?)(</h\2>)",
                      r'\1\4 <a class="here" href="#\3" aria-label="Link to this part">#</a>\5', body, flags=re.S)

    def relink(self, match: re.Match) -> str:
        target = self.link(html.unescape(match[2]))
        return match[1] + html.escape(target or "") + match[3]

    def named(self, match: re.Match) -> str:
        if match[1]:
            return match[1]
        target = self.name(html.unescape(match[2]))
        inner = f"<code>{match[2]}</code>"
        return f'<a class="name" href="{html.escape(target)}">{inner}</a>' if target else inner

    def page(self, text: str) -> Rendered:
        text = TABS.sub(self.tab_set, text)
        body = self.finish(self.convert(text))
        return self.described(body)

    def described(self, body: str) -> Rendered:
        """Title, contents and searchable sections of a page."""
        parts = re.split(r"<h([1-4])(?: id=\"([^\"]+)\")?[^>]*>(.*?)</h\1>", body, flags=re.S)
        page = Rendered("", body)
        for level, anchor, title, rest in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]):
            title = plain(re.sub(r'<a class="here".*?</a>', "", title))
            if level == "1" and not page.title:
                page.title = title
                anchor = ""
            elif level in "23":
                page.contents.append((int(level), anchor, title))
            page.sections.append(Section(title, anchor or "", plain(rest)))
        return page
