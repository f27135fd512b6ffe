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
import sys
import time
import uuid

LICENCES = {
    "arrow": "Apache-2.0", "ffmpeg": "GPL-2.0-or-later", "gloo": "BSD-3-Clause", "hdf5": "BSD-3-Clause",
    "libjpeg-turbo": "BSD-3-Clause AND IJG AND Zlib", "libspng": "BSD-2-Clause", "libtorch": "BSD-3-Clause",
    "lz4": "BSD-2-Clause", "nlohmann-json": "MIT", "openssl": "Apache-2.0", "sqlite": "blessing", "xxhash": "BSD-2-Clause",
    "zlib": "Zlib", "zstd": "BSD-3-Clause",
}
# What the library loads when a file asks for it, and does without otherwise.
ASKED_FOR = ["hdf5", "libjpeg-turbo", "libspng", "lz4", "sqlite", "zstd"]
PORTABLE = {"STATIC_LINK": ["nlohmann-json", "xxhash", "zlib"], "DYNAMIC_LINK": ["libtorch", "openssl"], "OPTIONAL_DEPENDENCY_OF": ASKED_FOR}
# By the name of a package; what no line names holds none of this: headers, pages, sources.
PARTS = {
    "*.whl": {"STATIC_LINK": ["nlohmann-json", "xxhash", "zlib"]},
    "*.tgz": {"STATIC_LINK": ["nlohmann-json", "xxhash", "zlib"]},
    "tensordict-*-linux-*.tar.xz": PORTABLE,
    "*.Runtime.linux-x64.*.nupkg": PORTABLE,
    "libtensordict2_*.deb": {"STATIC_LINK": ["nlohmann-json"], "DYNAMIC_LINK": ["gloo", "libtorch", "openssl", "xxhash", "zlib"],
                             "OPTIONAL_DEPENDENCY_OF": ASKED_FOR},
    "tdtool_*.deb": {"STATIC_LINK": ["nlohmann-json"], "DYNAMIC_LINK": ["xxhash", "zlib"]},
    "tensordict-arrow_*.deb": {"DYNAMIC_LINK": ["arrow"]},
    "tensordict-video_*.deb": {"DYNAMIC_LINK": ["ffmpeg"]},
}


def relations_of(path):
    """How a package is related to others: pairs of a relation and a name."""
    name = path.rpartition("/")[2]
    for pattern, parts in PARTS.items():
        if fnmatch.fnmatchcase(name, pattern):
            return [(how, part) for how, those in parts.items() for part in those]
    return []


def package(name, version, licence, sums=()):
    about = {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name),
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
    parts = {}
    for one in ours:
        for how, name in relations_of(one["name"]):
            part = parts.setdefault(name, package(name, None, LICENCES[name]))
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
