#!/usr/bin/env python3
"""Checks every #include of the repository against tools/checks/layers.txt, and that no folder's targets are all
public; reports all violations at once.

Usage: tools/checks/check_layers.py [ROOT]. Exit code 0 if there is none, else 1. Run by //tools:check_layers.
"""

import os
import re
import sys

SOURCE = re.compile(r"\.(h|hpp|inc|cc|cpp|c)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
NOT_OURS = re.compile(r"^(\.|bazel-)")  # .git, .cache, Bazel's convenience links


class Table:
    """The parsed layers.txt."""

    def __init__(self, path):
        self.layers = {}  # folder -> (layer, libraries)
        self.allowed = set()  # (from, to)
        self.common = set()
        self.testing = set()
        self.libraries = {}  # name -> [prefix or whole name]
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split("#")[0].split()
                if words and not self._parse(words):
                    sys.exit(f"{path}:{number}: cannot read: {line.strip()}")

    def _parse(self, words):
        kind, rest = words[0], words[1:]
        if kind == "layer" and len(rest) >= 2 and rest[0].isdigit():
            self.layers[rest[1]] = (int(rest[0]), set(rest[2:]))
        elif kind == "allow" and len(rest) == 3 and rest[1] == "->":
            self.allowed.add((rest[0], rest[2]))
        elif kind == "common":
            self.common.update(rest)
        elif kind == "testing":
            self.testing.update(rest)
        elif kind == "library" and len(rest) >= 2:
            self.libraries[rest[0]] = rest[1:]
        else:
            return False
        return True

    def folder(self, path):
        """Returns the longest folder of the table that contains path, or None."""
        while path:
            path = os.path.dirname(path)
            if path in self.layers:
                return path
        return None

    def library(self, include):
        for name, patterns in self.libraries.items():
            for pattern in patterns:
                if include == pattern or (pattern[-1] in "/_" and include.startswith(pattern)):
                    return name
        return None


def check_own(table, source, include, root):
    """An #include "..." : a file of the repository."""
    here, there = table.folder(source), table.folder(include)
    generated = include.endswith(".pb.h")
    file = re.sub(r"\.pb\.h$", ".proto", include) if generated else include
    if there is None or not os.path.exists(os.path.join(root, file)):
        return f'"{include}": no such file; write the path from the root of the repository'
    if here == there or (here, there) in table.allowed:
        return None
    layer_here, layer_there = table.layers[here][0], table.layers[there][0]
    if layer_there < layer_here:
        return None
    relation = "the same layer" if layer_here == layer_there else f"layer {layer_there}, above it"
    return f'"{include}": {here} (layer {layer_here}) must not see {there} ({relation})'


def check_foreign(table, source, include):
    """An #include <...> : the standard library, the system, or a third party."""
    if re.fullmatch(r"[a-z0-9_]+", include):
        return None  # <vector>
    here = table.folder(source)
    library = table.library(include)
    if library is None:
        return f"<{include}>: not in tools/checks/layers.txt; add it to a library there, or use <c...> for a C header"
    usable = table.common | table.layers[here][1]
    if source.endswith(("_test.cc", "_benchmark.cc")) or "/testing/" in source:
        usable = usable | table.testing
    if library in usable:
        return None
    return f"<{include}>: {here} may not use {library} (allowed: {', '.join(sorted(usable))})"


def check_visibility(root, build_file):
    """Checks that the default visibility of a folder names folders. Only single targets may be public."""
    with open(os.path.join(root, build_file), encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"default_visibility\s*=\s*\[([^]]*)\]", text):
        if "//visibility:public" in match.group(1):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{build_file}:{line}: name the folders that use this one; a single target may be public"


def files_matching(root, pattern):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not NOT_OURS.match(f) and f != "testdata")
        for file in sorted(files):
            if pattern.search(file):
                yield os.path.relpath(os.path.join(folder, file), root)


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    table = Table(os.path.join(here, "layers.txt"))
    violations = []
    count = 0
    for source in files_matching(root, SOURCE):
        count += 1
        if table.folder(source) is None:
            violations.append(f"{source}:1: its folder is not in tools/checks/layers.txt")
            continue
        with open(os.path.join(root, source), encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quote, include = match.groups()
                if quote == '"' and table.library(include) is None:
                    problem = check_own(table, source, include, root)
                else:
                    problem = check_foreign(table, source, include)
                if problem:
                    violations.append(f"{source}:{number}: {problem}")
    for build_file in files_matching(root, re.compile("^BUILD$")):
        violations += check_visibility(root, build_file)
    for violation in violations:
        print(violation)
    print(f"{count} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
