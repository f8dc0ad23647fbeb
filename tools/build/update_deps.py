#!/usr/bin/env python3
"""Writes the `deps` of the C++ rules in BUILD files, from the #includes of their sources.

    tools/build/update_deps.py            # writes
    tools/build/update_deps.py --check    # changes nothing; fails with a list if a file differs

A target gets the libraries that own the headers it includes, without those that every rule adds
(absl, glog, GoogleTest in tests). What is only linked, such as kernels that register themselves, is
listed by hand in `link`. tools/checks/layers.txt says which library a system header belongs to.

Both forms also fail for a test, benchmark or fuzz target that no rule names: it would never run.
"""

import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))

# Libraries of layers.txt that are no target of sys.BUILD, or that the rules of build_defs.bzl add.
WITHOUT_DEP = ("absl", "arrow", "asan", "glog", "gtest", "openmp", "system")

CXX_RULES = ("est_library", "est_test", "est_binary", "estimator_binary", "estimator_test",
             "est_fuzz_test")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def system_libraries():
    """[(prefix or name of a header, "@sys//:LIBRARY")], from the lines `library` of layers.txt."""
    libraries = []
    with open(os.path.join(ROOT, "tools/checks/layers.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["library"] and words[1] not in WITHOUT_DEP:
                libraries += [(header, "@sys//:" + words[1]) for header in words[2:]]
    return libraries


def library_of(header, libraries):
    for name, library in libraries:
        if header == name or (name.endswith(("/", "_")) and header.startswith(name)):
            return library
    return None


class Anything(str):
    """The value of what this program does not need: select(), lists of options."""

    def __add__(self, other):
        return other

    def __radd__(self, other):
        return other


def source_folders(top):
    """os.walk() without what no source is in: Bazel's links, other workspaces, hidden folders."""
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith(("bazel-", ".", "third_party"))]
        if "WORKSPACE" in files and folder not in (top, ROOT):
            folders[:] = []
        else:
            yield folder, folders, files


def files_of_package(top):
    """The files of a folder and of those in it that have no BUILD file, relative to `top`."""
    found = []
    for folder, folders, files in source_folders(top):
        if folder != top and "BUILD" in files:
            folders[:] = []
        else:
            found += [os.path.relpath(os.path.join(folder, file), top) for file in files]
    return found


class Package:
    """The rules of one BUILD file, with their arguments."""

    def __init__(self, folder):
        self.folder = folder  # relative to ROOT
        self.files = files_of_package(os.path.join(ROOT, folder))
        self.rules = []
        environment = Environment(self)
        with open(os.path.join(ROOT, folder, "BUILD"), encoding="utf-8") as file:
            self.text = file.read()
        exec(compile(self.text, folder + "/BUILD", "exec"), environment)  # BUILD files are Python

    def glob(self, patterns, exclude=(), **_):
        found = set()
        for pattern in patterns:
            found |= set(self._match(pattern))
        for pattern in exclude:
            found -= set(self._match(pattern))
        return sorted(found)

    def _match(self, pattern):
        # `**/` is any number of folders, `*` stays in one.
        expression = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        return [file for file in self.files if re.fullmatch(expression, file)]


class Environment(dict):
    """The names that a BUILD file uses. A name that is not known is a rule."""

    def __init__(self, package):
        super().__init__(
            load=lambda *_, **__: None,
            package=lambda **_: None,
            exports_files=lambda *_, **__: None,
            select=lambda _: Anything(),
            glob=package.glob,
        )
        self.package = package

    def __missing__(self, name):
        if name.isupper() or name.startswith("_"):
            return Anything()
        if name in ("True", "False", "None", "len", "sorted", "dict", "list", "range", "str"):
            raise KeyError(name)
        return lambda **arguments: self.package.rules.append((name, arguments))


def is_library_source(file):
    return not file.endswith(("_test.cc", "_benchmark.cc", "_fuzz.cc"))


def sources_of(package, kind, rule):
    """The .cc files and the headers of a rule, as build_defs.bzl finds them."""
    if kind == "est_library":
        exclude = rule.get("exclude", [])
        srcs = rule.get("srcs")
        if srcs is None:
            srcs = [file for file in package.glob(["**/*.cc"], exclude) if is_library_source(file)]
        hdrs = rule.get("hdrs")
        if hdrs is None:
            hdrs = package.glob(["**/*.h"], exclude)
        return srcs, hdrs
    if kind == "est_fuzz_test":
        return [rule["src"]], []
    return rule.get("srcs", [rule["name"] + ".cc"]), []


def label(folder, name):
    return "//" + folder if os.path.basename(folder) == name else "//%s:%s" % (folder, name)


def read_packages():
    packages = []
    for folder, _, files in source_folders(ROOT):
        if "BUILD" in files:
            packages.append(Package(os.path.relpath(folder, ROOT)))
    return sorted(packages, key=lambda package: package.folder)


def owners_of_headers(packages):
    owners = {}
    for package in packages:
        for kind, rule in package.rules:
            name = rule.get("name")
            if kind == "est_library":
                for header in sources_of(package, kind, rule)[1]:
                    path = os.path.normpath(os.path.join(package.folder, header))
                    owners.setdefault(path, label(package.folder, name))
            elif kind == "proto_cc_library":
                for source in rule["srcs"]:
                    path = os.path.join(package.folder, source[:-len(".proto")] + ".pb.h")
                    owners[path] = label(package.folder, name)
    return owners


def deps_of(package, kind, rule, owners, libraries):
    """The labels of the libraries whose headers the rule includes; None if a file is generated."""
    own = label(package.folder, rule["name"])
    deps = set()
    srcs, hdrs = sources_of(package, kind, rule)
    for file in srcs + hdrs:
        path = os.path.join(ROOT, package.folder, file)
        if file.startswith(("//", ":")) or not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as source:
            for quoted, angled in INCLUDE.findall(source.read()):
                header = quoted or angled
                library = owners.get(header) or library_of(header, libraries)
                if library is not None:
                    deps.add(library)
    deps.discard(own)
    deps -= {absolute(package, library) for library in rule.get("link", [])}
    # The rules add these.
    if kind == "est_test":
        deps.discard("//estimator/base/testing:gtest")
    if kind in ("estimator_binary", "estimator_test"):
        deps -= {"//tpu", "@sys//:gflags"}
    if kind == "estimator_binary":
        deps.discard("//estimator/base:main")
    return sorted(deps, key=lambda dep: (dep.startswith("@"), dep))


def absolute(package, dep):
    return "//" + package.folder + dep if dep.startswith(":") else dep


def short(package, dep):
    prefix = "//" + package.folder
    if dep == prefix:
        return ":" + os.path.basename(package.folder)
    return dep[len(prefix):] if dep.startswith(prefix + ":") else dep


def formatted(deps):
    if not deps:
        return "[]"
    one = "[" + ", ".join('"%s"' % dep for dep in deps) + "]"
    if len("    deps = " + one + ",") <= 100:
        return one
    return "[\n" + "".join('        "%s",\n' % dep for dep in deps) + "    ]"


def with_deps(text, name, deps):
    """The text of a BUILD file in which rule `name` has these deps."""
    rule = re.search(r'^\w+\(\s*(?:[^()]*?)name = "%s",.*?^\)|^\w+\([^\n]*name = "%s"[^\n]*\)$' %
                     (re.escape(name), re.escape(name)), text, re.M | re.S)
    if rule is None:
        return None
    body = rule.group(0)
    if re.search(r"\bdeps = \[", body):
        new = "deps = " + formatted(deps)
        changed = re.sub(r"\bdeps = \[[^\]]*\]", lambda _: new, body, count=1)
    elif not deps:
        return text
    elif "\n" in body:
        changed = body[:-1] + "    deps = " + formatted(deps) + ",\n)"
    else:
        inside = body[body.index("(") + 1:-1]
        changed = "%s(\n    %s,\n    deps = %s,\n)" % (body[:body.index("(")], inside,
                                                      formatted(deps))
    return text[:rule.start()] + changed + text[rule.end():]


def unnamed_programs(packages):
    """Tests, benchmarks and fuzz targets that are the source of no rule."""
    named = set()
    for package in packages:
        for kind, rule in package.rules:
            if kind in CXX_RULES and kind != "est_library":
                for source in sources_of(package, kind, rule)[0]:
                    named.add(os.path.normpath(os.path.join(package.folder, source)))
    found = []
    for package in packages:
        for source in package.glob(["**/*.cc"]):
            path = os.path.normpath(os.path.join(package.folder, source))
            if not is_library_source(source) and path not in named:
                found.append(path)
    return found


def main():
    check = "--check" in sys.argv[1:]
    packages = read_packages()
    owners = owners_of_headers(packages)
    libraries = system_libraries()
    unnamed = unnamed_programs(packages)
    for path in unnamed:
        print("%s: no rule names it: add it to the srcs of an est_test, or give it a rule" % path)
    wrong = []
    for package in packages:
        text = package.text
        for kind, rule in package.rules:
            if kind not in CXX_RULES:
                continue
            deps = deps_of(package, kind, rule, owners, libraries)
            if deps is None:
                continue
            changed = with_deps(text, rule["name"], [short(package, dep) for dep in deps])
            if changed is None:
                print("%s: rule %s is not written as NAME(name = ..., so its deps cannot be "
                      "checked" % (package.folder, rule["name"]))
                wrong.append(package.folder)
            elif changed != text:
                wrong.append("%s:%s" % (package.folder, rule["name"]))
                text = changed
        if text != package.text and not check:
            with open(os.path.join(ROOT, package.folder, "BUILD"), "w", encoding="utf-8") as file:
                file.write(text)
    if check and wrong:
        print("The deps of these targets differ from their #includes. "
              "Run tools/build/update_deps.py:")
        print("\n".join(wrong))
    return 1 if unnamed or (check and wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
