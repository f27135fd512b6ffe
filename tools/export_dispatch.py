"""The network as the operators that libtorch's dispatcher sees, below vmap. For export_module.py.

torch.export and TorchScript trip over vmap: over parameters that a module swaps in, over sizes that a rule for a batch of
them takes for constants. Here vmap is gone: its operators run on all networks at once, or one network after the other.
"""
import contextlib

import torch
from export_followers import CannotExport
from export_graph import code_of, put_tensors, tensors_of
from export_older import older
from export_probe import random_inputs
from torch.utils import _pytree as pytree

ROWS = (11, 13, 17, 19)


def dispatched(plan, given, unrolled=False):
    return code_of(graph_below_vmap(plan, given, unrolled))


def graph_below_vmap(plan, given, unrolled):
    """A graph in which the sizes of the batch are no constants. `unrolled`: one network after the other."""
    try:
        from torch.fx.experimental.proxy_tensor import make_fx
    except ImportError as error:
        raise CannotExport("this way needs torch 2.0 or newer") from error
    # Dimensions of one size would become one symbol.
    used = {size for event in given.events for size in event}
    rows = [one for one in ROWS + (23, 29, 31, 37) if one not in used][: given.batch_dims]
    inputs = random_inputs(given, tuple(rows))
    with older(), one_by_one() if unrolled else contextlib.nullcontext():
        module = make_fx(lambda *tensors: plan.outputs(*tensors), tracing_mode="symbolic", _allow_non_fake_inputs=True)(*inputs)
    names = {id(tensor): name for name, tensor in tensors_of(plan).items()}
    for node in module.graph.nodes:
        if node.op == "get_attr" and id(getattr(module, node.target)) in names:
            node.target = names[id(getattr(module, node.target))]
    for name in [*module._parameters, *module._buffers]:
        tensor = getattr(module, name)
        delattr(module, name)
        if id(tensor) not in names:
            module.__dict__[name] = tensor.detach()  # a constant of the code
    put_tensors(plan, module)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


@contextlib.contextmanager
def one_by_one():
    """torch.vmap as a loop."""
    usual = torch.vmap
    places = [one for one in (torch, torch.func, torch._functorch.apis) if getattr(one, "vmap", None) is usual]
    for one in places:
        one.vmap = looped
    try:
        yield
    finally:
        for one in places:
            one.vmap = usual


def looped(function, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    def run(*arguments):
        values, spec = pytree.tree_flatten(arguments)
        dims = in_dims if isinstance(in_dims, int) else tuple(in_dims)
        dims = pytree._broadcast_to_and_flatten(dims, spec)
        if dims is None:
            raise CannotExport("vmap is called with in_dims that cannot be followed")
        count = next(one.shape[dim] for one, dim in zip(values, dims) if dim is not None)
        parts = zip(*([one] * count if dim is None else one.unbind(dim) for one, dim in zip(values, dims)))
        results = [pytree.tree_flatten(function(*pytree.tree_unflatten(part, spec))) for part in parts]
        spec = results[0][1]
        whole = out_dims if isinstance(out_dims, int) else tuple(out_dims)
        outs = pytree._broadcast_to_and_flatten(whole, spec) or pytree._broadcast_to_and_flatten(out_dims[0], spec)
        joined = [torch.stack([one[0][k] for one in results], dim) for k, dim in enumerate(outs)]
        return pytree.tree_unflatten(joined, spec)

    return run
