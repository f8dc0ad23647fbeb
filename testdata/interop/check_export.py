#!/usr/bin/env python3
"""Exports:
  TensorFlow loads our SavedModels with its v1 and v2 loaders, and predicts the same at batch sizes
  1, 3 and 16. TensorFlow and OpenCV's dnn read the frozen graph of the MNIST network, and predict
  the same. Our `saved_model show` prints the same text as TensorFlow's saved_model_cli.

Usage: check_export.py EXPORT_TOOL SAVED_MODEL     (built from //tools/interop:export_tool,
                                                   //tools/saved_model)
Needs tensorflow-cpu 2.15.1 and opencv-python-headless; tools/verify_interop.sh installs them and
runs this.
"""

import glob
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import cv2  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.logging.set_verbosity(tf1.logging.ERROR)
BATCHES = (1, 3, 16)
RTOL = ATOL = 1e-5
failures = []


def compare(what, actual, expected):
    actual = np.asarray(actual)
    if expected.dtype == object or expected.dtype.kind in "bui":  # strings, booleans, integers
        if actual.dtype != expected.dtype or not np.array_equal(actual, expected):
            failures.append(what)
            print(f"FAILED {what}: {actual.dtype} {actual}, ours {expected.dtype} {expected}")
        return 0.0
    # of 16 bits
    if actual.dtype != expected.dtype or expected.dtype not in (np.float32, np.float64):
        failures.extend([what] if actual.dtype != expected.dtype else [])
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    worst = np.max(np.abs(actual - expected)) if actual.shape == expected.shape else None
    same_type = actual.shape == expected.shape and actual.dtype == expected.dtype
    if not same_type or not np.allclose(actual, expected, RTOL, ATOL):
        failures.append(what)
        print(f"FAILED {what}: {actual.dtype}{actual.shape}, ours "
              f"{expected.dtype}{expected.shape}, differs by {worst}")
    return worst or 0.0


def check_v1(directory, rows, values, prefix):
    """The v1 loader and a session, by the names of the signature. Returns the largest
    difference."""
    worst = 0.0
    with tf1.Session(graph=tf.Graph()) as session:
        meta_graph = tf1.saved_model.load(session, ["serve"], directory)
        for key, signature in meta_graph.signature_def.items():
            for batch in BATCHES:
                feeds = {info.name: rows[:batch] for info in signature.inputs.values()}
                fetches = {name: info.name for name, info in signature.outputs.items()}
                for name, value in session.run(fetches, feeds).items():
                    expected = values(prefix(key), batch, name)
                    if expected is not None:
                        worst = max(worst, compare(f"v1 {directory} {key} {name} batch {batch}",
                                                   value, expected))
    return worst


def check_v2(directory, rows, values, prefix):
    worst = 0.0
    model = tf.saved_model.load(directory, tags=["serve"])
    assert model.variables, "tf.saved_model.load found no variables"
    no_assets = not os.path.exists(os.path.join(directory, "assets"))
    assets = {os.path.realpath(asset.asset_path.numpy().decode()) for asset in model.asset_paths}
    contents = {
        os.path.relpath(path, os.path.realpath(directory)): open(path, encoding="utf-8").read()
        for path in assets}
    if contents != ({} if no_assets else {"assets/classes.txt": "zero\none\n",
                                          "assets/classes.txt_1": "two\n"}):
        failures.append("assets")
        print(f"FAILED v2 {directory}: assets are {contents}")
    for key, function in model.signatures.items():
        argument = list(function.structured_input_signature[1])[0]
        for batch in BATCHES:
            for name, value in function(**{argument: tf.constant(rows[:batch])}).items():
                expected = values(prefix(key), batch, name)
                if expected is not None:
                    worst = max(worst, compare(f"v2 {directory} {key} {name} batch {batch}",
                                               value.numpy(), expected))
    return worst


def check_modes(directory, images):
    """Every mode loads by its tag and runs: eval counts, training learns."""
    labels = np.arange(16, dtype=np.int32) % 10
    for tag, key in (("train", "train"), ("eval", "eval"), ("serve", "serving_default")):
        with tf1.Session(graph=tf.Graph()) as session:
            meta_graph = tf1.saved_model.load(session, [tag], directory)
            signature = meta_graph.signature_def[key]
            if tag == "serve":
                continue
            names = {name: info.name for name, info in signature.outputs.items()}
            shape = signature.inputs["image"].tensor_shape.dim[0].size
            rows = 16 if shape == -1 else shape
            index = np.arange(rows) % 16
            feeds = {signature.inputs["image"].name: images[index],
                     signature.inputs["label"].name: labels[index]}
            losses = [session.run(names["loss"], feeds)]
            if tag == "eval":
                session.run(names["metrics/accuracy/update_op"], feeds)
                accuracy = session.run(names["metrics/accuracy/value"])
                if not 0 <= accuracy <= 1:
                    failures.append(f"{tag}: accuracy {accuracy}")
            else:
                train_op = session.graph.get_operation_by_name(
                    tf1.get_collection("train_op")[0].name)
                for _ in range(5):
                    session.run(train_op, feeds)
                losses.append(session.run(names["loss"], feeds))
                if not losses[1] < losses[0]:
                    failures.append(f"train: the loss went from {losses[0]} to {losses[1]}")
            print(f"{tag}: losses {losses}, batch {shape}")


def check_frozen(directory, images, values):
    with open(os.path.join(directory, "frozen.txt"), encoding="utf-8") as names:
        source, target = names.read().split()
    path = os.path.join(directory, "frozen.pb")
    graph_def = tf1.GraphDef()
    with open(path, "rb") as f:
        graph_def.ParseFromString(f.read())
    pixels = images.astype(np.float32)[..., np.newaxis]
    worst = 0.0
    with tf1.Session(graph=tf.Graph()) as session:
        tf.import_graph_def(graph_def, name="")
        for batch in BATCHES:
            actual = session.run(target + ":0", {source + ":0": pixels[:batch]})
            worst = max(worst, compare(f"frozen batch {batch}", actual,
                                       values("raw", batch, "probabilities")))
    print(f"frozen graph, {len(graph_def.node)} nodes, in TensorFlow: differs by at most "
          f"{worst:.1e}")
    net = cv2.dnn.readNetFromTensorflow(path)
    worst = 0.0
    for batch in BATCHES:
        net.setInput(np.ascontiguousarray(pixels[:batch].transpose(0, 3, 1, 2)), source)
        actual = net.forward(target).reshape(batch, 10)
        worst = max(worst, compare(f"OpenCV batch {batch}", actual,
                                   values("raw", batch, "probabilities")))
    print(f"frozen graph in OpenCV {cv2.__version__}: differs by at most {worst:.1e}")


def check_show(directory):
    """Compares lines. The order of ops does not count, because TensorFlow prints them in no fixed
    order."""
    cli = [sys.executable, "-m", "tensorflow.python.tools.saved_model_cli"]
    for arguments in (["--all"], [], ["--tag_set", "serve"],
                      ["--tag_set", "serve", "--signature_def", "serving_default"]):
        texts = []
        for program in ([sys.argv[2]], cli):
            done = subprocess.run(program + ["show", "--dir", directory] + arguments,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  check=True)
            texts.append([line for line in done.stdout.splitlines()
                          if "contains the following ops" not in line])
        if texts[0] != texts[1]:
            failures.append(f"show {arguments}")
            print(f"FAILED show {arguments}: ours", *texts[0], "TensorFlow's", *texts[1], sep="\n")
    print("show prints the same text as saved_model_cli")


def main():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.argv[1], directory], check=True, stderr=subprocess.DEVNULL)
        reader = tf.train.load_checkpoint(os.path.join(directory, "values"))

        def values(prefix, batch, name):
            key = f"{prefix}/{batch}/{name}"
            return reader.get_tensor(key) if reader.has_tensor(key) else None

        images, examples = reader.get_tensor("images"), reader.get_tensor("examples")
        for what, rows, prefix in (("raw", images, lambda key: "raw" if key == "serving_default"
                                    else "-"),
                                   ("parsing", examples, lambda key: f"parsing/{key}"),
                                   ("kinds", reader.get_tensor("kinds"),
                                    lambda key: f"kinds/{key}")):
            (saved_model,) = glob.glob(os.path.join(directory, what, "*"))
            print(f"{what}: v1 differs by at most "
                  f"{check_v1(saved_model, rows, values, prefix):.1e}, v2 by "
                  f"{check_v2(saved_model, rows, values, prefix):.1e}")
            check_show(saved_model)
        check_modes(glob.glob(os.path.join(directory, "modes", "*"))[0], images)
        check_frozen(directory, images, values)
    print("FAILED: " + ", ".join(failures) if failures else "exports agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
