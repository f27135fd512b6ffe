#!/usr/bin/env python3
"""Writes SHA256SUMS and an SBOM in SPDX 2.3 beside packages.

    sbom.py VERSION FOLDER

The SBOM lists the packages with their sums, and what is compiled into them or needed beside them.
"""
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import uuid

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
LICENCES = {
    "arrow": "Apache-2.0", "ffmpeg": "GPL-2.0-or-later", "gloo": "BSD-3-Clause", "hdf5": "BSD-3-Clause",
    "libgcc": GCC, "libjpeg-turbo": "BSD-3-Clause AND IJG AND Zlib", "libspng": "BSD-2-Clause", "libstdc++": GCC,
    "libtorch": "BSD-3-Clause", "lz4": "BSD-2-Clause", "nlohmann-json": "MIT", "openssl": "Apache-2.0", "sqlite": "blessing",
    "xxhash": "BSD-2-Clause", "zlib": "Zlib", "zstd": "BSD-3-Clause",
}
# Names that pkg-config has for what is linked. Libraries that are loaded when a file asks for them are any of their interface.
PKG_CONFIG = {"nlohmann-json": "nlohmann_json", "openssl": "openssl", "xxhash": "libxxhash", "zlib": "zlib"}
# What the library loads when a file asks for it, and does without otherwise.
ASKED_FOR = ["hdf5", "libjpeg-turbo", "libspng", "lz4", "sqlite", "zstd"]
INSIDE = ["nlohmann-json", "xxhash", "zlib"]
# tdtool alone brings the libraries of the compiler.
TDTOOL = {"STATIC_LINK": INSIDE + ["libgcc", "libstdc++"]}
LIBRARY = {"STATIC_LINK": INSIDE, "DYNAMIC_LINK": ["libtorch", "openssl"], "OPTIONAL_DEPENDENCY_OF": ASKED_FOR}
# By the name of a package; what no line names holds none of this: headers, pages, sources.
PARTS = {
    "*.whl": TDTOOL,
    "*.tgz": TDTOOL,
    "tensordict-*-linux-*.tar.xz": {**LIBRARY, **TDTOOL},
    "TensorDicts-*-linux-*.tar.xz": LIBRARY,
    "*.Runtime.linux-x64.*.nupkg": LIBRARY,
    "libtensordict2_*.deb": {"STATIC_LINK": ["nlohmann-json"], "DYNAMIC_LINK": ["gloo", "libtorch", "openssl", "xxhash", "zlib"],
                             "OPTIONAL_DEPENDENCY_OF": ASKED_FOR},
    "tdtool_*.deb": {"STATIC_LINK": ["nlohmann-json"], "DYNAMIC_LINK": ["xxhash", "zlib"]},
    "tensordict-arrow_*.deb": {"DYNAMIC_LINK": ["arrow"]},
    "tensordict-video_*.deb": {"DYNAMIC_LINK": ["ffmpeg"]},
}


def said(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def torch_of(folder):
    """The version of libtorch that the library in a folder was built for, as its tarball says."""
    for path in sorted(folder.glob("tensordict-*-linux-*.tar.xz")):
        with tarfile.open(path) as archive:
            readme = archive.extractfile(path.name[:-len(".tar.xz")] + "/README.txt").read().decode()
        found = re.search(r"built for libtorch (\S+)", readme)
        if found:
            return found[1]
    return None


def versions_of(folder):
    """Of this system, on which what is no package of Debian was just built. Those of Debian name theirs in Depends."""
    found = {name: said("pkg-config", "--modversion", name_there) for name, name_there in PKG_CONFIG.items()}
    compiler = said(os.environ.get("CXX", "c++"), "-dumpfullversion")
    return {**found, "libgcc": compiler, "libstdc++": compiler, "libtorch": torch_of(folder)}


def relations_of(path):
    """How a package is related to others: pairs of a relation and a name."""
    name = path.rpartition("/")[2]
    for pattern, parts in PARTS.items():
        if fnmatch.fnmatchcase(name, pattern):
            return [(how, part) for how, those in parts.items() for part in those]
    return []


def package(name, version, licence, sums=()):
    about = {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in (name if sums else f"{name}-{version or 'any'}")),
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    if version:
        about["versionInfo"] = version
    if sums:
        about["checksums"] = [{"algorithm": "SHA256", "checksumValue": value} for value in sums]
    return about


def main():
    version, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    made = ("SHA256SUMS", "sbom.spdx.json")
    files = sorted(f for f in folder.rglob("*") if f.is_file() and f.name not in made)
    if not files:
        sys.exit(f"{folder} holds no package")
    sums = {f.relative_to(folder).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
    (folder / made[0]).write_text("".join(f"{value}  {name}\n" for name, value in sums.items()))

    ours = [package(name, version, "MIT", [value]) for name, value in sums.items()]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in ours]
    parts, versions = {}, versions_of(folder)
    for one in ours:
        for how, name in relations_of(one["name"]):
            found = None if one["name"].endswith(".deb") else versions.get(name)
            part = parts.setdefault((name, found), package(name, found, LICENCES[name]))
            ends = one["SPDXID"], part["SPDXID"]
            relations.append((ends[1], how, ends[0]) if how.endswith("_OF") else (ends[0], how, ends[1]))
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"tensordict-{version}",
        # A name, which differs whenever the packages do.
        "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(sums)).urn,
        "creationInfo": {"created": date, "creators": ["Tool: packaging/sbom.py"]},
        "packages": ours + list(parts.values()),
        "relationships": [
            {"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b} for a, how, b in relations
        ],
    }
    (folder / made[1]).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
