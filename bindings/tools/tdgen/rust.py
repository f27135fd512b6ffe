"""Writes ffi.rs."""
from __future__ import annotations

import re

from . import ir, text
from .cdecl import Array, CType, Named, Pointer, UnknownType

TYPES = {
    "void": "c_void",
    "char": "c_char",
    "uint8_t": "u8",
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "float": "f32",
    "double": "f64",
    "size_t": "usize",
}
KEYWORDS = set(
    "as async await box break const continue crate dyn else enum extern false final fn for if "
    "impl in let loop macro match mod move mut override priv pub ref return self static struct "
    "super trait true try type typeof unsafe unsized use virtual where while yield".split()
)


def name_of(word: str) -> str:
    if word in ("crate", "self", "super"):
        return word + "_"
    return f"r#{word}" if word in KEYWORDS else word


def type_of(ctype: CType) -> str:
    if isinstance(ctype, Pointer):
        const = isinstance(ctype.target, (Named, Pointer)) and ctype.target.const
        return ("*const " if const else "*mut ") + type_of(ctype.target)
    if isinstance(ctype, Array):
        return f"[{type_of(ctype.target)}; {ctype.length}]"
    if isinstance(ctype, Named):
        return TYPES.get(ctype.name, ctype.name)
    raise UnknownType("a bare function type has no form in Rust")


def escape(words: str) -> str:
    """Keeps rustdoc from reading links and tags; text in backticks is left as it is."""
    parts = text.mark_names(words).split("`")
    parts[::2] = [re.sub(r"([\[\]<>*])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def comment(doc, indent: str, params: list[ir.Param] = ()) -> list[str]:
    prefix = indent + "/// "
    lines = text.wrap(escape(doc.brief), prefix)
    for paragraph in doc.body:
        lines += [prefix.rstrip(), *text.wrap(escape(paragraph), prefix)]
    said = [(p.name, text.param_text(doc, p)) for p in params]
    if any(words for _, words in said):
        lines.append(prefix.rstrip())
        for name, words in said:
            item = text.wrap(f"- `{name}`: {escape(words)}" if words else f"- `{name}`", prefix)
            lines += [item[0]] + [prefix + "  " + line[len(prefix) :] for line in item[1:]]
    if doc.returns:
        lines += [prefix.rstrip(), *text.wrap(f"Returns {escape(doc.returns)}.", prefix)]
    for line in text.remarks(doc):
        lines += [prefix.rstrip(), *text.wrap(escape(line), prefix)]
    return lines


def signature(indent: str, before: str, owner: ir.Function | ir.Callback, after: str) -> list[str]:
    """A signature between two pieces of text, broken where rustfmt breaks it."""
    params = [f"{name_of(p.name)}: {type_of(p.type)}" for p in owner.params]
    result = "" if owner.result == Named("void") else f" -> {type_of(owner.result)}"
    line = f"{indent}{before}({', '.join(params)})"
    if len(line + result + after) < 100:
        return [line + result + after]
    if (
        result and len(line + result + after) == 100
    ):  # rustfmt keeps a column for the semicolon here
        return [line, f"{indent}   {result}{after}"]
    return [
        f"{indent}{before}(",
        *(f"{indent}    {param}," for param in params),
        f"{indent}){result}{after}",
    ]


def write(api: ir.Api) -> str:
    out = text.banner(api, "//")
    out += [
        "#![allow(non_camel_case_types)]",
        "",
        "use core::ffi::{c_char, c_void};",
        "use core::marker::{PhantomData, PhantomPinned};",
        "use core::mem::{offset_of, size_of};",
        "",
    ]
    for constant in api.constants:
        kind, value = (
            ("i32", constant.value)
            if isinstance(constant.value, int)
            else ("&core::ffi::CStr", f'c"{constant.value}"')
        )
        out.append(f"pub const {constant.name}: {kind} = {value};")
    for enum in api.enums:
        out += ["", *comment(enum.doc, ""), f"pub type {enum.name} = {TYPES[enum.base]};"]
        for item in enum.items:
            out += [
                *text.wrap(escape(item.doc), "/// "),
                f"pub const {item.name}: {enum.name} = {item.value};",
            ]
    for handle in api.handles:
        out += [
            "",
            *(
                comment(handle.doc, "")
                if handle.doc.brief
                else ["/// Declared elsewhere: see dlpack.h, and the C data interface of Arrow."]
            ),
            "#[repr(C)]",
            f"pub struct {handle.name} {{",
            "    _data: (),",
            "    _marker: PhantomData<(*mut u8, PhantomPinned)>,",
            "}",
        ]
    for callback in api.callbacks:
        out += ["", *comment(callback.doc, "", callback.params), *_callback(callback)]
    for struct in api.structs:
        out += _struct(api, struct)
    out += ["", 'extern "C" {']
    for i, function in enumerate(api.functions):
        if i:
            out.append("")
        out += [
            *comment(function.doc, "    ", function.params),
            *signature("    ", f"pub fn {function.name}", function, ";"),
        ]
    return "\n".join(out + ["}", ""])


def _callback(callback: ir.Callback) -> list[str]:
    before = 'unsafe extern "C" fn'
    lines = signature("", f"pub type {callback.name} = Option<{before}", callback, ">;")
    if len(lines) > 1:
        lines = [
            f"pub type {callback.name} =",
            *signature("    ", f"Option<{before}", callback, ">;"),
        ]
    if len(lines) > 2:
        lines = [
            f"pub type {callback.name} = Option<",
            *signature("    ", before, callback, ","),
            ">;",
        ]
    return lines


def _struct(api: ir.Api, struct: ir.Struct) -> list[str]:
    out = [
        "",
        *comment(struct.doc, ""),
        "#[repr(C)]",
        "#[derive(Clone, Copy, Debug)]",
        f"pub struct {struct.name} {{",
    ]
    for member in struct.fields:
        out += [
            *text.wrap(escape(member.doc), "    /// "),
            f"    pub {name_of(member.name)}: {type_of(member.type)},",
        ]
    given = []
    for member, value in text.struct_defaults(struct):
        if value == "null":
            const = member.type.target.const
            value = "core::ptr::null()" if const else "core::ptr::null_mut()"
        elif value == "array":
            value = f"[0; {member.type.length}]"
        elif value == "size":
            value = "size_of::<Self>() as u32"
        elif member.type.name in api.names("callbacks"):
            value = "None"
        elif member.type.name == "double" and not set(value) & set(".e"):
            value += ".0"
        given.append(f"{name_of(member.name)}: {value}")
    body = [f"        Self {{ {', '.join(given)} }}"]
    if len(body[0]) > 100:
        body = ["        Self {", *(f"            {part}," for part in given), "        }"]
    out += ["}", "", f"impl Default for {struct.name} {{", "    fn default() -> Self {", *body]
    out += ["    }", "}", "", '#[cfg(target_pointer_width = "64")]', "const _: () = {"]
    size, _, offsets = api.layout(struct)
    out.append(f"    assert!(size_of::<{struct.name}>() == {size});")
    out += [
        f"    assert!(offset_of!({struct.name}, {name_of(m.name)}) == {o});"
        for m, o in zip(struct.fields, offsets)
    ]
    return out + ["};"]
