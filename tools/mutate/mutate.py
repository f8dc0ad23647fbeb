#!/usr/bin/env python3
"""Plants small errors (mutants) in C++ sources and runs the tests that depend on them.
An error that no test sees shows that a test is missing.

Usage: tools/mutate/mutate.py [options] PATH...        PATH: a source, or a folder of sources
  --seed=N      chooses the sample (default 1)
  --sample=N    the number of mutants of all PATHs (default 400)
  --slice=I/K   runs only every K-th mutant of the sample, from the I-th one (1 <= I <= K)
  --list        prints the mutants of the slice and runs nothing
  --results=F   the list (default tools/mutate/results.txt); mutants that it has are not run again
  --bazel=CMD   default: ./bazelw, in the copy of the tree
  --scratch=DIR the copy of the tree (default ~/.cache/estimator-mutate). It is kept, and so is its
                build, so that a mutant costs the compilation of one library and its tests.

A line of the list, whose columns are separated by tabs:
  PATH  LINE  OPERATOR  BEFORE => AFTER  RESULT
    caught by //tpu:stablehlo_ops_test
    survived                  no test of the file's dependents fails
    does not compile
    equivalent: REASON        written by hand in place of "survived": no input shows a difference
The last line that is printed counts the results. Mutants that do not compile and equivalent ones
do not count against the tests.
"""
import argparse
import collections
import os
import random
import re
import shlex
import shutil
import subprocess
import sys

Mutant = collections.namedtuple("Mutant", "path line operator start end before after")

# Operators that replace a text by another. The spaces keep the brackets of templates out.
SWAPS = {
    "comparison": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ",
                   " == ": " != ", " != ": " == "},
    "arithmetic": {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ",
                   " += ": " -= ", " -= ": " += "},
    "logic": {" && ": " || ", " || ": " && "},
    "bool": {"true": "false", "false": "true"},
    "min/max": {"min": "max", "max": "min", "Min": "Max", "Max": "Min"},
}
WORDS = {"bool", "min/max"}
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.'])")
CALL = re.compile(r"\b(?!if|for|while|switch|return|sizeof)\w+\(([\w.]+), ([\w.]+)\)")
CONDITION = re.compile(r"\bif \(([^;{}()]*(?:\([^()]*\)[^;{}()]*)*)\)")
# A call or an assignment on lines of its own.
STATEMENT = re.compile(r"^[ ]{2,}((?:\*?[\w.]+(?:->|\.|::))*[\w]+(?:\[[^;]*\])?"
                       r"(?:\([^;{}]*\)| [+\-*/|&]?= [^;{}]*);)$", re.M)
KEYWORDS = re.compile(r"^(return|throw|using|break|continue|static_assert|goto|delete|EST_)")
# Comments, literals and preprocessor lines.
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|"
                     r"^#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)


def masked(text):
    """The text with all that is no code blanked, at the same places."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", "\0", match.group()), text)


def mutants_of(path, text):
    """All mutants of a source, in the order of their places."""
    code, found = masked(text), []

    def add(operator, start, end, after):
        line = text.count("\n", 0, start) + 1
        found.append(Mutant(path, line, operator, start, end, text[start:end], after))

    for operator, swaps in SWAPS.items():
        for before, after in swaps.items():
            edge = r"\b" if operator in WORDS else ""
            for match in re.finditer(edge + re.escape(before) + edge, code):
                add(operator, match.start(), match.end(), after)
    for match in NUMBER.finditer(code):
        add("constant", match.start(), match.end(), str(int(match.group()) + 1))
    for match in CALL.finditer(code):
        a, b = match.groups()
        if a != b:
            add("arguments", match.start(1), match.end(2), f"{b}, {a}")
    for match in CONDITION.finditer(code):
        if " = " not in match.group(1):  # a declaration in the condition
            start, end = match.span(1)
            add("condition", start, end, f"!({text[start:end]})")
    for match in STATEMENT.finditer(code):
        # A line that continues another one is no statement.
        before = code[:match.start()].rstrip(" \n\0")
        starts = before.endswith((";", "{", "}", ")", "else", ":"))
        if starts and not KEYWORDS.match(match.group(1)):
            add("deletion", match.start(1), match.end(1), ";")
    return sorted(found, key=lambda m: (m.start, m.operator, m.after))


def tracked(paths=()):
    command = ["git", "ls-files", "--", *paths]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def sources_of(paths):
    """The C++ sources below the paths that are no tests."""
    is_test = re.compile(r"(_test|_fuzz|_benchmark)\.cc$|(^|/)testing/")
    return sorted(f for f in tracked(paths) if f.endswith((".cc", ".h")) and not is_test.search(f))


def sample_of(paths, seed, size, part):
    """The mutants of a slice of the sample: the same ones for the same sources and seed."""
    everything = []
    for path in sources_of(paths):
        with open(path, encoding="utf-8") as file:
            everything += mutants_of(path, file.read())
    chosen = random.Random(seed).sample(everything, min(size, len(everything)))
    index, of = (int(n) for n in part.split("/"))
    return chosen[index - 1::of]


def column_of(mutant):
    shown = f"{mutant.before} => {mutant.after}"
    return re.sub(r"\s+", " ", shown).strip()


class Runner:
    def __init__(self, bazel, scratch):
        self.bazel, self.scratch = shlex.split(bazel), os.path.join(scratch, "tree")
        self.targets = {}

    def update(self):
        """Makes the copy equal to the tracked files. A file that did not change keeps its time."""
        for name in filter(os.path.isfile, tracked()):
            to = os.path.join(self.scratch, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(name, "rb") as file:
                content = file.read()
            if os.path.isfile(to):
                with open(to, "rb") as file:
                    if file.read() == content:
                        continue
            shutil.copy2(name, to)

    def call(self, *arguments):
        command = [*self.bazel, *arguments]
        return subprocess.run(command, cwd=self.scratch, capture_output=True, text=True)

    def tests_of(self, path):
        """The tests that depend on a file, in two groups: those of its folder, and the others."""
        if path not in self.targets:
            query = f"kind('.*_test rule', rdeps(//..., {path})) - attr(tags, 'manual', //...)"
            answer = self.call("query", query)
            if answer.returncode != 0:
                raise SystemExit(f"mutate: no tests of {path}: {answer.stderr[-2000:]}")
            tests = sorted(t for t in answer.stdout.split() if t.startswith("//"))
            room = lambda t: ("//" + path).startswith(t[:t.index(":")] + "/")
            self.targets[path] = [[t for t in tests if room(t)], [t for t in tests if not room(t)]]
        return self.targets[path]

    def result_of(self, mutant):
        name = os.path.join(self.scratch, mutant.path)
        with open(name, encoding="utf-8") as file:
            text = file.read()
        groups = self.tests_of(mutant.path)
        try:
            with open(name, "w", encoding="utf-8") as file:
                file.write(text[:mutant.start] + mutant.after + text[mutant.end:])
            for tests in filter(None, groups):
                run = self.call("test", "--noshow_progress", "--test_timeout=300", *tests)
                if run.returncode == 1:
                    return "does not compile"
                failed = re.search(r"^(//\S+) .*(FAILED|TIMEOUT)", run.stdout + run.stderr, re.M)
                if run.returncode == 3 and failed:
                    return f"caught by {failed.group(1)}"
                if run.returncode != 0:
                    raise SystemExit(f"mutate: bazel failed: {run.stderr[-2000:]}")
            return "survived"
        finally:
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--results", default="tools/mutate/results.txt")
    parser.add_argument("--bazel", default="./bazelw")
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache/estimator-mutate"))
    args = parser.parse_args()
    chosen = sample_of(args.paths, args.seed, args.sample, args.slice)
    if args.list:
        for mutant in chosen:
            print(f"{mutant.path}:{mutant.line}: {mutant.operator}: {column_of(mutant)}")
        return
    known = {}
    if os.path.exists(args.results):
        with open(args.results, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        known = {tuple(row[:4]): row[4] for row in rows}
    runner = Runner(args.bazel, args.scratch)
    runner.update()
    counts = collections.Counter()
    for mutant in chosen:
        row = (mutant.path, str(mutant.line), mutant.operator, column_of(mutant))
        if row not in known:
            known[row] = runner.result_of(mutant)
            with open(args.results, "a", encoding="utf-8") as file:
                file.write("\t".join((*row, known[row])) + "\n")
            print(*row, known[row], sep="\t", flush=True)
        counts[re.sub(r" by .*|:.*", "", known[row])] += 1
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
