#!/usr/bin/env python3
"""Nothing of the library runs at load or at exit: check_static.py SHARED_LIBRARY STATIC_CORE

Looks at the object files beside the two: none may have a constructor or a destructor of the image
or of a thread. What headers of libtorch keep in functions of theirs, and make before main, is libtorch's: headers of 2.10 do
so with lists of names.
"""
import pathlib
import re
import subprocess
import sys

FOREIGN = re.compile(r"(c10|c10d|at|torch|caffe2|nlohmann|std)::")

# These give what a thread kept back when it ends. Nothing else may: the code that runs then must be
# mapped still (-z nodelete sees to that), and what it touches must outlive it.
THREAD_ENDS = re.compile(r"td::Recycler<\d+ul>::give_rarely\(void\*\)::end|capi::HandleTable::give_slot\(unsigned int\)::end")


# A save in the background that its caller has forgotten is waited for: its thread must not run on while
# libtorch goes. Registered when the first such save begins.
EXIT_ENDS = re.compile(r"td::Future::AtExit::instance\(\)::(list|waiter)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# All that <iostream> does in an object file, which headers of libtorch include.
STREAMS = {"_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev", "_ZStL8__ioinit", "__dso_handle", "__cxa_atexit", ".bss"}


def only_streams(item):
    """Whether what is made before main is the streams alone, and whether nothing else goes at exit."""
    used = {}
    for section, body in re.findall(r"Relocation section '(\S+)'.*?\n(.*?)(?=\n\n|\Z)", run("readelf", "-rW", item), re.S):
        used[section] = set(re.findall(r" R_\S+ +[0-9a-f]+ (\S+)", body))
    startup = used.pop(".rela.text.startup", set())
    made = "_ZNSt8ios_base4InitC1Ev" in startup and startup <= STREAMS
    return made, made and not any("__cxa_atexit" in names for names in used.values())


def variables(item):
    """What is written outside of functions: what is made before main is one of these."""
    sections = dict(re.findall(r"\[ *(\d+)\] (\S+)", run("readelf", "-SW", item)))
    symbols = re.findall(r" OBJECT +\w+ +\w+ +(\d+) (.+)", run("readelf", "--demangle", "-sW", item))
    for section, name in symbols:
        written = re.match(r"\.(bss|tbss|data)(?!\.rel)", sections.get(section, ""))
        in_function = "(" in name.replace("(anonymous namespace)", "")
        if written and not in_function:
            yield name


def complaints(item):
    made_first, streams = only_streams(item)
    made = list(variables(item))
    of_headers = bool(made) and all(map(FOREIGN.match, made))
    sections = re.findall(r"\.(init_array|fini_array|ctors|dtors)\b", run("readelf", "-SW", item))
    if sections and not made_first and not of_headers:
        yield f"has .{sections[0]}: something is made before main: " + "; ".join(made)
    symbols = run("readelf", "--demangle", "-sW", item)
    guards = re.findall(r" (TLS|OBJECT) .* guard variable for (.*)", symbols)
    ends = [name for kind, name in guards if kind == "TLS" and not THREAD_ENDS.match(name)]
    if "__cxa_thread_atexit" in symbols and ends:
        yield "has something that ends with a thread: " + "; ".join(ends)
    ours = [name for kind, name in guards if kind == "OBJECT" and not FOREIGN.match(name)]
    expected = bool(ours) and all(map(EXIT_ENDS.match, ours))
    if "__cxa_atexit" in symbols and not streams and not expected and (ours or not (guards or of_headers)):
        yield "registers a destructor for exit: " + "; ".join(ours)


def main(*libraries):
    items = [item for library in libraries for item in sorted(pathlib.Path(library + ".p").glob("*.o"))]
    if not items:
        sys.exit(f"no object files beside {' and '.join(libraries)}")
    if any("__asan_init" in run("nm", item) or "__tsan_init" in run("nm", item) for item in items):
        print("a sanitizer is linked in, which needs constructors")
        sys.exit(77)
    found = [f"{item.name} {complaint}" for item in items for complaint in complaints(item)]
    print("\n".join(found) or f"{len(items)} object files, none does anything at load or exit")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
