#!/usr/bin/env python3
"""Writes the corpus of //estimator/graphdef:import_graph_def_fuzz: GraphDefs, reduced from
testdata/saved_models.

Usage: generate.py     (needs tensorflow-cpu 2.15.1; writes into the folder of this script)
Other files here are inputs of the fuzzer that showed a fault. Keep them.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "saved_models")
CASES = ("mnist", "batch_norm", "attention", "parsing", "tf2_module", "keras")


def main():
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
