"""Runs the two programs of docs/porting.md, TensorFlow's and its port, on each other's model_dir.

Usage: check_porting.py PORTING_EXAMPLE      (the binary //docs:porting_example)
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENVIRONMENT = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")


def run(command):
    """{metric: value} that the program printed."""
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stdout}{done.stderr[-4000:]}")
    lines = re.findall(r"^(accuracy|loss|top_3)\s+(\S+)$", done.stdout, re.MULTILINE)
    return {name: float(value) for name, value in lines}


def compare(what, ours, theirs):
    print(f"{what}: ours {ours}, TensorFlow's {theirs}")
    if set(ours) != {"accuracy", "loss", "top_3"} or set(theirs) != set(ours):
        raise SystemExit(f"{what}: a metric is missing")
    for name in ("accuracy", "top_3"):
        if abs(ours[name] - theirs[name]) > 1e-4:  # the table shows four digits
            raise SystemExit(f"{what}: {name} differs")
    if abs(ours["loss"] - theirs["loss"]) > 1e-4 * theirs["loss"]:
        raise SystemExit(f"{what}: loss differs")


def main():
    port = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w") as file:
            file.write(subprocess.check_output(
                [sys.executable, os.path.join(ROOT, "tools/checks/extract_code.py"), "python",
                 os.path.join(ROOT, "docs/porting.md")], text=True))
        theirs_dir, ours_dir = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
        # A model_dir that has reached train_steps is not trained again, only evaluated.
        theirs = run([sys.executable, program, f"--model_dir={theirs_dir}", "--train_steps=20"])
        compare("TensorFlow's model_dir",
                run([port, f"--model_dir={theirs_dir}", "--train_steps=20"]), theirs)
        ours = run([port, f"--model_dir={ours_dir}", "--train_steps=20"])
        compare("our model_dir", ours, run([sys.executable, program, f"--model_dir={ours_dir}",
                                            "--train_steps=20"]))
        # Training continues, including Momentum slots and moving averages.
        theirs = run([sys.executable, program, f"--model_dir={ours_dir}", "--train_steps=40"])
        compare("ours, trained on by TensorFlow",
                run([port, f"--model_dir={ours_dir}", "--train_steps=40"]), theirs)
        ours = run([port, f"--model_dir={theirs_dir}", "--train_steps=40", "--use_tpu"])
        compare("TensorFlow's, trained on by us on replicas", ours,
                run([sys.executable, program, f"--model_dir={theirs_dir}", "--train_steps=40"]))


main()
