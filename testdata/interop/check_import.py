#!/usr/bin/env python3
"""SavedModels: models that TensorFlow exports run here, and their outputs equal TensorFlow's to
1e-5.

Usage: check_import.py SAVED_MODEL     (built from //tools/saved_model)
Makes the models of testdata/saved_models again, and some of tf.keras.applications with random
weights. Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# Sixty layers of float32 sums in another order.
DEEP = 2e-4


def save(directory, values):
    """Writes files for --inputs: serialized Examples as records, other arrays as .npy files."""
    words = []
    for name, value in values.items():
        if value.dtype == object:
            path = os.path.join(directory, f"{name}.tfrecord")
            with tf.io.TFRecordWriter(path) as writer:
                for record in value:
                    writer.write(record)
        else:
            path = os.path.join(directory, f"{name.replace(':', '_')}.npy")
            np.save(path, value)
        words.append(f"{name}={path}")
    return ";".join(words)


def load(prefix):
    reader = tf.compat.v1.train.NewCheckpointReader(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def check(tool, model, signature, inputs, outputs, rtol=1e-5):
    """signature: its name, or None if inputs and outputs are names of tensors."""
    what = [f"--signature_def={signature}"] if signature else [f"--outputs={','.join(outputs)}"]
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([tool, "run", f"--dir={model}", *what,
                               f"--inputs={save(directory, inputs)}", f"--outdir={directory}/out"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}"
        ours = {name[:-len(".npy")]: np.load(os.path.join(directory, "out", name))
                for name in os.listdir(os.path.join(directory, "out"))}
    if ours.keys() != outputs.keys():
        return f"outputs {sorted(ours)}, TensorFlow has {sorted(outputs)}"
    for name, theirs in outputs.items():
        if theirs.dtype == object:
            theirs = theirs.astype("S")
            if ours[name].tolist() != theirs.tolist():
                return f"{name} is {ours[name]}, not {theirs}"
            continue
        scale = float(np.max(np.abs(theirs))) if theirs.size else 1.0
        if ours[name].shape != theirs.shape or ours[name].dtype != theirs.dtype:
            return (f"{name} is {ours[name].dtype} {ours[name].shape}, not {theirs.dtype} "
                    f"{theirs.shape}")
        if not np.allclose(ours[name], theirs, rtol=rtol, atol=rtol * scale):
            return f"{name} differs by {np.max(np.abs(ours[name] - theirs))}"
    return None


def generated(directory):
    """(name, model, signature, inputs, outputs, tolerance) of every signature of
    testdata/saved_models."""
    spec = importlib.util.spec_from_file_location(
        "generate", os.path.join(HERE, "..", "saved_models", "generate.py"))
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for case in generate.CASES:
        path = os.path.join(directory, case.__name__)
        os.makedirs(path)
        case(path)
        signatures = {}
        for name, value in load(os.path.join(path, "golden")).items():
            signature, kind, key = name.split("/", 2)
            signatures.setdefault(signature, {"input": {}, "output": {}})[kind][key] = value
        # written by tf.train.Saver: it has tensors, but no signature
        if case.__name__ == "meta_graph":
            tensors = {"x": "x:0", "labels": "labels:0", "logits": "logits:0", "loss": "the_loss:0"}
            inputs, outputs = ({tensors[k]: v for k, v in signatures["train"][kind].items()}
                               for kind in ("input", "output"))
            yield case.__name__, os.path.join(path, "model.ckpt.meta"), None, inputs, outputs, 1e-5
            continue
        for signature, values in signatures.items():
            yield (case.__name__, os.path.join(path, "model"), signature, values["input"],
                   values["output"], 1e-5)


def applications(directory):
    for make in (tf.keras.applications.ResNet50, tf.keras.applications.MobileNetV2,
                 tf.keras.applications.InceptionV3):
        tf.keras.backend.clear_session()
        tf.keras.utils.set_random_seed(1)
        size = 96
        model = make(weights=None, input_shape=(size, size, 3), classes=10,
                     classifier_activation=None)
        path = os.path.join(directory, make.__name__)
        tf.saved_model.save(model, path)
        images = np.random.RandomState(1).uniform(-1, 1, (2, size, size, 3)).astype(np.float32)
        serve = tf.saved_model.load(path).signatures["serving_default"]
        (name,) = serve.structured_input_signature[1]
        outputs = {k: v.numpy() for k, v in serve(**{name: tf.constant(images)}).items()}
        yield make.__name__, path, "serving_default", {name: images}, outputs, DEEP


def main():
    tool = os.path.abspath(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        for source in (generated, applications):
            for name, model, signature, inputs, outputs, rtol in source(directory):
                problem = check(tool, model, signature, inputs, outputs, rtol)
                print(f"{'passed' if problem is None else 'FAILED'}: {name}, "
                      f"{signature}{': ' if problem else ''}{problem or ''}")
                failures += problem is not None
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
