#!/usr/bin/env python3
"""Turns manifest.json of the golden folders into a C table: golden_table.py MANIFEST OUTPUT."""
import json
import sys


def c_text(text):
    """A C string literal; every byte outside plain ASCII as three octal digits."""
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def c_path(text):
    names = json.loads(text)
    return f"{{{', '.join(map(c_text, names)) or 'NULL'}}}, {len(names)}"


def c_sizes(sizes):
    return f"{{{', '.join(map(str, sizes)) or '0'}}}, {len(sizes)}"


def dtype(name):
    return "TD_DTYPE_" + name.removeprefix("torch.").upper()


def rows(cases):
    yield "static const golden_leaf golden_leaves[] = {"
    for name, case in cases:
        for path, leaf in case["leaves"].items():
            if "ragged" in leaf:
                continue
            yield (f"    {{{c_text(name)}, {c_path(path)}, {dtype(leaf['dtype'])}, "
                   f"{c_sizes(leaf['shape'])}, {c_text(leaf['sha256'])}}},")
    yield "};\n\nstatic const golden_node golden_nodes[] = {"
    for name, case in cases:
        for path, node in case["nodes"].items():
            yield f"    {{{c_text(name)}, {c_path(path)}, {c_text(node['class'])}, {c_sizes(node['batch'])}}},"
    yield "};\n\nstatic const golden_data golden_values[] = {"
    for name, case in cases:
        for path, value in case["data"].items():
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
            yield f"    {{{c_text(name)}, {c_path(path)}, {c_text(text)}}},"
    yield "};"


HEAD = """/* Made by golden_table.py. */
typedef struct golden_leaf {
  const char *folder;
  const char *path[4];
  size_t path_len;
  td_dtype dtype;
  int64_t sizes[6];
  size_t dims;
  const char *sha256;
} golden_leaf;

typedef struct golden_node {
  const char *folder;
  const char *path[4];
  size_t path_len;
  const char *kind;
  int64_t batch[6];
  size_t dims;
} golden_node;

typedef struct golden_data {
  const char *folder;
  const char *path[4];
  size_t path_len;
  const char *json;
} golden_data;
"""


def main(manifest, output):
    with open(manifest, encoding="utf-8") as file:
        cases = [(n, c) for n, c in json.load(file)["cases"].items() if c["kind"] in ("memmap", "archive")]
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n" + "\n".join(rows(cases)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
