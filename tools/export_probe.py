"""What holds of an exported network: batches of other sizes and of other numbers of dimensions. For export_module.py.

An exported network is a list of steps that ran once. It may hold numbers that were right for the example alone, so each
claim about other inputs is tried beside the original, and only what held is written down.
"""
import dis
import itertools
import math

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

ROWS = (1, 2, 3, 7, 16)
MANY_ROWS, MANY_NUMBERS = 1100, 1 << 22
BOOLEANS = {"none": 0, "all": 1, "some": 0.5}
RECURRENT = ("gru", "lstm", "rnn_tanh", "rnn_relu")


class Inputs(list):
    """The example's inputs. `batch_dims` dimensions in front are the batch."""

    def __init__(self, tensors, batch_dims):
        super().__init__(tensors)
        self.batch_dims = batch_dims

    @property
    def events(self):
        return [tuple(one.shape[self.batch_dims :]) for one in self]


def resized(value, dim, size):
    """The dimension with another size: its values again and again."""
    return value.index_select(dim, torch.arange(size) % value.shape[dim]) if value.shape[dim] else value


def random_inputs(given, sizes, booleans="example", events=None):
    """Inputs of these batch sizes: values of the example in another order, and noise on real ones."""
    count = math.prod(sizes)

    def other(tensor, event, share):
        flat = tensor.reshape(math.prod(tensor.shape[: given.batch_dims]), *tensor.shape[given.batch_dims :])
        value = flat[torch.randint(len(flat), (count,))]
        for dim, size in enumerate(event):
            if value.shape[1 + dim] != size:
                value = resized(value, 1 + dim, size)
        if value.is_floating_point() and value.numel():
            value = value + torch.randn_like(value) * (0.1 + value.std(unbiased=False))
        if value.dtype == torch.bool and share != "example":
            value = torch.rand(value.shape) < BOOLEANS[share]
        return value.reshape((*sizes, *event))

    shares = [booleans] * len(given) if isinstance(booleans, str) else booleans
    return [other(*one) for one in zip(given, events or given.events, shares)]


def shares_of(given):
    """How many booleans of each input are true: a branch may ask for some of one, and none of another."""
    number = sum(one.dtype == torch.bool for one in given)
    if not number:
        return ["example"]
    mixed = itertools.product(*(BOOLEANS if one.dtype == torch.bool else ["some"] for one in given))
    return ["example", *(mixed if number <= 3 else BOOLEANS)]


def as_tuple(results):
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def largest_difference(want, have, finite=False):
    """Relative to 1 + |value|; infinity where a shape, a dtype or the number of tensors differs. With `finite`, what is
    infinite or NaN in Python is left out."""
    largest = 0.0
    if len(want) != len(have):
        return math.inf
    for one, other in zip(want, have):
        if one.shape != other.shape or one.dtype != other.dtype:
            return math.inf
        if one.numel() and not torch.equal(one, other):
            wide = torch.complex128 if one.is_complex() else torch.float64
            off = (one.to(wide) - other.to(wide)).abs() / (1 + one.to(wide).abs())
            same = (one == other) | (one.isnan() & other.isnan()) | (~one.isfinite() if finite else False)
            worst = torch.where(same, torch.zeros_like(off), off).nan_to_num(math.inf).max()
            largest = max(largest, float(worst))
    return largest


def attempt(function, *arguments):
    """The results, or None where it fails."""
    try:
        with torch.no_grad():
            return as_tuple(function(*arguments))
    except Exception:  # noqa: BLE001: whatever it raises, it does not take this
        return None


def drawn(plan, given, tolerance, seed=None):
    """The outputs that differ from one run to the next; with a seed, although the random numbers are the same."""

    def run():
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            return attempt(plan.outputs, *given) or ()

    return [name for name, one, other in zip(plan.names, run(), run()) if largest_difference([one], [other]) > tolerance]


def has_booleans(given):
    return any(one.dtype == torch.bool for one in given)


def difference(plan, candidate, given):
    """The largest difference on random batches, and what has another shape or dtype, as text or None."""
    largest = 0.0
    rows = ROWS if given.batch_dims else (1, 1, 1)
    for count, booleans in itertools.product(rows, shares_of(given)):
        sizes = (count, *([1] * (given.batch_dims - 1))) if given.batch_dims else ()
        inputs = random_inputs(given, sizes, booleans)
        if booleans == "example":
            with torch.no_grad():
                want, have = plan.outputs(*inputs), as_tuple(candidate(*inputs))
        else:
            want = attempt(plan.outputs, *inputs)
            if want is None:
                continue
            with torch.no_grad():
                have = as_tuple(candidate(*inputs))
        for name, one, other in zip(plan.names, want, have):
            if one.shape != other.shape or one.dtype != other.dtype:
                return math.inf, (
                    f"with batch size {list(sizes)} the output {name!r} is {other.dtype} {list(other.shape)}, "
                    f"not {one.dtype} {list(one.shape)}: a size that depends on data or on the example"
                )
        largest = max(largest, largest_difference(want, have, finite=booleans != "example"))
    return largest, None


def merged(tensor, front, batch, dims):
    """The batch dimensions behind `front` as `dims` ones: the first of them together, or ones of size 1 added."""
    sizes = list(tensor.shape[front : front + batch])
    if batch > dims:
        sizes = [math.prod(sizes[: batch - dims + 1]), *sizes[batch - dims + 1 :]]
    else:
        sizes = [1] * (dims - batch) + sizes
    return tensor.reshape((*tensor.shape[:front], *sizes, *tensor.shape[front + batch :]))


def restored(tensor, front, sizes, dims):
    return tensor.reshape((*tensor.shape[:front], *sizes, *tensor.shape[front + dims :]))


class Batches:
    """With which numbers of batch dimensions the network computes what Python does: `direct` as it is, `flat` with the
    first ones taken together. `empty`: batches without rows do, too."""

    def __init__(self, plan, candidate, given, tolerance, fixed, empty=True):
        self.dims, self.front = given.batch_dims, len(plan.front)
        self.given, self.plan, self.candidate, self.tolerance = given, plan, candidate, tolerance
        self.direct, self.flat, self.empty = [], [], empty
        # Code could take a size of the batch for one of these, such as the channels of a BatchNorm1d.
        events = sorted({size for event in given.events for size in event if 1 < size <= 64})[:3]
        for number in range(max(3, self.dims + 1) + 1):
            tried = [(3, 2, 5, 4, 2)[:number], (2, 3, 7, 2, 3)[:number], (1,) * number]
            tried += [(*[2] * (number - 1), size) for size in events if number > 1]
            want = [self.original(sizes) for sizes in tried]
            if any(one is None for one in want):
                continue
            if (number == self.dims or not fixed) and all(self.holds(one, self.as_it_is) for one in want):
                self.direct.append(number)
            if self.dims and all(self.holds(one, self.flattened) for one in want):
                self.flat.append(number)
            if empty:
                self.try_empty(number)

    def original(self, sizes):
        inputs = random_inputs(self.given, sizes)
        results = self.run(inputs, len(sizes))
        return None if results is None else (sizes, inputs, results)

    def run(self, inputs, number):
        """What Python computes. Where it takes no such number, of each batch by itself."""
        results = attempt(lambda *tensors: self.plan.outputs(*tensors, batch_dims=number), *inputs)
        if results is not None or number <= self.dims or not self.dims or not inputs[0].shape[0]:
            return results
        parts = [self.run([one[i] for one in inputs], number - 1) for i in range(inputs[0].shape[0])]
        if None in parts:
            return None
        each = tuple(torch.stack(one, self.front) for one in zip(*parts))
        # The code may take more dimensions for others than those of the batch, and compute something else.
        whole = attempt(lambda *tensors: self.plan.outputs(*tensors, batch_dims=0), *inputs) if inputs[0].shape[0] > 1 else None
        return each if whole is None or largest_difference(whole, each) <= self.tolerance else None

    def holds(self, tried, how):
        sizes, inputs, want = tried
        have = attempt(how, sizes, inputs)
        return have is not None and largest_difference(want, have) <= self.tolerance

    def takes(self, number):
        return number in self.direct or min(number, max(3, self.dims + 1)) in self.flat

    def called(self, sizes, inputs):
        """As the library calls it."""
        return (self.as_it_is if len(sizes) in self.direct else self.flattened)(sizes, inputs)

    def as_it_is(self, sizes, inputs):
        return self.candidate(*inputs)

    def flattened(self, sizes, inputs):
        results = as_tuple(self.candidate(*(merged(one, 0, len(sizes), self.dims) for one in inputs)))
        return tuple(restored(one, self.front, sizes, self.dims) for one in results)

    def try_empty(self, number):
        for place in range(number):
            tried = self.original(tuple(0 if i == place else 2 for i in range(number)))
            if tried is None and number != self.dims:
                continue  # Python takes none, and these are flattened
            for numbers, how in ((self.direct, self.as_it_is), (self.flat, self.flattened)):
                if number in numbers and not (tried and self.holds(tried, how)):
                    self.empty = False

    def meta(self):
        made = {"dims": self.dims, "direct": self.direct, "flat": self.flat}
        if self.plan.front:
            made["front"] = list(self.plan.front)
        return made if self.empty else {**made, "empty": False}

    def text(self):
        numbers = sorted({*self.direct, *self.flat})
        some = ", ".join(map(str, numbers)) or "none"
        return some + (" and more" if max(3, self.dims + 1) in self.flat else "") + (
            "" if self.empty else "; not those without rows")


def free_sizes(plan, candidate, given, tolerance):
    """For each input, the sizes of its dimensions behind the batch; -1 where others give what Python does, too."""
    made = [list(event) for event in given.events]
    places = [(i, dim) for i, event in enumerate(made) for dim in range(len(event))]
    sizes = (3,) * given.batch_dims

    def holds(group):
        first, at = group[0]
        for size in other_sizes(given.events[first][at]):
            events = [list(event) for event in given.events]
            for i, dim in group:
                events[i][dim] = size
            inputs = random_inputs(given, sizes, events=events)
            want, have = attempt(plan.outputs, *inputs), attempt(candidate, *inputs)
            if want is None or have is None or largest_difference(want, have) > tolerance:
                return False
        return True

    groups = [[one] for one in places]
    for size in sorted({given.events[i][dim] for i, dim in places}):
        groups.append([(i, dim) for i, dim in places if given.events[i][dim] == size])
    for group in groups:
        left = [(i, dim) for i, dim in group if made[i][dim] != -1]
        if left and holds(group):
            for i, dim in left:
                made[i][dim] = -1
    return made


def other_sizes(size):
    return {1, size + 1, 2 * size + 1} - {size}


def is_recurrent(candidate):
    """Whether it holds a layer that libtorch's interpreter crashes on if its input has other dimensions."""
    return any(any(candidate.inlined_graph.findAllNodes(f"aten::{kind}")) for kind in RECURRENT)


class Followed(TorchDispatchMode):
    """Follows what is computed of the inputs to where Python takes a number out of a tensor, as a branch does. The truth value
    with the number `turned` is given as its opposite."""

    def __init__(self, inputs, turned=None):
        super().__init__()
        self.kept, self.of, self.taken = list(inputs), {}, set()
        self.turned, self.decisions = turned, []
        for i, one in enumerate(inputs):
            self.of.setdefault(self.place(one), set()).add(i)

    @staticmethod
    def place(tensor):
        return tensor.untyped_storage().data_ptr()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        tensors = [one for one in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        sources = set().union(*(self.of.get(self.place(one), set()) for one in tensors)) if tensors else set()
        if func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default) and sources:
            if not isinstance(result, bool):
                self.taken |= sources
                return result
            self.decisions.append(sources)
            return result != (len(self.decisions) - 1 == self.turned)
        for one in torch.utils._pytree.tree_leaves(result):
            if isinstance(one, torch.Tensor) and sources:
                self.kept.append(one)  # so that nothing else gets its place
                self.of.setdefault(self.place(one), set()).update(sources)
        return result


class Left(TorchFunctionMode):
    """Where values go from a tensor into Python or NumPy at once, which no dispatcher sees."""

    def __init__(self, followed):
        super().__init__()
        self.followed = followed

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__):
            self.followed.taken |= self.followed.of.get(Followed.place(args[0]), set())
        return func(*args, **(kwargs or {}))


def followed(plan, inputs, turned=None):
    inputs = [one.clone() for one in inputs]
    with torch.no_grad(), Followed(inputs, turned) as found, Left(found):
        plan.outputs(*inputs)
    return found


def branches_on(plan, inputs):
    """The inputs whose values decide which way the code goes. A check whose other way is an error decides nothing."""
    found = followed(plan, inputs)
    decide = set(found.taken)
    for i, sources in enumerate(found.decisions):
        if not sources <= decide and not is_check(plan, inputs, i):
            decide |= sources
    return sorted(decide)


def is_check(plan, inputs, i):
    """Whether the other way ends at a `raise` or an `assert`. An operator that fails is none: it may have got other inputs."""
    try:
        followed(plan, inputs, turned=i)
        return False
    except Exception as error:  # noqa: BLE001: whatever a check raises
        while (first := error.__cause__ or error.__context__) and first.__traceback__:
            error = first
        last = error.__traceback__
        while last.tb_next:
            last = last.tb_next
        return last.tb_frame.f_code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def depends_on_size(plan, candidate, given, tolerance):
    """Whether a trace holds for the batch sizes near that of the example alone, as behind a branch that asks for the size."""
    numbers = sum(math.prod(event) for event in given.events)
    rows = min(MANY_ROWS, MANY_NUMBERS // max(numbers, 1))
    if not given.batch_dims or rows <= max(ROWS):
        return False
    inputs = random_inputs(given, (rows, *([1] * (given.batch_dims - 1))))
    want, have = attempt(plan.outputs, *inputs), attempt(candidate, *inputs)
    return want is not None and (have is None or largest_difference(want, have) > tolerance)
