#!/usr/bin/env python3
"""The real TPU compiler compiles the steps of MNIST and of ResNet-50 for four topologies, and that
of an LSTM for one.

Usage: check_tpu_compile.py MNIST_TPU RESNET_MAIN RECURRENT_BENCHMARK [--minutes 24]
                            [--only NAME,...]
libtpu 0.0.51 is installed by tools/get_libtpu.sh: the first run needs the network and 800 MB of
disk. No TPU is used. Two programs run at the same time. Each gets --tpu_check_seconds from what is
left of --minutes, so the script ends in time on a slow machine too; what was not compiled by then
is a problem. A line is printed for each program. tools/verify_interop.sh runs this.

What is checked:
  - MNIST with a batch of 1024: --tpu_check=TOPOLOGY exits with 0, and training, evaluation and
  prediction compile, with
    the memory of a device, the roofline and the estimated batch that would fill a device, which is
    not less than 1024;
  - ResNet-50 in bfloat16 with a batch of 1024: the same for training, with one step a loop: the
  batches of a loop are
    in the memory of a device, and 100 batches of images of 224x224 are more than a v2 has;
  - an LSTM on a v2-8, which is a loop forward and one backward: the same for training;
  - MNIST with --tpu_check_fill on a v2-8: a larger batch compiles;
  - ResNet-50 with a batch of 4096 on a v2-8 exits with 1. The report has the largest values with
  the names of the
    model's ops, and the largest batch that fits, with the next rows that do not fit.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

TOPOLOGIES = {"v2-8": "v2:2x2x1", "v3-8": "v3:2x2x1", "v5e-8": "v5e:2x4", "v6e-8": "v6e:2x4"}
BATCH, TOO_LARGE, CORES = 1024, 4096, 8
# A check reads whole batches of its input, so few pictures are drawn.
RESNET_FLAGS = ["--mode=train", "--resnet_depth=50", "--precision=bfloat16", "--iterations=1",
                f"--num_train_images={TOO_LARGE}"]
MNIST_FLAGS = [f"--batch_size={BATCH}"]
LSTM_FLAGS = [f"--batch_size={BATCH}", "--time_steps=16", "--num_units=128", "--num_layers=1"]
ESTIMATE = re.compile(r"a batch of (\d+) rows a replica, (\d+) in all, would fill a device")
FOUND = re.compile(r"the largest batch that fits has (\d+) rows a replica, (\d+) in all; "
                   r"(\d+) rows a replica do not fit")
FITS = re.compile(r"(\d+) rows a replica, \d+ in all, fit; |the largest batch that fits has (\d+) "
                  r"rows a replica")


class Programs:
    """Runs the programs of one check until a deadline."""

    def __init__(self, minutes):
        self.deadline = time.monotonic() + 60 * minutes

    def run(self, program, flags, topology):
        """Returns the exit code, the report on stdout, and the end of the log. The code is None if
        time ran out."""
        left = self.deadline - time.monotonic() - 30  # for the program itself
        if left < 30:
            return None, "", "no time was left to start it; --minutes allows more"
        with tempfile.TemporaryDirectory() as folder:
            command = [os.path.abspath(program), "--use_tpu", f"--num_shards={CORES}",
                       f"--tpu_check={topology}", f"--tpu_check_seconds={left:.0f}", *flags,
                       f"--model_dir={folder}/model"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
            try:
                report, log = process.communicate(timeout=self.deadline - time.monotonic())
                return process.returncode, report, log[-2000:]
            except subprocess.TimeoutExpired:
                process.terminate()  # it ends its compiler
                report, log = process.communicate()
                return None, report, "stopped, because --minutes ended\n" + log[-2000:]


def sections(report, topology):
    """The lines of each mode that was compiled, by the mode's name."""
    found, mode = {}, None
    for line in report.splitlines():
        heading = re.match(rf"(\w+) on {re.escape(topology)}\b", line)
        if heading:
            mode = heading.group(1)
            found[mode] = []
        elif mode and not line.startswith(" "):
            mode = None  # the lines about the rules follow
        if mode:
            found[mode].append(line)
    return {mode: "\n".join(lines) for mode, lines in found.items()}


def check_fits(programs, program, flags, topology, modes):
    """Returns a line on a program that fits, and what is wrong with its report."""
    code, report, log = programs.run(program, flags, topology)
    problems = [] if code == 0 else [f"exit code {code}, expected 0\n{report}\n{log}"]
    found = sections(report, topology)
    for mode in modes:
        text = found.get(mode, "")
        heading = f"{mode} on {topology} ({TOPOLOGIES[topology]}, {CORES} replicas): compiles"
        for part in (heading, "memory of a device: arguments ", "roofline: at least "):
            if part not in text:
                problems.append(f"the section of {mode} lacks '{part}':\n{text}")
    training = found.get("train", "")
    estimate = ESTIMATE.search(training)
    if not estimate:
        problems.append(f"no estimate of the batch that would fill a device:\n{training}")
    elif int(estimate.group(2)) < BATCH:
        problems.append(f"the estimated batch is {estimate.group(2)}, but {BATCH} compiles")
    seconds = re.search(r"compiles \(([\d.]+) s\)", training)
    roofline = re.search(r"at least ([\d.]+) ms", training)
    if not (seconds and roofline and estimate):
        return "", problems
    return (f"training compiles in {seconds.group(1)} s, at least {roofline.group(1)} ms a step; "
            f"a batch of {estimate.group(2)} would fill it"), problems


def check_fill(programs, program, flags, topology):
    """Returns a line on the search for a batch that fills the memory, and what is wrong with it."""
    code, report, log = programs.run(program, [*flags, "--tpu_check_fill"], topology)
    text = sections(report, topology).get("train", "")
    problems = [] if code == 0 else [f"exit code {code}, expected 0\n{report}\n{log}"]
    fits = FITS.search(text)
    if not fits or int(fits.group(1) or fits.group(2)) <= BATCH // CORES:
        return "", [*problems, f"no larger batch is reported:\n{text}"]
    return f"{fits.group(1) or fits.group(2)} rows a replica fit, too", problems


def check_too_large(programs, program, flags, topology):
    """Returns a line on a batch that does not fit, and what is wrong with its report."""
    code, report, log = programs.run(program, flags, topology)
    text = sections(report, topology).get("train", "")
    problems = [] if code == 1 else [f"exit code {code}, expected 1\n{report}\n{log}"]
    if "does not fit" not in text:
        problems.append(f"the report does not say 'does not fit':\n{text}")
    # A line such as "   392.00 MiB  bf16[512,112,112,64]  conv2d/Conv2D", which has a row for each
    # image of a core.
    rows = TOO_LARGE // CORES
    if not re.search(rf"[\d.]+ [MG]iB  \w+\[(\d+,)?{rows},[\d,]+\]  [\w/]+", text):
        problems.append(f"the largest values are not listed:\n{text}")
    found = FOUND.search(text)
    if not found or not 0 < int(found.group(1)) < int(found.group(3)) <= rows:
        return "", [*problems, f"the largest batch that fits is not found:\n{text}"]
    if int(found.group(3)) - int(found.group(1)) > max(8, int(found.group(1)) / 32):
        problems.append(f"the rows that fit and those that do not are too far apart: "
                        f"{found.group(0)}")
    return found.group(0), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mnist")
    parser.add_argument("resnet")
    parser.add_argument("recurrent")
    parser.add_argument("--minutes", type=float, default=24, help="after which everything ends")
    parser.add_argument("--only", default="", help="comma-separated parts of names, such as "
                                                   "MNIST,v2-8")
    args = parser.parse_args()
    batch = f"--train_batch_size={BATCH}"
    # The search takes longest, so it starts first.
    jobs = [(f"ResNet-50 on v2-8, batch {TOO_LARGE}", check_too_large,
             (args.resnet, [*RESNET_FLAGS, f"--train_batch_size={TOO_LARGE}"], "v2-8"))]
    jobs += [(f"MNIST on {topology}", check_fits,
              (args.mnist, MNIST_FLAGS, topology, ("train", "eval", "predict")))
             for topology in TOPOLOGIES]
    jobs += [(f"ResNet-50 on {topology}", check_fits,
              (args.resnet, [*RESNET_FLAGS, batch], topology, ("train",)))
             for topology in TOPOLOGIES]
    jobs.append(("LSTM on v2-8", check_fits, (args.recurrent, LSTM_FLAGS, "v2-8", ("train",))))
    jobs.append(("MNIST on v2-8, filled", check_fill, (args.mnist, MNIST_FLAGS, "v2-8")))
    wanted = args.only.split(",")
    jobs = [job for job in jobs if any(part in job[0] for part in wanted)]
    if not jobs:
        parser.error(f"--only={args.only} is part of no name")
    subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                 "../../tools/get_libtpu.sh")], check=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Else a libtpu of the machine would be found first.
    os.environ["TPU_LIBRARY_PATH"] = os.path.join(cache, "estimator-libtpu/0.0.51/libtpu/libtpu.so")

    programs = Programs(args.minutes)

    def finish(job):
        name, check, arguments = job
        start = time.monotonic()
        line, problems = check(programs, *arguments)
        print(f"  {name} ({time.monotonic() - start:.0f} s): {line or 'see the problems below'}",
              flush=True)
        return [f"{name}: {problem}" for problem in problems]

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        problems = [problem for found in pool.map(finish, jobs) for problem in found]
    for problem in problems:
        print("  " + problem)
    print("check_tpu_compile: " + (f"{len(problems)} problems" if problems
                                   else "all reports are as expected"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
