#!/usr/bin/env python3
"""mutate.py finds the places where it can plant an error, and plants one at a time."""
import os
import stat
import subprocess
import sys
import tempfile

import mutate

SOURCE = '''#include "a.h"
// 1 + 2 is a comment, and true too
int Sum(int a, int b) {
  if (a < b && Known("x < 1", a)) return std::max(a, b) + 1;
  total += Area(a, b);
  Forget(a);
  const int sum =
      Both(a, b);
  std::vector<int> none = {};
  return true ? a * 'b' : 12;
}
'''
EXPECTED = {
    ("comparison", " < ", " <= "), ("logic", " && ", " || "), ("min/max", "max", "min"),
    ("arithmetic", " + ", " - "), ("constant", "1", "2"), ("arithmetic", " += ", " -= "),
    ("arguments", "a, b", "b, a"), ("deletion", "total += Area(a, b);", ";"),
    ("deletion", "Forget(a);", ";"), ("bool", "true", "false"), ("arithmetic", " * ", " / "),
    ("constant", "12", "13"),
    ("condition", 'a < b && Known("x < 1", a)', '!(a < b && Known("x < 1", a))'),
}
# A build that knows one test, which fails if Sum adds wrongly, and no other error.
BAZEL = '''#!/bin/bash
if [ $1 = query ]; then echo //lib:sum_test //lib/deep:other_test; exit 0; fi
grep -q "+ 1;" lib/sum.cc && exit 0
echo "//lib:sum_test     FAILED in 0.1s"; exit 3
'''


def check(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: {actual}, expected {expected}")


found = mutate.mutants_of("a.cc", SOURCE)
check("mutants", {m[2:3] + m[5:] for m in found}, EXPECTED)
check("line", {m.line for m in found if m.operator == "min/max"}, {4})

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.makedirs("lib")
    files = {"lib/sum.cc": SOURCE, "lib/sum_test.cc": "1 + 1;", "bazel.sh": BAZEL}
    for name, text in files.items():
        with open(name, "w") as file:
            file.write(text)
    os.chmod("bazel.sh", stat.S_IRWXU)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], check=True)
    check("sources", mutate.sources_of(["lib"]), ["lib/sum.cc"])
    all_of = mutate.sample_of(["lib"], 7, 100, "1/1")
    check("sample", len(all_of), len(found))
    slices = [mutate.sample_of(["lib"], 7, 100, f"{i}/3") for i in (1, 2, 3)]
    check("slices", sorted(sum(slices, [])), sorted(all_of))

    command = [sys.executable, mutate.__file__, "--bazel=./bazel.sh",
               f"--scratch={folder}/scratch", "--results=list.txt", "lib"]
    first = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    # Two of the places are in "+ 1;": the sign and the number.
    check("counts", first[-2], f"2 caught, {len(found) - 2} survived")
    with open("list.txt") as file:
        rows = file.read().split("\n")[:-1]
    check("rows", len(rows), len(found))
    check("caught", [r for r in rows if "+ => -" in r],
          ["lib/sum.cc\t4\tarithmetic\t+ => -\tcaught by //lib:sum_test"])
    with open("scratch/tree/lib/sum.cc") as file:
        check("the copy afterwards", file.read(), SOURCE)
    # A second run plants nothing again, and counts what a person has marked.
    with open("list.txt", "w") as file:
        file.write("# why\n" + "\n".join(rows).replace("survived", "equivalent: because", 1) + "\n")
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    check("again", again, f"2 caught, 1 equivalent, {len(found) - 3} survived\n")
print("ok")
