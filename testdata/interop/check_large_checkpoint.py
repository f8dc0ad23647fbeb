#!/usr/bin/env python3
"""TensorFlow writes a checkpoint of 1 GiB in several data files. Our tool lists, verifies, compares
and casts it with less than 100 MB of memory, and restoring it needs at most 1.2 times its size.

Usage: check_large_checkpoint.py CHECKPOINT CHECKPOINT_BENCHMARK
       (built from //tools/checkpoint, //estimator/training:checkpoint_benchmark)
Needs tensorflow-cpu 2.15.1, 4 GiB of disk and 3 GiB of memory; tools/verify_interop.sh installs it
and runs this.
"""

import os
import subprocess
import sys
import tempfile
import time

MAX_TOOL_BYTES = 100e6
# Writes the model_dir argv[1], which estimator/training/checkpoint_benchmark.cc restores. It runs
# in its own process, so that TensorFlow's memory does not count in the measurement.
WRITE = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
parts = []
for i, values in enumerate((["table_0"], ["table_1"], ["global_step"])):
    name, = values
    part = os.path.join(sys.argv[1], f"part-{i}")
    value = (tf.constant(1, tf.int64) if name == "global_step"
             else tf.random.stateless_normal([1 << 20, 128], [1, i]))
    tf.raw_ops.SaveV2(prefix=part, tensor_names=[name], shape_and_slices=[""], tensors=[value])
    parts.append(part)
prefix = os.path.join(sys.argv[1], "model.ckpt-1")
tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
tf.compat.v1.train.update_checkpoint_state(sys.argv[1], prefix)
"""


def run(command, code=0):
    """Runs a command. Returns its output and its peak memory."""
    begin = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == code, (command, process.returncode, output)
    return output, 1024 * usage.ru_maxrss, time.time() - begin


def main():
    tool, benchmark = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as directory:
        run([sys.executable, "-c", WRITE, directory])
        prefix, low = os.path.join(directory, "model.ckpt-1"), os.path.join(directory, "low")
        commands = [
            (0, "table_1", ["list", prefix]),
            (0, "3 data files", ["verify", prefix]),
            (0, "variables: 3 equal", ["diff", prefix, directory]),
            (0, "cast 2 variables", ["cast", prefix, low, "--to=bfloat16"]),
            (1, "2 differ", ["diff", prefix, low, "--ignore_dtype"]),
            (0, "variables: 3 close", ["diff", prefix, low, "--ignore_dtype", "--rtol=0.005"]),
        ]
        for code, expected, arguments in commands:
            output, peak, seconds = run([tool] + arguments, code)
            assert expected in output, (arguments, output)
            print(f"{arguments[0]}: {peak / 1e6:.0f} MB, {seconds:.1f} s")
            assert peak < MAX_TOOL_BYTES, f"{arguments[0]} took {peak / 1e6:.0f} MB"
        os.remove(low + ".data-00000-of-00001")
        output, _, _ = run([benchmark, directory])  # fails if a peak is too high
        print(output, end="")
    print("check_large_checkpoint: ok")


if __name__ == "__main__":
    main()
