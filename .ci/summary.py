#!/usr/bin/env python3
"""Prints what a run of `bazel test` tested: a line for each suite of each target, then the failures
with their logs, then "N passed, N failed[, N skipped]" alone on a line.

    summary.py LOG EXIT_CODE [FOLDER...]

    LOG     the output of bazel test --test_summary=short
    FOLDER  test.xml and test.log of further suites, as those of bazel-testlogs
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

TARGET = re.compile(r"^(//\S+) +(?:\(cached\) )?"
                    r"(PASSED|FLAKY|FAILED|TIMEOUT|INCOMPLETE|REMOTE FAILURE|NO STATUS)(.*)")


def cases_of(folder):
    """[(suite, name, 'passed' | 'failed' | 'skipped')] of a target; [] if it wrote no report."""
    try:
        root = ElementTree.parse(os.path.join(folder, "test.xml")).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        outcome = "failed" if failed else "skipped" if case.get("result") == "skipped" else "passed"
        cases.append((case.get("classname") or "", case.get("name"), outcome))
    return cases


def tail(path, lines):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])
    except OSError:
        return ""


def print_suites(target, cases, total):
    """Prints a line for each suite of a target, and adds its cases to the total."""
    suites = {}
    for suite, _, outcome in cases:
        suites.setdefault(suite, {"passed": 0, "failed": 0, "skipped": 0})[outcome] += 1
    for suite, counts in suites.items():
        text = ", ".join("%d %s" % (n, outcome) for outcome, n in counts.items() if n)
        print("%s %s: %s" % (target, suite, text))
        for outcome, n in counts.items():
            total[outcome] += n


def print_failure(heading, cases, log, total):
    # A program that ends early reports no failed case, but it failed.
    if not any(outcome == "failed" for _, _, outcome in cases):
        total["failed"] += 1
    print("==== " + heading)
    if log is not None:
        print(tail(log, 60))


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        log = file.read().splitlines()
    code = int(sys.argv[2])
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for match in filter(None, map(TARGET.match, log)):
        target, status = match.group(1), match.group(2)
        folder = "bazel-testlogs/" + target[2:].replace(":", "/")
        built = "FAILED TO BUILD" not in match.group(0) and status != "NO STATUS"
        cases = cases_of(folder) if built else []
        print_suites(target, cases, total)
        if status not in ("PASSED", "FLAKY"):
            print_failure("%s: %s%s" % (target, status, match.group(3)), cases,
                          folder + "/test.log" if built else None, total)
    for folder in sys.argv[3:]:
        name, cases = os.path.basename(folder), cases_of(folder)
        print_suites(name, cases, total)
        if not cases or any(outcome == "failed" for _, _, outcome in cases):
            print_failure(name, cases, folder + "/test.log", total)
    # If bazel failed, but no test did, the build failed or bazel did not start.
    if code != 0:
        print("\n".join([line for line in log if not line.startswith(("//", "INFO:"))][-100:]))
        total["failed"] = max(total["failed"], 1)
    line = "%d passed, %d failed" % (total["passed"], total["failed"])
    if total["skipped"]:
        line += ", %d skipped" % total["skipped"]
    print(line)
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
