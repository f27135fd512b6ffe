"""What of a module becomes a network, and what the archive describes. For export_module.py."""
import copy

import torch
from export_followers import CannotExport, describe, is_follower, key, parameters_of
from export_join import method
from export_torchrl import check_stand_ins, stand_in, unwritten
from export_whole import check_alone, short
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModuleBase, TensorDictSequential


def flat(module, interaction=None):
    """The modules of nested sequences in their order. A sequence with hooks is whole. `interaction`: the type with which a
    sequence around it lets its samples run."""
    if not isinstance(module, TensorDictSequential) or module._forward_hooks or module._forward_pre_hooks:
        return [with_interaction(module, interaction)]
    *front, last = module._module_iter()
    inner = interaction
    if isinstance(module, ProbabilisticTensorDictSequential):
        if not module.return_composite and inner is None:  # the last module decides about all samples
            known = (one.default_interaction_type for one in (last, *reversed(front)) if hasattr(one, "default_interaction_type"))
            inner = next(known, None)
        if is_sample(last) and not module._requires_sample:
            if last.return_log_prob:
                raise CannotExport(f"a module in front writes {last.out_keys[0]!r} itself, of which the last one gives the log-probability: call td_module_log_prob() instead")
            return [one for part in front for one in flat(part, inner)]
    return [one for part in front for one in flat(part, inner)] + flat(last, interaction)


def with_interaction(module, interaction):
    if interaction is None or not is_sample(module) or module.default_interaction_type == interaction:
        return module
    other = copy.copy(module)
    other.default_interaction_type = interaction
    return other


def is_sample(module):
    return isinstance(module, ProbabilisticTensorDictModule)


def named(modules, i):
    return f"module {i} ({type(modules[i]).__name__})"


def meet(one, other):
    """Whether a key leads to or through one of the others."""
    return any(a[: len(b)] == b or b[: len(a)] == a for a in one for b in other)


def stages_of(module):
    """The networks in their order, each with the modules that are described behind it. A module behind a sample that has
    nothing to do with it, such as a value head, moves in front; one that computes with it begins the next network."""
    modules, stages = flat(module), [([], [])]
    for i, one in enumerate(modules):
        if not is_sample(one) and any(map(is_sample, one.modules())):
            why = "has a hook" if isinstance(one, TensorDictSequential) else "is no sequence"
            raise CannotExport(f"{named(modules, i)} samples inside, and {why}: a sample must stand in a TensorDictSequential")
        if is_sample(one) and (one._forward_hooks or one._forward_pre_hooks):
            raise CannotExport(f"{named(modules, i)} samples, and has a hook (as safe=True adds one), which no description holds: leave it out, or do the same behind the file with td_module_from_function()")
        one = stand_in(one)
        network, samples = stages[-1]
        if is_sample(one):
            samples.append(one)
        elif any(depends(one, sample) for sample in samples):
            stages.append(([one], []))
        else:
            network.append(one)
    made = []
    for network, samples in stages:
        while samples and network and is_follower(network[-1]):
            samples.insert(0, network.pop())
        if network:
            made.append((network, samples))
        elif made:
            made[-1][1].extend(samples)
        else:
            raise CannotExport("there is no network in front of the distribution; make this module in C with td_module_probabilistic()")
    return made


def depends(module, sample):
    """Whether the module must stand behind the sample: it reads what that makes, or writes what that uses."""
    (reads, writes), (needs, makes) = (map(paths, (one.in_keys, one.out_keys)) for one in (module, sample))
    return meet(reads, makes) or meet(writes, needs + makes)


def count_of(module):
    """Of how many modules it is made, each of which Python may skip by itself."""
    parts = module.modules() if isinstance(module, torch.nn.Module) else []  # else what stands in for one
    known = [one for one in parts if isinstance(one, TensorDictModuleBase)]
    return max(1, sum(not isinstance(one, TensorDictSequential) for one in known))


def paths(keys):
    return [tuple(key(one)) for one in keys]


def keys_of(modules):
    """The in_keys and out_keys of modules in a row."""
    in_keys, written = [], []
    for module in modules:
        in_keys += [one for one in map(tuple, map(key, module.in_keys)) if one not in in_keys + written]
        for one in map(tuple, map(key, module.out_keys)):
            if one != ("_",):
                written = [other for other in written if other != one] + [one]
    return in_keys, written


def plans_of(module, example):
    """A plan for each network of the module."""
    stages = stages_of(module)
    known = []
    for network, followers in stages:
        in_keys, written = keys_of(network)
        missing = [one for one in in_keys if example.get(short(one), None) is None and not meet([one], known)]
        if missing:
            raise CannotExport(f"the example lacks the input {short(missing[0])!r}")
        known += written + keys_of(followers)[1]
    dropped = {("_",), *(unwritten(module) - set(known))}
    wanted = [one for one in paths(module.out_keys) if one not in dropped]
    plans = []
    with torch.no_grad():
        interaction = check_alone(module, example)
        td = example.clone()
        for i, (network, followers) in enumerate(stages):
            behind = [part for after in stages[i + 1 :] for part in (*after[0], *after[1])]
            read = wanted + [one for part in behind for one in paths(part.in_keys)]
            if i and not followers and not meet(keys_of(network)[1], read):
                continue  # nobody wants what it computes
            plans.append(Plan(module, network, followers, td, behind, interaction, wanted))
            td = plans[-1].after
    for plan in plans:
        plan.all = plans
    return plans


def meta_of(plans):
    """The text about all of them, as the archive holds it."""
    first, *others = plans
    meta = {**first.meta, "then": list(first.then)}
    for i, plan in enumerate(others, 1):
        meta["then"] += [{"kind": "network", "method": method(i), **plan.meta}, *plan.then]
    _, written = keys_of([one for plan in plans for one in [*plan.network, *plan.followers]])
    if not meta["then"]:
        del meta["then"]
        written = first.out_keys
    if first.wanted != written:
        meta["select_out_keys"] = list(map(list, first.wanted))
    newer = 2 if {"then", "select_out_keys"} & set(meta) else 1
    return {"version": 3 if "batch" in meta else newer, **meta}


class Plan:
    """A network of the module as a function of tensors, and the text about it and what follows it."""

    def __init__(self, module, network, followers, example, behind, interaction, wanted):
        self.module, self.network, self.example, self.interaction = module, network, example, interaction
        self.wanted = wanted
        self.modules = sum(map(count_of, network))
        self.batch_dims = example.batch_dims
        self.example_size = tuple(max(size, 2) for size in example.batch_size)
        for one in keys_of(network)[0]:
            if not isinstance(example.get(short(one)), torch.Tensor):
                raise CannotExport(f"the input {short(one)!r} is no tensor: let the module take the tensors in it by their own keys")
        check_stand_ins(network, example)
        # The network computes parameters that the keys do not hold, such as those of a masked distribution.
        self.followers = self.with_parameters(followers, self.run(example.clone()))
        self.in_keys, self.out_keys = keys_of(self.network)
        self.after = self.run(example.clone())
        self.front = tuple(self.after.batch_size[: self.after.batch_dims - example.batch_dims])
        if self.front and followers:
            raise CannotExport(f"the network adds the dimensions {list(self.front)} in front of the batch, and a distribution follows")
        self.drop_unwanted([one for part in [*self.followers, *behind] for one in paths(part.in_keys)])
        self.meta = {"in_keys": list(map(list, self.in_keys)), "out_keys": list(map(list, self.out_keys))}
        self.then = []
        for one in self.followers:
            self.then.append(describe(one, self.after))
            self.after = one(self.after)

    def with_parameters(self, followers, td):
        made = []
        for one in followers:
            params = parameters_of(one, td) if is_sample(one) else None
            if params is not None:
                self.network = [*self.network, params]
                td, one = params(td), params.sample
            made.append(one)
            td = one(td)
        return made

    def drop_unwanted(self, read):
        """Outputs that nobody reads are not computed; those that are no tensors cannot be."""
        self.out_keys = [k for k in self.out_keys if k in self.wanted or any(k[: len(r)] == r for r in read)]
        if not read:
            self.out_keys = [k for k in self.wanted if k in self.out_keys]
        if not self.out_keys:
            raise CannotExport("the network has no outputs: its out_keys are all dropped")
        for one in self.out_keys:
            if not isinstance(self.after.get(short(one), None), torch.Tensor):
                raise CannotExport(f"the output {short(one)!r} is no tensor")

    @property
    def names(self):
        return list(map(short, self.out_keys))

    def run(self, td):
        for module in self.network:
            td = module(td)
        return td

    def inputs(self, td):
        return tuple(td.get(short(one)) for one in self.in_keys)

    def outputs(self, *tensors, batch_dims=None):
        """The network as a function of tensors."""
        dims = self.batch_dims if batch_dims is None else batch_dims
        td = TensorDict({}, tensors[0].shape[:dims] if tensors else [])
        for one, tensor in zip(self.in_keys, tensors):
            td.set(short(one), tensor)
        td = self.run(td)
        return tuple(td.get(short(one)) for one in self.out_keys)

    def describe_inputs(self, given, events, batches):
        """Which tensors the network takes, and with which batches: the library checks them before it runs."""
        self.meta["inputs"] = [
            {"dtype": str(one.dtype), "shape": [-1] * given.batch_dims + event} for one, event in zip(given, events)
        ]
        self.meta["batch"] = batches.meta()
        if self.modules > 1:
            self.meta["batch"]["modules"] = self.modules
