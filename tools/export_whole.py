"""What a module does beside writing its out_keys, which an archive would lose. For export_module.py."""
import math

import torch
from export_followers import CannotExport
from export_probe import attempt, largest_difference
from tensordict.nn import InteractionType, TensorDictSequential, set_interaction_type


def leaves(td):
    return {path(name): value for name, value in td.items(include_nested=True, leaves_only=True)}


def state(module):
    """Parameters and buffers that hold values."""
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: one for name, one in named.items() if one.device.type != "meta" and not torch.nn.parameter.is_lazy(one)}


def same(one, other):
    return largest_difference([one], [other]) == 0


def keys_that_stand(module):
    return {path(one) for one in module.out_keys}


def path(name):
    return (name,) if isinstance(name, str) else tuple(name)


def short(name):
    return name[0] if len(name) == 1 else name


def interaction_for(module, example):
    """The deterministic value is compared; of a distribution that has none in Python, the one that the module takes."""
    try:
        with torch.random.fork_rng(devices=[]), set_interaction_type(InteractionType.DETERMINISTIC):
            module(example.clone())
        return InteractionType.DETERMINISTIC
    except (NotImplementedError, RuntimeError):
        return None


def check_alone(module, example):
    """Runs the original on the example. Raises CannotExport for what its out_keys do not name. Returns the interaction
    type with which it runs."""
    for name, one in module.named_modules():
        if isinstance(one, TensorDictSequential) and one.partial_tolerant:
            raise CannotExport(
                f"the sequence {name or type(one).__name__!r} is partial_tolerant, and a network runs as a whole: export its "
                "modules one by one, and join them with td_module_sequence and TD_MODULE_SEQUENCE_PARTIAL_TOLERANT"
            )
    for name, one in module.named_modules():
        if getattr(one, "recurrent_mode", False) is True:
            raise CannotExport(
                f"{name or type(one).__name__!r} is in recurrent mode, in which it takes whole episodes and cuts them where is_init says: export "
                "it outside of set_recurrent_mode(True); then a call is a step, and its state goes from call to call"
            )
    before = {name: tensor.detach().clone() for name, tensor in state(module).items()}
    interaction = interaction_for(module, example)
    given = example.clone()
    with set_interaction_type(interaction):
        after = module(given)
    now = state(module)
    for name, tensor in before.items():
        if not same(now[name], tensor):
            now[name].data.copy_(tensor)
            raise CannotExport(f"a call changes the module's own tensor {name!r}; make it an entry that is read and written")
    out_keys = keys_that_stand(module)
    known, kept, written = map(leaves, (example, given, after))
    for name, tensor in known.items():
        if name in kept and name not in out_keys and not same(kept[name], tensor):
            raise CannotExport(f"the module changes its input {short(name)!r} in place: let it compute with a copy")
    for name in written:
        if name not in known and not any(name[: len(one)] == one for one in out_keys):
            raise CannotExport(f"the module writes the entry {short(name)!r}, which none of its out_keys names")
    if getattr(module, "inplace", True) in (True, None):
        for name in known:
            if name not in written and after.batch_dims == example.batch_dims:
                raise CannotExport(f"the module removes the entry {short(name)!r}, which a file cannot do")
    return interaction


def check_batches(plans, batches, tolerance):
    """All networks with what follows each, on batches of 0, 1, 2 and 3 dimensions that each of them takes."""
    example = plans[0].example
    rows = example.reshape(-1) if example.batch_dims else example.unsqueeze(0)
    for sizes in ((), (3,), (2, 3), (2, 1, 3)):
        given = rows[torch.arange(math.prod(sizes)).reshape(sizes) % len(rows)]
        taken = [one.takes(len(sizes) + plan.example.batch_dims - example.batch_dims) for plan, one in zip(plans, batches)]
        if all(taken) and attempt(plans[0].module, given.clone()) is not None:
            check_whole(plans, [one.called for one in batches], given, tolerance)


def check_whole(plans, functions, example, tolerance):
    """The networks and what follows each beside the original, over all entries that the original writes."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]), set_interaction_type(plans[0].interaction):
        torch.manual_seed(0)  # the mean of some distributions is estimated
        after = plans[0].module(example.clone())
        ours = example.clone()
        torch.manual_seed(0)
        for plan, function in zip(plans, functions):
            results = function(ours.batch_size, plan.inputs(ours))
            if plan.front:
                ours = ours.expand(*plan.front, *ours.batch_size).clone()
            for name, tensor in zip(plan.names, results if isinstance(results, (tuple, list)) else [results]):
                ours.set(name, tensor)
            for one in plan.followers:
                ours = one(ours)
    for name in map(short, plans[0].wanted):
        want, have = after.get(name, None), ours.get(name, None)
        if not isinstance(want, torch.Tensor) or not isinstance(have, torch.Tensor):
            raise CannotExport(f"the output {name!r} is not written by {'the original' if want is None else 'the file'}")
        off = largest_difference([want], [have])
        if off > tolerance:
            raise CannotExport(
                f"the output {name!r} of the original is another, by {off:.3g}, with {example.batch_dims} batch dimensions: a hook or an override changes it"
            )
