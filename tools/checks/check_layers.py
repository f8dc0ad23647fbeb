#!/usr/bin/env python3
"""Checks the tree against tools/checks/layers.txt and reports all violations at once.

  - Every #include goes to the own folder or to a lower layer, within a folder to an earlier room,
  and never into
    another folder's private rooms.
  - Every third-party include belongs to a library that its folder may use.
  - No folder's targets are all public, and no folder has too many files side by side.

Usage: tools/checks/check_layers.py [ROOT]. Exit code 0 if there is no violation, else 1.
"""

import os
import re
import sys

SOURCE = re.compile(r"\.(h|hpp|inc|cc|cpp|c)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
TEST = re.compile(r"(_test\.cc|_fuzz\.cc|_benchmark\.cc)$|(^|/)testing/")
NOT_OURS = re.compile(r"^(\.|bazel-)")  # .git, .cache, Bazel's convenience links


class Table:
    """The parsed layers.txt."""

    def __init__(self, path):
        self.layers = {}  # folder -> (layer, libraries)
        self.allowed = set()  # (from, to)
        self.common = set()
        self.testing = set()
        self.libraries = {}  # name -> [prefix or whole name]
        self.rooms = {}  # folder -> {room: number of its group}
        self.private = set()  # folders whose rooms only they include
        self.max_files = None  # side by side in a folder
        self.many_files = set()  # folders without that limit
        self.copied = set()  # folders whose files include each other by their names alone
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
        elif kind == "rooms" and len(rest) >= 2:
            groups = " ".join(rest[1:]).split("<")
            self.rooms[rest[0]] = {room: number for number, group in enumerate(groups)
                                   for room in group.split()}
        elif kind == "private" and rest:
            self.private.update(rest)
        elif kind == "max_files" and rest and rest[0].isdigit():
            self.max_files = int(rest[0])
            self.many_files.update(rest[1:])
        elif kind == "copied" and rest:
            self.copied.update(rest)
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

    def room(self, path):
        """(the folder with rooms that contains path, the room or "" for the folder's top files), or
        (None, None)."""
        for folder in self.rooms:
            if path.startswith(folder + "/"):
                inner = os.path.dirname(path[len(folder) + 1:])
                return folder, inner.split("/")[0]
        return None, None

    def may_have_many_files(self, folder):
        return any(folder == many or many.endswith("/**") and (folder + "/").startswith(many[:-2])
                   for many in self.many_files)

    def library(self, include):
        for name, patterns in self.libraries.items():
            for pattern in patterns:
                if include == pattern or (pattern[-1] in "/_" and include.startswith(pattern)):
                    return name
        return None


def check_own(table, source, include, root):
    """An #include "..." : a file of the repository."""
    here, there = table.folder(source), table.folder(include)
    beside = os.path.join(os.path.dirname(source), include)
    if here in table.copied and "/" not in include and os.path.exists(os.path.join(root, beside)):
        return None
    generated = include.endswith(".pb.h")
    file = re.sub(r"\.pb\.h$", ".proto", include) if generated else include
    if there is None or not os.path.exists(os.path.join(root, file)):
        return f'"{include}": no such file; write the path from the root of the repository'
    if (here, there) in table.allowed or (os.path.dirname(source),
                                          os.path.dirname(file)) in table.allowed:
        return None
    if here == there:
        return check_rooms(table, source, include)
    if there in table.private and os.path.dirname(file) != there and not TEST.search(file):
        return f'"{include}": only {there} itself may include its rooms; use a header of {there}/'
    layer_here, layer_there = table.layers[here][0], table.layers[there][0]
    if layer_there < layer_here:
        return None
    relation = "the same layer" if layer_here == layer_there else f"layer {layer_there}, above it"
    return f'"{include}": {here} (layer {layer_here}) must not see {there} ({relation})'


def check_rooms(table, source, include):
    """An #include between files of one folder: from a later room to an earlier one, or from the top
    to any."""
    folder, here = table.room(source)
    _, there = table.room(include)
    if folder is None or here in ("", there) or TEST.search(source) or TEST.search(include):
        return None
    groups = table.rooms[folder]
    for room in (here, there):
        if room and room not in groups:
            return f'"{include}": layers.txt does not list room {room} of {folder}'
    if there and groups[there] < groups[here]:
        return None
    what = f"{folder}/{there}" if there else f"the top files of {folder}"
    return f'"{include}": {folder}/{here} must not see {what}'


def check_foreign(table, source, include):
    """An #include <...> : the standard library, the system, or a third party."""
    if re.fullmatch(r"[a-z0-9_]+", include):
        return None  # <vector>
    here = table.folder(source)
    library = table.library(include)
    if library is None:
        return (f"<{include}>: not in tools/checks/layers.txt; add it to a library there, or use "
                f"<c...> for a C header")
    usable = table.common | table.layers[here][1]
    if source.endswith(("_test.cc", "_benchmark.cc")) or "/testing/" in source:
        usable = usable | table.testing
    if library in usable:
        return None
    return f"<{include}>: {here} may not use {library} (allowed: {', '.join(sorted(usable))})"


def check_visibility(root, build_file):
    """Checks that the default visibility of a folder names folders. Only single targets may be
    public."""
    with open(os.path.join(root, build_file), encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"default_visibility\s*=\s*\[([^]]*)\]", text):
        if "//visibility:public" in match.group(1):
            line = text.count("\n", 0, match.start()) + 1
            yield (f"{build_file}:{line}: name the folders that use this one; a single target may "
                   f"be public")


def check_file_counts(table, sources):
    """No folder has more files side by side than a reader finds things in; tests are not
    counted."""
    counts = {}
    for source in sources:
        if not TEST.search(source):
            folder = os.path.dirname(source)
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if table.max_files is None or count <= table.max_files:
            continue
        if not table.may_have_many_files(folder):
            yield (f"{folder}:1: {count} source files side by side (at most {table.max_files}): "
                   f"give it inner folders")


def files_matching(root, pattern):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not NOT_OURS.match(f) and f != "testdata")
        for file in sorted(files):
            if pattern.search(file):
                yield os.path.relpath(os.path.join(folder, file), root)


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(
        os.path.dirname(here))
    table = Table(os.path.join(root, "tools/checks/layers.txt"))
    sources = list(files_matching(root, SOURCE))
    violations = list(check_file_counts(table, sources))
    for source in sources:
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
    print(f"{len(sources)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
