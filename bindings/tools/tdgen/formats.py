"""Writes the file formats as the languages show them, from the constants of td_file_format."""
from __future__ import annotations

from . import csharp as cs
from . import ir, rust as rs, text

PREFIX = "TD_FILE_"
TITLE = "What kind of file it is."


def items(api: ir.Api) -> list[tuple[ir.EnumItem, str]]:
    """Each format with its name, such as "safetensors"."""
    (enum,) = (enum for enum in api.enums if enum.name == "td_file_format")
    return [(item, item.name.removeprefix(PREFIX).lower()) for item in enum.items]


def sentence(words: str) -> str:
    """A comment of C that does not point at C."""
    parts = [part for part in words.split("; ") if "td_" not in part]
    joined = "; ".join(parts)
    return joined[0].upper() + joined[1:] + "."


def rust(api: ir.Api) -> str:
    out = text.banner(api, "//")[:1]
    out += ["", "use tensordict_sys as sys;", "", f"/// {TITLE}",
            "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]", "pub enum FileFormat {"]
    for item, name in items(api):
        out += text.wrap(rs.escape(sentence(item.doc)), "    /// ")
        out += (["    #[default]"] if item.value == 0 else []) + [f"    {name.capitalize()},"]
    out += ["}", "", "impl FileFormat {", "    pub(crate) fn raw(self) -> sys::td_file_format {",
            "        match self {"]
    out += [f"            Self::{name.capitalize()} => sys::{item.name}," for item, name in items(api)]
    return "\n".join([*out, "        }", "    }", "}"]) + "\n"


def julia(api: ir.Api) -> str:
    pairs = ",\n".join(f"    :{name} => {item.name}" for item, name in items(api))
    return "\n".join([*text.banner(api, "#")[:1], "", f"const FILE_FORMATS = Dict(\n{pairs},\n)"]) + "\n"


def csharp(api: ir.Api) -> str:
    out = text.banner(api, "//")[:1] + ["namespace TensorDicts", "{", f"    /// <summary>{TITLE}</summary>",
                                        "    public enum TensorFileFormat", "    {"]
    for item, name in items(api):
        out += text.wrap(f"<summary>{cs.escape(sentence(item.doc))}</summary>", "        /// ")
        out += [f"        {name.capitalize()} = {item.value},", ""]
    return "\n".join([*out[:-1], "    }", "}"]) + "\n"
