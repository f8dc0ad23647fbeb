#!/usr/bin/env python3
"""Graphs: TensorFlow imports the GraphDef that we write, computes the same values from it, and
trains it to the same variables, with every optimizer and with moving averages.

Usage: check_graph.py GRAPH_TOOL     (built from //tools/interop:graph_tool)
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

RANDOM = ("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal")


def skipped(tensor):
    """Outputs that are internal to TensorFlow, whose contents are not defined."""
    return tensor.op.type in ("FusedBatchNormV3",
                              "FusedBatchNormGradV3") and tensor.value_index >= 3


def depend_on_updates(graph):
    """The ops that depend on an update of a variable, such as those of moving averages. To fetch
    them would train."""
    pending = [op for op in graph.get_operations() if op.type.startswith("Apply")]
    found = set()
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [consumer for output in op.outputs
                        for consumer in output.consumers()] + op._control_outputs
    return found


def compare(what, ours, theirs, failures):
    # These updates are m / (sqrt(v) + epsilon). If a gradient is almost zero, its last bits
    # determine the result.
    atol = 5e-3 if "adam_weight_decay" in what or "update_lamb" in what else 2e-5
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        failures.append(f"{what}: {ours.dtype} {ours.shape}, TensorFlow has {theirs.dtype} "
                        f"{theirs.shape}")
    elif not np.allclose(ours, theirs, rtol=2e-4, atol=atol, equal_nan=True):
        worst = np.max(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)))
        failures.append(f"{what}: differs by up to {worst}")


def main():
    v1 = tf.compat.v1
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.path.abspath(sys.argv[1]), directory], check=True)
        reader = v1.train.NewCheckpointReader(os.path.join(directory, "values"))
        graph_def = v1.GraphDef.FromString(open(os.path.join(directory, "graph.pb"), "rb").read())
        ours = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    names = {group: {k[len(group) + 1:]: v for k, v in ours.items() if k.startswith(group + "/")}
             for group in ("before", "value", "after")}
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        print(f"passed: TensorFlow imports {len(graph_def.node)} nodes of "
              f"{len({n.op for n in graph_def.node})} ops")
        for name, value in names["before"].items():
            assign = graph.get_operation_by_name(name + "/Assign")
            session.run(assign, {assign.inputs[1]: value})
        tensors = {name: graph.get_tensor_by_name(name) for name in names["value"]}
        random = {t.name: names["value"][name] for name, t in tensors.items()
                  if t.op.type in RANDOM}
        later = depend_on_updates(graph)
        checked = {name: t for name, t in tensors.items()
                   if t.op.type not in RANDOM and not skipped(t) and t.op not in later}
        failures = []
        order = {node.name: i for i, node in enumerate(graph_def.node)}
        computed = session.run(checked, random)
        for name in sorted(computed, key=lambda tensor: order[tensor.split(":")[0]]):
            value = computed[name]
            compare(f"{checked[name].op.type} {name}", names["value"][name], value, failures)
        print(f"{len(checked)} values compared")
        session.run(graph.get_operation_by_name("everything"), random)
        for name, value in names["after"].items():
            compare(f"{name} after a step", value, session.run(name + ":0"), failures)
        print(f"{len(names['after'])} variables compared after a step")
    for failure in failures:
        print("FAILED:", failure)
    if failures:
        sys.exit(1)
    print("passed: the same values, and the same variables after a step")


if __name__ == "__main__":
    main()
