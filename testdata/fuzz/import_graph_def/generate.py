#!/usr/bin/env python3
"""Writes the corpus of //estimator/graphdef:import_graph_def_fuzz: GraphDefs, reduced from
testdata/saved_models, and small loops with their gradients. The same loops as MetaGraphDefs become
seeds of import_train_graph_fuzz.

Usage: generate.py [loops]     (needs tensorflow-cpu 2.15.1; writes into the folder of this script;
                               `loops` writes nothing else)
Other files here are inputs of the fuzzer that showed a fault. Keep them.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "saved_models")
tf1 = tf.compat.v1
CASES = ("mnist", "batch_norm", "attention", "parsing", "tf2_module", "keras")


def shorten(graph):
    """Gives the nodes of the graph short names."""
    short = {node.name: f"n{i}" for i, node in enumerate(graph.node) if node.op != "Placeholder"}
    for node in graph.node:
        node.name = short.get(node.name, node.name)
        for i, text in enumerate(node.input):
            name = text.lstrip("^").split(":")[0]
            node.input[i] = text.replace(name, short.get(name, name), 1)


def strip(graph):
    for node in list(graph.node) + [n for f in graph.library.function for n in f.node_def]:
        node.device = ""
        for name in [k for k in node.attr if k.startswith("_") or k == "output_shapes"]:
            del node.attr[name]
        node.ClearField("experimental_debug_info")
    for function in graph.library.function:
        function.ClearField("attr")
        function.ClearField("arg_attr")


def loop(functional):
    """An array that a loop writes, a condition inside of it, and the gradient through both."""
    x = tf1.placeholder(tf.float32, [None, 2], "x")
    w = tf1.get_variable("w", [2, 2], initializer=tf1.ones_initializer())
    array = tf.TensorArray(tf.float32, 3)
    halved = lambda v: tf1.cond(tf.reduce_sum(v) > 1, lambda: v / 2, lambda: v)  # noqa: E731
    _, last, array = tf1.while_loop(
        lambda i, v, a: i < 3, lambda i, v, a: (i + 1, halved(v @ w), a.write(i, v)), (0, x, array))
    if functional:
        last = tf.switch_case(tf.shape(x)[0], [lambda: last @ w, lambda: last, lambda: last * 2])
    loss = tf.reduce_mean(last * tf.reduce_sum(array.stack(), 0), name="loss")
    return tf1.train.GradientDescentOptimizer(0.1).minimize(loss)


def loops():
    tf1.disable_eager_execution()
    tf1.disable_resource_variables()
    for name, functional in (("frames", False), ("lists", True)):
        (tf1.enable_control_flow_v2 if functional else tf1.disable_control_flow_v2)()
        with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
            loop(functional)
            session.run(tf1.global_variables_initializer())
            meta = tf1.train.export_meta_graph(clear_devices=True, strip_default_attrs=True)
            update = "GradientDescent/update_w/ApplyGradientDescent"
            gradient = graph.get_operation_by_name(update).inputs[2]
            frozen = tf1.graph_util.convert_variables_to_constants(
                session, meta.graph_def, [gradient.op.name])
        shorten(frozen)
        meta.ClearField("meta_info_def")
        for collection in ("while_context", "cond_context"):
            meta.collection_def.pop(collection, None)
        for target, proto, nodes in (("import_graph_def", frozen, frozen),
                                     ("import_train_graph", meta, meta.graph_def)):
            strip(nodes)
            with open(os.path.join(HERE, "..", target, name), "wb") as file:
                file.write(proto.SerializeToString(deterministic=True))
            print(target, name, proto.ByteSize())


def main():
    loops()
    if sys.argv[1:] == ["loops"]:
        return
    for case in CASES:
        model = saved_model_pb2.SavedModel()
        with open(os.path.join(MODELS, case, "model", "saved_model.pb"), "rb") as file:
            model.ParseFromString(file.read())
        meta = model.meta_graphs[0]
        signature = meta.signature_def["serving_default"]
        outputs = [t.name.split(":")[0] for _, t in sorted(signature.outputs.items())]
        graph = tf.compat.v1.graph_util.extract_sub_graph(meta.graph_def, outputs)
        for node in list(graph.node) + [n for f in graph.library.function for n in f.node_def]:
            node.device = ""
            for name in [k for k in node.attr if k.startswith("_")]:
                del node.attr[name]
            node.ClearField("experimental_debug_info")
        if not any(n.op.endswith("PartitionedCall") for n in graph.node):
            graph.ClearField("library")
        else:
            keep, pending = {}, [n for n in graph.node]
            functions = {f.signature.name: f for f in graph.library.function}
            while pending:
                name = pending.pop().attr["f"].func.name
                if name in functions and name not in keep:
                    keep[name] = functions[name]
                    keep[name].ClearField("attr")
                    keep[name].ClearField("arg_attr")
                    pending.extend(keep[name].node_def)
            library = tf.compat.v1.GraphDef().library
            for name in sorted(keep):
                library.function.add().CopyFrom(keep[name])
            graph.library.CopyFrom(library)
        with open(os.path.join(HERE, case), "wb") as file:
            file.write(graph.SerializeToString(deterministic=True))
        print(case, graph.ByteSize())


if __name__ == "__main__":
    main()
