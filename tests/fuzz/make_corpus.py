#!/usr/bin/env python3
"""Writes the first inputs of the fuzzers, from the folders in tests/data/golden.

    tests/fuzz/make_corpus.py

What the fuzzers have found later lies beside them under other names, and so do messages, which td_send() has
made of the same folders.
"""
import pathlib
import pickle
import struct
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "data/golden"
LONGEST = 6000


def write(fuzzer, name, data):
    folder = HERE / "corpus" / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    if len(data) <= LONGEST:
        (folder / name).write_bytes(data)


def packed(folder):
    """The files of a folder in one text, as Scratch::unpack() reads it."""
    data = b"\0"
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data += b"\n@@ " + str(path.relative_to(folder)).encode() + b"\n" + path.read_bytes()
    return data


for path in sorted(GOLDEN.iterdir()):
    if (path / "meta.json").is_file():
        write("folder", path.name, packed(path))
    elif path.suffix == ".tdz":
        write("archive", path.stem, b"\0" + path.read_bytes())
    elif path.name == "consolidated" or path.suffix == ".consolidated":
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            write("consolidated", file.name, file.read_bytes())

REPLAY = HERE.parent / "golden2/data"
for path in sorted(REPLAY.glob("replay_*")):
    write("replay_folder", path.name, packed(path))
wrapped = packed(REPLAY / "replay_wrapped")
tree = b"".join(struct.pack("<d", 1.0 + i) for i in range(64))
SETTINGS = b"\n@@ sampler/sampler_metadata.json\n{\"_alpha\": 0.7, \"_beta\": 0.9, \"_eps\": 1e-08, \"_max_priority\": [1.0, 3]}"
write("replay_folder", "prioritized", wrapped + b"\n@@ sampler/sumtree.memmap\n" + tree + b"\n@@ sampler/mintree.memmap\n" +
      tree + SETTINGS)
write("replay_folder", "live", b"\1" + wrapped[1:] + b"\n@@ live.bin\nTDreply1" + struct.pack("<7q", 64, 64, 5, 133, 0, 2, 130))
write("replay_folder", "live_gap", b"\1" + wrapped[1:] + b"\n@@ live.bin\nTDreply1" +
      struct.pack("<7q", 64, 64, 2, 130, 9, 2, 130))
write("replay_folder", "links", b"\0\n@@ writer -> ../..\n\n@@ live.bin -> ../secret\n")

# States of loaders: how it draws, then changes of an entry: which, what becomes of it, a number.
for name, how, changes in (
        ("same", 0, ()), ("later", 1, ((0, 0, 2), (1, 0, 3), (3, 0, -1))), ("past", 65, ((0, 0, 5), (1, 0, 99))),
        ("far", 1, ((0, 0, 2**63 - 1), (1, 0, 2**62))), ("negative", 4, ((1, 0, -1), (2, 0, -1))),
        ("rows", 193, ((2, 0, 7), (1, 0, 1))), ("more_rows", 17, ((2, 0, 2**40), (1, 0, 2**30))),
        ("slices", 8, ((0, 0, 1), (1, 0, 1))), ("drawn", 2, ((1, 0, 4),)), ("ranks", 33, ((1, 0, 2),)),
        ("settings", 1, ((0x84, 0, 5),)), ("forms", 1, ((1, 201, 1), (2, 220, 1))), ("gone", 1, ((0, 255, 0),))):
    write("loader_state", name, bytes([how]) + b"".join(struct.pack("<BBq", *one) for one in changes))

# Counts of rows, of a folder with longer files than its meta.json files say.
GROWN = b"\n@@ meta.json\n" + (
    b'{"a":{"device":"cpu","shape":[2],"dtype":"torch.int64","is_nested":false,"type":null},'
    b'"n":{"type":"TensorDict"},"shape":[2],"device":"cpu","_type":"<class \'tensordict._td.TensorDict\'>"}')
GROWN += b"\n@@ n/meta.json\n" + (
    b'{"b":{"device":"cpu","shape":[2,2],"dtype":"torch.uint8","is_nested":false,"type":null},'
    b'"shape":[2],"device":"cpu","_type":"<class \'tensordict._td.TensorDict\'>"}')
GROWN += b"\n@@ a.memmap\n" + bytes(range(40)) + b"\n@@ n/b.memmap\n" + bytes(range(10))
for name, numbers in {"five": (2, 5, 1), "two": (2, 2, 7), "six": (2, 6, 1), "less": (3, 5, 1), "huge": (1, 2**63 - 1, 1),
                      "zero": (0, 5, 1), "none": (0, 0, 1)}.items():
    write("row_count", name, b"\1\x18" + struct.pack("<3q", *numbers) + GROWN)
write("row_count", "raw", b"\0\x80" + struct.pack("<Q7q", 0x3173776F72254454, 1, 2, 5, 0, 0, 0, 0) * 2 + GROWN)
write("row_count", "cut", b"\0\x07TD%rows" + GROWN)
write("row_count", "folder", b"\0\x07TD%rows\n@@ meta.json/x\ny")

for flags in range(16):
    write("hdf5", f"steps_{flags}", bytes([flags]) + bytes((flags * 37 + i * i * 11 + i) % 256 for i in range(300)))

for flags in range(16):
    write("arrow", f"steps_{flags}", bytes([flags * 5]) + bytes((flags * 91 + i * i * 7 + i * 3) % 256 for i in range(200)))

for path in sorted((GOLDEN.parent / "videos").glob("*.mp4")):
    write("video", path.stem, path.read_bytes())

for path in sorted((GOLDEN.parent / "datasets/lerobot").glob("*/data/*/*0.parquet")):
    whole = path.read_bytes()
    if len(whole) < 1 << 16:
        write("parquet", path.parts[-4], struct.pack("<H", len(whole)) + whole + whole[:len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]])

BAGS = GOLDEN.parent / "bags"
for path in sorted(BAGS.rglob("*.mcap")):
    bag = bytearray(path.read_bytes())
    at = 8
    while at + 9 <= len(bag):
        if bag[at] == 6:  # no sum of a chunk is checked
            bag[at + 33:at + 37] = bytes(4)
        at += 9 + struct.unpack("<Q", bag[at + 1:at + 9])[0]
    write("mcap", path.stem, bytes(bag))
MESSAGE = "int32 a\nfloat64[] b\nstring c\nB[2] d\nuint8[<=4] e\n===\nMSG: a/B\nbool x\nstring[] y\n"
CDR = (b"\0\1\0\0" + struct.pack("<ii", 7, 1) + struct.pack("<d", 0.5) + struct.pack("<I", 2) + b"x\0\0\0" + struct.pack("<II", 1, 0) +
       struct.pack("<II", 1, 1) + struct.pack("<I", 2) + b"z\0\0\0" + struct.pack("<I", 2) + b"ab")
for name, count in {"one": 1, "two": 2, "cut": 1}.items():
    message = CDR[:-3] if name == "cut" else CDR
    write("cdr", name, MESSAGE.encode() + b"\0" + (bytes([len(message)]) + message) * count)

SUM = "# {} bytes\n{:032x}  {}\n"
for name in ("basic", "keys", "zero_batch"):
    folder = GOLDEN / name
    text = "# xxh128sum\n"
    for i, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        text += SUM.format(path.stat().st_size, i * 2**100 + 7, path.relative_to(folder))
    write("checksums", name, packed(folder)[1:] + b"\n@@ checksums\n" + text.encode())

write("folder", "link", packed(GOLDEN / "basic") + b"\n@@ n -> ../..\n\n@@ a.memmap -> ../secret.memmap\n")
for name, fields in {"plain": {"a": {1: [None, True, 2.5]}, "b": ("c",)}, "foreign": {"a": 1j, "b": {"c"}}}.items():
    write("folder", "record_" + name, packed(GOLDEN / "tensorclass") + b"\n@@ s/other.pickle\n" + pickle.dumps(fields, 4))
write("folder", "record_old", packed(GOLDEN / "tensorclass") +
      b"\n@@ s/meta.json\n{\"_type\":\"<class '__main__.Sample'>\",\"old\":[1,{\"a\":null}],\"none\":null}")
for name, text in {
    "csv": "\0x,y.z,b,\"q\"\"t\"\n1,2.5,true,a\n-3,,false,\"b,\nc\"\n",
    "csv_nested": "\4a.b,a.c\n1,nan\n2,1e999\n",
    "json": "\1[{\"x\":1,\"y\":[1,2],\"s\":\"t\"},{\"x\":null,\"y\":[3,4],\"s\":\"\\u00e9\"}]",
    "json_nested": "\5[{\"a.b\":1.5},{\"a.b\":2}]",
}.items():
    write("table", name, text.encode())
for i, text in enumerate(["0", "1:3", "..., 0", "::2, None, ...", "-1, ..., 0:1", "True", ":, :, -1:"]):
    write("index", f"text_{i}", text.encode())

for path in sorted((HERE.parent / "data/files").iterdir()):
    fuzzer = {".safetensors": "safetensors", ".npy": "numpy", ".npz": "numpy", ".pt": "pickled"}.get(path.suffix)
    if fuzzer:
        write(fuzzer, path.name, path.read_bytes())
    if path.suffix == ".pt" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            data = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            write(fuzzer, path.stem + ".pickle", b"\0" + archive.read(data))

# What a rank of a process group sends before the bytes.
LEAF = {"x": ("torch.uint8", [2], 0, 8, 6)}
ABOUT = {"device": None, "names": [None], "batch_size": [2], "is_locked": False}
SENT = {"cls": "TensorDict", "non_tensors": {}, "leaves": LEAF, "cls_metadata": ABOUT}
for name, more in {
    "plain": {"_total_bytes": 8},
    "all": {"_total_bytes": 8, "_max_bytes": 64, "_storage_device": "cpu", "_tensorclass_type": "m.C"},
    "nested": {"_total_bytes": 8, "n": SENT, "non_tensors": {"t": ("text", [2], "NonTensorData")}},
    "short": {"_total_bytes": 4},
    "huge": {"_total_bytes": 2**62, "_max_bytes": -1},
    "none": {},
}.items():
    write("group_metadata", name, pickle.dumps({**SENT, **more}, 5))

# The keys of a module, as archives hold them.
KEYS = {
    "plain": '{"in_keys": [["observation"]], "out_keys": [["action"]]}',
    "versioned": '{"version": 1, "in_keys": [["agents", "image"], "goal"], "out_keys": [["_"], ["a", "b", "c"]]}',
    "more": '{"more": {"in_keys": [1, {"out_keys": null}]}, "in_keys": [], "out_keys": []}',
    "wrong": '{"version": 2, "in_keys": [[]]}',
    "follows": '{"version": 2, "in_keys": ["x"], "out_keys": ["p"], "then": [{"kind": "normal_params", "in_key": ["p"], '
    '"scale_mapping": "biased_softplus_0.5", "scale_lb": 0.1}, {"kind": "probabilistic", "distributions": '
    '[{"distribution": "TanhNormal", "in_keys": ["loc", "scale"], "out_key": "a", "low": -2, "high": 2.5}], '
    '"interaction": "random", "return_log_prob": true, "seed": 7}], "select_out_keys": [["a"]]}',
    "composite": '{"version": 2, "in_keys": [], "out_keys": [], "then": [{"kind": "probabilistic", "num_samples": 3, '
    '"seed_key": ["s"], "distributions": [{"distribution": "Delta", "in_keys": [["d", "param"]], "out_key": "a", '
    '"log_prob_key": ["l"]}, {"distribution": "Categorical", "names": ["probs"], "in_keys": ["q"], "out_key": "b"}, '
    '{"distribution": "TruncatedNormal", "in_keys": ["loc", "scale"], "out_key": "c", "tanh_loc": true, "upscale": 1}, '
    '{"distribution": "Laplace", "in_keys": ["probs", "loc", "scale"], "out_key": "d", "mixture": true, "event": true}]}]}',
    "batch": '{"version": 3, "in_keys": ["x"], "out_keys": ["y"], "inputs": [{"dtype": "torch.float32", "shape": [-1, 4]}], '
    '"batch": {"dims": 1, "direct": [0, 1], "flat": [2, 3], "front": [3], "empty": false}}',
    "transformed": '{"version": 2, "in_keys": [], "out_keys": [], "then": [{"kind": "probabilistic", "distributions": '
    '[{"distribution": "Transformed", "base": "Normal", "in_keys": ["loc", "scale"], "out_key": "a", "event": true, '
    '"transforms": [{"transform": "safe_tanh", "cached": true}, {"transform": "affine", "loc": [1, 2], "scale": 0.5}], '
    '"joint": true, "estimates": 50, "values": {"mode": "none", "mean": "log_normal", "deterministic": "moved"}}]}]}',
    "unknown": '{"version": 2, "in_keys": [], "then": [{"kind": "gru", "size": 3}], "more": null}',
    "text": '{"in_keys": ["a\\u00e9\\n\\"", ["\\ud83d\\ude00"]], "out_keys": [["x"]]}',
}
for name, text in KEYS.items():
    write("module_keys", name, text.encode())


def resp(value):
    """A value as a server of Redis sends it: bytes, a number, None or a list."""
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(resp, value))
    return b"$%d\r\n%s\r\n" % (len(value), value)


def transaction(*answers):
    return b"+OK\r\n" + b"+QUEUED\r\n" * len(answers) + resp(list(answers))


# What fuzz/store.cpp asks for, one after the other, of a dictionary with the entry "a" alone.
FORM, A, TEXT = [b"[2]", None, None, None, None], struct.pack("<2f", 1, 2), b'["x", 1]'
HAS = [FORM, [b"a"]]
TENSOR, VALUE = [b"[2]", b"torch.float32", None, None], [None, None, b"1", b"json_array"]
PICKLED = [None, None, b"1", b"pickle"]
tensors = (transaction(*HAS) + transaction(*HAS, TENSOR, A) + transaction(*HAS, TENSOR, 8, A[:4]) +
           transaction(*HAS, TENSOR, 8, A) + transaction(*HAS, TENSOR) + transaction(TENSOR, A) + transaction(TENSOR, A) +
           transaction(*HAS) + transaction(TENSOR, 8, A) + resp(1) + b"+OK\r\n" + resp(1) +
           transaction(1, b"OK", 2, 1) + transaction(*HAS) +
           transaction(1, 1) + transaction([b"b"], 4, 2) + transaction([], 0, 2))
write("store", "tensor", tensors)
write("store", "values", transaction(*HAS) + transaction(*HAS, VALUE, TEXT) + transaction(*HAS, VALUE, 8, TEXT) * 2 +
      transaction(*HAS, VALUE) + transaction(VALUE, TEXT) * 2)
write("store", "pickle", transaction(*HAS) + transaction(*HAS, PICKLED, pickle.dumps([1, "two", None], 2)))
write("store", "changes", transaction(*HAS) + transaction(FORM, [b"a", b"n.b"], TENSOR, A) +
      transaction([b"[1]"] + [None] * 4, [b"n.b"], None, None, TENSOR, A) + transaction([None] * 5, []))
# A lazy stack of two elements, of shapes [1] and [2].
STACK = [[None, b"lazy_stack", b"2", b"0", b"[]"], [b"a"]]
UNEVEN = [b"[2, 1]", b"torch.float32", None, None, b"0", b"[[1], [2]]", b"stack"]
write("store", "stack", transaction(*STACK) + transaction(*STACK, UNEVEN, A + A[:4]) + transaction(*STACK, UNEVEN, 12, A[:4]) +
      transaction(*STACK, UNEVEN, A + A[:4]) + transaction(*STACK, UNEVEN) + transaction(UNEVEN, A + A[:4]))
write("store", "refused", b"+OK\r\n-OOM command not allowed\r\n+QUEUED\r\n-EXECABORT discarded\r\n")
write("store", "lists", b"*1000000000\r\n")
