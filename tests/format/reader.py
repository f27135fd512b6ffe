"""A reader that follows docs/format.md, rule by rule, and uses nothing but Python's own library."""
import json
import math
import pathlib
import struct
import zipfile

SIZES = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "uint32": 4, "uint64": 8, "float16": 2,
         "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16}  # F7
CLASS = "<class 'tensordict.{}'>"
DICTIONARY, LAZY = CLASS.format("_td.TensorDict"), CLASS.format("_lazy.LazyStackedTensorDict")
VALUES = {CLASS.format("tensorclass.NonTensorData"), CLASS.format("tensorclass.MetaData")}
VALUE_FOR_EACH_ROW = CLASS.format("tensorclass.NonTensorStack")
PUBLIC = {"tensordict:TensorDict": DICTIONARY, "tensordict:LazyStackedTensorDict": LAZY, "tensordict:NonTensorStack": VALUE_FOR_EACH_ROW}


class Refused(Exception):
    pass


class Tree:
    """What was read: by path, leaves (dtype, shape or shapes of parts, bytes), values, and nodes (batch size, names)."""

    def __init__(self):
        self.leaves, self.data, self.nodes = {}, {}, {}


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def read(self, name):
        file = self.path / name
        return file.read_bytes() if file.is_file() else None


class Archive:  # F16
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)

    def read(self, name):
        return self.zip.read(name) if name in self.zip.namelist() else None


def file_name(key):  # F10
    if key == "":
        return "%"
    if key in (".", ".."):
        return key.replace(".", "%2E")
    return "".join(f"%{ord(c):02X}" if c in '/<>:"|?*\\ %' or ord(c) < 32 or ord(c) == 127 else c for c in key)


def leaf(source, base, key, entry):
    dtype, shape = entry["dtype"], entry["shape"]
    size = SIZES[dtype.removeprefix("torch.")]
    values = source.read(base + file_name(key) + ".memmap")
    if entry.get("is_nested"):  # F9
        count = shape[0] * shape[1]
        table = struct.unpack(f"<{count}q", source.read(base + file_name(key) + ".shape.memmap")[: 8 * count])
        shape = [list(table[at : at + shape[1]]) for at in range(0, count, shape[1])]
        wanted = sum(math.prod(part) for part in shape) * size
    else:
        wanted = math.prod(shape) * size
    if values is None and wanted == 0:  # F8
        values = b""
    if values is None or len(values) < wanted:
        raise Refused(f"{base}{key}: {wanted} bytes are declared")
    return dtype, shape, values[:wanted]  # F6


def node(source, base, path, tree):
    """Reads the node in a folder; gives its batch size."""
    meta = json.loads(source.read(base + "meta.json"))  # F1, F2
    entries = {key: value for key, value in meta.items() if isinstance(value, dict)}  # F3
    fields = {key: value for key, value in meta.items() if not isinstance(value, dict)}
    version = fields.get("_format_version")
    if isinstance(version, int) and version > 1:  # F4
        raise Refused(f"{base}: version {version}")
    kind = fields["_type"]
    if kind not in VALUES | {DICTIONARY, LAZY, VALUE_FOR_EACH_ROW}:
        kind = PUBLIC.get(fields.get("_class"), kind)
    if kind in VALUES or kind == VALUE_FOR_EACH_ROW:  # F12, F13
        tree.data[path] = meta["data"]
        return None
    if kind == LAZY:  # F11
        batches = []
        while source.read(f"{base}{len(batches)}/meta.json") is not None:
            at = len(batches)
            batches.append(node(source, f"{base}{at}/", path + (f"#{at}",), tree))
        inner = [fields.get("stack_dim_name")]
        batch = list(batches[0])
        batch.insert(fields["stack_dim"], len(batches))
        names = list(tree.nodes[path + ("#0",)][1] or [None] * len(batches[0]))
        names.insert(fields["stack_dim"], inner[0])
        tree.nodes[path] = batch, names if any(names) else None
        return batch
    if kind != DICTIONARY:  # F15
        return node(source, base + "_tensordict/", path, tree)
    tree.nodes[path] = fields.get("shape", []), fields.get("_names")
    for key, entry in entries.items():
        if "type" in entry:  # F5
            batch = node(source, f"{base}{file_name(key)}/", path + (key,), tree)
            if batch is not None and batch[: len(tree.nodes[path][0])] != tree.nodes[path][0]:
                raise Refused(f"{base}{key}: batch size {batch}")
        else:
            tree.leaves[path + (key,)] = leaf(source, base, key, entry)
    return tree.nodes[path][0]


def consolidated(file):  # F17
    data = pathlib.Path(file).read_bytes()
    length = struct.unpack("<Q", data[-8:])[0]
    tree = Tree()
    packed(json.loads(data[-8 - length : -8]), data, (), tree)
    return tree


def packed(described, data, path, tree):  # F18
    meta, leaves = described["cls_metadata"], {}
    for key, (dtype, shape, first, end, padding, *_) in described["leaves"].items():
        leaves[key] = dtype, shape, data[first : end - padding]
    for key in [key for key in leaves if key.startswith("<NJT_VALUES>")]:  # F19
        dtype, shape, values = leaves.pop(key)
        offsets = leaves.pop(key.replace("VALUES", "OFFSETS"))[2]
        ends = struct.unpack(f"<{len(offsets) // 8}q", offsets)
        leaves[key.removeprefix("<NJT_VALUES>")] = dtype, [[b - a, *shape[1:]] for a, b in zip(ends, ends[1:])], values
    tree.leaves.update({path + (key,): value for key, value in leaves.items()})
    values = {key: value[0] for key, value in described["non_tensors"].items()}
    if described["cls"] == "NonTensorStack":
        tree.data[path] = [values[str(at)] for at in range(len(values))]
        return None
    tree.data.update({path + (key,): value for key, value in values.items()})
    members = {key: value for key, value in described.items() if key not in ("cls", "cls_metadata", "leaves", "non_tensors")}
    lazy = "stack_dim" in meta
    batches = [packed(member, data, path + (f"#{key}" if lazy else key,), tree) for key, member in members.items()]
    if lazy:
        batch = list(batches[0])
        batch.insert(meta["stack_dim"], len(batches))
        names = list(tree.nodes[path + ("#0",)][1] or [None] * len(batches[0]))
        names.insert(meta["stack_dim"], meta.get("stack_dim_name"))
    else:
        batch, names = meta["batch_size"], meta["names"]
    tree.nodes[path] = batch, names if any(names) else None
    return batch


def read(place):
    place = pathlib.Path(place)
    if place.is_file() and place.suffix != ".tdz":
        return consolidated(place)
    tree = Tree()
    node(Folder(place) if place.is_dir() else Archive(place), "", (), tree)
    return tree
