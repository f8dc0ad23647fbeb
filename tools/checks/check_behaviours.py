#!/usr/bin/env python3
"""Compares docs/reference/behaviours.md with the tests: each line must have a test that names it or
a reason, but not both.

A test names its lines in a comment: `// Behaviour B3.`, `// Behaviours M6 and M7: ...`, `//
Behaviours B6 to B8.` Reads the whole work tree, which it finds through the real path of this
script.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
REFERENCE = re.compile(r"//[^\n]*?Behaviours? ([A-N]\d+(?:(?: to |, and |, | and )[A-N]\d+)*)")


def lines_of(text):
    """Yields the lines that a file's comments name."""
    for match in REFERENCE.finditer(text):
        words = match.group(1)
        for first, last in re.findall(r"([A-N]\d+) to ([A-N]\d+)", words):
            for number in range(int(first[1:]), int(last[1:]) + 1):
                yield first[0] + str(number)
        yield from re.findall(r"[A-N]\d+", words)


def tested():
    """Returns {line: a file that tests it}."""
    found = {}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "bazel-"))]
        for name in files:
            if name.endswith(("_test.cc", "check_layers.py")) or folder.endswith("interop"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    for line in lines_of(file.read()):
                        found.setdefault(line, os.path.relpath(path, ROOT))
    return found


def main():
    with open(os.path.join(ROOT, "docs/reference/behaviours.md")) as file:
        rows = re.findall(r"^\| ([A-N]\d+) \| ([^|]+) \| ([^|]*) \|$", file.read(), re.MULTILINE)
    reasons = {line: reason.strip() for line, _, reason in rows}
    tests = tested()
    problems = []
    for line, reason in reasons.items():
        if line in tests and reason:
            problems.append(f"{line} has a test ({tests[line]}): remove its reason")
        if line not in tests and not reason:
            problems.append(f"{line} has neither a test nor a reason")
    for line in sorted(set(tests) - set(reasons)):
        problems.append(f"{tests[line]} names {line}, which docs/reference/behaviours.md does not "
                        f"have")
    print(f"{len(tests)} of {len(reasons)} lines have a test")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
