"""The interface as the generators see it."""
from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from . import cdecl
from .cdecl import Array, CType, Named, Pointer, PRIMITIVES, UnknownType
from .docs import Doc


@dataclass
class Constant:
    name: str
    value: int | str


@dataclass
class EnumItem:
    name: str
    value: int
    doc: str


@dataclass
class Enum:
    """A typedef of an integer together with the anonymous enum behind it."""

    name: str
    base: str
    doc: Doc
    items: list[EnumItem]


@dataclass
class Handle:
    """A struct that is declared and never defined; `foreign` when it has no typedef of ours."""

    name: str
    doc: Doc
    foreign: bool = False


@dataclass
class Field:
    name: str
    type: CType
    doc: str
    default: float = 0


@dataclass
class Struct:
    name: str
    doc: Doc
    fields: list[Field]

    @property
    def sized(self) -> bool:
        """Whether the first member tells the library how large the struct is."""
        return self.fields[0].name == "struct_size"


@dataclass
class Param:
    name: str
    type: CType


@dataclass
class Callback:
    name: str
    doc: Doc
    result: CType
    params: list[Param]


@dataclass
class Function:
    name: str
    doc: Doc
    result: CType
    params: list[Param]
    header: str


@dataclass
class Api:
    constants: list[Constant] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def digest(self) -> str:
        """Names this state of the interface, whatever version of SWIG has read it."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]

    def names(self, kind: str) -> set[str]:
        return {entry.name for entry in getattr(self, kind)}

    @property
    def foreign(self) -> frozenset[str]:
        return frozenset(h.name for h in self.handles if h.foreign)

    def enum_base(self, name: str) -> str | None:
        return next((e.base for e in self.enums if e.name == name), None)

    def size_align(self, ctype: CType) -> tuple[int, int]:
        """Bytes and alignment where pointers have 64 bits."""
        if isinstance(ctype, Pointer):
            return 8, 8
        if isinstance(ctype, Array):
            size, align = self.size_align(ctype.target)
            return size * ctype.length, align
        if isinstance(ctype, Named):
            name = self.enum_base(ctype.name) or ctype.name
            if name in PRIMITIVES:
                return PRIMITIVES[name], PRIMITIVES[name]
            if name in self.names("callbacks"):
                return 8, 8
            for struct in self.structs:
                if struct.name == name:
                    size, align, _ = self.layout(struct)
                    return size, align
        raise UnknownType(f"the size of '{cdecl.base_name(ctype)}' is not known")

    def layout(self, struct: Struct) -> tuple[int, int, list[int]]:
        """Size, alignment and the offset of each member."""
        offset, widest, offsets = 0, 1, []
        for member in struct.fields:
            size, align = self.size_align(member.type)
            offset = -(-offset // align) * align
            offsets.append(offset)
            offset, widest = offset + size, max(widest, align)
        return -(-offset // widest) * widest, widest, offsets

    def check_types(self) -> None:
        """Refuses a type that no header declares: an unknown one is an error, never a guess."""
        known = set(PRIMITIVES) | {"void"}
        for kind in ("enums", "handles", "structs", "callbacks"):
            known |= self.names(kind)
        uses = [(f"{s.name}.{m.name}", m.type) for s in self.structs for m in s.fields]
        for owner in self.callbacks + self.functions:
            uses.append((f"the result of {owner.name}", owner.result))
            uses += [(f"parameter '{p.name}' of {owner.name}", p.type) for p in owner.params]
        for where, ctype in uses:
            if (name := cdecl.base_name(ctype)) not in known:
                raise UnknownType(f"{where} has the C type '{name}', which no header declares")
            by_value = isinstance(ctype, Named) and name in self.names("structs") | self.names(
                "handles"
            )
            if by_value or (isinstance(ctype, Named) and name == "void" and "result" not in where):
                raise UnknownType(f"{where} passes '{name}' by value")
