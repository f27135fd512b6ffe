#!/usr/bin/env python3
"""Exports modules of every kind, with inputs and what Python computes of them, as tests/golden2 reads it.

    export_all.py DIR [--pt2] [NAME...]

DIR gets an archive and folders for each module, and manifest.json. Modules that cannot be exported must be refused.
"""
import json
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import modules  # noqa: E402
import torch  # noqa: E402
from export_followers import CannotExport, key  # noqa: E402
from export_module import export  # noqa: E402
from tensordict import TensorDict  # noqa: E402


def stacked_params(module):
    """The module's parameters, and others."""
    own = TensorDict.from_module(module).data.clone()
    return torch.stack([own, own.apply(lambda tensor: tensor * 0.5 if tensor.is_floating_point() else tensor)], 0)


def write(name, make, folder, pt2):
    torch.manual_seed(0)
    module, td = make()
    module.eval()
    off = export(module, td, folder / f"{name}.pt", pt2=pt2, quiet=True)
    td.clone().memmap(folder / f"{name}_data")
    expected = module(td.clone())
    expected.memmap(folder / f"{name}_expected")
    out_keys = [tuple(key(one)) for one in module.out_keys if one != "_"]
    # A CompositeDistribution names the dictionary that holds its parameters, which the network writes.
    in_keys = [one for one in module.in_keys if not any(out[: len(key(one))] == tuple(key(one)) for out in out_keys)]
    case = {
        "kind": "module",
        "file": f"{name}.pt",
        "data": f"{name}_data",
        "expected": f"{name}_expected",
        "in_keys": [key(one) for one in in_keys],
        "out_keys": list(map(list, out_keys)),
        "tolerance": 1e-5,
    }
    cases = [case]
    if pt2:
        cases.append({**case, "kind": "package", "file": f"{name}.pt2"})
    params = stacked_params(module)
    if not params.is_empty() and not pt2:
        params.memmap(folder / f"{name}_params")
        with params[1].to_module(module):
            module(td.clone()).memmap(folder / f"{name}_pushed_expected")
        cases.append({
            **case,
            "kind": "functional",
            "params": f"{name}_params",
            "params_index": 1,
            "expected": f"{name}_pushed_expected",
        })
    print(f"{name}: {off:.3g}")
    return cases


def check_refused(make, text):
    torch.manual_seed(0)
    try:
        export(*make(), "/nowhere/x.pt", quiet=True)
    except CannotExport as error:
        if text in str(error) and "\n" not in str(error):
            print(f"{make.__name__}: {error}"[:200])
            return
        sys.exit(f"{make.__name__}: another message: {error}")
    sys.exit(f"{make.__name__} was exported")


def main():
    pt2 = "--pt2" in sys.argv
    folder, *names = [one for one in sys.argv[1:] if one != "--pt2"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cases = []
    for make in modules.GOOD:
        if names and make.__name__ not in names:
            continue
        try:
            cases += write(make.__name__, make, folder, pt2)
        except ImportError as error:
            print(f"{make.__name__}: left out ({error})")
    if not names and not pt2:
        for make, text in modules.BAD.items():
            check_refused(make, text)
    (folder / "manifest.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")


main()
