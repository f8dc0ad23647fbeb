#!/usr/bin/env python3
"""One model_dir, two frameworks: TensorFlow's TPUEstimator trains the MNIST network, we go on from its
checkpoint (slots included), TensorFlow evaluates and goes on from ours.

Usage: check_mnist.py MNIST_TPU     (built from //models/mnist:mnist_tpu)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity(tf1.logging.ERROR)
BATCH = 32


def write_idx(path, array):
    with open(path, "wb") as f:
        f.write(struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes())


def make_data(directory, rng):
    """Blobs whose place tells their class, a fifth of them mislabelled, so that the loss stays away from 0."""
    data = {}
    for split, count in (("train", 320), ("t10k", 200)):
        labels = rng.integers(0, 10, count).astype(np.uint8)
        images = rng.integers(0, 40, (count, 28, 28)).astype(np.uint8)
        for i, label in enumerate(labels):
            images[i, 2 + 5 * (label // 2):7 + 5 * (label // 2), 4 + 12 * (label % 2):14 + 12 * (label % 2)] += 200
        labels = np.where(rng.random(count) < 0.2, rng.integers(0, 10, count), labels).astype(np.uint8)
        write_idx(os.path.join(directory, f"{split}-images-idx3-ubyte"), images)
        write_idx(os.path.join(directory, f"{split}-labels-idx1-ubyte"), labels)
        data[split] = (images.astype(np.float32) / 255, labels.astype(np.int32))
    return data


def model_fn(features, labels, mode, params):
    layers = tf1.layers
    x = tf.reshape(features, [-1, 28, 28, 1])
    x = layers.max_pooling2d(layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu), 2, 2, padding="same")
    x = layers.max_pooling2d(layers.conv2d(x, 64, 5, padding="same", activation=tf.nn.relu), 2, 2, padding="same")
    x = layers.dense(layers.flatten(x), 1024, activation=tf.nn.relu)
    x = layers.dropout(x, 0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = layers.dense(x, 10)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    spec = tf1.estimator.tpu.TPUEstimatorSpec
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf1.train.MomentumOptimizer(0.02, 0.9).minimize(loss, tf1.train.get_global_step())
        return spec(mode, loss=loss, train_op=train_op)
    metric_fn = lambda labels, logits: {"accuracy": tf1.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return spec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))


def input_fn(images, labels, repeat):
    def fn(params):
        dataset = tf1.data.Dataset.from_tensor_slices((images, labels))
        return (dataset.repeat() if repeat else dataset).batch(params["batch_size"], drop_remainder=True)
    return fn


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        model_dir = os.path.join(directory, "model")
        data = make_data(directory, np.random.default_rng(1))
        tpu = tf1.estimator.tpu
        estimator = tpu.TPUEstimator(
            model_fn=model_fn, use_tpu=False, train_batch_size=BATCH, eval_batch_size=len(data["t10k"][1]),
            config=tpu.RunConfig(model_dir=model_dir, log_step_count_steps=None))
        estimator.train(input_fn(*data["train"], True), max_steps=5)

        result_json = os.path.join(directory, "result.json")

        def ours(steps):
            subprocess.run([program, "--use_tpu=false", f"--data_dir={directory}", f"--model_dir={model_dir}",
                            f"--train_steps={steps}", f"--batch_size={BATCH}", "--momentum=0.9", "--learning_rate=0.02",
                            "--enable_predict=false", f"--result_json={result_json}"], check=True, capture_output=True)
            with open(result_json, encoding="utf-8") as f:
                return json.load(f)

        def theirs():
            return estimator.evaluate(input_fn(*data["t10k"], False), steps=1)

        def compare(a, b, step):
            assert a["global_step"] == b["global_step"] == step, (a, b)
            assert abs(a["accuracy"] - b["accuracy"]) < 1e-6, (a, b)  # to the last of 200 examples
            assert abs(a["loss"] - b["loss"]) <= 1e-5 * b["loss"], (a, b)
            print(f"step {step}: accuracy {a['accuracy']:.4f}, loss {a['loss']:.7f}; TensorFlow {b['loss']:.7f}")

        compare(ours(5), theirs(), 5)      # its checkpoint, evaluated here and there
        compare(ours(30), theirs(), 30)    # we go on, it evaluates ours
        estimator.train(input_fn(*data["train"], True), max_steps=35)  # it goes on from ours, slots included
        compare(ours(35), theirs(), 35)
        assert ours(35)["accuracy"] > 0.3, "nothing was learnt"
    print("check_mnist: ok")


if __name__ == "__main__":
    main()
