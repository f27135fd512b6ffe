#!/usr/bin/env python3
"""Holds the C names to their rules (docs/design/abi.md, "Names"), and finds names of an older ABI.

    check_names.py           headers, and all files for the names of capi/abi/renamed.txt
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "capi/include"
RENAMED = ROOT / "capi/abi/renamed.txt"
sys.path.insert(0, str(ROOT / "bindings/tools"))

from tdgen import cdecl, ir, swig  # noqa: E402
from tdgen.cdecl import Named, Pointer  # noqa: E402

# Where old names may stand: what tells of them, and what is as it was.
OLD_NAMES_IN = ("CHANGELOG.md", "capi/abi/renamed.txt", "capi/abi/declarations.txt", "tests/abi/v1/", "tests/data/")

# Parameters of 32 bits that are numbers, not switches; and setters of what is true or false.
NUMBERS = {"dst", "src", "abi", "device_index", "fd", "field", "torch_version", "level", "status"}
TRUTHS = {"enabled", "required"}

# The last word of a type that its constants do not repeat.
TYPE_WORDS = "kind|op|mode|type|level|format|flags|form|content"
# Constants that everybody writes all the time, and are shorter.
SHORT = {"td_status": "TD_OK|TD_ERR_", "td_interpolation": "TD_INTERPOLATION_"}

# The order of parameters that speak of a tensor or a batch to be made; td_view_dtype() is about the dtype.
ORDER = ("sizes", "strides", "batch_size", "dims", "batch_dims", "dtype", "device_type", "device_index")


def is_const(ctype) -> bool:
    return isinstance(ctype, Pointer) and isinstance(ctype.target, Named) and ctype.target.const


def check_function(api: ir.Api, function: ir.Function) -> list[str]:
    name, params = function.name, function.params
    errors = []
    if re.search(r"_new(_|$)|_(make|alloc|init|destroy|release|delete)$", name) and name not in ("td_memmap_make", "td_store_delete", "td_group_from_remote_init"):
        errors.append(f"{name}: constructors are _create, _open, _load and _from_<what>; _free gives back")
    if name.endswith("_inplace") and (not params or is_const(params[0].type)):
        errors.append(f"{name} writes in place and takes its first handle as pointer to const")
    for param in params:
        plain = isinstance(param.type, Named) and param.type.name == "int32_t"
        if plain and param.name not in NUMBERS | TRUTHS:
            errors.append(f"{name}: '{param.name}' is a bare int32_t; a switch is a flag or an enum")
        if param.name == "inplace":
            errors.append(f"{name}: in place is a function of its own")
    places = [ORDER.index(p.name) for p in params if p.name in ORDER]
    if name != "td_view_dtype" and places != sorted(places):
        errors.append(f"{name}: sizes, dtype and device stand in this order")
    names = [p.name for p in params]
    if "user" in names and "options" in names and names.index("options") > names.index("user"):
        errors.append(f"{name}: options stand before the callback and its user")
    return errors + check_units(name, params)


def check_units(owner: str, parts) -> list[str]:
    errors = []
    for part in parts:
        if re.search(r"second|minute|_us$|_ns$|timeout(?!_ms$)|delay(?!_ms$)", part.name):
            errors.append(f"{owner}: '{part.name}' is a time; times are integers that end with _ms")
    return errors


def check_struct(struct: ir.Struct, headers: str) -> list[str]:
    errors = check_units(struct.name, struct.fields)
    if not struct.name.endswith("_options"):
        return errors
    if not struct.sized:
        errors.append(f"{struct.name} does not begin with struct_size")
    if f"#define {struct.name.upper()}_INIT " not in headers:
        errors.append(f"{struct.name} has no {struct.name.upper()}_INIT")
    if any(field.name == "inplace" for field in struct.fields):
        errors.append(f"{struct.name}: in place is a function of its own")
    return errors


def check_enum(enum: ir.Enum) -> list[str]:
    stem = re.sub(rf"_(?:{TYPE_WORDS})$", "", enum.name).upper()
    allowed = SHORT.get(enum.name, f"{stem}_")
    return [
        f"{enum.name}: {item.name} does not begin with {allowed}"
        for item in enum.items
        if not re.match(allowed, item.name)
    ]


def read_renamed() -> dict[str, str]:
    lines = RENAMED.read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {old: new for old, new in pairs}


def check_renamed(api: ir.Api, renamed: dict[str, str], headers: str) -> list[str]:
    """No old name is left, and every new one is there."""
    known = set(re.findall(r"\b(?:td|TD)_\w+", headers)) | {p.name for p in INCLUDE.glob("tensordict/*")}
    known |= {item.name for enum in api.enums for item in enum.items}
    errors = [f"renamed.txt: '{new}' is not in the headers" for new in renamed.values() if new not in known and new != "-"]
    old_headers = [name for name in renamed if name.endswith((".h", ".hpp"))]
    words = sorted(set(renamed) - set(old_headers), key=len, reverse=True)
    old = re.compile(r"(?<![\w.])(?:" + "|".join(words) + r")(?!\w|\.h\b)")
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return errors  # no git
    if listed.returncode:
        return errors  # not a checkout: nothing to look through
    for path in filter(None, listed.stdout.split("\0")):
        file = ROOT / path
        if path.startswith(OLD_NAMES_IN) or not file.is_file():
            continue
        raw = file.read_bytes()
        if b"\0" in raw:
            continue
        text = raw.decode("utf-8", "replace")
        for match in old.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{path}:{line}: '{match[0]}' is '{renamed[match[0]]}' now")
        errors += [f"{path}: '{h}' is '{renamed[h]}' now" for h in old_headers if f"tensordict/{h}" in text]
    return errors


def check(api: ir.Api, headers: str) -> list[str]:
    errors = [e for function in api.functions for e in check_function(api, function)]
    errors += [e for struct in api.structs for e in check_struct(struct, headers)]
    errors += [e for enum in api.enums for e in check_enum(enum)]
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--swig", default="swig")
    options = parser.parse_args()
    api = swig.read(ROOT / "bindings/swig/tensordict.i", INCLUDE, options.swig)
    headers = "".join(p.read_text(encoding="utf-8") for p in sorted(INCLUDE.glob("tensordict/*.h*")))
    renamed = read_renamed()
    errors = check(api, headers) + check_renamed(api, renamed, headers)
    print("\n".join(errors) if errors else f"{len(api.functions)} functions keep the rules; {len(renamed)} old names are gone")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
