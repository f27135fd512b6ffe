"""Dictionaries at random, and what differs between two of them, for group_cases.py and file_cases.py."""
import torch
from tensordict import LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict

REAL = ["float32", "float64", "float16", "bfloat16"]
WHOLE = ["int8", "int16", "int32", "int64", "uint8"]
DTYPES = [*REAL, *WHOLE, "bool", "complex64"]  # Python's consolidate() fails where complex128 stands behind 8 bytes
NAMES = ["b", "a", "Z", "é", "a.b", "10", "9", "_x", "n0", "key with spaces"]


def tensor(rnd, batch, dtypes):
    sizes = [*batch, *rnd.choice([[], [1], [3], [2, 2], [0]])]
    made = torch.randint(0, 5, sizes).to(getattr(torch, rnd.choice(dtypes)))
    if made.is_complex():
        made = made * (1 + 2j)
    return made


def dictionary(rnd, batch, depth=2, dtypes=DTYPES, texts=True, lazy=True):
    td = TensorDict({}, batch)
    for name in rnd.sample(NAMES, rnd.randint(1, 5)):
        kind = rnd.random()
        if kind < 0.2 and depth:
            more = [2] if rnd.random() < 0.3 else []
            td.set(name, dictionary(rnd, [*batch, *more], depth - 1, dtypes, texts, lazy))
        elif kind < 0.3 and lazy and batch and batch[0] and depth:
            parts = [dictionary(rnd, batch[1:], 0, dtypes, False, False) for _ in range(1)] * batch[0]
            td.set(name, LazyStackedTensorDict(*[one.clone() for one in parts], stack_dim=0))
        elif kind < 0.4 and texts:
            value = rnd.choice(["text", "é\n", {"k": [1, None]}, 2.5, True, [1, "x"]])
            td.set(name, NonTensorData(value, batch_size=batch))
        elif kind < 0.45 and texts and batch and batch[0]:
            td.set(name, NonTensorStack(*[f"row {i}" for i in range(batch[0])]) if len(batch) == 1 else NonTensorData("x", batch_size=batch))
        else:
            td.set(name, tensor(rnd, batch, dtypes))
    return td


def leaves(td, path=()):
    if isinstance(td, LazyStackedTensorDict) and not isinstance(td, NonTensorStack):
        for i, one in enumerate(td.tensordicts):
            yield from leaves(one, (*path, i))
        return
    yield (*path, "batch"), list(td.batch_size)
    for key in td.keys():
        value = td.get(key)
        if isinstance(value, (NonTensorData, NonTensorStack)):
            yield (*path, key), value.tolist() if isinstance(value, NonTensorStack) else value.data
        elif isinstance(value, torch.Tensor) or not hasattr(value, "batch_size"):
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def difference(got, want, texts=True):
    a, b = (dict(leaves(one)) for one in (got, want))
    if a.keys() != b.keys():
        return f"keys {sorted(set(a) ^ set(b), key=str)}"
    for key, one in a.items():
        other = b[key]
        if isinstance(one, torch.Tensor):
            if one.dtype != other.dtype or one.shape != other.shape or not torch.equal(one, other):
                return f"{key}: {one.dtype} {one.flatten()[:4].tolist()} is not {other.dtype} {other.flatten()[:4].tolist()}"
        elif texts and repr(one) != repr(other):  # NaN, and 1 beside True
            return f"{key}: {one!r} is not {other!r}"
    return None
