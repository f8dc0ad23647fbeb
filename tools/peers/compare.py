#!/usr/bin/env python3
"""Runs our benchmarks and the peers' scripts in turn, and prints a Markdown table.
tools/compare_peers.sh calls it.

Every program gets the same cores and as many threads. The order of the programs changes with each
round. A run that fails is reported and left out; the exit status is then 1, and the page is not
written.
"""
import argparse
import datetime
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

import table
from rows import PYTORCH, ROWS, RUNS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "performance.md")
# What of PyTorch is tried before the rounds. The fastest is its baseline.
TORCH_VARIANTS = [["--layout=nchw"], ["--layout=nhwc"], ["--layout=nchw", "--compile"],
                  ["--layout=nhwc", "--compile"]]
TIMEOUT_SECONDS = 1800
# The page has medians with ranges.
MIN_ROUNDS_OF_PAGE = 3


def parse_flags():
    flags = argparse.ArgumentParser(prog="compare_peers.sh", description=__doc__)
    flags.add_argument("--rows", default="", help="rows of the table, separated by commas; "
                                                  "default: all. "
                       "Known: " + ", ".join(row.key for row in ROWS))
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--seconds", type=float, default=20,
                       help="measured seconds of each program in a round")
    flags.add_argument("--baseline_seconds", type=float, default=5,
                       help="measured seconds of each variant of PyTorch")
    flags.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                       help="cores and threads of each")
    flags.add_argument("--data_dir", default="", help="folder of MNIST's four files, plain or as "
                                                      ".gz")
    flags.add_argument("--images", default="", help="folder of JPEG files; default: one drawn "
                                                    "picture")
    flags.add_argument("--results", default="", help="file to append the lines of JSON to; "
                                                     "default: in the cache")
    flags.add_argument("--from_results", default="", help="measure nothing, and make the table of "
                                                          "this file")
    flags.add_argument("--write_page", action="store_true",
                       help="replace the figures of docs/performance.md; "
                       "needs %d rounds or more" % MIN_ROUNDS_OF_PAGE)
    flags.add_argument("--list_targets", action="store_true",
                       help="print the targets to build, and end")
    flags.add_argument("--list_peers", action="store_true",
                       help="print the scripts that run, and end")
    flags.add_argument("--cache", default=os.path.expanduser("~/.cache/estimator-peers"))
    flags.add_argument("--tf_python", default=sys.executable, help="a Python with TensorFlow")
    flags.add_argument("--torch_python", default=sys.executable,
                       help="a Python with PyTorch and torchvision")
    flags = flags.parse_args()
    if (flags.rounds < 1 or flags.threads < 1 or not flags.seconds > 0
            or not flags.baseline_seconds > 0):
        raise SystemExit("error: --rounds, --threads, --seconds and --baseline_seconds must be "
                         "positive")
    if flags.write_page and not flags.from_results and flags.rounds < MIN_ROUNDS_OF_PAGE:
        raise SystemExit("error: --write_page needs --rounds=%d or more, because the page has "
                         "medians with ranges; given %d" % (MIN_ROUNDS_OF_PAGE, flags.rounds))
    if flags.threads > len(os.sched_getaffinity(0)):
        raise SystemExit("error: --threads=%d, but this process may use %d cores"
                         % (flags.threads, len(os.sched_getaffinity(0))))
    return flags


def chosen_rows(names):
    if not names:
        return ROWS
    known = {row.key: row for row in ROWS}
    wrong = [name for name in names.split(",") if name not in known]
    if wrong:
        raise SystemExit("error: --rows has %s; known: %s" % (", ".join(wrong), ", ".join(known)))
    return [known[name] for name in names.split(",")]


def runs_of(rows):
    """The keys of the runs that the rows need, each once, in order."""
    return list(dict.fromkeys(row.run for row in rows))


def plain_mnist(data_dir, cache):
    """MNIST's files uncompressed, as all programs can read them: data_dir itself, or a copy in the
    cache."""
    names = ["%s-%s" % (split, kind) for split in ("train", "t10k")
             for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    if all(os.path.exists(os.path.join(data_dir, name)) for name in names):
        return os.path.abspath(data_dir)
    folder = os.path.join(cache, "mnist")
    os.makedirs(folder, exist_ok=True)
    for name in names:
        source = os.path.join(data_dir, name)
        try:
            opened = open(source, "rb") if os.path.exists(source) else gzip.open(source + ".gz",
                                                                                 "rb")
            with opened as read, open(os.path.join(folder, name), "wb") as write:
                shutil.copyfileobj(read, write)
        except OSError as error:
            raise SystemExit("error: --data_dir must have MNIST's four files, plain or as .gz: %s"
                             % error)
    return folder


class Runner:
    def __init__(self, flags, results):
        self.flags = flags
        self.results = results
        self.failed = False
        self.torch = {}  # run -> the fastest variant of PyTorch
        self.cores = sorted(os.sched_getaffinity(0))[:flags.threads]
        self.values = {"encoder_steps": "%d" % max(10, 2 * flags.seconds),
                       "data_dir": flags.data_dir, "images": flags.images,
                       "work_dir": os.path.join(flags.cache, "work")}
        os.makedirs(self.values["work_dir"], exist_ok=True)

    def command(self, program, arguments, new_dir, seconds):
        if program.startswith("//"):
            words = [os.path.join(ROOT, "bazel-bin", program[2:].replace(":", "/"))]
        else:
            python = self.flags.torch_python if program.startswith(
                "torch_") else self.flags.tf_python
            words = [python, os.path.join(HERE, program)]
        return words + [argument.format(new_dir=new_dir, seconds="%g" % seconds, **self.values)
                        for argument in arguments]

    def run(self, program, arguments, seconds=None):
        """The last line of JSON of a program; None if it fails, after a message."""
        with tempfile.TemporaryDirectory() as new_dir:
            command = self.command(program, arguments, new_dir, seconds or self.flags.seconds)
            environment = dict(os.environ, OMP_NUM_THREADS=str(self.flags.threads))
            # A policy of waiting that the caller set would count for one side only.
            environment.pop("OMP_WAIT_POLICY", None)
            try:
                done = subprocess.run(command, capture_output=True, text=True,
                                      timeout=TIMEOUT_SECONDS, env=environment,
                                      preexec_fn=lambda: os.sched_setaffinity(0, self.cores))
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                if done.returncode == 0 and lines:
                    return json.loads(lines[-1])
                problem = "exit status %d\n%s" % (done.returncode, done.stderr[-2000:])
            except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
                problem = str(error)
        print("FAILED: %s\n%s" % (" ".join(command), problem), file=sys.stderr, flush=True)
        return None

    def measure(self, run, label, program, arguments, round_number):
        result = self.run(program, arguments)
        if result is None:
            self.failed = True
            return
        line = {"run": run, "label": label, "round": round_number,
                "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                **result}
        print(json.dumps(line), file=self.results, flush=True)
        print("%s: %s, round %d: %s" % (run, label, round_number, json.dumps(result)),
              file=sys.stderr, flush=True)

    def choose_torch(self, key, script, arguments):
        """PyTorch's baseline: the fastest of its variants, each measured once, for a short time."""
        best = None
        for variant in TORCH_VARIANTS:
            result = self.run(script, arguments + variant, self.flags.baseline_seconds)
            speed = result and result.get("images_per_second")
            print("%s: PyTorch %s: %s" % (key, " ".join(variant), speed), file=sys.stderr,
                  flush=True)
            if speed and (best is None or speed > best[0]):
                best = (speed, variant)
        self.torch[key] = best[1] if best else TORCH_VARIANTS[0]

    def run_all(self, keys):
        for key in keys:
            for name, column, script, arguments in RUNS[key].peers:
                if column == PYTORCH:
                    self.choose_torch(key, script, arguments)
            for program, arguments in RUNS[key].prepare:
                self.failed |= self.run(program, arguments) is None
        for round_number in range(1, self.flags.rounds + 1):
            for key in keys:
                run = RUNS[key]
                programs = [(table.OURS, *run.ours)]
                for name, column, script, arguments in run.peers:
                    programs.append((name, script,
                                     arguments + (self.torch[key] if column == PYTORCH else [])))
                shift = (round_number - 1) % len(programs)
                for label, program, arguments in programs[shift:] + programs[:shift]:
                    self.measure(key, label, program, arguments, round_number)


def version_of(python, modules):
    code = ("import importlib.metadata as m; "
            "print(', '.join('%%s %%s' %% (n, m.version(n)) for n in %r))" % modules)
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "not installed"


def machine(flags):
    """Lines that say where and with what the figures were measured."""
    cpu, instruction_sets = platform.machine(), []
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
            if line.startswith("flags"):
                instruction_sets = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
                                    if name in line.split()]
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h of %cs"],
                            capture_output=True, text=True)
    return "\n".join([
        "- Machine: %s, %d cores used, %.0f GiB, %s."
        % (cpu, flags.threads, memory, ", ".join(instruction_sets)),
        "- Versions: commit %s; %s; %s." % (commit.stdout.strip() or "unknown",
                                            version_of(flags.tf_python, ["tensorflow-cpu"]),
                                            version_of(flags.torch_python,
                                                       ["torch", "torchvision"])),
        "- Medians of %d rounds, with the least and the largest value." % flags.rounds])


def main():
    flags = parse_flags()
    rows = chosen_rows(flags.rows)
    keys = runs_of(rows)
    if flags.list_targets or flags.list_peers:
        programs = {RUNS[key].ours[0] for key in keys}
        if flags.list_peers:
            programs = {script for key in keys for _, _, script, _ in RUNS[key].peers}
        print("\n".join(sorted(programs)))
        return 0
    if flags.from_results:
        with open(flags.from_results) as file:
            lines = [json.loads(line) for line in file if line.strip()]
        flags.rounds = max([line["round"] for line in lines], default=0)
    else:
        needs_data = [key for key in keys if any("{data_dir}" in word for word in RUNS[key].ours[1])
                      and not key.startswith(("parse", "jpeg"))]
        if needs_data and not flags.data_dir:
            raise SystemExit("error: --data_dir must be given for %s: the folder of MNIST's four "
                             "files"
                             % ", ".join(needs_data))
        if flags.data_dir:
            flags.data_dir = plain_mnist(flags.data_dir, flags.cache)
        os.makedirs(flags.cache, exist_ok=True)
        path = flags.results or os.path.join(flags.cache, "results.jsonl")
        with open(path, "a+") as results:
            start = results.seek(0, os.SEEK_END)
            runner = Runner(flags, results)
            runner.run_all(keys)
            results.flush()
            results.seek(start)
            lines = [json.loads(line) for line in results]
        print("lines of JSON: " + path, file=sys.stderr)
    figures = table.table(lines, rows, RUNS)
    print(figures)
    lacks = table.missing(lines, rows, RUNS)
    if lacks:
        print("error: no figure of " + "; ".join(lacks), file=sys.stderr)
        return 1
    if flags.write_page:
        few = table.with_few_rounds(lines, rows, RUNS, MIN_ROUNDS_OF_PAGE)
        if few:
            print("error: --write_page needs %d rounds of each program; fewer have %s"
                  % (MIN_ROUNDS_OF_PAGE, "; ".join(few)), file=sys.stderr)
            return 1
        with open(PAGE) as file:
            page = file.read()
        with open(PAGE, "w") as file:
            file.write(table.replace_figures(page, machine(flags) + "\n\n" + figures))
        print("wrote " + PAGE, file=sys.stderr)
    return 0 if flags.from_results or not runner.failed else 1


if __name__ == "__main__":
    sys.exit(main())
