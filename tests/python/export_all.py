#!/usr/bin/env python3
"""Exports modules of every kind, with inputs and what Python computes of them, as tests/golden2 reads it.

    export_all.py DIR [--pt2] [--few] [NAME...]

DIR gets an archive and folders for each module, and manifest.json. With --few, fewer batches are tried. Modules that cannot
be exported must be refused.
"""
import json
import pathlib
import sys
import warnings
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import modules  # noqa: E402
import modules_of_torchrl  # noqa: E402
import torch  # noqa: E402
from export_followers import CannotExport, key  # noqa: E402
from export_module import export  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from tensordict.nn import CompositeDistribution, ProbabilisticTensorDictSequential, set_interaction_type  # noqa: E402


TOLERANCE = {"estimated_mean": 0.05}  # both sides estimate, each with an error of up to 0.007
NEWER = {one.__name__ for one in modules.GOOD[: modules.GOOD.index(modules.plain)]}
STATEFUL = ("several_steps", "every_second_step")  # a second call in place is another step
OTHER_KEYS = ("dropout_of_a_policy", *STATEFUL)  # than the original names
WITH_BATCHES = NEWER | {"plain", "discrete_state", "normal", "vision", "recurrent"}


def stacked_params(module):
    """The module's parameters, and others."""
    own = TensorDict.from_module(module).data.clone()
    return torch.stack([own, own.apply(lambda tensor: tensor * 0.5 if tensor.is_floating_point() else tensor)], 0)


def meta_of(file):
    with zipfile.ZipFile(file) as archive:
        return json.loads(next(archive.read(one) for one in archive.namelist() if one.endswith("/tensordict.json")))


def without_record(file, to):
    """The same network as an archive of version 1, which says nothing about its inputs."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(to, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("/tensordict.json"):
                data = json.dumps({"version": 1, **{name: json.loads(data)[name] for name in ("in_keys", "out_keys")}}).encode()
            target.writestr(zipfile.ZipInfo(file.stem + "_bare" + entry.filename[entry.filename.index("/") :]), data)


def is_called(name, td, expected):
    """Whether outputs go into a new dictionary: they have no place in the input, or replace what was read."""
    return expected.batch_dims > td.batch_dims or name in STATEFUL


def batches(name, module, td, folder, case, few):
    """Cases with other numbers of batch dimensions: what Python computes, or a refusal where the file does not hold it."""
    batch = meta_of(folder / case["file"])["batch"]
    for number, sizes in ((0, ()), (2, (3, 4))) if few else ((0, ()), (1, (3,)), (2, (3, 4)), (3, (2, 1, 3)), (4, (2, 1, 3, 2))):
        rows = td.reshape(-1) if td.batch_dims else td.unsqueeze(0)
        data = rows[torch.randint(len(rows), sizes)] if sizes else rows[0]
        try:
            expected = module(data.clone())
        except Exception:  # noqa: BLE001: Python does not take it
            continue
        data.memmap(folder / f"{name}_{number}_data")
        one = {**case, "data": f"{name}_{number}_data", "expected": f"{name}_{number}_expected"}
        if (number in batch["direct"] + batch["flat"]) if number <= 3 else 3 in batch["flat"]:
            kept = map(tuple, case["out_keys"])
            (expected.select(*kept) if is_called(name, data, expected) else expected).memmap(folder / one["expected"])
            yield one
        else:
            yield {**one, "kind": "refused"}


def scored(name, module, td, folder, case):
    """Actions that Python has drawn, and their log-probabilities."""
    last = module[-1] if isinstance(module, ProbabilisticTensorDictSequential) else None
    if last is None or not last.return_log_prob or isinstance(module.get_dist(td.clone()), CompositeDistribution):
        return
    with set_interaction_type("random"):
        drawn = module(td.clone())
    data = td.clone().update(drawn.select(*last.dist_sample_keys))
    data.memmap(folder / f"{name}_drawn")
    expected = TensorDict({last.log_prob_keys[0]: module.log_prob(data)}, data.batch_size)
    expected.memmap(folder / f"{name}_scored")
    yield {**case, "kind": "log_prob", "data": f"{name}_drawn", "expected": f"{name}_scored", "tolerance": 1e-4}


def write(name, make, folder, pt2, few):
    torch.manual_seed(0)
    module, td = make()
    module.eval()
    off = export(module, td, folder / f"{name}.pt", pt2=pt2, quiet=True)
    td.clone().memmap(folder / f"{name}_data")
    expected = module(td.clone())
    if expected.batch_dims == td.batch_dims:
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
        "tolerance": TOLERANCE.get(name, 1e-5),
    }
    if name in OTHER_KEYS:
        case.update((one, meta_of(folder / case["file"])[one]) for one in ("in_keys", "out_keys"))
    cases = [case]
    if name in WITH_BATCHES:
        others = list(batches(name, module, td, folder, case, few))
        if is_called(name, td, expected):
            expected.select(*map(tuple, case["out_keys"])).memmap(folder / f"{name}_expected")
            cases = [{**one, "kind": "called"} if one["kind"] == "module" else one for one in [case, *others]]
        else:
            cases += others
    if pt2:
        cases.append({**case, "deep": True, "called": is_called(name, td, expected), "kind": "package", "file": f"{name}.pt2"})
    if not pt2:
        cases += scored(name, module, td, folder, case)
    params = stacked_params(module)
    if not params.is_empty() and not pt2 and name not in NEWER:
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
    if name == "one_step":
        without_record(folder / f"{name}.pt", folder / f"{name}_bare.pt")
    print(f"{name}: {off:.3g}")
    return cases


def write_trained(name, make, folder):
    """The same network in eval(), and two steps of training with what becomes of its statistics."""
    torch.manual_seed(0)
    module, td = make()
    off = export(module, td, folder / f"{name}.pt", train=True, quiet=True)
    td.clone().memmap(folder / f"{name}_data")
    module.eval()(td.clone()).detach().memmap(folder / f"{name}_expected")
    keys = {"in_keys": [key(one) for one in module.in_keys], "out_keys": [key(one) for one in module.out_keys]}
    plain = {"kind": "module", "file": f"{name}.pt", "data": f"{name}_data", "expected": f"{name}_expected", **keys}
    module.train()(td.clone())
    module(td.clone()).detach().memmap(folder / f"{name}_trained_expected")
    TensorDict.from_module(module).data.clone().memmap(folder / f"{name}_trained_params")
    trained = {"kind": "train", "expected": f"{name}_trained_expected", "params": f"{name}_trained_params"}
    print(f"{name}: {off:.3g}, can train")
    return [{**plain, "tolerance": 1e-5}, {**plain, **trained, "tolerance": 1e-5}]


def check_refused(make, text, path="/nowhere/x.pt", **options):
    torch.manual_seed(0)
    try:
        export(*make(), path, quiet=True, **options)
    except CannotExport as error:
        if text in str(error) and "\n" not in str(error):
            print(f"{make.__name__}: {error}"[:200])
            return
        sys.exit(f"{make.__name__}: another message: {error}")
    except ImportError as error:
        return print(f"{make.__name__}: left out ({error})")
    sys.exit(f"{make.__name__} was exported")


def main():
    pt2 = "--pt2" in sys.argv
    folder, *names = [one for one in sys.argv[1:] if one not in ("--pt2", "--few")]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cases = []
    for make in modules.GOOD + modules_of_torchrl.GOOD + ([] if pt2 else modules.TRAINED):
        if names and make.__name__ not in names:
            continue
        try:
            if make in modules.TRAINED:
                cases += write_trained(make.__name__, make, folder)
            else:
                cases += write(make.__name__, make, folder, pt2, "--few" in sys.argv)
        except ImportError as error:
            print(f"{make.__name__}: left out ({error})")
    if pt2:
        check_refused(modules.lstm_module, "cannot be a package", folder / "refused.pt", pt2=True)
    if not names and not pt2:
        for make, text in modules.BAD_TRAINED.items():
            check_refused(make, text, train=True)
        for make, text in {**modules.BAD, **modules_of_torchrl.BAD}.items():
            check_refused(make, text)
    (folder / "manifest.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")


main()
