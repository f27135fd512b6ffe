"""The list of what is in the packages names each part, with its licence, once."""
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "packaging/sbom.py"
PACKAGES = ["tdtool-1.2.3-py3-none-manylinux_2_17_x86_64.whl", "tensordict-1.2.3-linux-x86_64.tar.xz", "tdtool-1.2.3.tgz",
            "TensorDict.1.2.3.nupkg", "TensorDict.Runtime.linux-x64.1.2.3.nupkg", "apt/libtensordict2_1.2.3-1_amd64.deb",
            "apt/tdtool_1.2.3-1_amd64.deb", "apt/tensordict-arrow_1.2.3-1_amd64.deb", "apt/tensordict-video_1.2.3-1_amd64.deb",
            "apt/libtensordict-doc_1.2.3-1_all.deb", "apt/tensordict_1.2.3.orig.tar.xz"]


class Sbom(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in PACKAGES:
                (Path(folder) / name).parent.mkdir(exist_ok=True)
                (Path(folder) / name).write_text(name)
            readme = b"It was built for libtorch 2.10.0\n"
            with tarfile.open(Path(folder) / "tensordict-1.2.3-linux-x86_64.tar.xz", "w:xz") as archive:
                about = tarfile.TarInfo("tensordict-1.2.3-linux-x86_64/README.txt")
                about.size = len(readme)
                archive.addfile(about, io.BytesIO(readme))
            subprocess.run([sys.executable, PROGRAM, "1.2.3", folder], check=True)
            self.sums = (Path(folder) / "SHA256SUMS").read_text()
            self.found = json.loads((Path(folder) / "sbom.spdx.json").read_text())
        self.names = {one["SPDXID"]: one["name"] for one in self.found["packages"]}

    def of(self, package):
        ends = [(self.names.get(one["spdxElementId"]), one["relationshipType"], self.names[one["relatedSpdxElement"]])
                for one in self.found["relationships"]]
        return ({(how, b) for a, how, b in ends if a == package} |
                {(how, a) for a, how, b in ends if b == package and a is not None})

    def test_all_packages_and_their_parts(self):
        self.assertEqual(len(self.names), len(self.found["packages"]))
        self.assertLess(set(PACKAGES), set(self.names.values()))
        self.assertEqual(len(self.sums.splitlines()), len(PACKAGES))
        for one in self.found["packages"]:
            self.assertNotIn(one["licenseConcluded"], ("", "NOASSERTION"), one["name"])

    def test_what_a_package_needs(self):
        self.assertIn(("DYNAMIC_LINK", "libtorch"), self.of("apt/libtensordict2_1.2.3-1_amd64.deb"))
        self.assertIn(("OPTIONAL_DEPENDENCY_OF", "hdf5"), self.of("tensordict-1.2.3-linux-x86_64.tar.xz"))
        self.assertEqual(self.of("apt/tensordict-arrow_1.2.3-1_amd64.deb"), {("DYNAMIC_LINK", "arrow")})
        self.assertEqual(self.of("apt/tensordict-video_1.2.3-1_amd64.deb"), {("DYNAMIC_LINK", "ffmpeg")})
        self.assertEqual(self.of("apt/libtensordict-doc_1.2.3-1_all.deb"), set())
        self.assertEqual(self.of("apt/tensordict_1.2.3.orig.tar.xz"), set())
        self.assertIn(("STATIC_LINK", "libstdc++"), self.of("tdtool-1.2.3-py3-none-manylinux_2_17_x86_64.whl"))
        versions = {one["name"]: one.get("versionInfo") for one in self.found["packages"] if one["SPDXID"].startswith("SPDXRef-libtorch-2")}
        self.assertEqual(versions, {"libtorch": "2.10.0"})
        self.assertIn(("STATIC_LINK", "zlib"), self.of("tdtool-1.2.3-py3-none-manylinux_2_17_x86_64.whl"))


if __name__ == "__main__":
    unittest.main()
