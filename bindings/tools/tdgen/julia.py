"""Writes ffi.jl."""
from __future__ import annotations

from . import ir, text
from .cdecl import Array, CType, Named, Pointer, UnknownType

TYPES = {
    "void": "Cvoid",
    "char": "UInt8",
    "uint8_t": "UInt8",
    "int32_t": "Int32",
    "uint32_t": "UInt32",
    "int64_t": "Int64",
    "uint64_t": "UInt64",
    "float": "Float32",
    "double": "Float64",
    "size_t": "Csize_t",
}
KEYWORDS = set(
    "baremodule begin break catch const continue do else elseif end export false finally for "
    "function global if import in isa let local macro module quote return struct true try using "
    "where while".split()
)


def name_of(word: str) -> str:
    return word + "_" if word in KEYWORDS else word


def type_of(ctype: CType) -> str:
    if text.is_text(ctype):
        return "Cstring"
    if isinstance(ctype, Pointer):
        return f"Ptr{{{type_of(ctype.target)}}}"
    if isinstance(ctype, Array):
        return f"NTuple{{{ctype.length},{type_of(ctype.target)}}}"
    if isinstance(ctype, Named):
        return TYPES.get(ctype.name, ctype.name)
    raise UnknownType("a bare function type has no form in Julia")


def escape(words: str) -> str:
    return text.mark_names(words).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")


def comment(doc, params: list[ir.Param] = (), call: str = "") -> list[str]:
    """A docstring. The words of the C header stay as they are, indices count from 0 here."""
    lines = ['"""']
    if call:
        lines += ["    " + call, ""]
    lines += text.wrap(escape(doc.brief), "")
    for paragraph in doc.body:
        lines += ["", *text.wrap(escape(paragraph), "")]
    said = [(p.name, text.param_text(doc, p)) for p in params]
    if any(words for _, words in said):
        lines.append("")
        for name, words in said:
            item = text.wrap(f"- `{name}`: {escape(words)}" if words else f"- `{name}`", "")
            lines += [item[0]] + ["  " + line for line in item[1:]]
    if doc.returns:
        lines += ["", *text.wrap(f"Returns {escape(doc.returns)}.", "")]
    for line in text.remarks(doc):
        lines += ["", *text.wrap(escape(line), "")]
    return lines + ['"""']


def write(api: ir.Api) -> str:
    out = text.banner(api, "#")
    out += [
        "# Names, order and meaning are those of the C headers: nothing is converted, counted from 1,",
        "# or freed here. `_sym(slot, name)` of library.jl finds a function at its first call and keeps",
        "# the address.",
        "",
    ]
    for constant in api.constants:
        kind = "Int32({})" if isinstance(constant.value, int) else '"{}"'
        out.append(f"const {constant.name} = {kind.format(constant.value)}")
    for enum in api.enums:
        out += ["", *comment(enum.doc), f"const {enum.name} = {TYPES[enum.base]}"]
        for item in enum.items:
            out += [f'"{escape(item.doc)}"', f"const {item.name} = {enum.name}({item.value})"]
    for handle in api.handles:
        doc = comment(handle.doc) if handle.doc.brief else ['"Declared elsewhere: see dlpack.h, and the C data interface of Arrow."']
        out += ["", *doc, f"abstract type {handle.name} end"]
    for callback in api.callbacks:
        types = ", ".join(type_of(p.type) for p in callback.params) + (
            "," if len(callback.params) == 1 else ""
        )
        call = f"@cfunction(f, {type_of(callback.result)}, ({types}))"
        out += [
            "",
            *comment(callback.doc, callback.params, call),
            f"const {callback.name} = Ptr{{Cvoid}}",
        ]
    for struct in api.structs:
        out += _struct(api, struct)
    for function in api.functions:
        out += _function(function)
    return "\n".join(out + [""])


def _struct(api: ir.Api, struct: ir.Struct) -> list[str]:
    out = ["", *comment(struct.doc), f"struct {struct.name}"]
    for member in struct.fields:
        out += [
            f'    "{escape(member.doc)}"',
            f"    {name_of(member.name)}::{type_of(member.type)}",
        ]
    words, values = [], []
    for member, value in text.struct_defaults(struct):
        if value == "size":
            values.append(f"sizeof({struct.name})")
            continue
        if value == "array":
            value = (
                "(" + "0, " * (member.type.length - 1) + ("0)" if member.type.length > 1 else "0,)")
            )
        elif value == "null" or member.type.name in api.names("callbacks"):
            value = "C_NULL"
        words.append(f"{name_of(member.name)} = {value}")
        values.append(name_of(member.name))
    return out + [
        "end",
        "",
        f"{struct.name}(; " + ", ".join(words) + ") =",
        f"    {struct.name}(" + ", ".join(values) + ")",
    ]


def _function(function: ir.Function) -> list[str]:
    names = [name_of(p.name) for p in function.params]
    types = "".join(f"{type_of(p.type)}, " for p in function.params)
    types = types.strip() if len(names) == 1 else types.rstrip(", ")
    result, slot = type_of(function.result), f"_p_{function.name}"
    call = f"{function.name}({', '.join(names)})"
    given = "".join(", " + name for name in names)
    return [
        "",
        f"const {slot} = Ref{{Ptr{{Cvoid}}}}(C_NULL)",
        *comment(function.doc, function.params, f"{call} -> {result}"),
        f"{call} =",
        f"    ccall(_sym({slot}, :{function.name}), {result}, ({types}){given})",
    ]
