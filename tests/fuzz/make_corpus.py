#!/usr/bin/env python3
"""Writes the first inputs of the fuzzers, from the folders in tests/data/golden.

    tests/fuzz/make_corpus.py

What the fuzzers have found later lies beside them under other names, and so do messages, which td_send() has
made of the same folders.
"""
import pathlib
import pickle
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
            write(fuzzer, path.stem + ".pickle", b"\0" + archive.read("archive/data.pkl"))

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
    '{"distribution": "TruncatedNormal", "in_keys": ["loc", "scale"], "out_key": "c", "tanh_loc": true, "upscale": 1}]}]}',
    "unknown": '{"version": 2, "in_keys": [], "then": [{"kind": "gru", "size": 3}], "more": null}',
    "text": '{"in_keys": ["a\\u00e9\\n\\"", ["\\ud83d\\ude00"]], "out_keys": [["x"]]}',
}
for name, text in KEYS.items():
    write("module_keys", name, text.encode())
