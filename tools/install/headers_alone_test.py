#!/usr/bin/env python3
"""Checks that each installed header compiles alone, without options of ours but -std and -I.

usage: headers_alone_test.py INSTALL
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile


def compile_alone(folder, name):
    """The compiler's first error, or an empty text."""
    run = subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                          "-I", folder, "-x", "c++", "-"],
                         input=f'#include "{name}"\n', text=True, stderr=subprocess.PIPE)
    return run.stderr[:2000] if run.returncode else ""


def main(install):
    with tempfile.TemporaryDirectory() as prefix:
        environment = {key: value for key, value in os.environ.items() if key != "DESTDIR"}
        command = [os.path.abspath(install), f"--prefix={prefix}"]
        subprocess.run(command, check=True, env=environment)
        folder = pathlib.Path(prefix) / "include/estimator"
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.h"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = list(pool.map(lambda name: compile_alone(folder, name), names))
    bad = 0
    for name, error in zip(names, errors):
        if error:
            bad += 1
            print(f"{name} does not compile alone:\n{error}")
    print(f"{len(names)} headers, {bad} bad")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
