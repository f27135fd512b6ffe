#!/usr/bin/env python3
"""Writes a module of Python's tensordict.nn as a file that td_module_load() reads.

    export_module.py PACKAGE.MODULE:OBJECT EXAMPLE_FOLDER OUT [--script | --trace] [--pt2] [--tolerance T]

OBJECT is the module, or a function that makes it. EXAMPLE_FOLDER holds a TensorDict (TensorDict.memmap) with the
inputs. OUT becomes a TorchScript archive, and with --pt2 a package of AOTInductor lies beside it as OUT with .pt2
at its end (torch 2.6 or newer; it holds compiled code for this kind of processor).

What is written is run beside the original on random inputs of several batch sizes; a difference above the tolerance
is an error, and OUT stays as it was. Distributions at the end are not traced: the archive describes them. Parameters
keep the names of TensorDict.from_module(module).
"""
import argparse
import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import warnings
import zipfile

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import export_graph  # noqa: E402
from export_followers import CannotExport, describe, is_follower, key  # noqa: E402

KEYS_FILE = "tensordict.json"
ROWS = (1, 2, 3, 7, 16)


def flat(module):
    """The modules of nested sequences in their order. One that chooses outputs or tolerates is whole."""
    plain = isinstance(module, TensorDictSequential) and not getattr(module, "partial_tolerant", False)
    if not plain:
        return [module]
    return [one for part in module._module_iter() for one in flat(part)]


def split(module):
    """The modules that become the network, and those that are described."""
    modules = flat(module)
    cut = len(modules)
    while cut > 0 and is_follower(modules[cut - 1]):
        cut -= 1
    for i, one in enumerate(modules[:cut]):
        if type(one).__name__ == "ProbabilisticTensorDictModule":
            raise CannotExport(f"module {i} samples, and module {i + 1} computes with the sample; only what ends with samples can be exported")
    if cut == 0:
        raise CannotExport("there is no network in front of the distribution; make this module in C with td_module_probabilistic()")
    return modules[:cut], modules[cut:]


def keys_of(modules):
    """The in_keys and out_keys of modules in a row."""
    in_keys, written = [], []
    for module in modules:
        in_keys += [one for one in map(tuple, map(key, module.in_keys)) if one not in in_keys + written]
        for one in map(tuple, map(key, module.out_keys)):
            if one != ("_",):
                written = [other for other in written if other != one] + [one]
    return in_keys, written


def short(name):
    return name[0] if len(name) == 1 else name


class Plan:
    """What is exported: the network as a function of tensors, and the text about it."""

    def __init__(self, module, example):
        self.module = module
        network, followers = split(module)
        self.network = network
        self.batch_dims = example.batch_dims
        self.in_keys, self.out_keys = keys_of(network)
        _, everything = keys_of(flat(module))
        chosen = [tuple(key(one)) for one in module.out_keys if one != "_"]
        missing = [one for one in self.in_keys if example.get(short(one), None) is None]
        if missing:
            raise CannotExport(f"the example lacks the input {short(missing[0])!r}")
        with torch.no_grad():
            after = self.run(example.clone())
            self.drop_unwanted(chosen, followers, after)
            self.meta = {"version": 1, "in_keys": list(map(list, self.in_keys)), "out_keys": list(map(list, self.out_keys))}
            if followers:
                self.meta.update(version=2, then=[])
                for one in followers:
                    self.meta["then"].append(describe(one, after))
                    after = one(after)
            if set(chosen) != set(everything) and set(chosen) != set(self.out_keys):
                self.meta.update(version=2, select_out_keys=list(map(list, chosen)))
        self.text = json.dumps(self.meta)

    def drop_unwanted(self, chosen, followers, after):
        """Outputs that nobody reads are not computed; those that are no tensors cannot be."""
        read = {tuple(key(k)) for one in followers for k in one.in_keys}
        self.out_keys = [k for k in self.out_keys if k in chosen or any(k[: len(r)] == r for r in read)]
        if not self.out_keys:
            raise CannotExport("the network has no outputs: its out_keys are all dropped")
        for one in self.out_keys:
            if not isinstance(after.get(short(one), None), torch.Tensor):
                raise CannotExport(f"the output {short(one)!r} is no tensor")

    def run(self, td):
        for module in self.network:
            td = module(td)
        return td

    def inputs(self, td):
        return tuple(td.get(short(one)) for one in self.in_keys)

    def outputs(self, *tensors):
        """The network as a function of tensors."""
        td = TensorDict({}, tensors[0].shape[: self.batch_dims] if tensors else [])
        for one, tensor in zip(self.in_keys, tensors):
            td.set(short(one), tensor)
        td = self.run(td)
        return tuple(td.get(short(one)) for one in self.out_keys)


def random_like(example, rows):
    """Inputs of another batch size: values of the example in another order, and noise on real ones."""

    def other(tensor):
        dims = example.batch_dims
        flat_rows = tensor.reshape(-1, *tensor.shape[dims:]) if dims else tensor.unsqueeze(0)
        value = flat_rows[torch.randint(len(flat_rows), (rows if dims else 1,))]
        if value.is_floating_point():
            value = value + torch.randn_like(value) * (0.1 + value.std(unbiased=False))
        return value.reshape((rows, *([1] * (dims - 1)), *tensor.shape[dims:])) if dims else value[0]

    return [other(tensor) for tensor in example]


def as_tuple(results):
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


class Inputs(list):
    def __init__(self, plan, example):
        super().__init__(plan.inputs(example))
        self.batch_dims = example.batch_dims


def difference(plan, candidate, example):
    """The largest difference on random inputs. Raises CannotExport where shapes or dtypes differ."""
    largest = 0.0
    given = Inputs(plan, example)
    for rows in ROWS if example.batch_dims else (1, 1, 1):
        inputs = random_like(given, rows)
        with torch.no_grad():
            want, have = plan.outputs(*inputs), candidate(*inputs)
        for name, one, other in zip(plan.out_keys, want, as_tuple(have)):
            if one.shape != other.shape or one.dtype != other.dtype:
                raise CannotExport(
                    f"with {rows} rows the output {short(name)!r} is {other.dtype} {list(other.shape)}, "
                    f"not {one.dtype} {list(one.shape)}: a size that depends on data or on the example"
                )
            if one.numel() and not torch.equal(one, other):
                off = (one.double() - other.double()).abs() / (1 + one.double().abs())
                same = (one == other) | (one.isnan() & other.isnan())
                worst = torch.where(same, torch.zeros_like(off), off).nan_to_num(float("inf")).max()
                largest = max(largest, float(worst))
    return largest


def check_params(plan, candidate):
    """Weights that Python pushes have the names of from_module()."""
    want = {
        ".".join(key(name)): tuple(value.shape)
        for name, value in TensorDict.from_module(plan.module).items(True, True)
    }
    have = {name: tuple(value.shape) for name, value in [*candidate.named_parameters(), *candidate.named_buffers()]}
    # Tied ones are listed once.
    state = {name: tuple(value.shape) for name, value in candidate.state_dict().items()}
    have = {**state, **have}
    for name in sorted(set(want) ^ set(have)):
        where = "is missing in the file" if name in want else "is not in TensorDict.from_module()"
        raise CannotExport(f"the parameter {name} {where}")


def candidates(plan, example, how):
    """The ways to get TorchScript, the best first: (name, function that tries it)."""
    inputs = plan.inputs(example)
    ways = {
        "export": lambda: export_graph.exported(plan, inputs, example.batch_dims),
        "graph": lambda: export_graph.scripted_graph(plan, inputs, example.batch_dims),
        "trace": lambda: export_graph.traced(plan, inputs, strict=how != "trace"),
        "script": lambda: export_graph.scripted(plan, inputs),
    }
    chosen = {"auto": ["export", "graph", "trace", "script"], "trace": ["trace"], "script": ["script"]}[how]
    return [(name, ways[name]) for name in chosen]


def script_of(plan, example, how, tolerance):
    """A TorchScript module that computes what the network does, and its largest difference."""
    reasons = []
    for name, attempt in candidates(plan, example, how):
        try:
            with quiet():  # of ways that do not lead there
                candidate = attempt()
            check_params(plan, candidate)
            off = difference(plan, candidate, example)
            if off <= tolerance:
                return candidate, name, off
            reasons.append(f"{name}: the results differ by {off:.3g}")
        except Exception as error:  # noqa: BLE001: whatever torch raises for what it cannot follow
            reasons.append(f"{name}: {first_line(error)}")
    raise CannotExport("the network cannot be exported. " + "; ".join(reasons))


@contextlib.contextmanager
def quiet():
    """torch prints the graph in which it has found a branch."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def one_row(plan, candidate, example):
    """Whether it also takes inputs without a batch dimension, as an engine has them."""
    if example.batch_dims != 1:
        return False
    try:
        inputs = plan.inputs(example)
        with torch.no_grad():
            want, have = (as_tuple(candidate(*given)) for given in (inputs, [one[0] for one in inputs]))
        return all(torch.allclose(a[0], b, rtol=1e-4, atol=1e-5, equal_nan=True) for a, b in zip(want, have))
    except Exception:  # noqa: BLE001: whatever it raises, it does not
        return False


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def save_script(candidate, path, text):
    """The archive without the names and lines of the Python files that it came from."""
    whole = path + ".whole"
    torch.jit.save(candidate, whole, _extra_files={KEYS_FILE: text})
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                name = os.path.splitext(os.path.basename(path))[0] + entry.filename[entry.filename.index("/") :]
                target.writestr(zipfile.ZipInfo(name), source.read(entry))


def write(path, save):
    """A file that is there is replaced when the new one is complete."""
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        save(os.path.join(scratch, name))  # torch calls what is inside after the file
        os.replace(os.path.join(scratch, name), path)


def export(module, example_td, path, *, how="auto", pt2=False, tolerance=1e-5, quiet=False):
    """Writes `module` to `path`. `example_td` holds its inputs; its batch size may be any other later.

    how: "auto", "trace" or "script". Returns the largest difference from the original, relative to 1 + |value|.
    Raises CannotExport.
    """
    if not isinstance(module, torch.nn.Module) or not hasattr(module, "in_keys"):
        raise CannotExport(f"{type(module).__name__} is no module of tensordict.nn; wrap it in a TensorDictModule")
    say = (lambda *text: None) if quiet else print
    was_training = module.training
    validated = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    module.eval()
    try:
        plan = Plan(module, example_td)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            candidate, way, off = script_of(plan, example_td, how, tolerance)

            def save(scratch):
                save_script(candidate, scratch, plan.text)
                if difference(plan, torch.jit.load(scratch), example_td) > tolerance:
                    raise CannotExport("the archive does not compute what was exported")

            write(path, save)
            alone = ", and takes inputs without batch size" if one_row(plan, candidate, example_td) else ""
            say(f"{path}: largest difference {off:.3g} on {len(ROWS)} random batches (by {way}){alone}")
            if pt2:
                package = os.path.splitext(path)[0] + ".pt2"
                off = max(off, export_graph.package(plan, example_td, package, write, difference, tolerance))
                say(f"{package}: largest difference {off:.3g}")
            return off
    finally:
        module.train(was_training)
        torch.distributions.Distribution.set_default_validate_args(validated)


def find(name):
    where, _, attribute = name.partition(":")
    if not attribute:
        sys.exit(f"export_module.py: {name} is not PACKAGE.MODULE:OBJECT")
    sys.path.insert(0, os.getcwd())
    found = importlib.import_module(where)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found if isinstance(found, torch.nn.Module) else found()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", metavar="PACKAGE.MODULE:OBJECT")
    parser.add_argument("example", metavar="EXAMPLE_FOLDER")
    parser.add_argument("out", metavar="OUT")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--script", dest="how", action="store_const", const="script", help="compile the Python code, which keeps branches that depend on data")
    way.add_argument("--trace", dest="how", action="store_const", const="trace", help="write down what runs on the example, even if it might depend on it")
    parser.add_argument("--pt2", action="store_true", help="write a package of AOTInductor too")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="largest difference allowed (%(default)s)")
    given = parser.parse_args()
    try:
        example = TensorDict.load_memmap(given.example)
        export(find(given.module), example, given.out, how=given.how or "auto", pt2=given.pt2, tolerance=given.tolerance)
    except CannotExport as error:
        sys.exit(f"export_module.py: {error}")


if __name__ == "__main__":
    main()
