"""C types: what SWIG writes as `q(const).p.char`, taken apart, put back into C, and measured."""
from __future__ import annotations

import re
from dataclasses import dataclass


class UnknownType(Exception):
    """A C type that the headers must not use, or that they do not declare."""


@dataclass(frozen=True)
class Named:
    """A type that has a name: `int32_t`, `td_tensor`, or `struct X` as `X`."""

    name: str
    const: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class Pointer:
    target: "CType"
    const: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class Array:
    target: "CType"
    length: int


@dataclass(frozen=True)
class Function:
    result: "CType"


CType = Named | Pointer | Array | Function

# name -> bytes, on the 64-bit platforms that the library supports
PRIMITIVES = {
    "char": 1,
    "uint8_t": 1,
    "int32_t": 4,
    "uint32_t": 4,
    "float": 4,
    "int64_t": 8,
    "uint64_t": 8,
    "double": 8,
    "size_t": 8,
}

# How TD_NULLABLE is carried through SWIG: no header uses the word for itself.
NULLABLE = "volatile"


def split_operators(text: str) -> list[str]:
    """Splits `p.q(const).f(p.void,int).char` at the dots that stand outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "." and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def parse(text: str) -> CType:
    """Reads a type as SWIG writes it, outermost operator first."""
    return _build(split_operators(text), False, False)


def _build(parts: list[str], const: bool, nullable: bool) -> CType:
    head, rest = parts[0], parts[1:]
    if not rest:
        name = re.sub(r"^(struct|union|enum) ", "", head)
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UnknownType(f"C type '{head}' is not a plain name")
        return Named(name, const, nullable)
    if head.startswith("q("):
        words = head[2:-1].split()
        if unknown := set(words) - {"const", NULLABLE}:
            raise UnknownType(f"qualifier '{' '.join(sorted(unknown))}' is not carried")
        return _build(rest, const or "const" in words, nullable or NULLABLE in words)
    if head == "p":
        return Pointer(_build(rest, False, False), const, nullable)
    if head.startswith("a("):
        if not head[2:-1].isdigit():
            raise UnknownType(f"array length '{head[2:-1]}' is not a number")
        return Array(_build(rest, const, nullable), int(head[2:-1]))
    if head.startswith("f("):
        return Function(_build(rest, False, False))
    raise UnknownType(f"operator '{head}' is not known")


def base_name(ctype: CType) -> str:
    """The name at the bottom of pointers, arrays and functions."""
    while not isinstance(ctype, Named):
        ctype = ctype.result if isinstance(ctype, Function) else ctype.target
    return ctype.name


def to_c(ctype: CType, declarator: str = "", foreign: frozenset[str] = frozenset()) -> str:
    """Writes a declaration; names in `foreign` exist only as struct tags."""
    if isinstance(ctype, Named):
        tag = "struct " if ctype.name in foreign else ""
        return (
            ("const " if ctype.const else "")
            + tag
            + ctype.name
            + (" " + declarator if declarator else "")
        )
    if isinstance(ctype, Pointer):
        inner = "*" + ("const " if ctype.const else "") + declarator
        if isinstance(ctype.target, (Array, Function)):
            inner = f"({inner})"
        return to_c(ctype.target, inner.rstrip(), foreign)
    if isinstance(ctype, Array):
        return to_c(ctype.target, f"{declarator}[{ctype.length}]", foreign)
    raise UnknownType("a function type cannot be declared here")
