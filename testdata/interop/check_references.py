#!/usr/bin/env python3
"""Makes every reference run of testdata/reference again with this machine's TensorFlow, and replays it: from the initial
values, and from TensorFlow's checkpoint of step 20, including slots, with every optimizer.

Usage: check_references.py REPLAY_REFERENCE     (built from //tools/replay:replay_reference)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import os
import shutil
import subprocess
import sys
import tempfile


def check(program, steps_before):
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as directory:
        references = os.path.join(directory, "reference")
        shutil.copytree(os.path.join(here, "..", "reference"), references,
                        ignore=lambda _, names: [name for name in names if ".data-" in name or name.endswith(".index")])
        environment = dict(os.environ)
        if steps_before:
            environment["REFERENCE_STEPS_BEFORE"] = str(steps_before)
        subprocess.run([sys.executable, os.path.join(references, "regenerate.py")], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=environment)
        replayed = subprocess.run([program, f"--reference_dir={references}"], stdout=subprocess.PIPE, text=True, check=False)
        for line in replayed.stdout.splitlines():
            if references in line:
                print(line.replace(references + os.sep, ""))
        if replayed.returncode != 0:
            print(replayed.stdout)
            sys.exit("check_references: some differ")


def main():
    program = os.path.abspath(sys.argv[1])
    for steps_before in (0, 20):
        print(f"from step {steps_before}:" if steps_before else "from the initial values:")
        check(program, steps_before)
    print("check_references: ok")


if __name__ == "__main__":
    main()
