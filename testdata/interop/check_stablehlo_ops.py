#!/usr/bin/env python3
"""StableHLO: JAX runs the lowering of every op on the inputs of testdata/ops, and programs with
loops and branches (tpu/stablehlo/ops/testing/control_flow_cases.h), beside our reference kernels.

Usage: check_stablehlo_ops.py STABLEHLO_OPS_TOOL [--ops OP,...] [--keep DIR]
       (built from //tools/interop:stablehlo_ops_tool)
tools/verify_interop.sh runs it. JAX has an environment of its own: see check_stablehlo.py.

An element agrees if its difference is at most ROUNDINGS[class] roundings of its dtype, relative to
the element itself. Except for "exact", "bits" and "rounded" it may also be relative to the largest
element of the tensor, at least 1. The classes are those of testdata/ops/cases.py. XLA computes exp,
log and similar functions by its own polynomials, and sums in another order; the numbers allow for
both. NaN equals NaN. XLA on a CPU flushes denormal numbers to 0, so a difference below the smallest
normal float32 does not count.
"""

import argparse
import os
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
# Each program runs once, so code that compiles fast is better than code that runs fast.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
try:
    import jax
except ImportError:  # this script starts itself again in the environment that has it
    from check_stablehlo import python_with_jax
    sys.exit(subprocess.run([python_with_jax(), os.path.abspath(__file__),
                             *sys.argv[1:]]).returncode)
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from jax._src.lib.mlir import ir  # noqa: E402

jax.config.update("jax_enable_x64", True)

# Class -> roundings for float64 and float32, and for the 16-bit floats, which are rounded once from
# float32.
ROUNDINGS = {
    "exact": (0, 0),
    "bits": (0, 0),
    "rounded": (2, 1),
    "function": (12, 1),
    "powers": (24, 2),
    "composed": (24, 2),
    "sum": (8, 1),
    "long_sum": (64, 2),
    "solution": (64, 1),
    "statistics": (28, 2),
}
# Ops whose cases are bits under TensorFlow, but for which XLA has its own logarithm and cosine.
CLASS_OF_OP = {"RandomStandardNormal": "function", "TruncatedNormal": "function"}
# Cases that the lowering refuses, and why that is right.
REFUSED = {
    "MatrixSolveLs": "without fast, the CPU takes a complete orthogonal decomposition, which "
                     "StableHLO lacks",
    "RandomStandardNormal": "float64 numbers are not drawn on a TPU",
    "RandomUniform": "float64 numbers are not drawn on a TPU",
    "TruncatedNormal": "float64 numbers are not drawn on a TPU",
}
# Cases that differ, and why that is right.
DIFFERENT = {
    "Cumprod/special": "1e30 * 1e30 * 0: the kernel goes element by element and overflows before "
                       "the 0; XLA multiplies "
    "in another order",
    "Cumsum/special": "1e30 swallows what is added before it; XLA adds in another order",
}

EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
TINY = 1.2e-38


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def read_cases(path):
    """Yields (name, class, inputs, outputs), or (name, reason) for a refused case."""
    with open(path + ".cases") as lines, open(path + ".npys", "rb") as arrays:
        def read(dtypes):
            return [np.load(arrays).astype(numpy_dtype(d)) for d in dtypes.split(",") if d != "-"]
        for line in lines:
            words = line.split()
            if words[1] == "refused":
                yield words[0], " ".join(words[2:])
            else:
                inputs = read(words[2])
                yield words[0], words[1], inputs, read(words[3])


def run(text, inputs):
    device = jax.devices("cpu")[0]
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        program = device.client.compile_and_load(module, xla_client.DeviceList((device,)), options)
    arguments = [jax.device_put(x, device) for x in inputs]
    results = program.execute_sharded(arguments)
    return [np.asarray(parts[0]) for parts in results.disassemble_into_single_device_arrays()]


def difference(kind, actual, expected):
    """None, or what differs."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype} {actual.shape}, expected {expected.dtype} {expected.shape}"
    name = expected.dtype.name
    if name not in EPSILON:
        wrong = actual != expected
    else:
        wide, narrow = ROUNDINGS[kind]
        unit = (narrow if expected.dtype.itemsize == 2 else wide) * EPSILON[name]
        a, e = actual.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(e)
        largest = np.abs(e[finite]).max(initial=0)
        # Cases of special values contain 1e30, which must not make the tolerance of other elements
        # large.
        around = 1 if largest > 1000 else max(1, largest)
        limit = np.maximum(unit * np.abs(np.where(finite, e, 0)), TINY)
        if kind not in ("exact", "bits", "rounded"):
            limit = np.maximum(limit, unit * around)
        with np.errstate(invalid="ignore"):
            close = np.abs(a - e) <= limit
        wrong = ~(close | (a == e) | (np.isnan(a) & np.isnan(e)))
    if not wrong.any():
        return None
    at = np.unravel_index(np.argmax(wrong), wrong.shape) if wrong.shape else ()
    return (f"{wrong.sum()} of {wrong.size} differ; at {tuple(int(i) for i in at)} {actual[at]}, "
            f"expected {expected[at]}")


def check(directory, op):
    """Returns (number of cases, refused reasons, failures)."""
    cases = list(read_cases(os.path.join(directory, op)))
    refused = [c for c in cases if len(c) == 2]
    cases = [c for c in cases if len(c) == 4]
    failures = []
    if refused and op not in REFUSED:
        failures += [f"{op}/{name} is refused: {reason}" for name, reason in refused]
    with open(os.path.join(directory, op + ".mlir")) as file:
        text = file.read()
    try:
        results = iter(run(text, [x for c in cases for x in c[2]])) if cases else iter(())
    except Exception as error:  # a text that XLA does not take fails the op, not the script
        return len(cases), len(refused), failures + [f"{op}: {str(error)[:1500]}"]
    for name, kind, _, outputs in cases:
        for i, expected in enumerate(outputs):
            what = difference(CLASS_OF_OP.get(op, kind), next(results), expected)
            if what and f"{op}/{name}" not in DIFFERENT:
                failures.append(f"{op}/{name} output {i} ({kind}): {what}")
    return len(cases), len(refused), failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--ops", default="", help="comma-separated; all by default")
    parser.add_argument("--keep", help="write the files there and keep them")
    args = parser.parse_args()
    goldens = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops")
    with tempfile.TemporaryDirectory() as temporary:
        directory = args.keep or temporary
        os.makedirs(directory, exist_ok=True)
        subprocess.run([args.tool, goldens, directory] + [op for op in args.ops.split(",") if op],
                       check=True)
        wanted = set(args.ops.split(",")) if args.ops else None
        ops = sorted(f[:-5] for f in os.listdir(directory) if f.endswith(".mlir")
                     and (not wanted or f[:-5] in wanted))
        total = num_refused = 0
        failures = []
        for op in ops:
            num, refused, wrong = check(directory, op)
            total, num_refused = total + num, num_refused + refused
            failures += wrong
            for failure in wrong:
                print("FAILED:", failure, flush=True)
    print(f"{len(ops)} ops, {total} cases, {num_refused} refused, {len(failures)} failures")
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
