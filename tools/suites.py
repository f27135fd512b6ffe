#!/usr/bin/env python3
"""Prints one line for each suite of a meson test run, and what failed or was skipped.

usage: suites.py TESTLOG.json TOTALS [LABEL]

TOTALS gets "passed failed skipped". LABEL stands behind the names of the suites, such as "asan".
"""
import collections
import json
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
LINES = 15


def suite_of(name):
    """Meson writes "project:suite+suite / test", newer ones "suite+suite - project:test"."""
    if " / " in name:
        suites, test = name.split(" / ", 1)
        suites = suites.split(":", 1)[-1]
    elif " - " in name:
        suites, test = name.split(" - ", 1)
        test = test.split(":", 1)[-1]
    else:
        suites, test = "tests", name
    return suites.split("+")[0], test


def reason(entry):
    """Why a test says it was skipped: the last thing that it printed."""
    lines = [line for line in (entry.get("stdout") or "").splitlines() if line.strip()]
    return re.sub(r"^(1\.\.0 )?# *(skip:? *)?", "", lines[-1].strip(), flags=re.I) if lines else "no reason given"


def main():
    log, totals, *label = sys.argv[1:]
    suites = collections.OrderedDict()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            entry = json.loads(line)
            suite, entry["test"] = suite_of(entry["name"])
            suites.setdefault(suite, []).append(entry)

    sums = collections.Counter()
    failures = []
    for suite, entries in suites.items():
        counts = collections.Counter()
        notes = []
        for entry in entries:
            if entry["result"] in PASSED:
                counts["passed"] += 1
            elif entry["result"] in ("SKIP", "IGNORED"):
                counts["skipped"] += 1
                notes.append(f"{entry['test']}: {reason(entry)}")
            else:
                counts["failed"] += 1
                failures.append((suite, entry))
        sums.update(counts)
        text = ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind])
        seconds = sum(entry["duration"] for entry in entries)
        name = f"{suite} ({label[0]})" if label else suite
        print(f"  {name:<20}{text:<34}{seconds:7.1f} s")
        for note in notes:
            print(f"    skipped {note}")

    for suite, entry in failures:
        print(f"\n  {suite} / {entry['test']}: {entry['result'].lower()}, exit code {entry['returncode']}")
        output = (entry.get("stdout") or "") + (entry.get("stderr") or "")
        telling = [line for line in output.splitlines() if line.strip() and not line.startswith("ok ")]
        for line in telling[-LINES:]:
            print(f"    {line}")
    with open(totals, "w", encoding="utf-8") as file:
        print(sums["passed"], sums["failed"], sums["skipped"], file=file)


main()
