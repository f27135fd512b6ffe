"""A network that can also run as in training: batch normalisation updates its statistics, dropout draws. For export_module.py."""
import contextlib
import warnings

import torch
from export_followers import CannotExport
from export_graph import Network
from export_probe import as_tuple, branches_on, largest_difference, random_inputs


class Trainable(Network):
    """Runs as in eval(), or by forward_train() as in train()."""

    def forward_train(self, *tensors):
        with training(self.plan.module):
            return self.plan.outputs(*tensors)


@contextlib.contextmanager
def training(module):
    module.train()
    try:
        yield
    finally:
        module.eval()


@contextlib.contextmanager
def unchanged(module):
    """What a run changes in the module's own tensors is undone."""
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    before = {name: one.detach().clone() for name, one in own.items()}
    try:
        yield own
    finally:
        for name, one in own.items():
            one.data.copy_(before[name])


def traced(plan, inputs):
    """A trace of both ways to run, where no branch depends on the data."""
    for name, one in plan.module.named_modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm) and one.momentum is None and one.track_running_stats:
            raise CannotExport(f"{name!r} has no momentum: a cumulative average takes a number out of a tensor, which a trace fixes")
    with unchanged(plan.module), training(plan.module):
        decided = branches_on(plan, inputs)
    if decided or branches_on(plan, inputs):
        raise CannotExport("a branch depends on the values of the inputs; torch.where computes without branches")
    with unchanged(plan.module), warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        methods = {"forward": inputs, "forward_train": inputs}
        return torch.jit.trace_module(Trainable(plan, empty=True), methods, check_trace=False)


def check(plan, candidate, given, tolerance):
    """Outputs and the module's tensors after two runs in training, beside those of the original."""
    inputs = [random_inputs(given, (rows, *[2] * (given.batch_dims - 1)) if given.batch_dims else ()) for rows in (5, 3)]

    def run(function):
        results = []
        with unchanged(plan.module) as own, torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            for one in inputs:
                results += as_tuple(function(*one))
            return [one.clone() for one in results], {name: one.detach().clone() for name, one in own.items()}

    with training(plan.module):
        want, want_own = run(plan.outputs)
    have, have_own = run(candidate.forward_train)
    off = largest_difference(want, have)
    if off > tolerance:
        raise CannotExport(f"in training the results differ by {off:.3g}")
    for name, one in want_own.items():
        off = largest_difference([one], [have_own[name]])
        if off > tolerance:
            raise CannotExport(f"in training {name!r} becomes another tensor, by {off:.3g}")
