#!/usr/bin/env python3
"""The real TPU compiler compiles the steps of MNIST and of ResNet-50 for four topologies.

Usage: check_tpu_compile.py MNIST_TPU RESNET_MAIN
libtpu 0.0.51 is installed by tools/get_libtpu.sh: the first run needs the network and 800 MB of disk. No TPU is used.
The check of training also searches for the largest batch that fits, so ResNet-50 takes minutes for each topology.
tools/verify_interop.sh runs this.

What is checked:
  - with a batch of 1024, --tpu_check=TOPOLOGY exits with 0, and training, evaluation and their reports compile:
    the memory of a device, the roofline and the largest batch that fits. That batch is not less than this one, up to
    the multiple of 8 rows that the search uses;
  - ResNet-50 with a batch of 32768 on a v2-8 exits with 1. The report has the largest values with the names of the
    model's ops, and a largest batch that fits between 1 and 32767.
"""

import os
import re
import subprocess
import sys
import tempfile

TOPOLOGIES = {"v2-8": "v2:2x2x1", "v3-8": "v3:2x2x1", "v5e-8": "v5e:2x4", "v6e-8": "v6e:2x4"}
BATCH, TOO_LARGE, CORES = 1024, 32768, 8
RESNET_FLAGS = ["--resnet_depth=50", "--precision=bfloat16", f"--eval_batch_size={BATCH}"]
LARGEST = re.compile(r"the largest batch that fits is about (\d+) rows a replica, (\d+) in all")


def run(program, flags, topology):
    """Returns the exit code, the report on stdout, and the end of the log."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [os.path.abspath(program), "--use_tpu", f"--num_shards={CORES}", f"--tpu_check={topology}", *flags,
             f"--model_dir={folder}/model"],
            capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr[-2000:]


def sections(report, topology):
    """The lines of each mode that was compiled, by the mode's name."""
    found, mode = {}, None
    for line in report.splitlines():
        heading = re.match(rf"\s*(\w+) on {re.escape(topology)}\b", line)
        if heading:
            mode = heading.group(1)
            found[mode] = []
        if mode:
            found[mode].append(line)
    return {mode: "\n".join(lines) for mode, lines in found.items()}


def check_fits(name, program, flags, topology):
    """Returns what is wrong with the report of a program that fits."""
    code, report, log = run(program, flags, topology)
    problems = [] if code == 0 else [f"exit code {code}, expected 0\n{report}\n{log}"]
    modes = sections(report, topology)
    for mode in ("train", "eval"):
        text = modes.get(mode, "")
        heading = f"{topology} ({TOPOLOGIES[topology]}, {CORES} replicas): compiles"
        for part in (heading, "memory of a device: arguments ", "roofline: at least "):
            if part not in text:
                problems.append(f"the section of {mode} lacks '{part}':\n{text}")
    largest = LARGEST.search(modes.get("train", ""))
    if not largest:
        problems.append("no largest batch that fits")
    elif int(largest.group(1)) < BATCH // CORES:
        problems.append(f"the largest batch is {largest.group(2)}, but {BATCH} compiles")
    else:
        roofline = re.search(r"at least ([\d.]+) ms", modes["train"])
        print(f"  {name} on {topology}: at least {roofline.group(1) if roofline else '?'} ms a step; "
              f"the largest batch is about {largest.group(2)}")
    return problems


def check_too_large(program):
    """Returns what is wrong with the report of a batch that does not fit."""
    flags = [*RESNET_FLAGS, f"--train_batch_size={TOO_LARGE}"]
    code, report, log = run(program, flags, "v2-8")
    text = sections(report, "v2-8").get("train", "")
    problems = [] if code == 1 else [f"exit code {code}, expected 1\n{report}\n{log}"]
    if "does not fit" not in text:
        problems.append(f"the report does not say 'does not fit':\n{text}")
    # A line such as "   392.00 MiB  bf16[4096,112,112,64]  conv2d/Conv2D", which has a row for each image of a core.
    rows = TOO_LARGE // CORES
    if not re.search(rf"[\d.]+ [MG]iB  \w+\[(\d+,)?{rows},[\d,]+\]  \S+", text):
        problems.append(f"the largest values are not listed:\n{text}")
    largest = LARGEST.search(text)
    if not largest or not 0 < int(largest.group(2)) < TOO_LARGE:
        problems.append(f"the largest batch that fits is not reported:\n{text}")
    else:
        print(f"  ResNet-50 on v2-8: {TOO_LARGE} does not fit; the largest batch is about {largest.group(2)}")
    return problems


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    mnist, resnet = sys.argv[1:]
    subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/get_libtpu.sh")], check=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Else a libtpu of the machine would be found first.
    os.environ["TPU_LIBRARY_PATH"] = os.path.join(cache, "estimator-libtpu/0.0.51/libtpu/libtpu.so")
    problems = []
    for topology in TOPOLOGIES:
        for name, program, flags in (("MNIST", mnist, [f"--batch_size={BATCH}"]),
                                     ("ResNet-50", resnet, [*RESNET_FLAGS, f"--train_batch_size={BATCH}"])):
            problems += [f"{name} on {topology}: {problem}" for problem in check_fits(name, program, flags, topology)]
    problems += [f"ResNet-50, batch {TOO_LARGE}, on v2-8: {problem}" for problem in check_too_large(resnet)]
    for problem in problems:
        print("  " + problem)
    print("check_tpu_compile: " + (f"{len(problems)} problems" if problems else "all programs are reported as expected"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
