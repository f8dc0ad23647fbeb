#!/usr/bin/env python3
"""mutate.py finds the places where it can plant an error, and runs the tests with one at a time."""
import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile

import mutants
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
  EST_RETURN_IF_ERROR(Check(a));
  if (!all.Has(a)) {
    return absl::NotFoundError("none");
  }
  CHECK_EQ(a, b);
  constexpr int kSize = a - 40 * b;
  switch (a) { case 50: break; }
  return true ? a * 'b' : 12;
}
'''
HAS = "!all.Has(a)"
EXPECTED = {
    ("comparison", "<", "<="), ("logic", "&&", "||"), ("min/max", "max", "min"),
    ("arithmetic", "+", "-"), ("constant", "1", "2"), ("arithmetic", "+=", "-="),
    ("deletion", "total += Area(a, b);", ";"),
    ("deletion", "Forget(a);", ";"), ("bool", "true", "false"), ("arithmetic", "*", "/"),
    ("constant", "12", "13"), ("negation", "!", ""),
    ("error", "EST_RETURN_IF_ERROR(Check(a));", "Check(a);"), ("error", HAS, "false"),
    ("condition", HAS, f"!({HAS})"),
    ("condition", 'a < b && Known("x < 1", a)', '!(a < b && Known("x < 1", a))'),
}
# An expression, an operator of it, and the same with a mutant of this operator.
REGIONS = {
    ("x = a + b * c - d;", " * "): "x = a + (@ ? (b / c) : (b * c)) - d;",
    ("x = a + b * c - d;", " - "): "x = (@ ? (a + b * c + d) : (a + b * c - d));",
    ("return f(a, b - c(d, e) + 1);", " - "):
        "return f(a, (@ ? (b + c(d, e)) : (b - c(d, e))) + 1);",
    ("if (a || b < Shape{1, 2}.rank()) {", " < "):
        "if (a || (@ ? (b <= Shape{1, 2}.rank()) : (b < Shape{1, 2}.rank()))) {",
    ("} a[i] += b ? c : d;", " += "): "} (@ ? (a[i] -= b ? c : d) : (a[i] += b ? c : d));",
    ("if (a) b(c) += d;", " += "): "if (a) (@ ? (b(c) -= d) : (b(c) += d));",
    ("f(x == y ? 1 : 2, z);", " == "): "f((@ ? (x != y) : (x == y)) ? 1 : 2, z);",
    ("b = a &&\n // A\n c;", "&&"): "b = (@ ? (a ||        c) : (a &&\n // A\n c));",
    ("b = c && !d->e(f).g && h;", "!"): "b = c && (@ != (!d->e(f).g)) && h;",
    ("n = std::min<int64_t>(a, f(b)) - 1;", "min"):
        "n = (@ ? (std::max<int64_t>(a, f(b))) : (std::min<int64_t>(a, f(b)))) - 1;",
}

# A library with two tests: one of its folder, with GoogleTest, and one that depends on it.
FILES = {
    "lib/BUILD": "",
    "lib/sum.cc": '''#include <algorithm>
constexpr int kTen = 10;
int table[3];
int Sum(int a, int b) {
  if (a < b && b > kTen) return std::max(a, b);
  return a + b;
}
int CountDown(int n) {
  while (n != 0) n -= 1;
  return n;
}
int Five() {
  static const int five = 5;
  return five;
}
''',
    "lib/sum_test.cc": '''#include <gtest/gtest.h>
int Sum(int a, int b);
int CountDown(int n);
int Five();
TEST(Sum, AddsSmallNumbers) { EXPECT_EQ(Sum(2, 1), 3 + 0 * Five()); }
TEST(Sum, IsTheLargerOneOfLargeNumbers) { EXPECT_EQ(Sum(2, 11), 11); }
TEST(Sum, FailsWithoutMutants) { EXPECT_EQ(Sum(5, 5), 1); }
TEST(CountDown, Ends) { EXPECT_EQ(CountDown(3), 0); }
TEST(Five, IsComputedBySumsTest) { EXPECT_EQ(Five(), 5); }
''',
    "deep/other_test.cc": "int Sum(int a, int b);\nint main() { return Sum(3, 4) != 7; }\n",
    "bazel.sh": '''#!/bin/bash
set -e
if [ $1 = query ]; then echo //lib:sum_test //deep:other_test; exit 0; fi
if [ "$3" != "--per_file_copt=//lib:.*_part,//lib:sum.cc,-_test@-w" ]; then
  echo "options: $*"; exit 1
fi
shift 3
for target in "$@"; do
  name=${target#//}; name=${name/://}
  mkdir -p bazel-bin/$name.runfiles/estimator
  c++ -std=c++20 -w lib/sum.cc $name.cc -lgtest -lgtest_main -lpthread -o bazel-bin/$name
done
''',
}
RESULTS = {
    ("3", "constant", "3 => 4"): "does not compile",
    ("5", "condition", "a < b && b > kTen => !(a < b && b > kTen)"): "caught by //lib:sum_test",
    ("5", "comparison", "< => <="): "survived",
    ("5", "comparison", "> => >="): "survived",
    ("5", "logic", "&& => ||"): "caught by //deep:other_test",
    ("5", "min/max", "max => min"): "caught by //lib:sum_test",
    ("6", "arithmetic", "+ => -"): "caught by //lib:sum_test",
    ("9", "comparison", "!= => =="): "caught by //lib:sum_test",
    ("9", "constant", "0 => 1"): "caught by //lib:sum_test",
    ("9", "constant", "1 => 2"): "caught by //lib:sum_test",
    ("9", "arithmetic", "-= => +="): "caught by //lib:sum_test",
    ("13", "constant", "5 => 6"): "caught by //lib:sum_test",
}
COUNTS = "9 caught, 1 does not compile, 2 survived"
COUNTS_OF_OTHER_TEST = "3 caught, 1 does not compile, 8 survived"


def check(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: {actual}, expected {expected}")


def run(*arguments):
    sys.argv = ["mutate.py", "--bazel=./bazel.sh", "--scratch=scratch", "--results=list.txt",
                *arguments, "lib"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        mutate.main()
    return printed.getvalue().split("\n")[:-1]


found = mutants.mutants_of("a.cc", SOURCE)
check("mutants", {(m.operator, m.before, m.after) for m in found}, EXPECTED)
check("line", {m.line for m in found if m.operator == "min/max"}, {4})
for (text, place), expected in REGIONS.items():
    at = text.index(place) + len(place) - len(place.lstrip())
    chosen = [m for m in mutants.mutants_of("a.cc", text)
              if m.before == text[at:at + len(m.before)] and m.operator != "condition"]
    check(f"number of mutants at {place!r} of {text!r}", len(chosen), 1)
    changed, spans = mutants.instrumented(text, {1: chosen[0]})
    changed = changed[len(mutants.SWITCH):].replace("est_mutant::Is(1)", "@")
    check(f"{place!r} of {text!r}", changed, expected)
# All at once: the lines stay, and a place of the text belongs to the innermost mutant.
changed, spans = mutants.instrumented(SOURCE, dict(enumerate(found, 1)))
check("lines", changed.count("\n"), SOURCE.count("\n") + mutants.SWITCH.count("\n"))
check("the first line", changed.startswith(mutants.SWITCH + "#include \"a.h\"\n"), True)
for number, (start, end) in spans.items():
    line = changed.count("\n", 0, start) + 1
    column = start - changed.rfind("\n", 0, start)
    check("mutant at its start", number in mutants.mutants_at(changed, spans, line, column), True)

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    os.chmod("bazel.sh", stat.S_IRWXU)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], check=True)
    check("sources", mutate.sources_of(["lib"]), ["lib/sum.cc"])
    all_of = mutate.sample_of(["lib"], 7, 100, "1/1")
    check("sample", len(all_of), len(RESULTS))
    slices = [mutate.sample_of(["lib"], 7, 100, f"{i}/3") for i in (1, 2, 3)]
    check("slices", sorted(sum(slices, [])), sorted(all_of))

    mutate.SECONDS = 2  # for the one that does not end
    first = run()
    with open("list.txt") as file:
        rows = [row.split("\t") for row in file.read().split("\n")[:-1]]
    check("list", {tuple(row[1:4]): row[4] for row in rows}, RESULTS)
    check("counts", first[-1], COUNTS)
    check("a test that fails anyway", [line for line in first if "without" in line],
          ["//lib:sum_test fails without a mutant: ['Sum.FailsWithoutMutants']"])
    check("one test", run("--tests=//deep:other_test", "--results=other.txt")[-1],
          COUNTS_OF_OTHER_TEST)
    # A second run plants nothing again, and counts what a person has marked.
    with open("list.txt", "w") as file:
        marked = "\n".join("\t".join(row) for row in rows).replace("survived", "equivalent: x", 1)
        file.write("# why\n" + marked + "\n")
    check("again", run(), [COUNTS.replace("1 does not compile, 2",
                                          "1 does not compile, 1 equivalent, 1")])
print("ok")
