#!/usr/bin/env python3
"""Writes the files of this folder, as safetensors, NumPy and torch.save write them.

    make.py [FOLDER]

Plain Python, so that the tests need none of the three. The values of each tensor count up from a number
given here; tests/capi/test_files.c knows them.
"""
import collections
import io
import json
import pathlib
import pickle
import struct
import sys
import types
import zipfile

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
CODES = {"b1": "?", "u1": "B", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "f2": "e", "f4": "f", "f8": "d"}


def count(code, first, n, order="<"):
    """first, first + 1, ...; of complex numbers the imaginary part is minus the real one."""
    if code in ("c8", "c16"):
        part = "f" if code == "c8" else "d"
        return b"".join(struct.pack(order + part + part, first + i, -(first + i)) for i in range(n))
    if code == "b1":
        return bytes((first + i) % 3 == 0 for i in range(n))
    return b"".join(struct.pack(order + CODES[code], first + i) for i in range(n))


def write(name, data):
    (FOLDER / name).write_bytes(data)


def safetensors(name, tensors, metadata=None):
    """As the reference implementation: large elements first, then by name."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, dtype, shape, values in tensors:
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    write(name, struct.pack("<Q", len(text)) + text + data)


def npy(descr, fortran, shape, values, version=1):
    text = ("{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (descr, fortran, shape)).encode(
        "utf-8" if version == 3 else "latin1")
    length = 2 if version == 1 else 4
    text += b" " * (-(8 + length + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + values


def npz(name, arrays, method):
    with zipfile.ZipFile(FOLDER / name, "w", method) as archive:
        for key, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), data, method)


# What a pickle of torch.save names, without torch.
def module(name):
    made = types.ModuleType(name)
    sys.modules[name] = made
    return made


class Storage:
    def __init__(self, kind, key, data, numel):
        self.kind, self.key, self.data, self.numel = kind, key, data, numel


class Tensor:
    def __init__(self, storage, offset, size, stride, parameter=False):
        self.args = (storage, offset, size, stride, False, collections.OrderedDict())
        self.parameter = parameter

    def __reduce_ex__(self, protocol):
        if self.parameter:
            return _utils._rebuild_parameter, (Tensor(*self.args[:4]), True, collections.OrderedDict())
        return _utils._rebuild_tensor_v2, self.args


torch, _utils = module("torch"), module("torch._utils")
for owner, function in (("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_parameter")):
    exec("def %s(*args): pass" % function)
    locals()[function].__module__ = owner
    setattr(sys.modules[owner], function, locals()[function])
for kind in ("Float", "Long", "Double", "Bool", "Half", "Int"):
    setattr(torch, kind + "Storage", type(kind + "Storage", (), {"__module__": "torch"}))


class Size(tuple):
    def __reduce__(self):
        return Size, (tuple(self),)


Size.__module__, Size.__qualname__ = "torch", "Size"
torch.Size = Size


class Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, protocol=2)
        self.storages = {}

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        self.storages[value.key] = value.data
        return ("storage", getattr(torch, value.kind + "Storage"), value.key, "cpu", value.numel)


def pt(name, value, byteorder=b"little", aligned=True, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    pickler = Pickler(file)
    pickler.dump(value)
    records = {"data.pkl": file.getvalue(), "byteorder": byteorder}
    records.update({"data/" + key: data for key, data in pickler.storages.items()})
    records["version"] = b"3\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for key, data in records.items():
            info = zipfile.ZipInfo("archive/" + key, (1980, 1, 1, 0, 0, 0))
            if aligned:  # by a field of the header that means nothing, as torch does
                begin = out.tell() + 30 + len(info.filename) + 4
                info.extra = b"FB" + struct.pack("<H", -begin % 64) + b"Z" * (-begin % 64)
            archive.writestr(info, data, method)
    write(name, out.getvalue())


class Evil:
    def __reduce__(self):
        return print, ("run",)


def main():
    FOLDER.mkdir(exist_ok=True)
    safetensors("model.safetensors", [
        ("layer.weight", "I64", [2, 3], count("i8", 0, 6)),
        ("scale", "F64", [], count("f8", 7, 1)),
        ("z", "C64", [2], count("c8", 5, 2)),
        ("layer.bias", "F32", [3], count("f4", 1, 3)),
        ("n", "I32", [2], count("i4", -1, 2)),
        ("half", "BF16", [2], bytes.fromhex("803f0040")),
        ("h", "F16", [2], count("f2", 1, 2)),
        ("s", "I16", [2], count("i2", -2, 2)),
        ("i", "I8", [3], count("i1", -3, 3)),
        ("none", "U8", [0, 4], b""),
        ("u", "U8", [3], count("u1", 253, 3)),
        ("yes", "BOOL", [4], count("b1", 0, 4)),
    ], {"format": "pt", "note": "caf\u00e9 \"x\""})
    # Written by somebody who does not pad: nothing lies at a multiple of its size.
    header = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    header += b" " * (-len(header) % 8)
    write("unaligned.safetensors", struct.pack("<Q", len(header)) + header + b"\x07" + count("f4", 3, 2))

    for code in ("b1", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
        mark = "|" if code in ("b1", "u1", "i1") else "<"
        write("%s.npy" % code, npy(mark + code, False, (2, 3), count(code, 1, 6)))
    write("scalar.npy", npy("<f4", False, (), count("f4", 5, 1)))
    write("empty.npy", npy("<f8", False, (0, 4), b"", 2))
    write("fortran.npy", npy("<i4", True, (2, 3), count("i4", 0, 6), 2))
    write("big.npy", npy(">i4", False, (3,), count("i4", 1, 3, ">")))
    write("big_complex.npy", npy(">c8", False, (2,), count("c8", 1, 2, ">")))
    write("text.npy", npy("<U3", False, (1,), "abc".encode("utf-32-le")))
    write("objects.npy", npy("|O", False, (1,), pickle.dumps([1])))
    rows = b"".join(count("f4", i, 1) + count("u1", i, 1) + count("i2", 10 * i, 2, ">") for i in range(3))
    write("packed.npy", npy([("x", "<f4"), ("\u00e9", "|u1"), ("v", ">i2", (2,))], False, (3,), rows, 3))
    rows = b"".join(count("i8", i, 1) + count("f4", i, 3) + bytes(4) for i in range(4))
    write("records.npy", npy([("t", "<i8"), ("in", [("p", "<f4", (3,))]), ("", "|V4")], False, (2, 2), rows))

    arrays = {"a": npy("<f4", False, (2, 3), count("f4", 0, 6)), "n.b": npy("<i8", False, (2,), count("i8", 4, 2))}
    npz("stored.npz", arrays, zipfile.ZIP_STORED)
    npz("deflated.npz", arrays, zipfile.ZIP_DEFLATED)

    tied = Storage("Float", "0", count("f4", 0, 12), 12)
    longs = Storage("Long", "1", count("i8", 5, 3), 3)
    state = collections.OrderedDict([
        ("layer.weight", Tensor(tied, 0, (3, 4), (4, 1), parameter=True)),
        ("layer.tied", Tensor(tied, 0, (4, 3), (1, 4))),
        ("layer.row", Tensor(tied, 4, (4,), (1,))),
    ])
    state._metadata = collections.OrderedDict([("", {"version": 1})])
    for name, options in (("checkpoint.pt", {}), ("unaligned.pt", {"aligned": False}),
                          ("deflated.pt", {"method": zipfile.ZIP_DEFLATED})):
        pt(name, {
            "model": state, "epoch": 3, "best": float("inf"), "rate": 0.5, "big": 1 << 40, "name": "caf\u00e9",
            "done": False, "none": None, "shape": Size((2, 3)), "list": [1, "two", [3.0]],
            "steps": {0: Tensor(longs, 0, (3,), (1,)), 1: Tensor(longs, 2, (), ())},
            "pair": (Tensor(longs, 1, (2,), (1,)), 7), "empty": {}, "nothing": Tensor(longs, 3, (0, 2), (2, 1)),
        }, **options)
    pt("big.pt", {"a": Tensor(Storage("Float", "0", count("f4", 1, 3, ">"), 3), 0, (3,), (1,))}, b"big")
    pt("tensor.pt", Tensor(Storage("Double", "0", count("f8", 2, 2), 2), 0, (2,), (1,)))
    pt("evil.pt", {"a": Evil()})
    pt("beyond.pt", {"a": Tensor(longs, 1, (3,), (1,))})
    pt("short.pt", {"a": Tensor(Storage("Long", "0", bytes(8), 3), 0, (3,), (1,))})
    cycle = []
    cycle.append(cycle)
    pt("cycle.pt", {"a": cycle})
    write("old.pt", pickle.dumps(0x1950A86A20F9469CFC6C, 2))


main()
