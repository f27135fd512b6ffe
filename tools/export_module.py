#!/usr/bin/env python3
"""Writes a module of Python's tensordict.nn as a file that td_module_load() reads.

    export_module.py PACKAGE.MODULE:OBJECT EXAMPLE_FOLDER OUT [--script | --trace | --train] [--pt2] [--tolerance T]

OBJECT is the module, or a function that makes it. EXAMPLE_FOLDER holds a TensorDict (TensorDict.memmap) with the
inputs. OUT becomes a TorchScript archive, and with --pt2 a package of AOTInductor lies beside it as OUT with .pt2
at its end (torch 2.6 or newer; it holds compiled code for this kind of processor). With --train it can also be
loaded to run as in training: batch normalisation updates its statistics, dropout draws.

What is written is run beside the original on random inputs of several batch sizes; a difference above the tolerance
is an error, and OUT stays as it was. Distributions are not traced: the archive describes them, and a network behind one
is another method of it. Parameters keep the names of TensorDict.from_module(module).
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import export_dispatch  # noqa: E402
import export_graph  # noqa: E402
import export_train  # noqa: E402
from export_followers import CannotExport, key  # noqa: E402
from export_older import newer_operators  # noqa: E402
from export_join import joined, method  # noqa: E402
from export_plan import meta_of, plans_of, short  # noqa: E402
from export_probe import (  # noqa: E402
    ROWS,
    Batches,
    Inputs,
    branches_on,
    depends_on_size,
    difference,
    drawn,
    free_sizes,
    has_booleans,
    is_recurrent,
    random_inputs,
)
from export_whole import check_batches, check_whole  # noqa: E402

KEYS_FILE = "tensordict.json"


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


def candidates(plan, given, how):
    """The ways to get TorchScript, the best first: (name, function that tries it)."""
    # Where booleans decide about branches, an example of both kinds takes those that do something.
    mixed = random_inputs(given, [*plan.example_size], "some") if has_booleans(given) else list(given)
    ways = {
        "export": lambda: export_graph.exported(plan, tuple(given), given.batch_dims),
        "graph": lambda: export_graph.scripted_graph(plan, tuple(given), given.batch_dims),
        "strict": lambda: export_graph.traced(plan, tuple(given), strict=True),
        "script": lambda: export_graph.scripted(plan, tuple(given)),
        "dispatch": lambda: export_dispatch.dispatched(plan, given),
        "loop": lambda: export_dispatch.dispatched(plan, given, unrolled=True),
        "trace": lambda: export_graph.traced(plan, tuple(mixed), strict=False),
        "checked trace": lambda: checked_trace(plan, tuple(mixed)),
        "train": lambda: export_train.traced(plan, tuple(given)),
    }
    chosen = {"auto": ["export", "graph", "strict", "script", "checked trace", "dispatch", "loop"], "trace": ["trace"], "script": ["script"], "train": ["train"]}[how]
    return [(name, ways[name]) for name in chosen]


def checked_trace(plan, inputs):
    """A trace that may take branches, if no real number decides about them. All values of booleans are tried afterwards."""
    for i in branches_on(plan, inputs):
        if inputs[i].dtype != torch.bool:
            raise CannotExport(f"a branch depends on the values of {short(plan.in_keys[i])!r}; torch.where computes without branches")
    return export_graph.traced(plan, inputs, strict=False)


def script_of(plan, how, tolerance):
    """A TorchScript module that computes what the network does, its largest difference, and what it takes."""
    reasons, found = [], []
    given = given_to(plan)
    by_chance = drawn(plan, given, tolerance)
    if by_chance and drawn(plan, given, tolerance, seed=0):
        raise CannotExport(
            f"the output {by_chance[0]!r} differs from one call to the next: the module keeps something in itself, such as its last "
            "state or a count; make it an entry that is read and written"
        )
    if by_chance:
        raise CannotExport(
            f"the output {by_chance[0]!r} differs from one run to the next: the network draws random numbers; leave out "
            "what explores, and draw here from a distribution behind the network"
        )
    for name, attempt in candidates(plan, given, how):
        try:
            with quiet():  # of ways that do not lead there
                candidate = attempt()
            check_params(plan, candidate)
            off, other = difference(plan, candidate, given)
            if other is None and off <= tolerance:
                check_with(plan, candidate, tolerance)
                if name in ("dispatch", "loop", "checked trace") and depends_on_size(plan, candidate, given, tolerance):
                    raise CannotExport("a branch or a loop depends on the batch size")
                if name == "train":
                    export_train.check(plan, candidate, given, tolerance)
                fixed = is_recurrent(candidate)
                batches = Batches(plan, candidate, given, tolerance, fixed)
                if given and given.batch_dims not in batches.direct:
                    raise CannotExport(f"it does not hold with {given.batch_dims} batch dimensions")
                events = [list(one) for one in given.events] if fixed else free_sizes(plan, candidate, given, tolerance)
                found.append((candidate, name, off, batches, events))
                if not newer_operators(candidate):
                    break
                continue
            reasons.append(f"{name}: {other or f'the results differ by {off:.3g}'}")
        except Exception as error:  # noqa: BLE001: whatever torch raises for what it cannot follow
            export_graph.leave_vmap()
            reasons.append(f"{name}: {plainly(error)}")
    if not found:
        raise CannotExport("the network cannot be exported. " + "; ".join(reasons))
    # A way whose operators an old libtorch has, if there is one.
    *chosen, events = found[0] if newer_operators(found[-1][0]) else found[-1]
    if given:
        plan.describe_inputs(given, events, chosen[3])
    return tuple(chosen)


def given_to(plan):
    return Inputs(plan.inputs(plan.example), plan.example.batch_dims)


def check_with(plan, candidate, tolerance):
    """The whole module, with the candidate in the place of this network."""
    functions = [lambda sizes, inputs, run=candidate if one is plan else one.outputs: run(*inputs) for one in plan.all]
    check_whole(plan.all, functions, plan.all[0].example, tolerance)


# What torch says, and what it means.
MEANT = (
    ("Constraints violated", "the code turns the example's batch size into a fixed number"),
    ("data-dependent", "a branch or a size depends on the values of the inputs; torch.where computes without branches"),
    ("returned a result with an exception set", "a branch depends on a tensor"),
    ("Converting a tensor to", "a branch or a number depends on a tensor"),
    (".numpy()", "the code leaves torch for NumPy"),
    ("on device meta", "parameters that are swapped by vmap cannot be followed"),
    ("Cannot unlock a tensordict", "parameters that are swapped by vmap cannot be followed"),
)


def plainly(error):
    said = str(error)
    return next((meaning for text, meaning in MEANT if text in said), first_line(error))


@contextlib.contextmanager
def quiet():
    """torch prints the graph in which it has found a branch."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


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


def check_saved(loaded, plans, batches, tolerance):
    """The archive as it was read again."""
    for i, (plan, one) in enumerate(zip(plans, batches)):
        one.candidate = getattr(loaded, method(i))
        if difference(plan, one.candidate, given_to(plan))[0] > tolerance:
            raise CannotExport("the archive does not compute what was exported")
    if len(plans) > 1:
        check_batches(plans, batches, tolerance)


def write(path, save):
    """A file that is there is replaced when the new one is complete."""
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        save(os.path.join(scratch, name))  # torch calls what is inside after the file
        os.replace(os.path.join(scratch, name), path)


def examples(example):
    """The example, and before it one with a batch dimension if it has none: a network should take batches."""
    return [torch.stack([example.clone(), example.clone()]), example] if example.batch_dims == 0 else [example]


def planned(module, example_td, how, tolerance):
    """The plan of each network, and what script_of() found for it."""
    problem = None
    for example in examples(example_td):
        try:
            plans = plans_of(module, example)
            found = [script_of(plan, how, tolerance) for plan in plans]
            if example is example_td or all(batches.takes(plan.batch_dims - 1) for plan, (*_, batches) in zip(plans, found)):
                return plans, found
        except CannotExport as error:
            problem = error
        except Exception as error:  # noqa: BLE001: it takes no batch
            problem = CannotExport(f"the module itself fails on the example: {type(error).__name__}: {first_line(error)}")
            if example is example_td:
                raise problem from error
    raise problem


def export(module, example_td, path, *, how="auto", pt2=False, train=False, tolerance=1e-5, quiet=False):
    """Writes `module` to `path`. `example_td` holds its inputs; its batch size may be any other later.

    how: "auto", "trace" or "script". With `train`, the file can also be loaded to run as in training. Returns the largest difference from the original, relative to 1 + |value|.
    Raises CannotExport.
    """
    if not isinstance(module, torch.nn.Module) or not hasattr(module, "in_keys"):
        raise CannotExport(f"{type(module).__name__} is no module of tensordict.nn; wrap it in a TensorDictModule")
    if train and (pt2 or how != "auto"):
        raise CannotExport("a module that can train is traced, and is no package; leave out pt2 and how")
    how = "train" if train else how
    say = (lambda *text: None) if quiet else print
    was_training = module.training
    validated, fuses = torch.distributions.Distribution._validate_args, torch._C._jit_texpr_fuser_enabled()
    torch.distributions.Distribution.set_default_validate_args(False)
    torch._C._jit_set_texpr_fuser_enabled(False)  # it makes wrong numbers of some graphs; the library runs without
    module.eval()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plans, found = planned(module, example_td, how, tolerance)
            candidates, ways, differences, batches = zip(*found)
            candidate, off = candidates[0] if len(plans) == 1 else joined(plans, candidates), max(differences)

            def save(scratch):
                save_script(candidate, scratch, json.dumps(meta_of(plans)))
                check_saved(torch.jit.load(scratch), plans, batches, tolerance)

            write(path, save)
            for plan, way, one, known in zip(plans, ways, differences, batches):
                name = f", network to {short(plan.out_keys[0])!r}" if len(plans) > 1 else ""
                say(f"{path}{name}: largest difference {one:.3g} on {len(ROWS)} random batches (by {way}); batch dimensions: {known.text()}")
            newer = sorted({kind for one in candidates for kind in newer_operators(one)})
            if newer:
                say(f"{path}: needs libtorch 2 or newer, for {', '.join(newer)}")
            if pt2:
                package = os.path.splitext(path)[0] + ".pt2"
                given, make = [given_to(plan) for plan in plans], export_dispatch.graph_below_vmap
                try:
                    off = max(off, export_graph.package(plans, meta_of(plans), given, make, package, write, tolerance))
                except CannotExport:
                    raise
                except Exception as error:  # noqa: BLE001: what only a trace can follow is no graph
                    raise CannotExport(f"{path} is written, but the network cannot be a package: {plainly(error)}") from None
                say(f"{package}: largest difference {off:.3g}")
            return off
    finally:
        module.train(was_training)
        torch._C._jit_set_texpr_fuser_enabled(fuses)
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
    way.add_argument("--train", action="store_true", help="can also be loaded to run as in training")
    parser.add_argument("--pt2", action="store_true", help="write a package of AOTInductor too")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="largest difference allowed (%(default)s)")
    given = parser.parse_args()
    try:
        example = TensorDict.load_memmap(given.example)
        export(find(given.module), example, given.out, how=given.how or "auto", pt2=given.pt2, train=given.train, tolerance=given.tolerance)
    except CannotExport as error:
        sys.exit(f"export_module.py: {error}")


if __name__ == "__main__":
    main()
