#!/usr/bin/env python3
"""The page that tdtool report writes: what it says, that it is whole and alone, and that a browser shows it.

usage: test_report.py TDTOOL [TEST…]
"""
import base64
import html.parser
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import sample

TOOL = pathlib.Path(sys.argv[1]).resolve()
ALONE = {"meta", "img", "br"}  # elements that nothing closes


def run(*arguments, status=0):
    done = subprocess.run([TOOL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


class Page(html.parser.HTMLParser):
    """Elements that nest, ids, links and text; whatever is not closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.words, self.tags = [], set(), [], [], [], set()
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.add(tag)
        if "id" in values:
            assert values["id"] not in self.ids
            self.ids.add(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        if tag == "img":
            self.images.append(values["src"])
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        self.words.append(data)


def dots_of(address):
    """Width, height, channels and the bytes of a picture."""
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"), validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, found = 8, {}
    while at < len(data):
        length, = struct.unpack_from(">I", data, at)
        name, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(name + body)
        found[name] = body
        at += length + 12
    width, height, depth, kind = struct.unpack_from(">IIBB", found[b"IHDR"])
    assert depth == 8 and list(found) == [b"IHDR", b"IDAT", b"IEND"]
    channels = {0: 1, 2: 3, 6: 4}[kind]
    lines, row = zlib.decompress(found[b"IDAT"]), width * channels + 1
    return width, height, channels, b"".join(lines[y * row + 1:(y + 1) * row] for y in range(height))


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.where = pathlib.Path(self.folder.name)

    def page(self, *arguments):
        text = run("report", *arguments)
        page = Page(text)
        self.assertNotIn("script", page.tags)
        self.assertEqual(re.findall(r"https?://|url\(|@import", text), [])
        for link in page.links:
            self.assertIn(link.removeprefix("#"), page.ids)
        for image in page.images:
            dots_of(image)
        return page

    def test_says_what_stats_says(self):
        sample.rollout(self.where / "rollout")
        page = self.page(self.where / "rollout")
        for row in json.loads(run("stats", self.where / "rollout", "--json")):
            for name in ("min", "max", "mean", "std"):
                number = f"{row[name]:.4g}".replace("-", "−", 1) if row[name] < 0 else f"{row[name]:.4g}"
                self.assertIn(f"{name}{number}", page.text.replace(" ", ""), row["key"])
        self.assertIn("4 episodes", page.text.replace("4episodes", "4 episodes"))
        self.assertIn("ends at next/done or the end of the last batch dimension", page.text)
        self.assertIn("sum of next/reward", page.text)
        returns = [sum(((e * 25 + t) * 17 % 29) / 10 for t in range(25)) for e in range(4)]
        self.assertIn(f"least{min(returns):.4g}mean{sum(returns) / 4:.4g}greatest{max(returns):.4g}", page.text.replace(" ", ""))

    def test_what_is_worth_a_look(self):
        numbers = [(i * 37 % 101) / 101 for i in range(200)]
        numbers[7], numbers[9], numbers[20] = float("nan"), float("inf"), 1e6
        sample.write_node(self.where / "data", [200], {"x": ("float64", [200], numbers), "same": ("int64", [200], [5] * 200)})
        page = self.page(self.where / "data")
        self.assertIn("x has 1 NaN and 1 infinite value, and 1 outlier", page.text)
        self.assertIn("same is always 5", page.text)
        self.assertIn("Every finite value is 5.", page.text)
        self.assertRegex(page.text, r"far from the median ?Row ?Value ?Distance in deviations ?20 ?1e\+06")
        self.assertNotIn("episodes", page.ids)

    def test_names_stay_text(self):
        names = ["<script>alert(1)</script>", "a\"b'c&d", "</style><b>", "\u202egnp", "é—日本"]
        sample.write_node(self.where / "data", [2], {}, values={"note": "</main><img src=x onerror=1>"})
        meta = json.loads((self.where / "data/meta.json").read_text())
        leaves = {name: {"device": "cpu", "shape": [2], "dtype": "torch.uint8", "is_nested": False} for name in names}
        (self.where / "data/meta.json").write_text(json.dumps({**leaves, **meta}))
        for name in names:
            escaped = "".join(f"%{ord(c):02X}" if c in '/<>:"|?*\\ %' else c for c in name)
            (self.where / "data" / f"{escaped}.memmap").write_bytes(b"\1\2")
        page = self.page(self.where / "data", "--title", "<i>&title")
        self.assertIn("<i>&title", page.text)
        for name in ("<script>alert(1)<\\/script>", names[1], "\\u202egnp", names[4], "</main><img src=x onerror=1>"):
            self.assertIn(name, page.text)
        self.assertFalse({"script", "b", "i"} - {"b"} & page.tags)

    def test_pictures(self):
        size, count = 9 * 10, 3
        flat = [i % 251 for i in range(count * size * 3)]
        sample.write_node(self.where / "data", [count], {
            "last": ("uint8", [count, 9, 10, 3], flat),
            "first": ("uint8", [count, 3, 9, 10], flat),
            "gray": ("uint8", [count, 9, 10], flat[:count * size]),
            "depth": ("float32", [count, 9, 10, 1], [i / 4 for i in range(count * size)]),
            "small": ("uint8", [count, 7, 10, 3], flat[:count * 210]),
            "flags": ("bool", [count, 9, 10, 3], [0] * count * size * 3),
        })
        images = [dots_of(image) for image in self.page(self.where / "data").images]
        self.assertEqual([image[:3] for image in images], [(10, 9, 3)] * 6 + [(10, 9, 1)] * 3 + [(10, 9, 3)] * 3)
        self.assertEqual(images[0][3], bytes(flat[:size * 3]))
        planes = [flat[c * size:(c + 1) * size] for c in range(3)]
        self.assertEqual(images[3][3], bytes(value for dot in zip(*planes) for value in dot))
        self.assertEqual(images[6][3], bytes(flat[:size]))
        self.assertEqual(images[9][3][:3], bytes([68, 1, 84]))  # least
        self.assertEqual(images[11][3][-3:], bytes([253, 231, 37]))  # greatest

    def test_episodes_by_what_there_is(self):
        def lengths(leaves, batch):
            shutil.rmtree(self.where / "data", ignore_errors=True)
            sample.write_node(self.where / "data", batch, leaves)
            text = self.page(self.where / "data").text
            found = re.search(r"least ?(\S+?) ?mean ?(\S+?) ?greatest ?(\S+?) ?std", text)
            return tuple(map(float, found.groups())) if found else None

        done = [0, 0, 1, 0, 1, 0, 0, 0, 0]
        self.assertEqual(lengths({"done": ("bool", [9], done)}, [9]), (2, 3, 4))
        self.assertEqual(lengths({"episode": ("int64", [9], [7, 7, 3, 3, 3, 3, 8, 8, 8])}, [9]), (2, 3, 4))
        self.assertEqual(lengths({"terminated": ("bool", [9, 1], done), "truncated": ("bool", [9, 1], [1] + [0] * 8)}, [9]), (1, 2.25, 4))
        self.assertEqual(lengths({"x": ("uint8", [3, 3], done)}, [3, 3]), (3, 3, 3))
        self.assertEqual(lengths({"done": ("bool", [3, 3], done)}, [3, 3]), (1, 2.25, 3))
        self.assertIsNone(lengths({"x": ("uint8", [9], done)}, [9]))
        self.assertIsNone(lengths({"done": ("bool", [9, 2], done * 2)}, [9]))

    def test_every_kind_of_data(self):
        sample.prepare(self.where)
        for name in ("numbers", "clouds", "names", "nontensor", "lazy_hetero", "tensorclass", "table.csv", "digits", "double.pt"):
            self.page(self.where / name)
        self.assertEqual(len(self.page(self.where / "digits").images), 8)
        sample.write_node(self.where / "scalar", [], {"x": ("float32", [3], [1, 2, 3])})
        sample.write_node(self.where / "empty", [0, 5], {"x": ("float32", [0, 5], [])})
        sample.write_node(self.where / "one", [1], {"x": ("float32", [1], [1])})
        sample.write_node(self.where / "extreme", [20], {"x": ("float64", [20], [1.7e308, -1.7e308] * 10), "y": ("float64", [20], [5e-324, 0] * 10)})
        for name in ("scalar", "empty", "one", "extreme"):
            text = run("report", self.where / name)
            Page(text)
            self.assertEqual(re.findall(r"\b(nan|inf)\b", text), [], name)
        self.assertIn("has no elements", self.page(self.where / "empty").text)
        self.assertEqual(run("report", self.where / "rollout", "next", "--json", status=2),
                         "tdtool: report writes HTML; stats --json has the numbers\n")
        one = self.page(self.where / "rollout", "next/reward")
        self.assertEqual(sum(link.startswith("#leaf-") for link in one.links) // 2 * 2, 2)

    def test_peaks_are_kept_and_pages_stay_small(self):
        count = 300000
        values = bytearray(count)
        values[123456] = 255
        sample.write_node(self.where / "data", [count], {"x": ("uint8", [count], [])})
        (self.where / "data/x.memmap").write_bytes(values)
        text = run("report", self.where / "data")
        self.assertLess(len(text), 60000)
        course = re.search(r'<path class="band f0" d="M(.*?)Z"', text[text.index('id="leaf-0"'):]).group(1).split()
        heights = sorted({float(y) for y in course[1::2]})
        self.assertEqual((heights[0], heights[-1]), (6.0, 168.0))  # the peak and the rest

    def test_a_long_row(self):
        count = 2500000
        sample.write_node(self.where / "data", [1], {"x": ("uint8", [1, count], [])})
        (self.where / "data/x.memmap").write_bytes(b"\3" * (count - 1) + b"\xfa")
        text = self.page(self.where / "data").text
        self.assertRegex(text.replace(" ", ""), r"count2500000min3median3mean3max250std0.1562")

    def test_many_tensors(self):
        sample.write_node(self.where / "data", [3], {f"leaf{i}": ("uint8", [3], [1, 2, i % 7]) for i in range(300)})
        self.assertEqual(len([one for one in self.page(self.where / "data").ids if one.startswith("leaf-")]), 300)

    def test_in_a_browser(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("no chromium here")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--window-size=1000,1200", f"--user-data-dir={self.where}/profile", "--enable-logging=stderr"]

        def browse(*arguments):
            return subprocess.run([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=600)

        if browse("--dump-dom", "about:blank").returncode != 0:
            self.skipTest("chromium does not start here")
        sample.rollout(self.where / "rollout")
        (self.where / "page.html").write_text(run("report", self.where / "rollout"), encoding="utf-8")
        shot = self.where / "shot.png"
        done = browse(f"--screenshot={shot}", f"file://{self.where}/page.html")
        self.assertTrue(shot.exists(), done.stdout)
        self.assertNotIn("CONSOLE", done.stdout)
        data = shot.read_bytes()
        self.assertEqual(struct.unpack_from(">II", data, 16), (1000, 1200))
        self.assertGreater(len(data), 20000)  # there is something to see


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
