"""What of a module becomes a network, and what the archive describes. For export_module.py."""
import torch
from export_followers import CannotExport, describe, is_follower, key, parameters_of
from export_whole import check_alone
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictModule, TensorDictSequential


def flat(module):
    """The modules of nested sequences in their order. A sequence with hooks is whole."""
    if not isinstance(module, TensorDictSequential) or module._forward_hooks or module._forward_pre_hooks:
        return [module]
    return [one for part in module._module_iter() for one in flat(part)]


def is_sample(module):
    return isinstance(module, ProbabilisticTensorDictModule)


def named(modules, i):
    return f"module {i} ({type(modules[i]).__name__})"


def meet(one, other):
    """The first key that leads to or through one of the others, or None."""
    for a in one:
        for b in other:
            if a[: len(b)] == b or b[: len(a)] == a:
                return short(a)
    return None


def split(module):
    """The modules that become the network, and those that are described. A module behind a sample that has nothing to do
    with it, such as a value head, moves in front."""
    modules = flat(module)
    for i, one in enumerate(modules):
        if not is_sample(one) and any(map(is_sample, one.modules())):
            why = "has a hook" if isinstance(one, TensorDictSequential) else "is no sequence"
            raise CannotExport(f"{named(modules, i)} samples inside, and {why}: a sample must stand in a TensorDictSequential")
        if is_sample(one) and (one._forward_hooks or one._forward_pre_hooks):
            raise CannotExport(f"{named(modules, i)} samples, and has a hook, which no description holds")
        for j, sample in enumerate(modules[:i]):
            if is_sample(one) or not is_sample(sample):
                continue
            (reads, writes), (needs, makes) = (map(paths, (m.in_keys, m.out_keys)) for m in (one, sample))
            if meet(reads, makes) is not None:
                raise CannotExport(
                    f"{named(modules, i)} computes with the sample {meet(reads, makes)!r} of {named(modules, j)}: export what "
                    "ends with the sample and what follows it as two files, and join them with td_module_sequence"
                )
            if meet(writes, needs + makes) is not None:
                raise CannotExport(f"{named(modules, i)} writes {meet(writes, needs + makes)!r} again, which {named(modules, j)} uses")
    network = [one for one in modules if not is_sample(one)]
    samples = [one for one in modules if is_sample(one)]
    while samples and network and is_follower(network[-1]):
        samples.insert(0, network.pop())
    if not network:
        raise CannotExport("there is no network in front of the distribution; make this module in C with td_module_probabilistic()")
    return network, samples


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


def short(name):
    return name[0] if len(name) == 1 else name


class Plan:
    """What is exported: the network as a function of tensors, and the text about it."""

    def __init__(self, module, example):
        self.module = module
        network, followers = split(module)
        self.batch_dims = example.batch_dims
        in_keys, _ = keys_of(network)
        missing = [one for one in in_keys if example.get(short(one), None) is None]
        if missing:
            raise CannotExport(f"the example lacks the input {short(missing[0])!r}")
        for one in in_keys:
            if not isinstance(example.get(short(one)), torch.Tensor):
                raise CannotExport(f"the input {short(one)!r} is no tensor: let the module take the tensors in it by their own keys")
        chosen = [one for one in paths(module.out_keys) if one != ("_",)]
        with torch.no_grad():
            self.interaction = check_alone(module, example)
            self.network = network
            # The network computes parameters that the keys do not hold, such as those of a masked distribution.
            followers = self.with_parameters(followers, self.run(example.clone()))
            self.in_keys, self.out_keys = keys_of(self.network)
            after = self.run(example.clone())
            self.front = tuple(after.batch_size[: after.batch_dims - example.batch_dims])
            if self.front and followers:
                raise CannotExport(f"the network adds the dimensions {list(self.front)} in front of the batch, and a distribution follows")
            self.drop_unwanted(chosen, followers, after)
            self.followers = followers
            self.meta = {"version": 1, "in_keys": list(map(list, self.in_keys)), "out_keys": list(map(list, self.out_keys))}
            if followers:
                self.meta.update(version=2, then=[])
                for one in followers:
                    self.meta["then"].append(describe(one, after))
                    after = one(after)
            _, written = keys_of([*self.network, *followers])
            if chosen not in ([one for one in written if one in self.out_keys or followers], self.out_keys):
                self.meta.update(version=2, select_out_keys=list(map(list, chosen)))

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

    def drop_unwanted(self, chosen, followers, after):
        """Outputs that nobody reads are not computed; those that are no tensors cannot be."""
        read = {one for follower in followers for one in paths(follower.in_keys)}
        self.out_keys = [k for k in self.out_keys if k in chosen or any(k[: len(r)] == r for r in read)]
        if not followers:
            self.out_keys = [k for k in chosen if k in self.out_keys]
        if not self.out_keys:
            raise CannotExport("the network has no outputs: its out_keys are all dropped")
        for one in self.out_keys:
            if not isinstance(after.get(short(one), None), torch.Tensor):
                raise CannotExport(f"the output {short(one)!r} is no tensor")
        self.names = list(map(short, self.out_keys))

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
        self.meta["version"] = 3
        self.meta["inputs"] = [
            {"dtype": str(one.dtype), "shape": [-1] * given.batch_dims + event} for one, event in zip(given, events)
        ]
        self.meta["batch"] = batches.meta()
