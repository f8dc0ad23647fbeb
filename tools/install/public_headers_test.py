#!/usr/bin/env python3
"""Checks that public headers include public headers only, and that they are all that pages name.

usage: public_headers_test.py public_headers.bzl HEADER_OR_PAGE...
"""
import re
import sys

OURS = ("estimator/", "models/", "tools/", "tpu/")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
# Headers that pages show for tests inside the repository, or that the reader writes.
NOT_INSTALLED = re.compile(r"/testing/|^models/mine/")


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        public = set(re.findall(r'^    "(.+)",$', file.read(), re.MULTILINE))
    problems, headers = [], 0
    for path in arguments[1:]:
        headers += path in public
        with open(path, encoding="utf-8") as file:
            for name in INCLUDE.findall(file.read()):
                if name.startswith(OURS) and name not in public and not NOT_INSTALLED.search(name):
                    problems.append(f"{path} includes {name}, which is not in public_headers.bzl")
    if headers != len(public):
        problems.append(f"{len(public)} headers are listed, but {headers} were given to this test")
    print("\n".join(problems) or f"OK: {headers} headers")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
