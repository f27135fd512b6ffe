#!/usr/bin/env python3
"""Looks into the packages for .NET: icon, readme, licence, targets, symbols, and where the sources are.

    nupkg.py FOLDER [ADDRESS]    ADDRESS is the public address that they must name; without it they must name no other
"""
import pathlib
import re
import sys
import xml.etree.ElementTree
import zipfile

TARGETS = ("netstandard2.1", "net8.0", "net10.0")


class Package:
    def __init__(self, path):
        self.path = path
        self.archive = zipfile.ZipFile(path)
        self.names = set(self.archive.namelist())
        spec = next(name for name in self.names if name.endswith(".nuspec"))
        text = re.sub(r' xmlns="[^"]*"', "", self.archive.read(spec).decode("utf-8-sig"), count=1)
        self.about = xml.etree.ElementTree.fromstring(text).find("metadata")

    def says(self, what):
        found = self.about.find(what)
        return "" if found is None or found.text is None else found.text

    def look(self, address):
        """What is wrong with it."""
        wrong = [f"it holds no {name}" for name in ("icon.png", "README.md") if name not in self.names]
        wrong += [f"{what} is '{self.says(what)}'" for what, expected in
                  (("icon", "icon.png"), ("readme", "README.md"), ("license", "MIT")) if self.says(what) != expected]
        wrong += [f"it has no {what}" for what in ("description", "authors") if not self.says(what)]
        repository = self.about.find("repository")
        url = "" if repository is None else repository.get("url", "")
        if url != address:
            wrong.append(f"the address of its repository is '{url}' instead of '{address}'")
        if address and (repository.get("type") != "git" or self.says("projectUrl") != address):
            wrong.append(f"it names no git repository, or another projectUrl than {address}")
        return wrong


def newest(folder, pattern):
    def number(path):
        return [int(part) for part in re.findall(r"\d+", path.name)]
    found = sorted((p for p in folder.glob(pattern)), key=number)
    if not found:
        sys.exit(f"{folder} holds no {pattern}")
    return found[-1]


def look_at_library(folder, package, address):
    wrong = [f"it holds no lib/{target}/TensorDict.{end}" for target in TARGETS for end in ("dll", "xml")
             if f"lib/{target}/TensorDict.{end}" not in package.names]
    symbols = zipfile.ZipFile(newest(folder, "TensorDict.[0-9]*.snupkg"))
    for target in TARGETS:
        name = f"lib/{target}/TensorDict.pdb"
        if name not in symbols.namelist():
            wrong.append(f"its .snupkg holds no {name}")
        # SourceLink is text in the symbols: a pattern of paths, and where they are on the web.
        elif address and address.partition("://")[2].split("/")[0].encode() in (b"github.com", b"gitlab.com") and \
                b'{"documents":' not in symbols.read(name):
            wrong.append(f"{name} has no SourceLink")
    return wrong


def main():
    folder, address = pathlib.Path(sys.argv[1]), (sys.argv + [""])[2]
    library = Package(newest(folder, "TensorDict.[0-9]*.nupkg"))
    wrong = [(library, text) for text in library.look(address) + look_at_library(folder, library, address)]
    if "--library-alone" not in sys.argv:
        runtime = Package(newest(folder, "TensorDict.Runtime.linux-x64.*.nupkg"))
        texts = runtime.look(address) + [f"it holds no {name}" for name in
                                         ("runtimes/linux-x64/native/libtensordict.so", "THIRD-PARTY.txt") if name not in runtime.names]
        wrong += [(runtime, text) for text in texts]
    for package, text in wrong:
        print(f"{package.path.name}: {text}")
    sys.exit(1 if wrong else 0)


main()
