"""Runs the StableHLO of training steps in JAX, on eight virtual CPU devices, and compares with our
own replicas.

tools/verify_interop.sh runs it.
Usage: check_stablehlo.py STABLEHLO_TOOL [--models mnist,resnet_eval]

JAX is installed from PyPI into a virtual environment of its own (default
~/.cache/estimator-stablehlo, or ESTIMATOR_STABLEHLO_VENV); this script starts itself again with
that environment's Python.

stablehlo_tool writes the module, the first values of the variables, the batches, and the results of
our backend: ten steps of MNIST and of ResNet-50 with a batch of 64, with plain gradient descent,
which takes about six minutes on two cores; with a momentum of 0.9, three steps of MNIST and one of
ResNet-50; and evaluation and prediction of both. JAX compiles the module for eight replicas and
runs it. What is compared:
  - the loss of every step and replica: relative difference at most 1e-5. Dropout draws the same
  numbers, or the
    losses would differ in the second digit;
  - every variable after the last step, on every replica: within 1e-4 of its largest value, or 1e-4
  if that is less
    than 1. A relu or a max pool that rounding decides differently moves a bias by 1e-5;
  - the same differences relative to the largest change of the variable: at most 5e-2, or small
  gradients
    could all be wrong. MNIST has 2.4e-5 after three steps, and 1.2e-2 in a bias after ten, probably
    from such a decision: no single relu was traced. Ten steps of ResNet-50 change some offsets of
    batch normalization by less than 2e-4, of which 0.3 differs; so they may differ by 0.5, and one
    step with momentum by 5e-2. Differences below 1e-6 of the largest value, or of 1, are rounding;
  - with a NaN in a bias, no step counts and no variable changes;
  - evaluation: the loss as above, and the logits; prediction: the probabilities, and equal classes.
  A value may
    differ by 1e-5 of the largest one.

Why so few steps with momentum: with it, and with plain gradient descent too, ten steps on random
pixels amplify rounding. In JAX alone, a change of the first variables by 1e-7 of their values
changes the losses of three steps by 1e-7, but those of ten by 8e-5 without momentum, and by 1e-4
with it, from the step on in which a relu or a max pool is decided differently. The first steps show
the order of the updates just as well.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import venv

JAX = ["jax==0.10.2", "jaxlib==0.10.2", "numpy"]
REPLICAS = 8
STEPS = {"mnist": 10, "mnist_momentum": 3, "mnist_eval": 2, "mnist_predict": 2, "resnet": 10,
         "resnet_momentum": 1, "resnet_eval": 1, "resnet_predict": 1}
LOSS_TOLERANCE = 1e-5
VARIABLE_TOLERANCE = 1e-4
CHANGE_TOLERANCE = {"resnet": 0.5}
CHANGE_TOLERANCE_OF_OTHERS = 5e-2
ROUNDING = 1e-6


def python_with_jax():
    """The Python of the environment that has JAX, which is created if it does not exist."""
    folder = os.environ.get("ESTIMATOR_STABLEHLO_VENV",
                            os.path.expanduser("~/.cache/estimator-stablehlo"))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import jax"], capture_output=True).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *JAX], check=True)
    return python


def read_list(folder, name):
    """Lines of "kind dtype name" as lists of three."""
    with open(os.path.join(folder, name)) as file:
        return [line.split(" ", 2) for line in file.read().splitlines()]


class Module:
    """A module that JAX's CPU client has compiled, and the values that the tool wrote."""

    def __init__(self, folder):
        import jax
        import numpy as np
        from jax._src.interpreters import mlir
        from jax._src.lib import xla_client
        from jax._src.lib.mlir import ir

        self.folder, self.jax, self.np = folder, jax, np
        self.devices = jax.devices("cpu")[:REPLICAS]
        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = REPLICAS, 1
        options.device_assignment = xla_client.DeviceAssignment.create(
            np.arange(REPLICAS).reshape(REPLICAS, 1))
        with open(os.path.join(folder, "step.mlir")) as file:
            text = file.read()
        with mlir.make_ir_context():
            self.executable = self.devices[0].client.compile_and_load(
                ir.Module.parse(text), xla_client.DeviceList(tuple(self.devices)), options)
        self.arguments = read_list(folder, "arguments.txt")
        self.results = read_list(folder, "results.txt")

    def load(self, what, number, dtype):
        """One array of the tool; bfloat16 was written as float32."""
        import ml_dtypes
        array = self.np.load(os.path.join(self.folder, f"{what}_{number}.npy"))
        return array.astype(ml_dtypes.bfloat16) if dtype == "bfloat16" else array

    def values(self):
        """For each argument its value on each replica."""
        values = []
        for number, (kind, dtype, _) in enumerate(self.arguments):
            array = self.load("argument", number, dtype)
            values.append(list(array) if kind == "feed" else [array] * REPLICAS)
        return values

    def run(self, values):
        """For each result its value on each replica."""
        np, jax = self.np, self.jax
        mesh = jax.sharding.Mesh(np.array(self.devices), ("replica",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("replica"))
        arrays = []
        for parts in values:
            # A leading axis of size 1 would change the type of the argument: scalars are put as
            # they are.
            buffers = [jax.device_put(part, device) for part, device in zip(parts, self.devices)]
            shape = parts[0].shape
            if shape:
                arrays.append(jax.make_array_from_single_device_arrays(
                    (shape[0] * REPLICAS,) + shape[1:], sharding, buffers))
            else:
                everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
                arrays.append(jax.make_array_from_single_device_arrays((), everywhere, buffers))
        outputs = self.executable.execute_sharded(arrays)
        parts = outputs.disassemble_into_single_device_arrays()
        return [[np.asarray(part) for part in result] for result in parts]


def check_values(module, change_tolerance):
    """Returns a list of what differs from our own backend."""
    np, problems = module.np, []
    values = module.values()
    first = {name: values[number][0] for number, (kind, _, name) in enumerate(module.arguments)
             if kind == "variable"}
    outputs = module.run(values)
    worst_loss = worst_variable = worst_change = 0.0
    for number, (kind, dtype, name) in enumerate(module.results):
        want = module.load("result", number, dtype)
        for replica, got in enumerate(outputs[number]):
            expected = want[replica] if kind == "fetch" else want
            if got.shape != expected.shape:
                problems.append(f"{name}: shape {got.shape}, expected {expected.shape}")
                continue
            got, expected = got.astype(np.float64), expected.astype(np.float64)
            if not np.isfinite(got).all():
                problems.append(f"{name} on replica {replica} is not finite")
                continue
            difference = np.abs(got - expected)
            if kind == "variable" and replica > 0 and np.array_equal(outputs[number][replica],
                                                                     outputs[number][0]):
                continue  # as replica 0, which is compared
            if kind == "steps_done":
                if got != expected:
                    problems.append(f"{got} steps were done, expected {expected}")
            elif kind == "fetch" and "int" in dtype:
                if difference.any():
                    problems.append(f"{name} on replica {replica}: {got} and {expected}")
            elif kind == "fetch":
                # A loss relative to itself; logits and probabilities relative to the largest one of
                # the step.
                scale = np.abs(expected)
                if expected.ndim > 1:
                    scale = scale.max(axis=tuple(range(1, expected.ndim)), keepdims=True)
                relative = float((difference / np.maximum(scale, 1e-3)).max())
                worst_loss = max(worst_loss, relative)
                if relative > LOSS_TOLERANCE:
                    problems.append(f"{name} on replica {replica} differs by {relative:.1e}: {got} "
                                    f"and {expected}")
            else:
                relative = float(difference.max(initial=0)
                                 / max(np.abs(expected).max(initial=0), 1.0))
                worst_variable = max(worst_variable, relative)
                if relative > VARIABLE_TOLERANCE:
                    problems.append(f"variable {name} on replica {replica} differs by "
                                    f"{relative:.1e}")
                if relative > ROUNDING:
                    change = np.abs(expected - first[name].astype(np.float64)).max(initial=0)
                    share = float(difference.max(initial=0) / max(change, 1e-30))
                    worst_change = max(worst_change, share)
                    if share > change_tolerance:
                        problems.append(f"the change of {name} on replica {replica} differs by "
                                        f"{share:.1e} of it")
    print(f"  largest difference of a fetch {worst_loss:.1e}, of a variable {worst_variable:.1e}, "
          f"relative to its change {worst_change:.1e}")
    return problems


def check_guard(module):
    """Puts a NaN into a bias: the loss of the first step is NaN, so no variable may change. Returns
    what is wrong."""
    np, problems = module.np, []
    values = module.values()
    names = [name for _, _, name in module.arguments]
    poisoned = next(number for number, (kind, dtype, name) in enumerate(module.arguments)
                    if kind == "variable" and dtype == "float32" and name.endswith("dense/bias"))
    bad = values[poisoned][0].copy()
    bad.flat[0] = np.nan
    values[poisoned] = [bad] * REPLICAS
    outputs = module.run(values)
    for number, (kind, _, name) in enumerate(module.results):
        for replica, got in enumerate(outputs[number]):
            if kind == "steps_done" and got != 0:
                problems.append(f"{got} steps counted with a NaN in the loss")
            if kind == "fetch" and not np.isnan(got[0]).all():
                problems.append(f"{name} should be NaN, it is {got[0]}")
            if kind == "variable":
                before = values[names.index(name)][replica]
                if not np.array_equal(got, before, equal_nan=got.dtype.kind == "f"):
                    problems.append(f"variable {name} changed in a step with a NaN in the loss")
    return problems


def main():
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={REPLICAS}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1"
    try:
        import jax  # noqa: F401
    except ImportError:
        python = python_with_jax()
        return subprocess.run([python, os.path.abspath(__file__), *sys.argv[1:]]).returncode
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--models", default=",".join(STEPS), help="comma-separated; all by default")
    args = parser.parse_args()
    failed = False
    for model in args.models.split(","):
        steps = STEPS[model]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([args.tool, folder, model, str(REPLICAS), str(steps)], check=True)
            print(f"{model}: {steps} step{'s' * (steps > 1)} on {REPLICAS} replicas")
            module = Module(folder)
            problems = check_values(module, CHANGE_TOLERANCE.get(model, CHANGE_TOLERANCE_OF_OTHERS))
            if not model.endswith(("_eval", "_predict")):
                problems += check_guard(module)
        for problem in problems[:20]:
            print(f"  {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
