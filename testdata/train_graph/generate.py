"""Writes `tiny` and `lengths`: folders that TensorFlow's Estimator wrote, and the losses and
variables of their next 20 steps.

Usage:
    generate.py                     writes testdata/train_graph/tiny and lengths
    generate.py --saved             writes testdata/train_graph/saved and saved_serve_only
    generate.py FOLDERS [CASE ...]  writes the folders of cases.py for a look: FOLDERS/CASE and
    FOLDERS/ops.txt generate.py --benchmark FOLDERS writes the networks of mnist_benchmark and
    resnet_benchmark, for
                                    tools/train_graph/train_graph_benchmark: FOLDERS/mnist,
                                    FOLDERS/resnet50
Needs TensorFlow 2.15.1; testdata/README.md says how to install it.

tiny/model.ckpt-5.*   the checkpoint, with its graph
tiny/x.npy, y.npy     the input of steps 5 to 24: u8 [160,8,8], i32 [160]
tiny/losses.npy       the losses of these steps, f32 [20]
tiny/final.*          the checkpoint after them

lengths/              the same of sentences: tokens i32 [160,9] that end in zeros. Each batch is cut
                      after its longest sentence.

saved/saved_model.pb, variables   a SavedModel with the graphs train, eval and serve, at step 5
saved/x.npy, y.npy    the input: f32 [40,6], i32 [40]
saved/losses.npy      the losses of steps 6 to 15, f32 [10]
saved/final.*         the checkpoint after them
saved/metrics.txt     what the evaluation of step 15 returns, a line for each: NAME VALUE
saved/logits.npy      what the prediction of step 15 returns, f32 [40,3]
saved_serve_only      a SavedModel that has only the graph serve
"""

import collections
import glob
import os
import shutil
import sys
import tempfile

import cases
import numpy as np
from cases import CONTINUED, START, tf, tf1
from saved_case import SavedCase

HERE = os.path.dirname(os.path.abspath(__file__))


def op_types(meta):
    graph = tf1.MetaGraphDef()
    with open(meta, "rb") as f:
        graph.ParseFromString(f.read())
    nodes = list(graph.graph_def.node) + [node for function in graph.graph_def.library.function
                                          for node in function.node_def]
    return collections.Counter(node.op for node in nodes)


def write_folders(root, names):
    os.makedirs(root, exist_ok=True)
    for case in cases.cases():
        if names and case.name not in names:
            continue
        folder = os.path.join(root, case.name)
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory() as whole:
            losses = case.train(whole, 0, START + CONTINUED)
            cases.copy_checkpoint(whole, START, folder)
        meta = os.path.join(folder, f"model.ckpt-{START}.meta")
        print(f"{case.name}: loss {losses[0]:.5f} ... {losses[-1]:.5f}, {os.path.getsize(meta)} "
              f"bytes of graph", flush=True)
    with open(os.path.join(root, "ops.txt"), "w", encoding="utf-8") as f:
        for path in sorted(glob.glob(os.path.join(root, "*", "*.meta"))):
            counts = sorted(op_types(path).items())
            f.write(f"{os.path.basename(os.path.dirname(path))}: "
                    + " ".join(f"{op}:{n}" for op, n in counts) + "\n")


def write_continued(case):
    folder = os.path.join(HERE, case.name)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as whole:
        losses = case.train(whole, 0, START + CONTINUED)
        cases.copy_checkpoint(whole, START, folder)
        os.remove(os.path.join(folder, "graph.pbtxt"))
        for suffix in ("index", "data-00000-of-00001"):
            shutil.copy(os.path.join(whole, f"model.ckpt-{START + CONTINUED}.{suffix}"),
                        os.path.join(folder, f"final.{suffix}"))
    for name, array in zip(("x", "y"), case.rows_of_steps(START, CONTINUED)):
        np.save(os.path.join(folder, f"{name}.npy"), array)
    np.save(os.path.join(folder, "losses.npy"), losses[START:])
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    print(f"{case.name}: loss {losses[0]:.5f} ... {losses[-1]:.5f}, {size} bytes")


def write_saved():
    case, folder = SavedCase(), os.path.join(HERE, "saved")
    end = START + cases.SAVED_CONTINUED
    with tempfile.TemporaryDirectory() as whole:
        losses = case.train(whole, end)
        case.export(whole, START, folder)
        case.export(whole, START, os.path.join(HERE, "saved_serve_only"), modes=("infer",))
        for suffix in ("index", "data-00000-of-00001"):
            shutil.copy(os.path.join(whole, f"model.ckpt-{end}.{suffix}"),
                        os.path.join(folder, f"final.{suffix}"))
        metrics = case.evaluate(whole, end)
        np.save(os.path.join(folder, "logits.npy"), case.predict(whole, end))
    np.save(os.path.join(folder, "x.npy"), case.x)
    np.save(os.path.join(folder, "y.npy"), case.labels)
    np.save(os.path.join(folder, "losses.npy"), losses[START:])
    with open(os.path.join(folder, "metrics.txt"), "w", encoding="utf-8") as f:
        f.writelines(f"{name} {value!r}\n" for name, value in sorted(metrics.items()))
    print(f"saved: loss {losses[0]:.5f} ... {losses[-1]:.5f}, {metrics}")


def write_benchmarks(root):
    """The networks in full size, at step 0."""
    os.environ["REFERENCE_WHOLE_RESNET"] = "1"
    from resnet import network  # reads the environment

    def resnet50(images, labels):
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, network.resnet(images, 50, "1"))
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            return loss, tf1.train.MomentumOptimizer(0.1, 0.9).minimize(
                loss, tf1.train.get_or_create_global_step())

    one = np.zeros(1, np.int32)
    images = np.zeros((1, network.SIZE, network.SIZE, 3), np.float32)
    for case in (cases.whole_mnist(), cases.Case("resnet50", resnet50, images, one, rows=1)):
        folder = os.path.join(root, case.name)
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory() as whole:
            case.train(whole, 0, 1)
            cases.copy_checkpoint(whole, 0, folder)
        print(f"{case.name}: {os.path.join(folder, 'model.ckpt-0.meta')}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--benchmark":
        write_benchmarks(sys.argv[2])
    elif sys.argv[1:] == ["--saved"]:
        write_saved()
    elif len(sys.argv) > 1 and sys.argv[1].startswith("-"):
        sys.exit(f"generate.py: unknown: {' '.join(sys.argv[1:])}\n\n{__doc__}")
    elif len(sys.argv) > 1:
        write_folders(sys.argv[1], sys.argv[2:])
    else:
        write_continued(cases.tiny())
        write_continued(cases.lengths())
