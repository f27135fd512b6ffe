#!/usr/bin/env python3
"""Writes SHA256SUMS and an SBOM in SPDX 2.3 beside packages.

    sbom.py VERSION FOLDER

The SBOM lists the packages with their sums, and what is compiled into them or needed beside them.
"""
import hashlib
import json
import os
import pathlib
import sys
import time
import uuid

LICENCES = {
    "nlohmann-json": "MIT", "xxhash": "BSD-2-Clause", "zlib": "Zlib", "libtorch": "BSD-3-Clause", "openssl": "Apache-2.0",
    "hdf5": "BSD-3-Clause",
}
# By the ending of a package: what is compiled into it, and what it loads.
PARTS = {
    (".whl", ".tgz"): (["nlohmann-json", "xxhash", "zlib"], []),
    (".tar.xz",): (["nlohmann-json", "xxhash", "zlib"], ["libtorch", "openssl", "hdf5"]),
    ("linux-x64.{version}.nupkg",): (["nlohmann-json", "xxhash", "zlib"], ["libtorch", "openssl", "hdf5"]),
    (".deb",): (["nlohmann-json"], ["xxhash", "zlib", "libtorch", "openssl", "hdf5"]),
}


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
    parts = {name: package(name, None, licence) for name, licence in LICENCES.items()}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in ours]
    for one in ours:
        for endings, links in PARTS.items():
            if one["name"].endswith(tuple(end.format(version=version) for end in endings)) and ".orig." not in one["name"]:
                for how, names in zip(("STATIC_LINK", "DYNAMIC_LINK"), links):
                    relations += [(one["SPDXID"], how, parts[name]["SPDXID"]) for name in names]
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


main()
