#!/usr/bin/env python3
"""Finds lines of more than 100 columns, and files that are too long to be read at once.

Lines: .cc, .h, .py, .sh, .bzl and BUILD files. Length of files: 400 lines for .h and .cc, 600 for
tests.

tools/checks/lines.txt lists the exceptions, each with its reason. An exception that is not needed
any more is reported too.

Usage: tools/checks/check_lines.py [ROOT]. Exit code 0 if there is none, else 1.
Run by //tools/checks:check_lines and tools/presubmit.sh.
"""

import fnmatch
import os
import re
import sys

MOST_COLUMNS = 100
MOST_LINES = 400
MOST_LINES_OF_TEST = 600
CHECKED = re.compile(r"(\.(cc|h|py|sh|bzl)|(^|/)(BUILD|BUILD\.bazel))$")
TOP_FOLDERS = (".ci", "docs", "estimator", "models", "testdata", "tools", "tpu")


class Exceptions:
    """The lines of lines.txt: `columns FILES` or `lines FILES`. FILES may have a `*`."""

    def __init__(self, text):
        self.patterns = []
        self.used = set()
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or words[0] not in ("columns", "lines"):
                raise SystemExit(f"lines.txt:{number}: not `columns FILES` or `lines FILES`: "
                                 f"{line}")
            self.patterns.append(tuple(words))

    def has(self, kind, path):
        found = [p for p in self.patterns if p[0] == kind and fnmatch.fnmatch(path, p[1])]
        self.used.update(found)
        return bool(found)

    def unused(self):
        return [pattern for pattern in self.patterns if pattern not in self.used]


def check_file(path, text, exceptions):
    """Yields what is too long in one file."""
    lines = text.splitlines()
    long = [number for number, line in enumerate(lines, 1) if len(line) > MOST_COLUMNS]
    if long and not exceptions.has("columns", path):
        for number in long:
            yield f"{path}:{number}: {len(lines[number - 1])} columns (at most {MOST_COLUMNS})"
    if not path.endswith((".cc", ".h")):
        return
    most = MOST_LINES_OF_TEST if path.endswith("_test.cc") else MOST_LINES
    if len(lines) > most and not exceptions.has("lines", path):
        yield f"{path}:1: {len(lines)} lines (at most {most}): split it where it does two things"


def checked_files(root):
    for top in TOP_FOLDERS:
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "__", "bazel-")))
            for file in sorted(files):
                path = os.path.relpath(os.path.join(folder, file), root)
                if CHECKED.search(path):
                    yield path


def check_tree(root, exceptions):
    for path in checked_files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            yield from check_file(path, file.read(), exceptions)
    for kind, files in exceptions.unused():
        yield f"tools/checks/lines.txt: `{kind} {files}` is not needed any more: remove it"


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    with open(os.path.join(root, "tools/checks/lines.txt"), encoding="utf-8") as file:
        exceptions = Exceptions(file.read())
    found = list(check_tree(root, exceptions))
    for line in found:
        print(line)
    print(f"{len(found)} lines or files are too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
