#!/usr/bin/env python3
"""What transcripts cannot say of tdtool: terminals, JSON, the man page, completion, size.

usage: test_tdtool.py TDTOOL SOURCES [TEST…]
"""
import ctypes
import fcntl
import filecmp
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

import sample

TOOL = pathlib.Path(sys.argv[1]).resolve()
MAIN = TOOL.with_name("tdtool-main")
# forked.py puts a client in its place.
LINKED = pathlib.Path(os.environ.get("TDTOOL_MAIN", MAIN))
SOURCES = pathlib.Path(sys.argv[2]).resolve()
COMMANDS = ["show", "head", "stats", "plot", "report", "watch", "grep", "slice", "diff", "cat", "merge", "convert", "pack",
            "unpack", "set", "rename", "drop", "split", "run", "verify", "repair"]


def environment(**more):
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    return {**clean, "LC_ALL": "C.UTF-8", "TERM": "xterm", **more}


def run(*arguments, status=0, **more):
    done = subprocess.run([TOOL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", env=environment(**more))
    assert status is None or done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def needs_little_memory(*arguments):
    """Most of it is libtorch's."""
    child = subprocess.Popen([TOOL, *map(str, arguments)], stdout=subprocess.DEVNULL, env=environment())
    most = 0
    while child.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            break
        most = max([most, *map(int, re.findall(r"RssAnon:\s+(\d+) kB", status))])
        time.sleep(0.002)
    assert child.wait() == 0, (arguments, child.returncode)
    assert b"__asan" in TOOL.read_bytes() or most < 130 * 1000, (arguments, f"{most} kB")


def in_terminal(*arguments, columns=100, **more):
    """What the tool writes to a terminal of that width.

    This side of the terminal stays open too, and says when the tool has ended: a terminal that all
    have closed may forget what nobody has read yet.
    """
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    tool = subprocess.Popen([TOOL, *map(str, arguments)], stdin=terminal, stdout=terminal, stderr=terminal,
                            env=environment(**more))
    end = b"\0the tool has ended\0"

    def wait():
        tool.wait()
        os.write(terminal, end)

    waiting = threading.Thread(target=wait)
    waiting.start()
    output = b""
    while not output.endswith(end):
        output += os.read(master, 4096)
    waiting.join()
    os.close(terminal)
    os.close(master)
    assert tool.returncode == 0, output
    return output[:-len(end)].decode().replace("\r\n", "\n")


class Terminal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.where = pathlib.Path(self.folder.name)
        sample.rollout(self.where / "rollout")

    def test_colors_on_a_terminal_only(self):
        rollout = self.where / "rollout"
        self.assertIn("\x1b[36mfloat32\x1b[0m", in_terminal("show", rollout))
        self.assertNotIn("\x1b", in_terminal("show", rollout, NO_COLOR="1"))
        self.assertIn("\x1b", in_terminal("show", rollout, NO_COLOR=""))  # empty does not count
        self.assertNotIn("\x1b", in_terminal("show", rollout, TERM="dumb"))
        self.assertNotIn("\x1b", in_terminal("show", rollout, "--color", "never"))
        self.assertNotIn("\x1b", run("show", rollout).stdout)
        self.assertIn("\x1b", run("show", rollout, "--color", "always", NO_COLOR="1").stdout)

    def test_lines_fit_the_width(self):
        for columns in (30, 50, 72):
            for command in ("show", "head", "stats"):
                text = in_terminal(command, self.where / "rollout", "--color", "never", columns=columns)
                for line in text.splitlines()[1 if command == "show" else 0:]:
                    self.assertLessEqual(len(line), columns, text)
        wide = in_terminal("head", self.where / "rollout", "--color", "never", columns=200)
        narrow = in_terminal("head", self.where / "rollout", "--color", "never", columns=50)
        for name in ("action", "step", "next/reward", "next/done", "task"):
            self.assertIn(name, wide.splitlines()[0])
            self.assertIn(name, narrow)  # in blocks, one below the other

    def test_progress(self):
        rollout = self.where / "rollout"
        bar = in_terminal("stats", rollout, "--progress", "always")
        self.assertRegex(bar, r"\rstats \[\.+\] +0 % 0 B of 4\.2 kB")
        self.assertRegex(bar, r"\rstats \[#+\] 100 % 4\.2 kB of 4\.2 kB")
        self.assertIn("\rconvert [", in_terminal("convert", rollout, self.where / "a.td", "--progress", "always"))
        begun = time.monotonic()
        at_once = in_terminal("stats", rollout)
        if time.monotonic() - begun < 0.4:  # longer work has a bar
            self.assertNotIn("stats [", at_once)
        self.assertNotIn("stats [", in_terminal("stats", rollout, "--progress", "never"))
        self.assertEqual(run("stats", rollout).stderr, "")
        self.assertIn("100 %", run("stats", rollout, "--progress", "always").stderr)

    def test_a_failure_behind_a_bar_is_said(self):
        done = run("convert", self.where / "rollout", self.where / "no/such/a.td", "--progress", "always", status=3)
        self.assertRegex(done.stderr, r"\ntdtool: .*No such file or directory\n\Z")


class Json(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.where = pathlib.Path(cls.folder.name)
        sample.prepare(cls.where)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_report_is_json(self):
        for name in ("rollout", "clouds", "numbers", "names", "nontensor", "lazy_hetero", "tensorclass", "table.csv"):
            for command in ("show", "head", "stats"):
                json.loads(run(command, self.where / name, "--json").stdout)
        self.assertFalse(json.loads(run("diff", self.where / "rollout", self.where / "other", "--json", status=1).stdout)["equal"])

    def test_show(self):
        found = json.loads(run("show", self.where / "rollout", "--json").stdout)
        self.assertEqual((found["batch_size"], found["tensors"], found["bytes"]), ([4, 25], 4, 2100))
        self.assertEqual([entry["key"] for entry in found["entries"]],
                         ["action", "step", "next", "next/reward", "next/done", "task"])
        names = json.loads(run("show", self.where / "names", "--json").stdout)["entries"]
        self.assertEqual([entry["path"] for entry in names], [["e\u0301t\u00e9"], ["bell\x07"]])

    def test_show_of_a_replay_buffer(self):
        folder = sample.GOLDEN.parent / "torchrl/ndim2_time_first/folder"
        found = json.loads(run("show", folder, "--json").stdout)
        self.assertEqual(found["replay"], {"len": 60, "capacity": 60, "cursor": 3, "written": 18})
        self.assertEqual(found["batch_size"], [15, 4])
        lines = run("show", folder).stdout.splitlines()
        self.assertIn("replay buffer, batch [15, 4], 10 tensors", lines[0])
        self.assertEqual(lines[1], "60 of 60 places hold rows; 18 rows were written, the next one goes to place 3")
        refused = run("show", sample.GOLDEN.parent / "torchrl/compressed_list/folder", status=3)
        self.assertIn("compressed list", refused.stderr)

    def test_head_has_all_values(self):
        rows = json.loads(run("head", self.where / "digits", "image", "-n", "2", "--json").stdout)
        pixels = (sample.GOLDEN / "digits/image.memmap").read_bytes()
        for at, row in enumerate(rows):
            flat = [pixel for line in row["values"]["image"] for pixel in line]
            self.assertEqual(bytes(flat), pixels[64 * at:64 * at + 64])

    def test_stats(self):
        labels = struct.unpack("<1797q", (sample.GOLDEN / "digits/label.memmap").read_bytes())
        found = json.loads(run("stats", self.where / "digits", "label", "--json").stdout)[0]
        mean = sum(labels) / len(labels)
        deviation = (sum((label - mean) ** 2 for label in labels) / (len(labels) - 1)) ** 0.5
        self.assertEqual((found["min"], found["max"], found["count"], found["nan"]), (0, 9, 1797, 0))
        self.assertAlmostEqual(found["mean"], mean, 12)
        self.assertAlmostEqual(found["std"], deviation, 12)
        self.assertEqual(found["histogram"]["counts"], [labels.count(digit) for digit in range(10)])

    def test_every_dtype(self):
        self.assertEqual(len(json.loads(run("stats", sample.GOLDEN / "dtypes", "--json").stdout)), 12)
        row = json.loads(run("head", sample.GOLDEN / "dtypes", "-n", "1", "--json").stdout)[0]["values"]
        for dtype, code in {"float32": "f", "float64": "d", "float16": "e", "int8": "b", "int16": "h"}.items():
            stored = (sample.GOLDEN / f"dtypes/{dtype}.memmap").read_bytes()
            wanted = struct.unpack_from(f"<3{code}", stored)
            for one, other in zip(row[dtype], wanted):
                self.assertAlmostEqual(one, other, delta=1e-8 * abs(other))


class Modules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.where = pathlib.Path(self.folder.name)
        sample.rollout(self.where / "rollout")

    def module(self, name, body, keys=(["x"], ["y"]), arguments="x: Tensor", result="Tensor"):
        sample.module(self.where / name, arguments, result, body, [[[key] for key in some] for some in keys] if keys else None)
        return self.where / name

    def refused(self, text, *arguments):
        """The one line that is said, and nothing is left behind."""
        before = sorted(self.where.iterdir())
        self.assertRegex(run("run", *arguments, status=3).stderr, rf"\Atdtool: {text}\n\Z")
        self.assertEqual(sorted(self.where.iterdir()), before)

    def doubles(self, folder, key):
        content = (folder / f"{key}.memmap").read_bytes()
        return list(struct.unpack(f"<{len(content) // 8}d", content))

    def test_every_way_of_cutting_gives_the_same(self):
        values = [i / 4 for i in range(22)]
        sample.write_node(self.where / "data", [11], {"x": ("float64", [11, 2], values)})
        double = self.module("double.pt", ["return torch.mul(x, 2)"])
        for batch in (0, 1, 2, 3, 10, 11, 12, 2**62):
            out = self.where / f"out{batch}"
            run("run", double, self.where / "data", out, "--batch", batch)
            self.assertEqual(self.doubles(out, "y"), [2 * value for value in values])
            self.assertEqual(self.doubles(out, "x"), values)

    def test_rows_are_called_in_pieces(self):
        sample.write_node(self.where / "data", [11], {"x": ("float64", [11], range(11))})
        sample.write_node(self.where / "wide", [3, 512], {"x": ("float64", [3, 512], range(3 * 512))})
        rows = self.module("rows.pt", ["return torch.add(torch.mul(x, 0), torch.size(x, 0))"])
        run("run", rows, self.where / "data", self.where / "out", "--batch", 4)
        self.assertEqual(self.doubles(self.where / "out", "y"), [4] * 8 + [3] * 3)
        run("run", rows, self.where / "data", self.where / "whole")
        self.assertEqual(self.doubles(self.where / "whole", "y"), [11] * 11)
        run("run", rows, self.where / "wide", self.where / "halves")  # some 1024 elements, two rows
        self.assertEqual(self.doubles(self.where / "halves", "y"), [2] * 1024 + [1] * 512)

    def test_a_lazy_stack(self):
        sample.stack(self.where / "even", [2, 2, 2])
        double = self.module("double.pt", ["return torch.mul(x, 2)"], (["points"], ["points"]))
        run("run", double, self.where / "even", self.where / "out", "--batch", 2)
        for at in range(3):
            self.assertEqual(self.doubles(self.where / "out" / str(at), "points"), [0, 0.5, 1, 1.5])
        run("run", double, self.where / "even", self.where / "dense", "--only-outputs")
        self.assertEqual(self.doubles(self.where / "dense", "points"), [0, 0.5, 1, 1.5] * 3)

    def test_two_outputs_in_one_new_dictionary(self):
        keys = ["action"], ["low", "high"]
        two = self.module("two.pt", ["return (torch.neg(x), torch.abs(x))"], keys, result="Tuple[Tensor, Tensor]")
        run("run", two, self.where / "rollout", self.where / "out", "--out", "bounds/low", "--out", "bounds/high")
        found = json.loads(run("head", self.where / "out", "-n", 1, "--json").stdout)[0]["values"]
        self.assertEqual((found["action"], found["bounds/low"], found["bounds/high"]), ([-1, -0.25999999], [1, 0.25999999], [1, 0.25999999]))

    def test_outputs_that_differ_between_rows(self):
        sample.write_node(self.where / "data", [3], {"x": ("float32", [3], [1, 2, 9])})
        for other, found in (("torch.unsqueeze(x, -1)", r"float32 of \[1\]"), ("torch.to(x, 7)", r"float64 of \[\]")):
            body = ["if bool(torch.gt(torch.max(x), 5)):", f"  y = {other}", "else:", "  y = x", "return y"]
            self.refused(rf".*data, rows 2 to 2: y is {found} in each row; in the first rows it was float32 of \[\]",
                         self.module("moody.pt", body), self.where / "data", self.where / "out", "--batch", 1)
            (self.where / "moody.pt").unlink()

    def test_what_a_module_cannot_do(self):
        out, rollout = self.where / "out", self.where / "rollout"
        total = self.module("total.pt", ["return torch.sum(x)"], (["action"], ["y"]))
        self.refused(r'.*rollout: batch dimension mismatch: "y" has shape \[\], which does not begin with the batch size \[4, 25\]',
                     total, rollout, out)
        first = self.module("first.pt", ["return torch.select(x, 0, 0)"], (["action"], ["y"]))
        self.refused(r'.*"y" has shape \[25, 2\], which does not begin with the batch size \[4, 25\]', first, rollout, out)
        self.refused(r".*rollout: the module failed: .*", sample.MODULES / "mlp.pt", rollout, out, "--in", "action")
        keyless = self.module("keyless.pt", ["return x"], None)
        self.refused(r".*keyless.pt does not say its in_keys.*", keyless, rollout, out)
        self.assertIn("TorchScript archive, batch [], 0 tensors", run("show", keyless).stdout)
        run("run", keyless, rollout, out, "--in", "action", "--out", "same")
        (self.where / "broken.pt").write_bytes(total.read_bytes()[:-30])
        self.refused(r".*broken.pt is not a zip archive", self.where / "broken.pt", rollout, self.where / "none")
        self.refused(r"sha256 is .*", total, rollout, self.where / "none", "--sha256", "12")
        self.refused(r".*has the SHA-256 checksum [0-9a-f]{64}, not 0{64}", total, rollout, self.where / "none", "--sha256", "0" * 64)

    def test_what_is_a_module_is_seen_by_its_content(self):
        double = self.module("double.pt", ["return torch.mul(x, 2)"])
        whole = double.read_bytes()
        end = whole.rindex(b"PK\5\6")
        self.assertIn("ScriptModule", run("show", double.rename(self.where / "double.npz")).stdout)
        # An end in the form of 64 bits; then ends that lead elsewhere, of which none is a module.
        size, at = struct.unpack_from("<II", whole, end + 12)
        wide = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 4, 4, size, at)
        locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
        short = whole[end:end + 12] + b"\xff" * 8 + whole[end + 20:]
        strange = self.where / "strange"
        strange.write_bytes(whole[:end] + wide + locator + short)
        run("show", strange, status=None)
        for field, value in ((12, 0), (12, 2**32 - 1), (16, 0), (16, 2**31), (16, end), (16, end + 21)):
            strange.write_bytes(whole[:end + field] + struct.pack("<I", value) + whole[end + field + 4:])
            self.assertIn(run("show", strange, status=None).returncode, (0, 3))
        for place in (0, 8, end, 2**63, 2**64 - 1):
            strange.write_bytes(whole[:end] + wide + locator[:8] + struct.pack("<Q", place) + locator[16:] + short)
            self.assertIn(run("show", strange, status=None).returncode, (0, 3))

    def test_memory_holds_a_piece(self):
        data, out = self.where / "data", self.where / "out"
        sample.write_node(data, [10**6], {"x": ("float64", [10**6, 20], [])})
        with open(data / "x.memmap", "wb") as file:
            file.truncate(160 * 10**6)  # zeros
        same = self.module("same.pt", ["return torch.add(x, 1)"])
        needs_little_memory("run", same, data, out)
        self.assertEqual(set(self.doubles(out, "y")), {1.0})

    def test_an_interrupted_run_leaves_nothing(self):
        data = self.where / "data"
        sample.write_node(data, [200000], {"x": ("float64", [200000], [])})
        with open(data / "x.memmap", "wb") as file:
            file.truncate(200000 * 8)
        same = self.module("same.pt", ["return torch.add(x, 1)"])
        child = subprocess.Popen([TOOL, "run", same, data, self.where / "out", "--batch", "1"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, env=environment())
        while not any(path.name.startswith(".out.tdtool") for path in self.where.iterdir()):
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        said = child.communicate()[1]
        self.assertEqual((child.returncode, said), (3, "tdtool: interrupted\n"))
        self.assertEqual(sorted(path.name for path in self.where.iterdir()), ["data", "rollout", "same.pt"])

    def test_progress(self):
        double = self.module("double.pt", ["return torch.mul(x, 2)"], (["action"], ["y"]))
        said = run("run", double, self.where / "rollout", self.where / "out", "--batch", 1, "--progress", "always").stderr
        self.assertRegex(said, r"\nrun \[\.+\] +0 % 0 B of 800 B")
        self.assertRegex(said, r"\nrun \[#+\] 100 % 800 B of 800 B")


class Tables(unittest.TestCase):
    def test_a_recording_goes_there_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            sample.rollout(where / "rollout")
            for name in ("a.csv", "a.json"):
                run("convert", where / "rollout", where / name)
                run("convert", where / name, where / "again", "--force")
                found = json.loads(run("show", where / "again", "--json").stdout)
                self.assertEqual(found["batch_size"], [4, 25])
                shapes = {entry["key"]: entry.get("shape") for entry in found["entries"]}
                self.assertEqual((shapes["action"], shapes["next/reward"]), ([4, 25, 2], [4, 25, 1]))
                for key in ("action", "next/reward", "next/done"):
                    one, other = (json.loads(run("head", where / path, key, "-n", 100, "--json").stdout) for path in ("rollout", "again"))
                    self.assertEqual([row["index"] for row in one], [row["index"] for row in other])
                    for left, right in zip(one, other):
                        flat = lambda row: row["values"][key]
                        for first, second in zip(flat(left), flat(right)):
                            self.assertAlmostEqual(first, second, 6)
            self.assertTrue((where / "a.csv").read_text().startswith(
                "episode,step,action[0],action[1],step[0],next.reward[0],next.done[0],task\n0,0,-1.0,-0.26,0,0.0,False,"))


class Edits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.where = pathlib.Path(self.folder.name)
        sample.rollout(self.where / "rollout")

    def content(self):
        return {str(path.relative_to(self.where)): path.read_bytes() for path in self.where.rglob("*") if path.is_file()}

    def test_a_large_set_is_read_in_parts(self):
        data, buffer, again = self.where / "data", self.where / "buffer", self.where / "again"
        sample.write_node(data, [10**6], {"x": ("float64", [10**6, 20], []), "episode": ("int64", [10**6], [])})
        with open(data / "x.memmap", "wb") as file:
            file.truncate(160 * 10**6 - 8)  # zeros, and a last number
            file.seek(0, os.SEEK_END)
            file.write(struct.pack("<d", 1))
        (data / "episode.memmap").write_bytes(b"".join(struct.pack("<q", i) * 10**5 for i in range(10)))
        needs_little_memory("convert", data, buffer, "--as", "torchrl")
        needs_little_memory("convert", buffer, again, "--as", "tensordict")
        for name in ("x", "episode"):
            self.assertTrue(filecmp.cmp(data / f"{name}.memmap", again / f"{name}.memmap", shallow=False))
        needs_little_memory("stats", buffer)
        lines = [re.findall(r"^(?:episode|x) .*", run("stats", place).stdout, re.M) for place in (data, buffer)]
        self.assertEqual(len(lines[0]), 2)
        self.assertEqual(sorted(lines[0]), sorted(lines[1]))

    def test_a_failure_changes_nothing(self):
        before = self.content()
        rollout = self.where / "rollout"
        for arguments in (["set", rollout, "next/reward=1", "step=x"], ["drop", rollout, "step", "nothing"],
                          ["rename", rollout, "step", "task"], ["set", rollout, "a=1", "--out", self.where / "no/such/x"]):
            run(*arguments, status=None)
            self.assertEqual({k: v for k, v in self.content().items() if not k.startswith("no/")}, before, arguments)

    def test_files_that_did_not_change_are_kept(self):
        stat = os.stat(self.where / "rollout/action.memmap")
        run("set", self.where / "rollout", "next/reward=1")
        again = os.stat(self.where / "rollout/action.memmap")
        self.assertEqual((stat.st_ino, stat.st_mtime_ns), (again.st_ino, again.st_mtime_ns))
        self.assertEqual((self.where / "rollout/next/reward.memmap").read_bytes(), struct.pack("<f", 1) * 100)

    def test_numbers_reach_the_ends_of_their_dtypes(self):
        sample.write_node(self.where / "data", [1], {"b": ("uint8", [1], [0]), "i": ("int32", [1], [0]), "q": ("int64", [1], [0]), "f": ("float32", [1], [0])})
        run("set", self.where / "data", "b=255", f"i={-2**31}", f"q={2**63 - 1}", "f=-inf")
        values = json.loads(run("head", self.where / "data", "--json").stdout)[0]["values"]
        self.assertEqual(values, {"b": 255, "i": -2**31, "q": 2**63 - 1, "f": None})
        for bad in ("b=256", "b=-1", f"i={2**31}", f"q={2**63}", "b=", "f=", "f=1x"):
            run("set", self.where / "data", bad, status=2)


class Watch(unittest.TestCase):
    def watch_growth(self, where, before, grow, rows, values):
        """Watches a folder, lets it grow, and waits for the line that says so."""
        child = subprocess.Popen([TOOL, "watch", where, "--interval", "0.02"], stdout=subprocess.PIPE, text=True, env=environment())
        self.assertIn(before, child.stdout.readline())
        grow()
        for line in child.stdout:
            if rows in line:
                break
        self.assertRegex(line, rf"{rows}  [\d.e+]+ rows/s  {values}")
        child.send_signal(signal.SIGINT)
        child.stdout.read()
        self.assertEqual(child.wait(), 0)
        child.stdout.close()

    def test_a_folder_that_grows(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder) / "data"
            sample.write_node(where, [2], {"x": ("int64", [2], [1, 2])})

            def grow():
                run("cat", where, where, where.with_name("longer"))
                where.rename(where.with_name("old"))
                where.with_name("longer").rename(where)

            self.watch_growth(where, "2 rows  x 2\n", grow, "4 rows", "x 2\n")

    def test_rows_that_are_counted(self):
        """Beside meta.json files of 2 rows stands a count of 3, then of 4."""
        class Digest(ctypes.Structure):
            _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]

        library = ctypes.CDLL("libxxhash.so.0")
        library.XXH3_128bits.restype = Digest
        library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

        def count(where, sequence, rows):
            meta = (where / "meta.json").read_bytes()
            digest = library.XXH3_128bits(meta, len(meta))
            slot = b"TD%rows1" + struct.pack("<QqqQQQ", sequence, 2, rows, digest.high, digest.low, 0)
            slot += struct.pack("<Q", library.XXH3_128bits(slot, len(slot)).low)
            with open(where / ".%rows", "r+b" if sequence > 1 else "wb") as file:
                file.seek(sequence % 2 * 64)
                file.write(slot)

        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder) / "data"
            sample.write_node(where, [2], {"x": ("int64", [2], [1, 2])})
            (where / "x.memmap").write_bytes(struct.pack("<4q", 1, 2, 3, 4))
            self.assertIn("[2]", run("show", where).stdout)
            count(where, 1, 3)
            for line in (run("show", where).stdout, run("show", where, "--json").stdout, run("stats", where).stdout):
                self.assertIn("3", line)
            self.assertEqual(json.loads(run("show", where, "--json").stdout)["batch_size"], [3])
            self.watch_growth(where, "3 rows  x 3\n", lambda: count(where, 2, 4), "4 rows", "x 4\n")


class Size(unittest.TestCase):
    def test_a_terabyte_shows_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder) / "big"
            sample.write_node(where, [10**6], {"x": ("float32", [10**6, 250000], [])})
            with open(where / "x.memmap", "wb") as file:
                try:
                    file.truncate(10**12)
                except OSError:
                    self.skipTest("no sparse file of this size here")
            self.assertRegex(run("show", where).stdout, r"float32 +\[1000000, 250000\] +1\.0 TB")
            self.assertEqual(os.stat(where / "x.memmap").st_blocks, 0)

    def test_a_large_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder) / "large"
            names = [f"leaf{i}" for i in range(2000)]
            sample.write_node(where, [2], {name: ("uint8", [2], [1, 2]) for name in names})
            found = json.loads(run("show", where, "--json").stdout)
            self.assertEqual([entry["key"] for entry in found["entries"]], names)
            self.assertEqual(run("diff", where, where).stdout, "")
            self.assertEqual(len(run("stats", where).stdout.splitlines()), 2001)
            self.assertIn("leaf1999", run("head", where).stdout)

    def test_a_deep_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder) / "deep"
            at = where
            for _ in range(300):
                sample.write_node(at, [1], {}, ["d"])
                at = at / "d"
            sample.write_node(at, [1], {"x": ("uint8", [1], [7])})
            self.assertEqual(len(run("show", where).stdout.splitlines()), 302)
            self.assertEqual(json.loads(run("head", where, "--json").stdout)[0]["values"], {"d/" * 300 + "x": 7})
            self.assertEqual(run("diff", where, where).stdout, "")


class Stores(unittest.TestCase):
    """Dictionaries in a Redis server, by their address."""

    @unittest.skipUnless(shutil.which("redis-server"), "there is no redis-server")
    def test_a_store_is_shown_and_converted(self):
        with tempfile.TemporaryDirectory() as scratch:
            where = pathlib.Path(scratch)
            sample.write_node(where / "d", [2], {"x": ("uint8", [2], [7, 8])})
            server = subprocess.Popen(["redis-server", "--port", "0", "--save", "", "--dir", scratch, "--unixsocket", where / "s"],
                                      stdout=subprocess.DEVNULL)
            try:
                address = f"redis+unix://{where}/s/p/one"
                done = run("convert", where / "d", address, status=None)
                for _ in range(500):
                    if done.returncode == 0 or "built without" in done.stderr:
                        break
                    time.sleep(0.01)
                    done = run("convert", where / "d", address, status=None)
                if "built without" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertIn("x  uint8  [2]", run("show", address).stdout)
                run("convert", address, where / "back.tdz")
                run("diff", where / "d", where / "back.tdz")
                self.assertIn("already", run("convert", where / "d", address, status=3).stderr)
                run("convert", "--force", where / "d", address)
            finally:
                server.kill()
                server.wait()

    def test_an_address_without_a_server_is_refused(self):
        for address in ("redis://localhost/x", "redis://localhost:0/p/x", "rediss://localhost:x/p/x", "redis:///"):
            run("show", address, status=2)


class Papers(unittest.TestCase):
    """The man page, the help and the completions are of one piece with the program."""

    def test_table_of_the_guide_is_fresh(self):
        guide = (SOURCES.parent.parent / "docs/guide/files.md").read_text(encoding="utf-8")
        self.assertIn(run("--print", "guide").stdout, guide, "tdtool --print guide, into docs/guide/files.md")

    def test_only_these_papers_are_printed(self):
        self.assertIn("--print takes man, bash, zsh or guide", run("--print", "page", status=2).stderr)

    def test_man_page_names_every_command_and_option(self):
        page = run("--print", "man").stdout.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        for command in COMMANDS:
            self.assertIn(f".SS {command} ", page)
            for option in re.findall(r"(--[a-z-]+)", run(command, "--help").stdout.split("Options")[1].split("Examples")[0]):
                self.assertIn(option, page)

    def test_every_source_option_is_in_the_help(self):
        found = set()
        for source in SOURCES.glob("ask_*.c"):
            for name, table in re.findall(r"tool_option (\w+)_options\[\] = \{(.*?)\n\};", source.read_text(), re.S):
                text = run(name, "--help").stdout
                found.add(name)
                for option in re.findall(r'\{"([a-z-]+)"', table):
                    self.assertIn(f"--{option}", text)
        self.assertEqual(found, set(COMMANDS))
        self.assertLessEqual({source.stem[4:] for source in SOURCES.glob("cmd_*.c")}, set(COMMANDS))

    def test_man_page_is_good_troff(self):
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=run("--print", "man").stdout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("EXIT STATUS", re.sub(".\b", "", done.stdout))

    def completed(self, *words):
        script = (f"source <({TOOL} --print bash); COMP_WORDS=({' '.join(map(repr, words))}); "
                  f"COMP_CWORD={len(words) - 1}; _tdtool; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "two words.td").touch()
            return subprocess.run(["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]

    def test_completion(self):
        self.assertEqual(self.completed("tdtool", ""), [*COMMANDS, "--help", "--version"])
        self.assertEqual(self.completed("tdtool", "s"), ["show", "stats", "slice", "set", "split"])
        self.assertEqual(self.completed("tdtool", "diff", "--a"), ["--atol"])
        self.assertEqual(self.completed("tdtool", "show", "--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.completed("tdtool", "convert", "a", "b", "-t", "f"), ["folder"])
        self.assertEqual(self.completed("tdtool", "show", "two"), ["two words.td"])

    def test_zsh_completion_has_a_case_for_each_command(self):
        script = run("--print", "zsh").stdout
        self.assertTrue(script.startswith("#compdef tdtool\n"), script[:80])
        self.assertEqual(re.findall(r"^  ([a-z]+)\)$", script, re.M), COMMANDS)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n"], input=script, text=True, check=True)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"\Atdtool \d+\.\d+\.\d+, built with libtorch \d")


# What the core's parsers of file formats need, which both programs have.
OF_FORMATS = {"libstdc++", "libgcc_s", "libz", "libxxhash"}


class Program(unittest.TestCase):
    def needed(self, program):
        if not shutil.which("readelf"):
            self.skipTest("no readelf here")
        text = subprocess.run(["readelf", "-d", program], stdout=subprocess.PIPE, text=True).stdout
        names = {name.split(".so")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", text)}
        return names - {"libasan", "libubsan", "libtsan", "libm", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}

    def test_starts_without_libtorch(self):
        """What loads nothing of libtorch starts in some milliseconds; bench/startup measures it."""
        self.assertEqual(self.needed(TOOL) - OF_FORMATS, {"libc"})

    def test_the_rest_links_to_the_library_alone(self):
        self.assertEqual(self.needed(LINKED) - OF_FORMATS, {"libtensordict", "libc"})

    def test_both_readers_show_the_same(self):
        """tdtool reads plain folders by itself; what it shows, the library shows too."""
        for name in ("basic", "dtypes", "nontensor", "tensorclass", "lazy_hetero"):
            for more in ([], ["--json"]):
                found = run("show", sample.GOLDEN / name, *more).stdout
                main = subprocess.run([MAIN, "show", sample.GOLDEN / name, *more], stdout=subprocess.PIPE, text=True,
                                      encoding="utf-8", env=environment())
                self.assertEqual(found, main.stdout)

    def test_what_is_shown_at_once(self):
        """Without the other program beside it, tdtool shows what it reads alone, and says that the rest is missing."""
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder) / "tdtool"
            shutil.copy(TOOL, alone)
            sample.prepare(pathlib.Path(folder))

            def show(*arguments):
                done = subprocess.run([alone, "show", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, encoding="utf-8", env=environment())
                return done.returncode, done.stdout

            self.assertEqual(show("rollout")[0], 0)
            self.assertEqual(show("rollout", "next")[0], 0)
            self.assertIn("bell", show("names")[1])
            where = pathlib.Path(folder)
            plain = (where / "rollout/meta.json").read_text()
            hostile = {
                "cut": plain[:-1], "list": "[" + plain + "]", "number": "1",
                "deep": '{"x": ' + "[" * 10000 + "]" * 10000 + "}", "negative": plain.replace("[4, 25, 2]", "[4, -25, 2]"),
                "large": plain.replace("[4, 25, 2]", "[4, 25, 4611686018427387904]"),
                "real": plain.replace("[4, 25]", "[4, 25.5]"), "longer": plain.replace("[4, 25, 2]", "[4, 25, 3]"),
                "class": plain.replace("_td.TensorDict", "_td.Other"),
                "name": plain.replace('"action"', '"../action"'), "empty": "", "nul": plain.replace('"action"', '"a\\u0000b"'),
            }
            for name, text in hostile.items():
                self.assertNotEqual(text, plain, name)
                (where / "rollout/meta.json").write_text(text)
                self.assertEqual(show("rollout"), (3, ""), name)
            (where / "rollout/meta.json").unlink()
            (where / "rollout/meta.json").symlink_to("next/meta.json")
            self.assertEqual(show("rollout"), (3, ""))

    def test_includes_the_public_header_and_rooms_without_libtorch(self):
        for source in [*SOURCES.glob("*.c"), *SOURCES.glob("*.h"), *SOURCES.glob("*.cpp")]:
            for header in re.findall(r'#include\s+([<"].*[>"])', source.read_text()):
                self.assertRegex(header, r'\A(<tensordict/td\.h>|<nlohmann/json\.hpp>|"(core/(base|io|formats)/)?[a-z0-9_]+\.h"|<[a-z_/]+(\.h)?>)\Z')
                self.assertNotRegex(header, "torch|<td/")

    def test_memory_is_given_back(self):
        if not shutil.which("valgrind") or b"__asan" in TOOL.read_bytes():
            self.skipTest("no valgrind here, or a build that looks itself")
        if not os.environ.get("TD_VALGRIND"):
            self.skipTest("minutes long; TD_VALGRIND=1 asks for it")
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            sample.prepare(where)
            for arguments in (["show", "lazy_hetero"], ["head", "clouds"], ["stats", "numbers"], ["diff", "rollout", "other"],
                              ["slice", "rollout", "0, ::2", "part"], ["cat", "basic", "basic", "two"],
                              ["convert", "clouds", "clouds.td"], ["show", "double.pt"],
                              ["run", "double.pt", "rollout", "doubled"]):
                done = subprocess.run(["valgrind", "--error-exitcode=99", "-q", TOOL, *arguments], cwd=where,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment())
                self.assertIn(done.returncode, (0, 1), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
