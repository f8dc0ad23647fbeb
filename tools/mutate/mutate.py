#!/usr/bin/env python3
"""Plants small errors (mutants) in C++ sources and runs the tests that depend on them.
An error that no test sees shows that a test is missing.

Usage: tools/mutate/mutate.py [options] PATH...        PATH: a source, or a folder of sources
  --seed=N      chooses the sample (default 1)
  --sample=N    the number of mutants of all PATHs (default 400)
  --slice=I/K   runs only every K-th mutant of the sample, from the I-th one (1 <= I <= K)
  --list        prints the mutants of the slice and runs nothing
  --results=F   the list (default tools/mutate/results.txt); mutants that it has are not run again
  --tests=A,B   the tests that run, instead of all that depend on the files
  --bazel=CMD   default: ./bazelw, in the copy of the tree
  --jobs=N      the number of mutants that run at the same time (default 2)
  --scratch=DIR the copy of the tree (default ~/.cache/estimator-mutate). It is kept, and so is its
                build, so that a slice costs the compilation of the libraries that it changes.

All mutants of a slice are compiled into the programs at once (mutants.py), and a variable of the
environment chooses one of them. A run without a mutant shows which tests reach which mutant. Only
those run with it, up to the first that fails, crashes or takes several times as long: first the
tests of the file's folder, then the other tests that depend on it.

A line of the list, whose columns are separated by tabs:
  PATH  LINE  OPERATOR  BEFORE => AFTER  RESULT
    caught by //tpu:stablehlo_ops_test
    survived                  no test of the file's dependents fails
    does not compile          or its expression could not be told from its surroundings
    equivalent: REASON        written by hand in place of "survived": no input shows a difference
The last line that is printed counts the results. Mutants that do not compile and equivalent ones
do not count against the tests.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mutants

# A mutant may loop and allocate: limits of a test program, in bytes.
MAX_MEMORY = 16 << 30
MAX_FILE = 4 << 30
# A run with a mutant may take SLOWER times the time of the processor, and SECONDS in addition. It
# may wait longer, because the machine may have other work.
SLOWER, SECONDS, WAIT = 5, 20, 10


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
            everything += mutants.mutants_of(path, file.read())
    chosen = random.Random(seed).sample(everything, min(size, len(everything)))
    index, of = (int(n) for n in part.split("/"))
    return chosen[index - 1::of]


def row_of(mutant):
    shown = re.sub(r"\s+", " ", f"{mutant.before} => {mutant.after}").strip()
    return (mutant.path, str(mutant.line), mutant.operator, shown)


class Program:
    """A test program of the copy of the tree, and which mutants its tests reach."""

    def __init__(self, tree, target):
        self.target = target
        self.path = os.path.join(tree, "bazel-bin", *target[2:].split(":"))
        self.ms = {}  # of each test that passes
        self.broken = set()  # tests that fail without a mutant
        self.cpu_seconds = 0
        self.reach = collections.defaultdict(set)  # {number: tests}, "" is the whole program

    def run(self, environment, cpu_seconds=None, seconds=None):
        """Returns the output, the exit code and the seconds of the processor."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if cpu_seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds)))
        runfiles = self.path + ".runfiles"
        workspace = os.path.join(runfiles, "estimator")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, \
                tempfile.TemporaryFile() as output:
            variables = {**os.environ, "TEST_TMPDIR": folder, "TEST_SRCDIR": runfiles,
                         "TEST_WORKSPACE": "estimator", "OMP_WAIT_POLICY": "passive",
                         "GTEST_DEATH_TEST_STYLE": "threadsafe", **environment}
            # In a test, this is where the test's own results belong.
            variables.pop("XML_OUTPUT_FILE", None)
            run = subprocess.Popen([self.path], cwd=workspace, env=variables, stdout=output,
                                   stderr=output, start_new_session=True, preexec_fn=limit)
            end = time.monotonic() + (seconds or float("inf"))
            pid = 0
            while not pid and time.monotonic() < end:
                pid, status, usage = os.wait4(run.pid, os.WNOHANG)
                time.sleep(0 if pid else 0.02)
            try:  # the program and its children
                os.killpg(run.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            if not pid:
                pid, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode(errors="replace")
            return text, run.returncode, usage.ru_utime + usage.ru_stime

    def trace(self):
        """Runs the program without a mutant."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "trace")
            output, code, self.cpu_seconds = self.run({"EST_MUTANT_TRACE": file})
            result = re.compile(r"^\[ +(OK|FAILED) +\] ([\w./]+).*\((\d+) ms\)$", re.M)
            found = result.findall(output)
            self.ms = {test: int(ms) for state, test, ms in found if state == "OK"}
            self.broken = {test for state, test, _ in found if state == "FAILED"}
            if code:
                why = sorted(self.broken) or output[-2000:]
                print(f"{self.target} fails without a mutant: {why}")
            if code and not self.broken or not os.path.exists(file):
                return  # it can show nothing
            with open(file, encoding="utf-8") as lines:
                for line in lines:
                    number, test = line.rstrip("\n").split(" ", 1)
                    if test not in self.broken:
                        self.reach[int(number)].add(test)

    def catches(self, number):
        """Whether a test of a program that reaches the mutant fails with it."""
        tests = self.reach.get(number)
        # What runs once in a process is reached by its first test only, but others see its result.
        return bool(tests) and (self.fails(number, tests) or self.fails(number, {""}))

    def fails(self, number, tests):
        """Whether one of the tests fails with the mutant. {""} are all of the program."""
        chosen, part = ":".join(sorted(tests)), 1
        if "" in tests:
            chosen = "*"
        elif self.ms:
            part = sum(self.ms.get(test, 0) for test in tests) / max(1, sum(self.ms.values()))
        environment = {"EST_MUTANT": str(number), "GTEST_FAIL_FAST": "1",
                       "GTEST_FILTER": chosen + "-" + ":".join(sorted(self.broken))}
        cpu_seconds = SECONDS + SLOWER * part * self.cpu_seconds
        wait = WAIT * (SECONDS + part * sum(self.ms.values()) / 1000)
        return self.run(environment, cpu_seconds, wait)[1] != 0


class Runner:
    """The copy of the tree, in which all of the mutants are planted."""

    def __init__(self, bazel, scratch, jobs, tests, chosen):
        self.bazel = shlex.split(bazel)
        self.chosen_tests = tests.split(",") if tests else None
        self.tree = os.path.join(os.path.abspath(scratch), "tree")
        self.jobs = jobs
        self.planted = dict(enumerate(chosen, 1))
        self.texts = {}  # {path: (instrumented text, places of its mutants)}

    def call(self, *arguments):
        command = [*self.bazel, *arguments]
        return subprocess.run(command, cwd=self.tree, capture_output=True, text=True)

    def update(self):
        """Makes the copy. A file that did not change keeps its time."""
        self.texts = {}
        for name in filter(os.path.isfile, tracked()):
            here = {n: m for n, m in self.planted.items() if m.path == name}
            with open(name, "rb") as file:
                content = file.read()
            if here:
                self.texts[name] = mutants.instrumented(content.decode(), here)
                content = self.texts[name][0].encode()
            to = os.path.join(self.tree, name)
            if os.path.isfile(to):
                with open(to, "rb") as file:
                    if file.read() == content:
                        continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "wb") as file:
                file.write(content)
            shutil.copymode(name, to)

    def no_warnings(self):
        """The options for instrumented code, which has warnings that the tree does not allow."""
        if any(path.endswith(".h") for path in self.texts):
            return ["--copt=-w"]
        # Only where the mutants are, so that everything else comes from the cache: a source is
        # compiled alone, or with others of its folder, as library_folder_part1.cc.
        patterns = set()
        for path in self.texts:
            package = os.path.dirname(path)
            while package and not os.path.isfile(os.path.join(package, "BUILD")):
                package = os.path.dirname(package)
            name = path[len(package) + 1:]
            patterns.add(f"//{package}:{name}")
            patterns.add(f"//{package}:.*{os.path.dirname(name).replace('/', '_')}_part")
        return [f"--per_file_copt={','.join(sorted(patterns))},-_test@-w"]

    def build(self, targets):
        """Builds targets. Returns the mutants that had to be removed because of errors."""
        removed = []
        while True:
            run = self.call("build", "--keep_going", *self.no_warnings(), *targets)
            if run.returncode == 0:
                return removed
            output, wrong = run.stdout + run.stderr, set()
            # Errors first; a note shows the cause of an error that is somewhere else.
            for kind in (r" (?:fatal )?error", ""):
                for match in re.finditer(r"([\w./-]+):(\d+):(\d+):" + kind, output):
                    path = os.path.normpath(match.group(1))
                    if path in self.texts:
                        place = int(match.group(2)), int(match.group(3))
                        wrong.update(mutants.mutants_at(*self.texts[path], *place))
                if wrong:
                    break
            if not wrong:
                raise SystemExit(f"mutate: the build fails: {output[-5000:]}")
            removed += [self.planted.pop(number) for number in sorted(wrong)]
            self.update()

    def tests(self):
        """The tests that depend on the files, in two groups: those of their folders, and others."""
        if self.chosen_tests:
            return [self.chosen_tests]
        paths = sorted(self.texts)
        query = f"kind('.*_test rule', rdeps(//..., set({' '.join(paths)})))"
        answer = self.call("query", query + " - attr(tags, 'manual', //...)")
        if answer.returncode != 0:
            raise SystemExit(f"mutate: no tests of {paths}: {answer.stderr[-2000:]}")
        found = sorted(t for t in answer.stdout.split() if t.startswith("//"))
        near = {t for t in found if any(p.startswith(t[2:t.index(":")] + "/") for p in paths)}
        return [t for t in found if t in near], [t for t in found if t not in near]

    def results(self):
        """Yields (mutant, result)."""
        self.update()
        alive = dict(self.planted)
        for targets in self.tests():
            if not alive or not targets:
                continue
            for mutant in self.build(targets):
                yield mutant, "does not compile"
            alive = {n: m for n, m in alive.items() if n in self.planted}
            programs = [Program(self.tree, target) for target in targets]
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(Program.trace, programs))
                # The shortest first.
                programs.sort(key=lambda program: sum(program.ms.values()))
                first = lambda n: (n, next((p for p in programs if p.catches(n)), None))
                for future in concurrent.futures.as_completed(pool.submit(first, n) for n in alive):
                    number, program = future.result()
                    if program:
                        yield alive.pop(number), f"caught by {program.target}"
        for mutant in alive.values():
            yield mutant, "survived"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--results", default="tools/mutate/results.txt")
    parser.add_argument("--tests")
    parser.add_argument("--bazel", default="./bazelw")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache/estimator-mutate"))
    args = parser.parse_args()
    chosen = sample_of(args.paths, args.seed, args.sample, args.slice)
    if args.list:
        for mutant in chosen:
            print(*row_of(mutant), sep="\t")
        return
    known = {}
    if os.path.exists(args.results):
        with open(args.results, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        known = {tuple(row[:4]): row[4] for row in rows}
    # Two mutants of a line may look the same; the list has one of them.
    todo = {row_of(mutant): mutant for mutant in chosen if row_of(mutant) not in known}
    runner = Runner(args.bazel, args.scratch, args.jobs, args.tests, todo.values())
    for mutant, result in runner.results():
        row = row_of(mutant)
        known[row] = result
        with open(args.results, "a", encoding="utf-8") as file:
            file.write("\t".join((*row, result)) + "\n")
        print(*row, result, sep="\t", flush=True)
    rows = {row_of(mutant) for mutant in chosen}
    counts = collections.Counter(re.sub(r" by .*|:.*", "", known[row]) for row in rows)
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
