"""Writes C that compiles against the real headers only if nothing was lost or misread."""
from __future__ import annotations

from . import ir, text
from .cdecl import to_c


def _assert(condition: str, name: str) -> str:
    return f'_Static_assert({condition}, "{name}");'


def write(api: ir.Api) -> str:
    out = text.banner(api, "//")
    out += ['#include "tensordict/td.h"', ""]
    for enum in api.enums:
        out.append(_assert(f"sizeof({enum.name}) == sizeof({enum.base})", enum.name))
        out += [_assert(f"{item.name} == {item.value}", item.name) for item in enum.items]
    for constant in api.constants:
        if isinstance(constant.value, int):
            out.append(_assert(f"{constant.name} == {constant.value}", constant.name))
        else:
            length = len(constant.value.encode()) + 1
            out.append(_assert(f"sizeof({constant.name}) == {length}", constant.name))
    for struct in api.structs:
        out += _struct(api, struct)
    out += ["", "// A pointer to each function, of the type that was read."]
    for owner in api.callbacks + api.functions:
        out += _pointer(api, owner)
    return "\n".join(out + [""])


def _struct(api: ir.Api, struct: ir.Struct) -> list[str]:
    """Size and offsets, and the address of each member as the type that was read."""
    size, _, offsets = api.layout(struct)
    head = f"void read_{struct.name}({struct.name} *it)"
    out = ["", _assert(f"sizeof({struct.name}) == {size}", struct.name)]
    body = []
    for member, offset in zip(struct.fields, offsets):
        where = f"offsetof({struct.name}, {member.name})"
        out.append(_assert(f"{where} == {offset}", f"{struct.name}.{member.name}"))
        declared = to_c(member.type, f"(*{member.name}_)", api.foreign)
        body += [f"  {declared} = &it->{member.name};", f"  (void){member.name}_;"]
    return out + [f"{head};", f"{head} {{", *body, "}"]


def _pointer(api: ir.Api, owner: ir.Function | ir.Callback) -> list[str]:
    params = ", ".join(to_c(p.type, p.name, api.foreign) for p in owner.params) or "void"

    def declare(pointer: str) -> str:
        return to_c(owner.result, f"({pointer})({params})", api.foreign)

    if isinstance(owner, ir.Function):
        pointer = declare(f"*const as_{owner.name}")
        return [f"extern {pointer};", f"{pointer} = {owner.name};"]
    pointer = declare(f"*const *const of_{owner.name}")
    return [
        f"extern {owner.name} const same_{owner.name};",
        f"{owner.name} const same_{owner.name} = NULL;",
        f"extern {pointer};",
        f"{pointer} = &same_{owner.name};",
    ]
