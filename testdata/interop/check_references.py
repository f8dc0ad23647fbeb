#!/usr/bin/env python3
"""Makes every reference run of testdata/reference again with this machine's TensorFlow, and replays
it: from the initial values, and from TensorFlow's checkpoint of step 20, including slots, with
every optimizer. A case that differs from there runs from later steps too, see main. The cases of
ResNet-18 and ResNet-50 run a third time, with the whole networks on images of 224x224. Before that,
checks reference_lib on a model with tensors that TensorFlow cannot fetch, and on one with a lookup
table, a partitioned variable and an assignment to global_step.

Usage: check_references.py REPLAY_REFERENCE     (built from //tools/replay:replay_reference)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile


WHOLE_RESNETS = ["resnet18", "resnet50_v1", "resnet50_v1_5"]


def check(program, steps_before=0, whole_resnet=False, only=(), plain_sums=False):
    """Prints the reports of all cases, or of those in `only`. Returns the names of those that
    differ.

    plain_sums: convolutions and matrix products have the rounding errors of plain sums, whatever
    the CPU is.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as directory:
        references = os.path.join(directory, "reference")
        shutil.copytree(os.path.join(here, "..", "reference"), references,
                        ignore=lambda _,
                        names: [name for name in names if ".data-" in name
                                or name.endswith(".index")])
        environment = dict(os.environ)
        if steps_before:
            environment["REFERENCE_STEPS_BEFORE"] = str(steps_before)
        if whole_resnet:
            environment["REFERENCE_WHOLE_RESNET"] = "1"
            only = WHOLE_RESNETS
        # "mnist_adam" reads what "mnist" writes, and so on.
        read = [name for name in sorted(os.listdir(references))
                if os.path.isdir(os.path.join(references, name))
                and any(case.startswith(name + "_") for case in only)]
        subprocess.run([sys.executable, os.path.join(references, "regenerate.py"), *read, *only],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=environment)
        differ = []
        for case in only or [""]:  # "" replays all cases
            algorithm = "direct" if plain_sums else "auto"
            replayed = subprocess.run([program, f"--reference_dir={references}", f"--case={case}",
                                       f"--conv_algorithm={algorithm}"], stdout=subprocess.PIPE,
                                      text=True, check=False, env=environment)
            report = replayed.stdout.replace(references + os.sep, "")
            lines = [line for line in report.splitlines()
                     if re.match(r"\w+: (matches|differs)", line)]
            print(report if replayed.returncode != 0 else "\n".join(lines))
            found = [line.split(":")[0] for line in lines if ": differs" in line]
            if replayed.returncode != 0 and not found:
                sys.exit("check_references: the replay failed")
            differ += found
        return differ


# A case whose loop has a Tanh that cannot be fetched, and an Elu beside it that can.
LOOP_CASE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import reference_lib
tf1 = reference_lib.tf1
tf1.disable_control_flow_v2()

def model_fn(features, labels):
    w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
    _, x = tf1.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf1.tanh(x * w)), [0, features])
    x = tf1.nn.elu(x)
    return reference_lib.Step(tf1.reduce_sum(x), tf1.train.GradientDescentOptimizer(0.1).minimize(
        tf1.reduce_sum(x), tf1.train.get_global_step()))

batches = {"features": np.ones([2, 4, 3], np.float32)}
reference_lib.generate(__file__, model_fn, "a loop", batches=batches, num_steps=2,
                       forward_ops=FORWARD_OPS)
"""


# A case with a lookup table, a table of words in two parts with slots, a layer norm, and a step
# that assigns to the variable which its rate reads. The rate of step 1 is 1, that of step 2 is 0.5.
PARTS_CASE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import reference_lib
tf, tf1 = reference_lib.tf, reference_lib.tf1

def model_fn(features, labels):
    table = tf1.lookup.StaticHashTable(tf1.lookup.KeyValueTensorInitializer(
        np.array([10, 20, 30], np.int64), np.array([0, 1, 2], np.int64)), -1)
    words = tf1.get_variable("words", [3, 2], initializer=tf1.ones_initializer(),
                             partitioner=tf1.fixed_size_partitioner(2))
    scale = tf1.get_variable("scale", [2], initializer=tf1.ones_initializer())
    x = tf1.nn.embedding_lookup(words, table.lookup(features), "div")
    x = tf.nn.bias_add(x - tf.reduce_mean(x, -1, keepdims=True), scale)
    loss = tf.reduce_sum(x * [1.0, 2.0])
    step = tf1.train.get_global_step()
    rate = tf1.train.piecewise_constant(step, [np.int64(0)], [1.0, 0.5])
    optimizer = tf1.train.MomentumOptimizer(rate, 0.0)
    train_op = tf.group(optimizer.apply_gradients(optimizer.compute_gradients(loss)),
                        step.assign(step + 1))
    return reference_lib.Step(loss, train_op)

batches = {"features": np.array([[10, 20, 30, 30]], np.int64)}
reference_lib.generate(__file__, model_fn, "parts", batches=batches, num_steps=2,
                       initial={"words": np.array([[1, 2], [3, 4], [5, 6]], np.float32)},
                       resource_variables=RESOURCES)
"""

# Prints the values of a checkpoint as a Python dict of lists.
PRINT_VALUES = """
import sys
import tensorflow as tf
reader = tf.train.load_checkpoint(sys.argv[1])
print({name: reader.get_tensor(name).tolist() for name in reader.get_variable_to_shape_map()})
"""


def run_case(directory, text):
    """Writes and runs a case. Returns what it printed."""
    reference = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference")
    case = os.path.join(directory, "generate.py")
    with open(case, "w", encoding="utf-8") as f:
        f.write(text)
    run = subprocess.run([sys.executable, case, reference], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"check_references: a case failed:\n{text}\n{run.stdout}")
    return run.stdout


def checkpoint_values(prefix):
    return ast.literal_eval(subprocess.run(
        [sys.executable, "-c", PRINT_VALUES, prefix], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=True).stdout)


def check_parts():
    for resources in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            printed = run_case(directory, PARTS_CASE.replace("RESOURCES", str(resources)))
            kind = "resource" if resources else "reference"
            with open(os.path.join(directory, "reference.textproto"), encoding="utf-8") as f:
                said = " with resource variables" in f.read()
            if f"{kind} variables" not in printed or said != resources:
                sys.exit(f"check_references: the kind of variables is not said:\n{printed}")
            initial = checkpoint_values(os.path.join(directory, "initial"))
            results = checkpoint_values(os.path.join(directory, "results"))
            expected = {"gradient/scale": [4, 8], "step_1/global_step": 1,
                        "gradient/words": [[-0.5, 0.5], [-0.5, 0.5], [-1, 1]]}
            # With reference variables, the rate may be that of the next step. So only resource
            # variables have a defined result.
            if resources:
                expected.update({"step_1/scale": [-3, -7], "final/scale": [-5, -11],
                                 "step_1/words": [[1.5, 1.5], [3.5, 3.5], [6, 5]],
                                 "final/words": [[1.75, 1.25], [3.75, 3.25], [6.5, 4.5]]})
            if initial["words"] != [[1, 2], [3, 4], [5, 6]]:
                sys.exit(f"check_references: initial words are {initial['words']}")
            for name, value in expected.items():
                if results.get(name) != value:
                    sys.exit(f"check_references: {name} is {results.get(name)}, not {value}")
            for name in ("final/words/Momentum", "norm/words"):
                if name not in results:
                    sys.exit(f"check_references: no {name} in {sorted(results)}")
            wrong = [name for name in results if "part_" in name or "Mean" in name]
            if wrong:
                sys.exit(f"check_references: {wrong} are recorded")


def check_library():
    for forward_ops, recorded in (("None", ["forward/Elu/0"]), ("set()", [])):
        with tempfile.TemporaryDirectory() as directory:
            printed = run_case(directory, LOOP_CASE.replace("FORWARD_OPS", forward_ops))
            if ("while/Tanh" in printed) != (forward_ops == "None"):
                sys.exit(f"check_references: the tensor of the loop is not named:\n{printed}")
            names = checkpoint_values(os.path.join(directory, "results"))
            forward = [name for name in names if name.startswith("forward/")]
            if forward != recorded or "gradient/w" not in names:
                sys.exit(f"check_references: forward_ops={forward_ops} recorded {list(names)}")
    check_parts()


def main():
    check_library()
    program = os.path.abspath(sys.argv[1])
    print("from the initial values:")
    differ = check(program)
    # Where a relu gets nearly 0, or a max pool two nearly equal values, rounding decides, and both
    # programs round in another way on another CPU. So a case that differs is run again with plain
    # sums, and from step 20 on it has three more states to begin with: a fault of ours would be in
    # them too.
    if differ:
        print(f"with plain sums: {', '.join(differ)}:")
        differ = check(program, only=differ, plain_sums=True)
    late = []
    for step in (20, 21, 22, 23):
        print(f"from step {step}{', with plain sums: ' if late else ''}{', '.join(late)}:")
        late = check(program, step, only=late, plain_sums=bool(late))
        if not late:
            break
    print("the whole ResNets:")
    differ += late + check(program, whole_resnet=True)
    if differ:
        sys.exit(f"check_references: {', '.join(differ)} differ")
    print("check_references: ok")


if __name__ == "__main__":
    main()
