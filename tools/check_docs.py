#!/usr/bin/env python3
"""Says which declarations of the public headers lack a word.

Of a function: a sentence, every parameter, @return with the codes, @threadsafety, TD_API,
TD_MUST_USE. Of a pointer: whether it is borrowed, new, consumed or written; for `user` and callbacks
what becomes of them. A pointer to a number that can be written is a result, and any words about it
will do. The first line of a header names what C and what Python call its contents.
"""
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "capi/include"
sys.path.insert(0, str(ROOT / "bindings/tools"))

from tdgen import cdecl, ir, swig  # noqa: E402
from tdgen.cdecl import Named, Pointer  # noqa: E402
from tdgen.text import nullable  # noqa: E402

OWNERSHIP = r"\b(borrowed|new|consumed|written)\b"
STATUS = "td_status"


def is_result_number(api: ir.Api, ctype: Pointer) -> bool:
    """A pointer through which one number comes back."""
    target = ctype.target
    name = (
        isinstance(target, Named)
        and not target.const
        and (api.enum_base(target.name) or target.name)
    )
    return bool(name) and name in cdecl.PRIMITIVES and name != "char"


def check_param(api: ir.Api, owner, param: ir.Param) -> str | None:
    said = owner.doc.params.get(param.name, "")
    if not said:
        return "is not described"
    if re.search(r"may be NULL|NULL only", said) and not nullable(param.type):
        return "may be NULL by its words and has no TD_NULLABLE"
    is_callback = isinstance(param.type, Named) and param.type.name in api.names("callbacks")
    if param.name == "user" or is_callback or not isinstance(param.type, Pointer):
        return None
    if is_result_number(api, param.type) or re.search(OWNERSHIP, said):
        return None
    return f"is neither borrowed, new, consumed nor written, but '{said}'"


def check_return(api: ir.Api, function: ir.Function) -> str | None:
    says, result = function.doc.returns, function.result
    if result == Named("void"):
        return "returns nothing and has @return" if says else None
    if not says:
        return "has no @return"
    if result != Named(STATUS):
        return None
    if not says.startswith("TD_OK"):
        return f"does not begin @return with TD_OK, but '{says}'"
    codes = {i.name for e in api.enums if e.name == STATUS for i in e.items}
    named = set(re.findall(r"\bTD_(?:ERR_\w+|OK)\b", says))
    return (
        f"names '{', '.join(sorted(named - codes))}', which is no status" if named - codes else None
    )


def check_function(api: ir.Api, function: ir.Function) -> list[str]:
    doc, errors = function.doc, []
    if not doc.brief.endswith("."):
        errors.append("has no sentence of its own")
    errors += [
        f"describes '{name}', which is no parameter"
        for name in doc.params
        if name not in {p.name for p in function.params}
    ]
    if wrong := check_return(api, function):
        errors.append(wrong)
    if not doc.threadsafety:
        errors.append("has no @threadsafety")
    if not doc.since:
        errors.append("has no TD_API")
    return errors


def check_must_use(api: ir.Api) -> list[str]:
    """A status that nobody looks at is an error that nobody sees."""
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted(INCLUDE.glob("tensordict/*.h"))
    )
    marked = set(re.findall(r"TD_MUST_USE\s+td_status\s+(td_\w+)\(", text))
    wanted = {f.name for f in api.functions if f.result == Named(STATUS)} - {"td_last_error_code"}
    return [f"{name} returns a status and has no TD_MUST_USE" for name in sorted(wanted - marked)]


def check_first_lines(api: ir.Api) -> list[str]:
    """A search for the C or the Python name finds the header."""
    kinds = (api.functions, api.structs, api.enums, api.handles, api.callbacks)
    known = {entry.name for kind in kinds for entry in kind}
    errors = []
    for path in sorted(INCLUDE.glob("tensordict/*.h*")):
        line = path.read_text(encoding="utf-8").split("\n")[0]
        form = rf"(/\*|//) tensordict/{path.name}: .+ \(C(\+\+)?: .+; Python: .+\)\.( \*/)?"
        if not re.fullmatch(form, line):
            errors.append(f"{path.name} does not begin with '... (C: ...; Python: ...).'")
        elif path.suffix == ".h":
            names = re.findall(r"(?<!/)\btd_\w+\b(?!\.h)", line)
            errors += [f"{path.name} begins with '{n}', which is not declared" for n in names if n not in known]
    return errors


def check(api: ir.Api) -> list[str]:
    errors = check_first_lines(api)
    for function in api.functions:
        errors += [f"{function.name} {e}" for e in check_function(api, function)]
    for owner in api.functions + api.callbacks:
        for param in owner.params:
            if wrong := check_param(api, owner, param):
                errors.append(f"{owner.name}: parameter '{param.name}' {wrong}")
    for kind in (api.enums, api.structs, api.callbacks, [h for h in api.handles if not h.foreign]):
        errors += [
            f"{entry.name} has no sentence of its own"
            for entry in kind
            if not entry.doc.brief.endswith(".")
        ]
    errors += [f"{i.name} has no words" for e in api.enums for i in e.items if not i.doc]
    errors += [
        f"{s.name}.{m.name} has no words" for s in api.structs for m in s.fields if not m.doc
    ]
    return errors + check_must_use(api)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--swig", default="swig")
    api = swig.read(ROOT / "bindings/swig/tensordict.i", INCLUDE, parser.parse_args().swig)
    errors = check(api)
    print("\n".join(errors) if errors else f"{len(api.functions)} functions are described in full")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
