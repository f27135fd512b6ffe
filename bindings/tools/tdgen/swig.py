"""SWIG's parse tree, turned into the interface."""
from __future__ import annotations

import ast
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from . import cdecl, docs, ir, marks
from .cdecl import NULLABLE, UnknownType


class SwigError(Exception):
    """SWIG is missing, or has something to say about the headers."""


def read(interface: Path, include: Path, swig: str = "swig") -> ir.Api:
    """Runs SWIG on an interface file and reads what it has understood."""
    with tempfile.TemporaryDirectory() as scratch:
        xml = Path(scratch) / "api.xml"
        # -doxygen needs a back-end; Java's is there in every version. 560: unknown command.
        command = [
            swig,
            "-java",
            "-w560",
            "-doxygen",
            f"-DTD_NULLABLE={NULLABLE}",
            f"-I{include}",
            "-outdir",
            scratch,
            "-xmlout",
            str(xml),
            "-o",
            f"{scratch}/wrap.c",
            str(interface),
        ]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise SwigError(f"'{swig}' cannot be run: {error.strerror}") from error
        if run.returncode or run.stderr.strip():
            raise SwigError(f"{interface.name}: {run.stderr.strip() or f'exit {run.returncode}'}")
        api = from_xml(ET.parse(xml).getroot())
        since = marks.of_folder(include)
        for function in api.functions:
            function.doc.since = since.get(function.name, "")
        return api


def attributes(node: ET.Element) -> dict[str, str]:
    found = node.find("attributelist")
    return (
        {} if found is None else {a.get("name"): a.get("value") for a in found.findall("attribute")}
    )


def from_xml(root: ET.Element) -> ir.Api:
    """Reads every header that stands under the first level of the interface file."""
    api, forward = ir.Api(), []
    for include in root.iter("include"):
        header = Path(attributes(include).get("name", "")).name
        if re.fullmatch(r"td_\w+\.h", header):
            _read_header(api, include, header, forward)
    defined = api.names("structs")
    for name, doc, foreign in forward:
        if name not in defined | api.names("handles"):
            api.handles.append(ir.Handle(name, doc, foreign))
    api.check_types()
    return api


def _read_header(api: ir.Api, include: ET.Element, header: str, forward: list) -> None:
    pending = None  # an integer typedef whose enum comes next
    for node in include:
        about = attributes(node)
        name = about.get("name", "")
        if node.tag == "enum":
            if pending is None:
                raise UnknownType(
                    f"{header}: an enum without an integer typedef directly before it"
                )
            api.enums.append(ir.Enum(pending[0], pending[1], pending[2], _enum_items(node)))
            pending = None
            continue
        if pending is not None:
            raise UnknownType(f"{header}: typedef '{pending[0]}' is not followed by its enum")
        if node.tag == "constant":
            api.constants.append(ir.Constant(name, constant_value(about["value"])))
        elif node.tag == "classforward":
            forward.append((name, docs.Doc(), True))
        elif node.tag == "class":
            api.structs.append(_struct(node, about))
        elif node.tag == "cdecl":
            pending = _read_declaration(api, node, about, header, forward)
    if pending is not None:
        raise UnknownType(f"{header}: typedef '{pending[0]}' is not followed by its enum")


def _read_declaration(api, node, about, header, forward):
    """Reads one declaration; gives back a typedef that waits for its enum."""
    name, doc = about["name"], docs.parse(about.get("doxygen", ""))
    full = about.get("decl", "") + about["type"]
    if about.get("storage") == "typedef":
        if full.startswith("p.f("):
            api.callbacks.append(
                ir.Callback(name, doc, cdecl.parse(full).target.result, _params(node, name))
            )
        elif full.startswith("struct "):
            forward.append((name, doc, False))
        elif full in cdecl.PRIMITIVES:
            return name, full, doc
        else:
            raise UnknownType(f"{header}: typedef '{name}' of '{full}' is not carried")
    elif about.get("kind") == "function":
        result = cdecl.parse(full).result
        api.functions.append(ir.Function(name, doc, result, _params(node, name), header))
    else:
        raise UnknownType(f"{header}: '{name}' is neither a function nor a typedef")
    return None


def _params(node: ET.Element, owner: str) -> list[ir.Param]:
    found = []
    for parm in node.iterfind("./attributelist/parmlist/parm"):
        about = attributes(parm)
        if about["type"] == "void":
            continue
        if not about.get("name"):
            raise UnknownType(f"{owner}: a parameter of type '{about['type']}' has no name")
        try:
            found.append(ir.Param(about["name"], cdecl.parse(about["type"])))
        except UnknownType as error:
            raise UnknownType(f"parameter '{about['name']}' of {owner}: {error}") from error
    return found


def _struct(node: ET.Element, about: dict[str, str]) -> ir.Struct:
    defaults = dict(re.findall(r"(\w+)=(-?[\d.]+)", about.get("feature_td_default", "")))
    fields = []
    for member in node.findall("cdecl"):
        m = attributes(member)
        ctype = cdecl.parse(m.get("decl", "") + m["type"])
        fields.append(ir.Field(m["name"], ctype, _one_line(m), float(defaults.pop(m["name"], 0))))
    if defaults:
        raise UnknownType(
            f"{about['name']} has no member '{next(iter(defaults))}' to give a default to"
        )
    return ir.Struct(about["name"], docs.parse(about.get("doxygen", "")), fields)


def _enum_items(node: ET.Element) -> list[ir.EnumItem]:
    items, values = [], {}
    for item in node.findall("enumitem"):
        about = attributes(item)
        text = about.get("enumvalue") or about.get("enumvalueex")
        value = constant_value(text, values) if text else (items[-1].value + 1 if items else 0)
        values[about["name"]] = value
        items.append(ir.EnumItem(about["name"], value, _one_line(about)))
    return items


def _one_line(about: dict[str, str]) -> str:
    return docs.parse(about.get("doxygen", "")).brief


_OPERATIONS = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.BitOr: int.__or__,
    ast.LShift: int.__lshift__,
}


def constant_value(text: str, names: dict[str, int] | None = None) -> int | str:
    """The value of a literal, or of arithmetic on literals and on `names`."""
    if text.startswith('"'):
        return ast.literal_eval(text)
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)

    def evaluate(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in (names or {}):
            return names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -evaluate(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](evaluate(node.left), evaluate(node.right))
        raise UnknownType(f"the value '{text}' is not understood")

    try:
        return evaluate(ast.parse(plain.strip(), mode="eval").body)
    except SyntaxError as error:
        raise UnknownType(f"the value '{text}' is not understood") from error
