#!/usr/bin/env python3
"""Writes the methods of arithmetic and reductions of Rust, Julia and C# from core/math/ops.def.

    ops.py            writes the committed files
    ops.py --check    compares them with what would be written; 1 when they differ
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "core/math/ops.def"
MADE = "Made by bindings/tools/ops.py from core/math/ops.def."

# Kinds of lines: what can be written in place, and what takes which operands.
UNARY = ("UNARY", "PREDICATE")
BINARY = ("BINARY", "BITWISE", "BOUND", "BINARY_OUT", "COMPARE")
IN_PLACE = ("UNARY", "BINARY", "BITWISE", "BOUND", "TERNARY", "CLAMP")


class Line:
    def __init__(self, kind: str, arguments: str):
        self.kind = kind
        parts = [part.strip() for part in arguments.split(",")]
        self.cname, self.name = parts[1], parts[2]
        self.flags = {flag.strip() for flag in parts[3].split("|")} if kind == "REDUCTION" else set()
        self.doc = re.search(r'"([^"]*)"$', arguments).group(1)
        self.in_place = kind in IN_PLACE

    @property
    def title(self) -> str:
        return self.doc[0].upper() + self.doc[1:]


def read() -> list[Line]:
    lines = re.findall(r"^TD_(\w+)\((\d.*)\)$", TABLE.read_text(encoding="utf-8"), re.M)
    return [Line(kind, arguments) for kind, arguments in lines]


def of(lines: list[Line], *kinds: str) -> list[Line]:
    return [line for line in lines if line.kind in kinds]


# Rust

RUST_NAMES = {"mod": "rem"}


def rust(lines: list[Line]) -> str:
    out = [f"// {MADE}", "", "use tensordict_sys as sys;", "",
           "use crate::dict::{Dict, TensorDict};", "use crate::error::Result;",
           "use crate::math::{Missing, Operand, Reduce};", "use crate::tensor::Tensor;", "",
           "/// Operations on every tensor.", "impl Dict {"]

    def method(name, doc, takes, gives, body, mutable=False):
        self_ = "&mut self" if mutable else "&self"
        signature = f"    pub fn {name}({', '.join([self_, *takes])}) -> Result<{gives}> {{"
        # As rustfmt lays it out.
        head = [signature]
        if len(signature) > 100:
            head = [f"    pub fn {name}(", *(f"        {part}," for part in [self_, *takes]),
                    f"    ) -> Result<{gives}> {{"]
        out.extend([f"    /// {doc}", "    #[track_caller]", *head, f"        {body}", "    }", ""])

    operand = lambda name: f"{name}: impl Into<Operand<'a>>"
    for line in of(lines, *UNARY):
        constant = f"sys::TD_UNARY_{line.cname}"
        method(line.name, f"{line.title}.", [], "TensorDict", f"self.unary({constant})")
        if line.in_place:
            method(f"{line.name}_inplace", f"As [`{line.name}`](Self::{line.name}), into the tensors.",
                   [], "()", f"self.unary_inplace({constant})", mutable=True)
    for line in of(lines, *BINARY):
        name = RUST_NAMES.get(line.name, line.name)
        constant = f"sys::TD_BINARY_{line.cname}"
        method(f"{name}<'a>", f"{line.title}.", [operand("other")], "TensorDict",
               f"self.binary({constant}, other.into())")
        if line.kind != "COMPARE":
            scaled = line.name in ("add", "sub", "rsub")
            doc = f"As [`{name}`](Self::{name}), of dictionaries of different keys"
            method(f"{name}_with<'a>", doc + ("; `alpha` times the operand." if scaled else "."),
                   [operand("other"), "missing: Missing<'_>", *(["alpha: f64"] if scaled else [])], "TensorDict",
                   f"self.binary_with({constant}, other.into(), missing, {'alpha' if scaled else '1.0'})")
        if line.in_place:
            method(f"{name}_inplace<'a>", f"As [`{name}`](Self::{name}), into the tensors.",
                   [operand("other")], "()", f"self.binary_inplace({constant}, other.into())", mutable=True)
    for line in of(lines, "REDUCTION"):
        constant = f"sys::TD_REDUCE_{line.cname}"
        name = {"all": "all_over", "any": "any_over"}.get(line.name, line.name)
        doc = f"{line.title} of each tensor." if "scan" not in line.flags else \
            f"{line.title} of each tensor, along a dimension that stays."
        method(name, doc, ["over: impl Into<Reduce>"], "TensorDict", f"self.reduce({constant}, over.into())")
        if "scan" not in line.flags:
            method(f"{line.name}_leaves", f"{line.title} of all tensors together.",
                   ["over: impl Into<Reduce>"], "Tensor", f"self.reduce_leaves({constant}, over.into())")
        if "pair" in line.flags:
            method(f"{line.name}_with_positions", f"{line.title} along a dimension, and where it stands.",
                   ["dim: i64"], "(TensorDict, TensorDict)", f"self.reduce_pair({constant}, dim.into())")
    out[-1:] = ["}"]
    return "\n".join(out) + "\n"


# Julia

# What Base has, by its name there; all else is a name of this package.
JULIA_BASE = {
    **{name: name for name in (
        "abs acos asin atan ceil cos cosh exp expm1 floor log log10 log1p log2 round sign sin sinh "
        "sqrt tan tanh trunc isfinite isnan isreal").split()},
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^", "mod": "mod", "maximum": "max",
    "minimum": "min", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "xor",
}
JULIA_DOTTED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# Base's own functions of these names take two numbers, or mean something else for collections.
JULIA_METHOD = {"mod": "Base.mod", "div": "divide", "maximum": "Base.max", "minimum": "Base.min"}
# Two functions of Base for one operation.
JULIA_ALSO = {"neg": ["-"], "reciprocal": ["inv"], "bitwise_not": ["~", "!"], "mod": ["%"]}


def julia(lines: list[Line]) -> str:
    out = [f"# {MADE}", ""]
    exported = []

    def symbol(name):
        return f"Base.:({name})" if not name[0].isalpha() else f"Base.{name}"

    def function(name):
        return name if name[0].isalpha() else f"({name})"

    for line in of(lines, *UNARY):
        constant = f"TD_UNARY_{line.cname}"
        own = JULIA_BASE.get(line.name)
        if own is None:
            exported.append(line.name)
        names = [*([own] if own else []), *JULIA_ALSO.get(line.name, [])]
        if own is None:
            out.append(f'"{line.title}."')
            out.append(f"{line.name}(td::TensorDict) = unary({constant}, td)")
        for name in names:
            out.append(f"{symbol(name)}(td::TensorDict) = unary({constant}, td)")
            out.append(f"Base.Broadcast.broadcasted(::typeof({function(name)}), td::TensorDict) = "
                       f"unary({constant}, td)")
        if own is None:
            out.append(f"Base.Broadcast.broadcasted(::typeof({line.name}), td::TensorDict) = "
                       f"unary({constant}, td)")
        if line.in_place:
            exported.append(f"{line.name}!")
            out.append(f'"{line.title}, into the tensors."')
            out.append(f"{line.name}!(td::TensorDict) = unary!({constant}, td)")
        out.append("")
    for line in of(lines, *BINARY):
        constant = f"TD_BINARY_{line.cname}"
        out.append(f'"{line.title}."')
        head = JULIA_METHOD.get(line.name, line.name)
        if not head.startswith("Base."):
            exported.append(head)
        # Base's own say something of `missing` beside anything.
        given = "other::Operand" if head.startswith("Base.") else "other"
        out.append(f"{head}(td::TensorDict, {given}; options...) = binary({constant}, td, other; options...)")
        names = [name for name in [JULIA_BASE.get(line.name), JULIA_DOTTED.get(line.name),
                                   *JULIA_ALSO.get(line.name, [])] if name]
        for name in names:
            if line.name not in JULIA_DOTTED and f"Base.{name}" != JULIA_METHOD.get(line.name):
                out.append(f"{symbol(name)}(td::TensorDict, other::Union{{TensorDict,Tensor,Number}}) = "
                           f"binary({constant}, td, other)")
            out.append(f"Base.Broadcast.broadcasted(::typeof({function(name)}), td::TensorDict, "
                       f"other::Union{{TensorDict,Tensor,Number}}) = binary({constant}, td, other)")
        if line.in_place:
            changing = head.removeprefix("Base.") + "!"
            if changing != "mul!":  # LinearAlgebra exports one
                exported.append(changing)
            out.append(f'"{line.title}, into the tensors."')
            out.append(f"{changing}(td::TensorDict, other; options...) = "
                       f"binary!({constant}, td, other; options...)")
        out.append("")
    out[1:1] = [f"export {', '.join(exported[i:i + 8])}" for i in range(0, len(exported), 8)] + [""]
    return "\n".join(out).rstrip("\n") + "\n"


# C#

CSHARP_NAMES = {
    "isfinite": "IsFinite", "isnan": "IsNaN", "isneginf": "IsNegativeInfinity",
    "isposinf": "IsPositiveInfinity", "isreal": "IsReal", "logsumexp": "LogSumExp", "nansum": "NanSum",
    "nanmean": "NanMean", "cummin": "CumMin", "cummax": "CumMax", "cumprod": "CumProd", "cumsum": "CumSum", "rsub": "RSub", "rdiv": "RDiv",
    "addcmul": "AddCMul", "addcdiv": "AddCDiv", "amin": "AMin", "amax": "AMax", "neg": "Negate",
}


def csharp_name(name: str) -> str:
    return CSHARP_NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))


def csharp(lines: list[Line]) -> str:
    out = [f"// {MADE}", "#nullable enable", "using TensorDicts.Interop;", "", "namespace TensorDicts", "{",
           "    /// <content>Operations on every tensor.</content>",
           "    public sealed unsafe partial class TensorDict", "    {"]

    def member(doc, code):
        out.extend([f"        /// <summary>{doc}</summary>", f"        public {code};", ""])

    for line in of(lines, *UNARY):
        name, constant = csharp_name(line.name), f"td_unary_op.TD_UNARY_{line.cname}"
        member(f"{line.title}.", f"TensorDict {name}() => Unary({constant})")
        if line.in_place:
            member(f"{line.title}, into the tensors.", f"TensorDict {name}InPlace() => UnaryInPlace({constant})")
    for line in of(lines, *BINARY):
        name, constant = csharp_name(line.name), f"td_binary_op.TD_BINARY_{line.cname}"
        takes = "Operand other" if line.kind == "COMPARE" else "Operand other, BinaryOptions? options = null"
        given = "other, null" if line.kind == "COMPARE" else "other, options"
        member(f"{line.title}.", f"TensorDict {name}({takes}) => Binary({constant}, {given})")
        if line.in_place:
            member(f"{line.title}, into the tensors.",
                   f"TensorDict {name}InPlace({takes}) => BinaryInPlace({constant}, {given})")
    for line in of(lines, "REDUCTION"):
        name, constant = csharp_name(line.name), f"td_reduce_op.TD_REDUCE_{line.cname}"
        method = {"All": "AllOver", "Any": "AnyOver"}.get(name, name)
        over = "Reduction over" if "scan" in line.flags else "Reduction? over = null"
        member(f"{line.title} of each tensor.", f"TensorDict {method}({over}) => Reduce({constant}, over)")
        if "scan" not in line.flags:
            member(f"{line.title} of all tensors together.",
                   f"Tensor {name}Leaves(Reduction? over = null) => ReduceLeaves({constant}, over)")
        if "pair" in line.flags:
            member(f"{line.title} along a dimension, and where it stands.",
                   f"(TensorDict Values, TensorDict Positions) {name}WithPositions(Reduction over) => "
                   f"ReducePair({constant}, over)")
    out[-1:] = ["    }", "}"]
    return "\n".join(out) + "\n"


OUTPUTS = {
    "bindings/rust/tensordict/src/math_ops.rs": rust,
    "bindings/julia/src/math_ops.jl": julia,
    "bindings/csharp/src/TensorDict/TensorDict.MathOps.g.cs": csharp,
}


def main() -> int:
    lines = read()
    stale = 0
    for path, write in OUTPUTS.items():
        target, text = ROOT / path, write(lines)
        if "--check" not in sys.argv[1:]:
            target.write_text(text, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            stale += 1
            print(f"{path} is not what bindings/tools/ops.py writes")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
