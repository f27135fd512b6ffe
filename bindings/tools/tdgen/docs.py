"""Doc comments: taken apart once, so that each language writes them in its own form."""
from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Doc:
    brief: str = ""
    body: list[str] = field(default_factory=list)  # paragraphs after the first
    params: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    threadsafety: str = ""
    since: str = ""  # of TD_API, which stands before the declaration


class DocError(Exception):
    """A Doxygen command that the generator does not carry."""


def parse(comment: str) -> Doc:
    """Reads the inside of a /** */ comment as SWIG hands it out."""
    text = comment.replace("\\\\", "\\")
    lines = [re.sub(r"^\s*\*(?: |$)", "", line).rstrip() for line in text.strip("\n").split("\n")]
    doc, paragraphs, target = Doc(), [[]], None
    for line in lines:
        command = re.match(r"\s*@(\w+)\s*(.*)", line)
        if command:
            target = _open_section(doc, command[1], command[2])
        elif not line.strip():
            target = None
            paragraphs.append([])
        elif target:
            _append(doc, target, line.strip())
        else:
            paragraphs[-1].append(line.strip())
    texts = [" ".join(p) for p in paragraphs if p]
    doc.brief, doc.body = (texts[0], texts[1:]) if texts else ("", [])
    return doc


def _open_section(doc: Doc, command: str, rest: str) -> tuple[str, str]:
    if command == "param":
        name, _, text = rest.partition(" ")
        doc.params[name] = text.strip()
        return ("param", name)
    section = {"return": "returns", "threadsafety": "threadsafety"}.get(command)
    if not section:
        raise DocError(f"Doxygen command '@{command}' is not carried")
    setattr(doc, section, rest.strip())
    return ("section", section)


def _append(doc: Doc, target: tuple[str, str], text: str) -> None:
    kind, name = target
    if kind == "param":
        doc.params[name] = f"{doc.params[name]} {text}".strip()
    else:
        setattr(doc, name, f"{getattr(doc, name)} {text}".strip())
