#!/usr/bin/env python3
"""Makes a wheel of tdtool, as pip installs it: a zip file with a list of its files.

    make.py PROGRAM VERSION FOLDER [TORCH MAIN LIBRARY]

With the last three it holds tdtool-main and the library, too, which run with the libtorch of pip's torch, of version TORCH.
The wheel holds no Python. Its tag names the oldest C library that the programs run with.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
METADATA = """\
Metadata-Version: 2.1
Name: tdtool
Version: {version}
Summary: Shows, searches and compares recordings of tensors: folders of tensordict, safetensors, NumPy files
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
{address}{extra}Description-Content-Type: text/markdown

{readme}"""


EXTRA = "Provides-Extra: torch\nRequires-Dist: torch (=={}) ; extra == 'torch'\n"


def glibc(programs):
    """The newest symbol version of the C library that programs ask for, as (major, minor)."""
    symbols = subprocess.run(["objdump", "-T", *programs], stdout=subprocess.PIPE, check=True, text=True).stdout
    return max(tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols))


def main():
    program, version, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    torch, computing = (sys.argv[4:5] or [None])[0], [pathlib.Path(name) for name in sys.argv[5:]]
    tag = "py3-none-manylinux_{}_{}_{}".format(*glibc([program, *computing]), platform.machine())
    stripped = program.with_suffix(".stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    beside = f"tdtool-{version}.data/data/libexec/tensordict"
    info = f"tdtool-{version}.dist-info"
    readme = (pathlib.Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    address = f"Project-URL: Source, {os.environ['address']}\n" if os.environ.get("address") else ""
    extra = EXTRA.format(torch) if torch else ""
    files = {
        f"tdtool-{version}.data/scripts/tdtool": stripped.read_bytes(),
        **{f"{beside}/{file.name}": file.read_bytes() for file in computing},
        **({f"{beside}/torch-version": f"{torch}\n".encode()} if torch else {}),
        f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{info}/THIRD-PARTY.txt": (ROOT / "packaging/THIRD-PARTY.txt").read_bytes(),
        f"{info}/METADATA": METADATA.format(version=version, readme=readme, address=address, extra=extra).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tools/package\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    # A zip file knows no year before 1980.
    date = max(time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))[:6], (1980, 1, 1, 0, 0, 0))
    wheel = folder / f"tdtool-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if name.endswith(("/tdtool", "/tdtool-main")) else 0o100644) << 16
            archive.writestr(entry, data, compresslevel=9)
    print(f"{wheel}: {wheel.stat().st_size} bytes")


main()
