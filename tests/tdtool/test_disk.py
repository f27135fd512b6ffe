#!/usr/bin/env python3
"""What tdtool says without the library is what the library says; what it is not sure of it leaves to the library.

usage: test_disk.py TDTOOL [TEST…]
"""
import collections
import concurrent.futures
import io
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

import sample

TOOL = pathlib.Path(sys.argv[1]).resolve()
MAIN = TOOL.with_name("tdtool-main")
DATA = sample.GOLDEN.parent
ENVIRONMENT = {**{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}, "LC_ALL": "C.UTF-8"}
LONGEST = 120  # seconds: guards against hanging only
# Of another dtype.
LEFT = {"objects.npy", "text.npy"}


def call(program, *arguments, where=None, command="show"):
    done = subprocess.run([program, command, *map(str, arguments)], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=ENVIRONMENT, timeout=LONGEST)
    return done.returncode, done.stdout, done.stderr


def array(shape, descr="'<f4'", values=None, version=1, more=""):
    """A .npy file; `descr` as NumPy writes it."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape!r}, {more}}}".encode()
    width = 2 if version == 1 else 4
    text += b" " * (-(9 + width + len(text)) % 64) + b"\n"
    if values is None:
        count = 4
        for size in shape:
            count *= size
        values = bytes(count)
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(width, "little") + text + values


def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(first, past, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, past]}


def archive(entries, method=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as made:
        for name, data in entries:
            made.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return content.getvalue()


class Disk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.where = pathlib.Path(cls.folder.name)
        # Beside this one lies no tdtool-main: what it shows, it shows alone.
        cls.alone = cls.where / "alone" / "tdtool"
        cls.alone.parent.mkdir()
        shutil.copy(TOOL, cls.alone)
        sample.rollout(cls.where / "rollout")
        sample.write_node(cls.where / "dots", [2], {"a.b": ("uint8", [2], [1, 2]), "x": ("int64", [2, 0], [])}, [],
                          {"list": [1, {"k": None}, "t\u00e9xt"]})
        cls.made = cls.where / "made"
        cls.made.mkdir()
        wanted = [("rollout", "s.tdz"), ("rollout", "z.tdz", "--compress"), ("rollout", "a.safetensors"),
                  ("rollout", "s.npz", "--tensors"), ("rollout", "z.npz", "--tensors", "--compress"), ("rollout", "a.npy", "--tensors"),
                  ("dots", "dots.tdz"), ("dots", "dots.safetensors"), (sample.GOLDEN / "dtypes", "dtypes.tdz"),
                  (sample.GOLDEN / "longer_nested_batch", "longer.safetensors")]
        for source, name, *more in wanted:
            subprocess.run([TOOL, "convert", cls.where / source, cls.made / name, *more], check=True, stdout=subprocess.DEVNULL,
                           env=ENVIRONMENT)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def shown(self, *arguments):
        """What is shown without the library; None where it is left to the library, and nothing is printed."""
        status, text, said = call(self.alone, *arguments)
        if status == 0:
            self.assertEqual(said, b"", arguments)
            return text
        self.assertEqual((status, text), (3, b""), (arguments, said))
        self.assertRegex(said, rb"\Atdtool: .*tdtool-main\).*\n\Z")
        return None

    def test_the_part_called_by_itself(self):
        for arguments in (["--help"], ["show", "--help"], ["grep", "-h"]):
            status, text, said = call(MAIN, *arguments)
            self.assertEqual((status, text, said), (2, b"", b"tdtool: this is a part of tdtool, which starts it for a command\n"),
                             arguments)

    def agree(self, all_arguments):
        """Each is shown without the library, as the library shows it."""
        def pair(arguments):
            return arguments, self.shown(*arguments), call(MAIN, *arguments)

        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            for arguments, found, main in threads.map(pair, all_arguments):
                self.assertIsNotNone(found, arguments)
                self.assertEqual((0, found, b""), main, arguments)

    def shown_bytes(self, content, *more, name="file"):
        path = self.where / name
        path.write_bytes(content)
        return self.shown(path, *more)

    def test_samples_are_shown_as_the_library_shows_them(self):
        wanted = []
        files = [*DATA.glob("files/*.np[yz]"), *DATA.glob("files/*.safetensors"), *DATA.glob("golden/*.tdz"), *self.made.iterdir()]
        self.assertGreaterEqual(len(files), 36)
        for path in sorted(files):
            if path.name in LEFT:
                self.assertIsNone(self.shown(path), path)
                continue
            entries = json.loads(self.shown(path, "--json"))["entries"]
            keys = {entry["kind"]: "/".join(name.replace("/", "\\/") for name in entry["path"]) for entry in entries}
            wanted.append([path])
            for kind in keys if path.parent == self.made else list(keys)[:1]:
                wanted.append([path, keys[kind], "--json"])
        self.agree(wanted)

    def test_other_commands_say_what_the_library_says(self):
        """Or leave it to the library, with nothing printed."""
        samples = [self.where / "rollout", self.where / "dots", *sorted(self.made.iterdir())]
        golden = sorted(path for path in (DATA / "golden15").iterdir() if path.name != "manifest.json")
        self.assertGreaterEqual(len(golden), 30)
        wanted = [(command, path) for command, paths in (("report", samples), ("plot", samples), ("show", golden[::3]), ("stats", golden[1::3]))
                  for path in paths]

        def pair(command, path):
            alone = call(self.alone, path, command=command)
            return command, path, alone, None if alone[0] == 3 else call(MAIN, path, command=command)

        compared = collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            for command, path, alone, main in threads.map(pair, *zip(*wanted)):
                self.assertEqual(alone[1:2] if main is None else alone, (b"",) if main is None else main, (command, path))
                compared[command] += main is not None
        for command, least in (("report", 8), ("plot", 8), ("show", 3), ("stats", 3)):
            self.assertGreaterEqual(compared[command], least, command)

    def test_values_are_right(self):
        part = json.loads(self.shown(self.made / "z.tdz", "next/done", "--json"))
        self.assertEqual(([entry["key"] for entry in part["entries"]], part["bytes"]), (["next", "next/done"], 100))
        part = json.loads(self.shown(self.made / "z.npz", "next", "--json"))
        self.assertEqual(([entry["key"] for entry in part["entries"]], part["batch_size"]), (["reward", "done"], []))
        records = array((3,), "[('x', '<f4', (2,)), ('', '|V4'), ('in', [('y', '>i8')])]", bytes(60))
        found = json.loads(self.shown_bytes(records, "--json"))
        self.assertEqual((found["batch_size"], found["bytes"]), ([3], 48))
        self.assertEqual([(entry["key"], entry.get("shape")) for entry in found["entries"]],
                         [("x", [3, 2]), ("in", None), ("in/y", [3])])

    def test_options_and_links_that_the_library_reads(self):
        for path in (self.made / "z.npz", self.made / "a.npy"):
            self.assertIsNone(self.shown(path, "--batch-dims", "1"))
            self.assertIsNone(self.shown(path, "no/such"))
            self.assertIsNotNone(self.shown(path, "--batch-dims", "0"))
            link = self.where / ("link" + path.suffix)
            link.symlink_to(path)
            self.assertIsNone(self.shown(link))
        self.assertIsNone(self.shown(self.made / "s.tdz", "--sha256", "0" * 64))
        # The content decides, not the name.
        self.assertIn(b"NumPy archive", self.shown_bytes((self.made / "z.npz").read_bytes(), name="a.pt"))

    def test_hostile_safetensors(self):
        good = {"a": tensor(0, 8, [2])}
        self.assertIsNotNone(self.shown_bytes(safetensors(good, bytes(8))))
        extras = lambda **more: {"__metadata__": {"tensordict": json.dumps({"format": 1, "dicts": [{"path": [], "batch_size": [2]}], **more})}, **good}
        self.assertIn(b"batch [2]", self.shown_bytes(safetensors(extras(), bytes(8))))
        value = lambda text, each=False: extras(values=[{"path": ["v"], "json": text, "each": each}])
        self.assertIn(b"[1,2]", self.shown_bytes(safetensors(value("[1, 2 ]"), bytes(8))))
        cases = [
            safetensors(good, bytes(7)), safetensors(good, bytes(9)), safetensors(good, bytes(8), length=2**63),
            safetensors(good, bytes(8), length=2**64 - 1), safetensors(b"{" + b"[" * 100000, b""), safetensors(b"{", b""),
            safetensors({"a": tensor(0, 8, [3])}, bytes(8)), safetensors({"a": tensor(8, 0, [2])}, bytes(8)),
            safetensors({"a": tensor(0, 8, [2]), "b": tensor(4, 8, [1])}, bytes(8)),
            safetensors({"a": tensor(0, 0, [0, 2**62, 2**62])}, b""), safetensors({"a": tensor(0, 8, [2**62, 4])}, bytes(8)),
            safetensors({"a": tensor(0, 8, [-2])}, bytes(8)), safetensors({"a": tensor(0, 8, [2.0])}, bytes(8)),
            safetensors({"a": tensor(0, 8, [2]), "a.b": tensor(8, 8, [0])}, bytes(8)),
            safetensors({"a\0b": tensor(0, 8, [2])}, bytes(8)), safetensors({"a": tensor(0, 8, [4], "U16")}, bytes(8)),
            safetensors({"a": {**tensor(0, 8, [2]), "more": 1}}, bytes(8)), safetensors({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
            safetensors(json.dumps(good).encode()[:-1] + b', "a": 1}', bytes(8)), safetensors({"." * 300: tensor(0, 8, [2])}, bytes(8)),
            safetensors(extras(format=2), bytes(8)), safetensors(extras(dicts=[{"path": ["a"], "batch_size": [2]}]), bytes(8)),
            safetensors(extras(dicts=[{"path": [], "batch_size": [3]}]), bytes(8)), safetensors(extras(paths=[{"name": "a", "path": []}]), bytes(8)),
            safetensors(extras(dicts=[{"path": [], "batch_size": [2], "names": ["t"]}]), bytes(8)),
            safetensors(value("1", each=True), bytes(8)), safetensors(value("1, 2"), bytes(8)), safetensors(value("[" * 5000), bytes(8)),
            safetensors({"__metadata__": {"tensordict": "[" * 100000}, **good}, bytes(8)),
        ]
        for number, content in enumerate(cases):
            self.assertIsNone(self.shown_bytes(content), number)

    def test_the_document_of_safetensors(self):
        """As Python's tensordict writes it; what it says of kinds and names is left to the library, and so is what is wrong."""
        good = {"batch_size": [2], "names": None, "keys": {"x": {"tensor": "a"}, "v": {"non_tensor": [1, None]}}}
        level = {"batch_size": [2, 0], "names": None, "keys": {}}

        def file(root, version=1, more=None, tensors=("a",)):
            entries = {name: tensor(8 * i, 8 * i + 8, [2]) for i, name in enumerate(tensors)}
            document = {"version": version, "root": root}
            return safetensors({"__metadata__": {"tensordict": json.dumps(document), **(more or {})}, **entries}, bytes(8 * len(tensors)))

        shown = self.shown_bytes(file({**good, "keys": {**good["keys"], "n": {"td": level}}}), "--json")
        self.assertEqual({entry["key"]: entry.get("shape", entry.get("batch_size")) for entry in json.loads(shown)["entries"]},
                         {"x": [2], "v": None, "n": [2, 0]})
        keys = lambda **more: {**good, "keys": {**good["keys"], **more}}
        deep = level
        for _ in range(300):
            deep = {"batch_size": [2], "names": None, "keys": {"d": {"td": deep}}}
        cases = [
            file(good, version=2), file(good, version="1"), file([]), file({}), file(good, more={"tdnative": "{}"}), file(good, tensors=("a", "b")),
            file({**good, "names": ["t"]}), file({**good, "stack_dim": 0}), file({**good, "class": "<class 'a.B'>"}), file({**good, "more": 1}),
            file({**good, "batch_size": [-2]}), file({**good, "batch_size": [2.0]}), file({**good, "batch_size": 2}), file({**good, "batch_size": [3]}),
            file({**good, "batch_size": [2**62, 4]}), file(keys(y={"tensor": "a"})), file(keys(y={"tensor": "b"})), file(keys(y={"tensor": 1})),
            file(keys(y={})), file(keys(y=1)), file(keys(y={"td": {}})), file(keys(y={"td": {**level, "batch_size": [3]}})),
            file(keys(x={"tensor": "a", "unbatched": True})), file(keys(**{"y\0": {"td": level}})), file(keys(y={"td": deep})),
            file(keys(y={"non_tensor": json.loads("[" * 200 + "]" * 200)})),
        ]
        for number, content in enumerate(cases):
            self.assertIsNone(self.shown_bytes(content), number)

    def test_hostile_numpy(self):
        self.assertIsNotNone(self.shown_bytes(array((3, 2))))
        self.assertIsNotNone(self.shown_bytes(array((3, 2), version=2)))
        cases = [
            array((3, 2), values=bytes(23)), array((2**62, 4), values=b""), array((0, 2**62, 2**62), values=b""), array((2**70,), values=b""),
            array((3,), "'<f4', 'descr': '<f8'"), array((3,), "'<u2'"), array((3,), "'O'"), array((3,), "[]"), array((3,), version=4),
            array((3,), more="'x': 1, "), array((3,), "[('x', '<f4'), ('x', '<f4')]", bytes(99)),
            array((3,), "[('x', '<f4', (2**62,))]"), array((1,), "[" + "('x', [" * 100), array((3,), "[('x\\x00', '<f4')]", bytes(99)),
            array((3,))[:40], array((3,))[:10], array((3,))[:8] + b"\xff\xff" + array((3,))[10:],
        ]
        for number, content in enumerate(cases):
            self.assertIsNone(self.shown_bytes(content), number)

    def test_archives_of_64_bits(self):
        """With fields of 64 bits in the entries, as NumPy writes them, and an end of 64 bits."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as made:
            with made.open("x.npy", "w", force_zip64=True) as entry:
                entry.write(array((3, 2)))
        plain = content.getvalue()
        end = plain.rindex(b"PK\5\6")
        size, at = struct.unpack_from("<II", plain, end + 12)
        record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, at)
        locator = lambda place: struct.pack("<4sIQI", b"PK\6\7", 0, place, 1)
        short = plain[end:end + 8] + b"\xff" * 12 + plain[end + 20:]
        wide = plain[:end] + record + locator(end) + short
        (self.where / "plain.npz").write_bytes(plain)
        (self.where / "wide.npz").write_bytes(wide)
        self.agree([[self.where / "plain.npz"], [self.where / "wide.npz", "x"]])
        for place in (0, end - 1, end + 56, 2**63, 2**64 - 1):
            self.assertIsNone(self.shown_bytes(plain[:end] + record + locator(place) + short), place)
        self.assertIsNone(self.shown_bytes(plain[:end] + short))

    def test_hostile_archives(self):
        """NumPy's; those of dictionaries are read by the same reader."""
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            good = archive([("x.npy", array((30, 20))), ("in.y.npy", array((2,)))], method)
            self.assertIn(b"in.y", self.shown_bytes(good))
            self.assertIn(b"x.y", self.shown_bytes(archive([("x.npy", array((3,))), ("x.y.npy", array((3,)))], method)))
            end, first = good.rindex(b"PK\5\6"), good.index(b"PK\1\2")
            second = good.index(b"PK\1\2", first + 1)
            patched = lambda at, *parts: good[:at] + b"".join(parts) + good[at + sum(map(len, parts)):]
            cases = [
                patched(first + 8, b"\1"), patched(first + 10, b"\x0c"), patched(first + 42, b"\1"), patched(first + 42, b"\xff" * 4),
                patched(first + 20, b"\xff" * 8), patched(first + 24, b"\xff\xff\xff\x7f"), patched(first + 46, b"X"),
                patched(first + 46, b"\0"), patched(first + 28, b"\xff\xff"), patched(first + 30, b"\4\0"),
                patched(second + 42, struct.pack("<I", 0)), patched(end + 10, b"\1\0"), patched(end + 10, b"\3\0"),
                patched(end + 12, b"\xff" * 4), patched(end + 16, b"\xff" * 4), patched(end + 16, b"\0" * 4), patched(end + 4, b"\1"),
                patched(end + 20, b"\1"), good + b"x", b"x" + good, good[:end],
                archive([("x.npy", array((3,))), ("x.txt", b"")], method),
                archive([("x.npy", array((3,), "[('x', '<f4')]"))], method), archive([("\u00e9.npy", array((3,)))], method), archive([]),
            ]
            if method == zipfile.ZIP_DEFLATED:
                cases.append(patched(first + 16, bytes([good[first + 16] ^ 1])))  # the checksum
            for number, content in enumerate(cases):
                self.assertIsNone(self.shown_bytes(content), (method, number))

    def test_hostile_dictionaries_in_archives(self):
        with zipfile.ZipFile(self.made / "s.tdz") as whole:
            good = [(name, whole.read(name)) for name in whole.namelist()]
        self.assertEqual(self.shown_bytes(archive(good)).split(b"\n", 1)[1], self.shown(self.made / "s.tdz").split(b"\n", 1)[1])
        deflated = archive(good, zipfile.ZIP_DEFLATED)
        self.assertIsNotNone(self.shown_bytes(deflated))
        cases = [
            [entry for entry in good if entry[0] != "action.memmap"], [entry for entry in good if entry[0] != "next/meta.json"],
            [(name, data[:-1]) for name, data in good], good + [(".%rows", bytes(128))], good + [("next", b"")],
            good + [("next/.%rows", b"")],
        ]
        for number, entries in enumerate(cases):
            self.assertIsNone(self.shown_bytes(archive(entries)), number)
        self.assertIsNone(self.shown_bytes(archive(good).replace(b'"keep the', b'"Keep the')))  # another checksum
        long_names = self.shown_bytes(archive([("a/" * 20000 + str(i), b"") for i in range(3)] + good))
        self.assertEqual((0, long_names, b""), call(MAIN, self.where / "file"))
        self.assertIsNone(self.shown(self.made / "s.tdz", "next/nothing"))

    def test_looking_commands(self):
        """Rows, summaries, searches and comparisons of folders and of other files."""
        rollout, archived = self.where / "rollout", self.made / "s.tdz"
        wanted = [
            ("head", rollout), ("head", rollout, "--json"), ("head", rollout, "--from", 30, "-n", 3), ("head", rollout, "next", "task"),
            ("head", archived, "--json"), ("head", self.made / "z.tdz"),
            ("stats", rollout), ("stats", rollout, "--json"), ("stats", self.made / "z.npz", "--json"),
            ("grep", "next/reward > 1 and not next/done", rollout), ("grep", "any(action < -0.9)", rollout, "--json"),
            ("grep", "step == 3", rollout, "--count"), ("grep", "step > 1000", rollout),
            ("diff", rollout, archived), ("diff", rollout, self.where / "dots"), ("diff", rollout, self.where / "dots", "--json"),
        ]
        for command, *arguments in wanted:
            alone = call(self.alone, *arguments, command=command)
            self.assertIn(alone[0], (0, 1), (command, arguments, alone[2]))
            self.assertEqual(alone, call(MAIN, *arguments, command=command), (command, arguments))
        for command, *arguments in [("head", rollout, "nothing"), ("grep", "nothing > 1", rollout), ("stats", self.where / "none"),
                                    ("head", rollout, "--from", 1000), ("grep", "task > 1", rollout)]:
            whole = call(TOOL, *arguments, command=command)
            self.assertNotEqual(whole[2], b"")
            self.assertEqual(whole, call(MAIN, *arguments, command=command), (command, arguments))

    def test_damaged_files(self):
        """Cut at every seventh byte, or changed at random: shown as the library shows it, or left to the library."""
        generator = random.Random(7)
        answered, left, tried = [], [], 0
        bases = [self.made / name for name in ("s.tdz", "z.tdz", "a.safetensors", "dots.safetensors", "z.npz", "a.npy")]
        for base in [*bases, DATA / "files/deflated.npz", DATA / "files/records.npy"]:
            whole = base.read_bytes()
            step = 7 * max(1, len(whole) // 1500)
            for cut in range(0, len(whole), step):
                self.assertIsNone(self.shown_bytes(whole[:cut]), (base.name, cut))
                tried += 1
            for number in range(40):
                changed = bytearray(whole)
                for _ in range(generator.choice((1, 2, 4))):
                    place = generator.choice((generator.randrange(len(whole)), generator.randrange(min(len(whole), 300)),
                                              len(whole) - 1 - generator.randrange(min(len(whole), 600))))
                    changed[place] = generator.choice((generator.randrange(256), changed[place] ^ 1, *b'0129[{"'))
                path = self.where / f"{base.stem}{number}.damaged{base.suffix}"
                path.write_bytes(changed)
                (left if self.shown(path) is None else answered).append([path])
                tried += 1
        self.assertGreater(tried, 500)
        self.assertGreater(min(len(answered), len(left)), 20)
        self.agree(generator.sample(answered, 12))
        for path, in generator.sample(left, 4):
            self.assertEqual(call(TOOL, path), call(MAIN, path))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
