"""Modules of TorchRL whose code depends on values or on the mode, as modules that compute the same without branches. For
export_plan.py, which holds them against the originals."""
import torch
from export_check import CannotExport
from export_probe import largest_difference
from export_whole import path


def stand_in(module):
    """What computes the same; the module itself where that can be followed."""
    kind = {"ConsistentDropoutModule": Passed, "MultiStepActorWrapper": Steps}.get(type(module).__name__)
    return kind(module) if kind else module


def unwritten(module):
    """The out_keys that a module inside names and never writes."""
    found = set()
    for one in map(stand_in, module.modules()):
        if isinstance(one, (Passed, Steps)):
            found |= {path(key) for key in one.theirs.out_keys} - {path(key) for key in one.out_keys}
    return found


def check_stand_ins(network, example):
    """Holds them against the originals, where a plan begins in no row, in all and in some."""
    td = example.clone()
    for one in network:
        if isinstance(one, Steps) and td.batch_dims:
            begins, counter = td.get(one.theirs.init_key), td.get(one.theirs.counter_key)
            for share in (0, 1, 0.5, 0.5):
                given = td.clone()
                given.set(one.theirs.init_key, torch.rand(begins.shape) < share)
                given.set(one.theirs.counter_key, torch.randint_like(counter, one.every or 4))
                want, have = one.theirs(given.clone()), one(given.clone())
                for key in one.out_keys:
                    if largest_difference([want.get(key)], [have.get(key)]) > 1e-5:
                        raise CannotExport(f"{type(one.theirs).__name__} computes {key!r} in another way: an override changes it, or its actor mixes rows")
        td = one(td)


class Passed:
    """ConsistentDropoutModule in eval(): it reads and writes no mask."""

    def __init__(self, theirs):
        self.theirs, self.in_keys, self.out_keys = theirs, list(theirs.in_keys[:1]), list(theirs.out_keys[:1])

    def __call__(self, td):
        if self.theirs.consistent_dropout.training:
            raise CannotExport("ConsistentDropoutModule keeps its mask from call to call in training; leave train out, or take torch.nn.Dropout")
        return td.set(self.out_keys[0], td.get(self.in_keys[0]))


class Steps:
    """MultiStepActorWrapper: the actor runs for all rows, and what it says is taken where a new plan begins."""

    def __init__(self, theirs):
        self.theirs, self.caches = theirs, dict(theirs._actor_keys_map)
        caches = list(self.caches.values())
        self.in_keys = [*theirs.actor.in_keys, theirs.init_key, theirs.counter_key, *caches]
        self.out_keys = [theirs.counter_key, *caches, *self.caches]
        self.every = theirs.n_steps if theirs.replan_interval is None else theirs.replan_interval

    def __call__(self, td):
        theirs, counter = self.theirs, td.get(self.theirs.counter_key)
        begins = td.get(theirs.init_key)
        if self.every is not None:
            begins = begins | (counter >= self.every)
        counter = counter.masked_fill(begins, 0)
        planned = theirs.actor(td.clone(recurse=False))
        td.set(theirs.counter_key, counter + 1)
        for action, cache in self.caches.items():
            known, dim = td.get(cache), td.ndim
            plan = torch.where(ahead(begins, known), planned.get(theirs._chunk_keys_map[action]), known)
            td.set(cache, plan)
            at = counter.to(torch.long).reshape(plan.shape[:dim])
            if self.every is None:
                at = at.remainder(plan.shape[dim])
            at = ahead(at, plan)
            chosen = plan.gather(dim, at.expand(*plan.shape[:dim], 1, *plan.shape[dim + 1 :]))
            td.set(action, chosen if theirs.keep_dim else chosen.squeeze(dim))
        return td


def ahead(tensor, like):
    """With dimensions of one behind it, as many as the other has."""
    return tensor.reshape(*tensor.shape, *[1] * (like.ndim - tensor.ndim))
