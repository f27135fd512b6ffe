"""The reference: C from the headers as SWIG reads them, the other languages from the comments of their sources."""
from __future__ import annotations

import html
import re
from pathlib import Path

from tdgen import swig

from .markup import code

DECLARATION = r"(?:^|\n)((?:TD_MUST_USE\s+)?[\w *]+?\b{name}\([^;]*?\)) TD_NOEXCEPT;"


def escaped(text: str) -> str:
    """Words of a comment as HTML: `code`, names of functions, no other markup."""
    text = html.escape(text, quote=False)
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<![\w<>/])(td_\w+)\(\)", r"<code>\1</code>", text)


class C:
    """What the headers declare, and where it is described."""

    def __init__(self, root: Path):
        include = root / "capi/include"
        self.api = swig.read(root / "bindings/swig/tensordict.i", include, "swig")
        self.texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(include.glob("tensordict/*.h"))}
        self.place: dict[str, str] = {}
        for function in self.api.functions:
            self.place[function.name] = function.header
        self.types = {}
        for kind in ("structs", "enums", "callbacks", "handles"):
            for entry in getattr(self.api, kind):
                header = self.header_of(entry.name)
                if header:
                    self.place[entry.name] = header
                    self.types[entry.name] = entry
        for enum in self.api.enums:
            for item in enum.items:
                if enum.name in self.place:
                    self.place[item.name] = self.place[enum.name]
        self.of_item = {item.name: enum.name for enum in self.api.enums for item in enum.items}

    def header_of(self, name: str) -> str | None:
        form = re.compile(rf"typedef [^;{{}}]*\b{name};|\}} {name};|typedef [^;]*\(\*{name}\)")
        return next((header for header, text in self.texts.items() if form.search(text)), None)

    def anchor(self, name: str) -> str:
        return self.of_item.get(name, name)

    def page_of(self, name: str) -> str | None:
        header = self.place.get(name)
        return header and f"api/c/{header[:-2]}.html#{self.anchor(name)}"

    def signature(self, function) -> str:
        text = self.texts[function.header]
        found = re.search(DECLARATION.format(name=function.name), text)
        if not found:
            return function.name
        return re.sub(r"TD_MUST_USE\s+", "", found[1]).replace("TD_NULLABLE ", "/* or NULL */ ").strip() + ";"

    def raw_type(self, name: str) -> str:
        text = self.texts[self.place[name]]
        for form in (
            rf"typedef struct {name} \{{.*?\}} {name};(?:\n#define {name.upper()}_INIT[^\n]*(?:\\\n[^\n]*)*)?",
            rf"typedef \w+ {name};\n(?:enum \{{.*?\}};)?",
            rf"typedef [^;]*\(\*{name}\)[^;]*;",
            rf"typedef struct \w+ {name};",
        ):
            if found := re.search(form, text, re.S):
                return found[0]
        return name

    def members(self, name: str) -> str:
        """Fields of a struct or values of an enum as a table; the declaration of any other type."""
        entry, raw = self.types[name], self.raw_type(name)
        types = {field: kind.replace("TD_NULLABLE ", "").strip()
                 for kind, field in re.findall(r"^  (\S[^;/]*?)(\w+)(?:\[\w+\])?;", raw, re.M)}
        if fields := getattr(entry, "fields", None):
            rows = [(f"<code>{f.name}</code>", f"<code>{html.escape(types.get(f.name, ''))}</code>", f.doc) for f in fields]
            head = "<th>Field</th><th>Type</th><th>What it says</th>"
        elif items := getattr(entry, "items", None):
            rows = [(f"<code>{i.name}</code>", str(i.value), i.doc) for i in items]
            head = "<th>Name</th><th>Value</th><th>What it says</th>"
        else:
            return code(raw, "c")
        body = "".join(f"<tr><td>{a}</td><td>{b}</td><td>{escaped(words)}</td></tr>" for a, b, words in rows)
        start = re.search(r"#define (\w+_INIT)", raw)
        begins = f"<p>Begin with <code>{start[1]}</code>.</p>" if start else ""
        return f"<table class=\"members\"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{begins}"

    def doc(self, doc) -> str:
        out = [f"<p>{escaped(p)}</p>" for p in [doc.brief, *doc.body] if p]
        return "".join(out)

    def function(self, function) -> str:
        doc, rows = function.doc, []
        for param in function.params:
            rows.append(f"<tr><td><code>{param.name}</code></td><td>{escaped(doc.params.get(param.name, ''))}</td></tr>")
        if doc.returns:
            rows.append(f"<tr><td>returns</td><td>{escaped(doc.returns)}</td></tr>")
        if doc.threadsafety:
            rows.append(f"<tr><td>threads</td><td>{escaped(doc.threadsafety)}</td></tr>")
        since = f'<span class="since">since {doc.since}</span>' if doc.since else ""
        return (
            f'<h3 id="{function.name}">{function.name}</h3>{since}{code(self.signature(function), "c")}{self.doc(doc)}'
            f'<table class="params"><tbody>{"".join(rows)}</tbody></table>'
        )

    def first_line(self, header: str) -> tuple[str, str]:
        line = self.texts[header].split("\n")[0]
        found = re.match(r"/\* tensordict/\S+: (.+) \((C: .+; Python: .+)\)\.", line)
        return (found[1], found[2]) if found else (header, "")

    def headers(self) -> list[str]:
        return [header for header in self.texts if any(place == header for place in self.place.values())]

    def header(self, header: str) -> str:
        what, names = self.first_line(header)
        out = [f"<h1>{header}</h1><p class=\"lead\">{escaped(what[0].upper() + what[1:])}.</p>",
               f"<p class=\"dim\">{escaped(names)}</p>"]
        types = [name for name in self.types if self.place[name] == header]
        if types:
            out.append('<h2 id="types">Types</h2>')
            for name in types:
                out.append(f'<h3 id="{name}">{name}</h3>{self.doc(self.types[name].doc)}{self.members(name)}')
        functions = [f for f in self.api.functions if f.header == header]
        if functions:
            out.append('<h2 id="functions">Functions</h2>')
            out += [self.function(f) for f in functions]
        return "".join(out)

    def index(self) -> str:
        rows = []
        for header in self.headers():
            what, names = self.first_line(header)
            python = names.partition("Python: ")[2]
            rows.append(f'<tr><td><a href="{header[:-2]}.html">{header}</a></td><td>{escaped(what)}</td><td>{escaped(python)}</td></tr>')
        names = sorted(f.name for f in self.api.functions)
        listed = " ".join(f'<a href="{self.page_of(n)[6:]}"><code>{n}</code></a>' for n in names)
        return (
            "<h1>C reference</h1><p class=\"lead\">Each function with its parameters, statuses, ownership and threads, from the "
            "comments of the headers.</p><p>Include <code>tensordict/td.h</code> for all of it. Pages on "
            '<a href="../../design/ownership.html">ownership</a>, <a href="../../design/errors.html">errors</a> and '
            '<a href="../../design/threads.html">threads</a> say what holds for every function.</p>'
            '<h2 id="headers">Headers</h2><table><thead><tr><th>Header</th><th>What it is for</th><th>Python</th></tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table><h2 id="functions">All {len(names)} functions</h2><p class="names">{listed}</p>'
        )


def entry(name: str, signature: str, words: str, language: str) -> tuple[str, str, str, str]:
    # A signature of several lines becomes one.
    return name, re.sub(r"(?<=\() |,? (?=\))", "", re.sub(r"\s+", " ", signature)).strip(), words, language


def owner(text: str, at: int, form: str) -> str:
    """The last type that is opened before a place."""
    found = [match[1] for match in re.finditer(form, text[:at], re.M)]
    return found[-1] if found else ""


def rust(text: str):
    form = re.compile(r"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*#\[[^\n]*\n)*^[ \t]*(pub (?:unsafe |const )*(?:fn|struct|enum|trait|type)"
                      r" (\w+)[^{;]*|macro_rules! (\w+))", re.M)
    for match in form.finditer(text):
        words = re.sub(r"^[ \t]*/// ?", "", match[1], flags=re.M)
        name, start = match[3] or match[4], match.start(2)
        if text[start - 1] == " ":  # inside of an `impl`
            name = owner(text, start, r"^impl(?:<[^{]*?>)? (?:[^{]*? for )?&?(\w+)") + "::" + name
        yield entry(name, match[2], words.split("\n# ")[0].split("```")[0], "rust")


def csharp(text: str):
    form = re.compile(r"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*\[[^\n]*\n)*^[ \t]*(public [^{;]*?)\s*(?=\{|;|=>|\n\s*:|\n\s*where| = )", re.M)
    for match in form.finditer(text):
        words = re.sub(r"^[ \t]*/// ?", "", match[1], flags=re.M)
        words = re.sub(r'<see (?:cref|langword)="([^"]+)"\s*/>', r"`\1`", words)
        words = re.sub(r"</?(?:c|code)>", "`", re.sub(r'<paramref name="(\w+)"\s*/>', r"`\1`", words))
        words = html.unescape(re.sub(r"<[^>]+>", "", words))
        signature = match[2]
        if match[2].count("(") > match[2].count(")"):  # cut at the default of a parameter
            signature = text[match.start(2) : text.index("\n", match.end(2))].strip().split(" => ")[0]
            signature = signature.rstrip(";{ ").removesuffix("=>")
        kind = re.search(r"\b(?:class|struct|enum|interface|record)\s+(\w+)", signature)
        member = re.search(r"(operator\s+\S+?|\w+)\s*(?:<[^>]*>)?\s*(?:\(|\[|$)", signature.removeprefix("public "))
        name = (kind or member)[1] if kind or member else signature
        inside = "" if kind else owner(text, match.start(2), r"^ *(?:public|internal) [\w ]*\b(?:class|struct|interface|enum|record) (\w+)")
        yield entry(f"{inside}.{name}" if inside and inside != name else name, signature, words, "csharp")


def julia(text: str):
    form = re.compile(r'^"""\n(.*?)^"""\n(.*?)$', re.M | re.S)
    for match in form.finditer(text):
        lines = match[1].split("\n")
        signature = [line[4:] for line in lines if line.startswith("    ")]
        first = next((i for i, line in enumerate(lines) if line and not line.startswith("    ")), len(lines))
        words = "\n".join(lines[first:]).split("```")[0]
        words = re.sub(r"\[(`[^`]+`)\]\(@ref\)", r"\1", words)
        named = re.match(r"@?[\w!.]+", signature[0]) if signature else None
        if named:
            head = "\n".join(line[4:] for line in lines[:first] if line.strip())
            yield named[0], head, words, "julia"


def cpp(text: str):
    text = re.sub(r"namespace detail \{.*?\n\}  // namespace detail", "", text, flags=re.S)
    form = re.compile(r"((?:^[ \t]*// [^\n]*\n)+)^[ \t]*((?:template[^\n]*\n[ \t]*)?(?!namespace|#|//)[A-Za-z_][^;{]*?\b(\w+)\s*(?:\(|\{|;| =)[^;{]*)", re.M)
    for match in form.finditer(text):
        words = re.sub(r"^[ \t]*// ?", "", match[1], flags=re.M)
        if not words.startswith("tensordict/") and "return" not in match[2].split() and "if" not in match[2].split():
            yield entry(match[3], match[2].split(" : ")[0], words, "cpp")


LANGUAGES = {
    "cpp": ("C++", "capi/include/tensordict", "*.hpp", cpp,
            "Headers over the C interface, for programs that use libtorch themselves: `pkg-config --cflags --libs tensordict-torch`."),
    "rust": ("Rust", "bindings/rust/tensordict/src", "**/*.rs", rust,
             "`cargo doc --open` in `bindings/rust` makes the pages of rustdoc from the same comments."),
    "csharp": ("C#", "bindings/csharp/src/TensorDict", "*.cs", csharp,
               "An editor shows the same comments: the package has them in its XML file."),
    "julia": ("Julia", "bindings/julia/src", "*.jl", julia, "`?name` shows the same words in Julia, with their examples."),
}


FUNCTIONS = "functions"  # the page of what belongs to no type
RAW = "ffi.jl"  # the raw layer, which is that of C


def groups(root: Path, key: str) -> dict[str, list[tuple[str, tuple[str, str, str, str]]]]:
    """Page -> its entries with their files: one page for each type of Rust and C#, for each file of Julia and C++."""
    _, folder, pattern, read, _ = LANGUAGES[key]
    found: dict[str, list] = {}
    for file in sorted(file for file in (root / folder).glob(pattern) if file.name != RAW):
        for one in read(file.read_text(encoding="utf-8")):
            page = file.name
            if key in ("rust", "csharp"):
                first = re.split(r"::|\.", one[0])[0]  # a type, or a function of Rust: C# has no others
                page = first if first[:1].isupper() else FUNCTIONS
            found.setdefault(page, []).append((file.name, one))
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def place(key: str, page: str) -> str:
    return f"api/{key}/{re.sub(r'[^A-Za-z0-9]+', '-', page).strip('-')}.html"


def language(root: Path, key: str) -> str:
    """The list of a language's pages."""
    title, _, _, _, words = LANGUAGES[key]
    rows = []
    for page, entries in groups(root, key).items():
        own = next((one[2] for _, one in entries if one[0] == page), "")
        what = re.sub(r"\s+", " ", re.split(r"\n\s*\n", own.strip())[0])
        names = ", ".join(dict.fromkeys(re.split(r"::|\.", one[0])[-1] for _, one in entries if one[0] != page))
        rows.append(f'<tr><td><a href="{place(key, page)[4:]}">{html.escape(page)}</a></td><td>{escaped(what or names)}</td></tr>')
    return (f'<h1>{title} reference</h1><p class="lead">What is public, with the words of its comments. {escaped(words)}</p>'
            f'<table><thead><tr><th>Page</th><th>What it holds</th></tr></thead><tbody>{"".join(rows)}</tbody></table>')


def group(title: str, page: str, entries: list[tuple[str, tuple[str, str, str, str]]]) -> str:
    """A page of a language."""
    out, seen, last = [f"<h1>{html.escape(page)} ({title})</h1>"], set(), ""
    for file, (name, signature, doc, lexer) in entries:
        if file != last:
            heading, last = re.sub(r"[^\w-]", "-", file.lower()), file
            while heading in seen:
                heading += "-"
            seen.add(heading)
            out.append(f'<h2 id="{heading}">{html.escape(file)}</h2>')
        anchor = re.sub(r"[^\w.!@-]", "-", name)
        while anchor in seen:
            anchor += "-"
        seen.add(anchor)
        paragraphs = [p for p in re.split(r"\n\s*\n", doc.strip()) if p.strip()][:3]
        out.append(f'<h3 id="{html.escape(anchor)}">{html.escape(name)}</h3>{code(signature, lexer)}')
        out += [f"<p>{escaped(re.sub(r'^-{1,}', '', p.strip()))}</p>" for p in paragraphs]
    return "".join(out)
