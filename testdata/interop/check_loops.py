#!/usr/bin/env python3
"""Loops and branches: TensorFlow imports the functional ops that we write, computes the same values
and gradients from them, trains them to the same variables, and takes the gradient itself.

Usage: check_loops.py LOOPS_TOOL     (built from //tools/interop:loops_tool)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1


def groups_of(path):
    reader = tf1.train.NewCheckpointReader(path)
    groups = {"before": {}, "value": {}, "after": {}}
    for name in reader.get_variable_to_shape_map():
        group, rest = name.split("/", 1)
        groups[group][rest] = reader.get_tensor(name)
    return groups


def after_updates(graph):
    """The ops that depend on an update of a variable. To fetch them would train."""
    pending = [op for op in graph.get_operations() if op.type.startswith("Apply")]
    found = set()
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [reader for output in op.outputs
                        for reader in output.consumers()] + op._control_outputs
    return found


def is_random(name):
    return name.startswith("random_in_loop")


def main():
    failures = []

    def compare(what, ours, theirs):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            failures.append(f"{what}: {ours.dtype} {ours.shape}, TensorFlow has {theirs.dtype} "
                            f"{theirs.shape}")
        elif not np.allclose(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True):
            worst = np.max(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)))
            failures.append(f"{what}: differs by up to {worst}")

    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.path.abspath(sys.argv[1]), directory], check=True)
        groups = groups_of(os.path.join(directory, "values"))
        with open(os.path.join(directory, "graph.pb"), "rb") as file:
            graph_def = tf1.GraphDef.FromString(file.read())
    used = sorted({node.op for node in graph_def.node
                   if node.op.endswith(("While", "If", "Case"))})
    print(f"passed: {len(graph_def.library.function)} functions, behind {', '.join(used)}")
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        # TensorFlow differentiates the imported loops as its own, by adding outputs to them. That
        # is not possible once they have run.
        variables = [graph.get_tensor_by_name(f"{name}/read:0") for name in ("w", "m", "rows")]
        own = [tf.convert_to_tensor(gradient) for gradient in
               tf1.gradients(graph.get_tensor_by_name("loss:0"), variables)]
        for name, value in groups["before"].items():
            assign = graph.get_operation_by_name(name + "/Assign")
            session.run(assign, {assign.inputs[1]: value})
        later = after_updates(graph)
        tensors = {name: graph.get_tensor_by_name(name) for name in groups["value"]}
        checked = {name: tensor for name, tensor in tensors.items()
                   if tensor.op not in later and not is_random(name)
                   and not tensor.op.type.startswith("Random")}
        order = {node.name: i for i, node in enumerate(graph_def.node)}
        computed = session.run(checked)
        for name in sorted(computed, key=lambda tensor: order[tensor.split(":")[0]]):
            compare(f"{checked[name].op.type} {name}", groups["value"][name], computed[name])
        print(f"{len(checked)} values compared")
        # Half of the elements are kept and doubled.
        dropped = session.run([t for n, t in tensors.items() if n == "random_in_loop:1"])
        if not dropped or set(np.unique(dropped[0])) - {0.0, 2.0}:
            failures.append(f"dropout in a loop gives {dropped}")
        before, gradients = session.run((variables, own))
        session.run(graph.get_operation_by_name("train"))
        for name, value in groups["after"].items():
            compare(f"{name} after a step", value, session.run(name + ":0"))
        print(f"{len(groups['after'])} variables compared after a step")
        for tensor, old, gradient in zip(variables, before, gradients):
            # The first step of momentum subtracts rate * gradient.
            compare(f"TensorFlow's own gradient of {tensor.name}",
                    (old - session.run(tensor)) / np.float32(0.01), gradient)
    for failure in failures:
        print("FAILED:", failure)
    if failures:
        sys.exit(1)
    print("passed: the same values, gradients and variables")


if __name__ == "__main__":
    main()
