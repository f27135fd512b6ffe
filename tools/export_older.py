"""Functions of torch in operators that libtorch 1.13 has as well, for export_module.py: a file that a new torch writes can be
read by an old libtorch."""
import contextlib

import torch
from torch.nn import functional as F

# Operators that libtorch 1.13 lacks, which a network may hold all the same.
NEWER = ("aten::scaled_dot_product_attention", "aten::rms_norm", "aten::_prelu_kernel", "aten::_safe_softmax", "aten::_unsafe_index")
NEWER_FORMS = ("aten::squeeze.dims", "aten::squeeze_.dims", "aten::any.dims", "aten::all.dims")


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        key, value = (one.repeat_interleave(query.size(-3) // one.size(-3), -3) for one in (key, value))
    scores = query @ key.transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
    if attn_mask is None:
        return torch.dropout(scores.softmax(-1), dropout_p, dropout_p > 0) @ value
    scores = scores.masked_fill(~attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    nothing = (scores == -torch.inf).all(-1, keepdim=True)  # such a row sees zeros
    return torch.dropout(scores.softmax(-1).masked_fill(nothing, 0.0), dropout_p, dropout_p > 0) @ value


def rms_norm(input, normalized_shape, weight=None, eps=None):  # noqa: A002: as torch names it
    dims = [-1 - i for i in range(len(normalized_shape))]
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    found = input * torch.rsqrt(input.square().mean(dims, keepdim=True) + eps)
    return found if weight is None else found * weight


OLDER = {"scaled_dot_product_attention": attention, "rms_norm": rms_norm}


@contextlib.contextmanager
def older():
    """Code that is followed inside calls these functions."""
    theirs = {name: getattr(F, name) for name in OLDER if hasattr(F, name)}
    try:
        for name in theirs:
            setattr(F, name, OLDER[name])
        yield
    finally:
        for name, function in theirs.items():
            setattr(F, name, function)


def newer_operators(candidate):
    """Those in a TorchScript module that libtorch 1.13 lacks."""
    graph = candidate.inlined_graph  # whose nodes live as long as it does
    found = {kind for kind in NEWER if any(graph.findAllNodes(kind))}
    for form in NEWER_FORMS:
        nodes = graph.findAllNodes(form.partition(".")[0])
        found |= {form for node in nodes if node.schema().partition("(")[0] == form}
    return sorted(found)
