"""Writes C that compiles against the real headers only if nothing was lost or misread on the way."""
from __future__ import annotations

from . import ir, text
from .cdecl import to_c


def write(api: ir.Api) -> str:
    foreign = api.foreign
    out = text.banner(api, "//")
    out += ['#include "tensordict/td.h"', ""]
    for enum in api.enums:
        out.append(f"_Static_assert(sizeof({enum.name}) == sizeof({enum.base}), \"{enum.name}\");")
        for item in enum.items:
            out.append(f'_Static_assert({item.name} == {item.value}, "{item.name}");')
    for constant in api.constants:
        if isinstance(constant.value, int):
            out.append(f'_Static_assert({constant.name} == {constant.value}, "{constant.name}");')
        else:
            out.append(f'_Static_assert(sizeof({constant.name}) == {len(constant.value) + 1}, "{constant.name}");')
    for struct in api.structs:
        size, _, offsets = api.layout(struct)
        out += ["", f'_Static_assert(sizeof({struct.name}) == {size}, "{struct.name}");']
        for member, offset in zip(struct.fields, offsets):
            where = f"{struct.name}.{member.name}"
            out.append(f'_Static_assert(offsetof({struct.name}, {member.name}) == {offset}, "{where}");')
        # The address of each member, as the type that was read.
        out += [f"void read_{struct.name}({struct.name} *it);", f"void read_{struct.name}({struct.name} *it) {{"]
        for member in struct.fields:
            out += [f"  {to_c(member.type, f'(*{member.name}_)', foreign)} = &it->{member.name};", f"  (void){member.name}_;"]
        out.append("}")
    out += ["", "// A pointer to each function, of the type that was read."]
    for owner in api.callbacks + api.functions:
        params = ", ".join(to_c(p.type, p.name, foreign) for p in owner.params) or "void"
        name = f"as_{owner.name}"
        out.append(f"extern {to_c(owner.result, f'(*const {name})({params})', foreign)};")
        if isinstance(owner, ir.Function):
            out.append(f"{to_c(owner.result, f'(*const {name})({params})', foreign)} = {owner.name};")
        else:
            out += [f"extern {owner.name} const same_{owner.name};",
                    f"{owner.name} const same_{owner.name} = NULL;",
                    f"extern {to_c(owner.result, f'(*const *const of_{owner.name})({params})', foreign)};",
                    f"{to_c(owner.result, f'(*const *const of_{owner.name})({params})', foreign)} = &same_{owner.name};"]
    return "\n".join(out + [""])
