#!/usr/bin/env python3
"""One model_dir, two frameworks: TensorFlow's TPUEstimator trains the MNIST network for 200 steps.
We continue at step 201 from its checkpoint, including slots. TensorFlow evaluates our checkpoint
and continues from it. For every checkpoint, both evaluations have exactly the same accuracy, and
the same loss to 1e-5.

Usage: check_mnist.py MNIST_TPU     (built from //models/mnist:mnist_tpu)
The script draws the images. If the environment has MNIST_DIR=DIR, it reads MNIST's four files
there, plain or as .gz. Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs
this.
"""

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity(tf1.logging.ERROR)
warnings.simplefilter("ignore")  # hides that tf.layers is deprecated
BATCH = 32
RATE, MOMENTUM = 0.02, 0.9
EVAL_BATCH = 1000
BIAS = "dense_1/bias"


def write_idx(path, array):
    with open(path, "wb") as f:
        f.write(struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
                + array.tobytes())


def make_data(directory, rng):
    """Weak blobs in noise, whose place is their class. A fifth has a wrong label, so that the loss
    does not approach 0, and many test images are near the border of two classes."""
    data = {}
    for split, count in (("train", 320), ("t10k", EVAL_BATCH)):
        labels = rng.integers(0, 10, count).astype(np.uint8)
        images = rng.integers(0, 200, (count, 28, 28)).astype(np.uint8)
        for i, label in enumerate(labels):
            images[i, 2 + 5 * (label // 2):7 + 5 * (label // 2),
                   4 + 12 * (label % 2):14 + 12 * (label % 2)] += 40
        labels = np.where(rng.random(count) < 0.2, rng.integers(0, 10, count),
                          labels).astype(np.uint8)
        write_idx(os.path.join(directory, f"{split}-images-idx3-ubyte"), images)
        write_idx(os.path.join(directory, f"{split}-labels-idx1-ubyte"), labels)
        data[split] = (images.astype(np.float32) / 255, labels.astype(np.int32))
    return data


def read_idx(path):
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")
    with opened as f:
        rank = f.read(4)[3]
        shape = struct.unpack(f">{rank}I", f.read(4 * rank))
        return np.frombuffer(f.read(), np.uint8).reshape(shape)


def read_data(directory):
    return {split: (read_idx(os.path.join(directory,
                                          f"{split}-images-idx3-ubyte")).astype(np.float32) / 255,
                    read_idx(os.path.join(directory,
                                          f"{split}-labels-idx1-ubyte")).astype(np.int32))
            for split in ("train", "t10k")}


def model_fn(features, labels, mode, params):
    layers = tf1.layers
    x = tf.reshape(features, [-1, 28, 28, 1])
    x = layers.max_pooling2d(layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu), 2, 2,
                             padding="same")
    x = layers.max_pooling2d(layers.conv2d(x, 64, 5, padding="same", activation=tf.nn.relu), 2, 2,
                             padding="same")
    x = layers.dense(layers.flatten(x), 1024, activation=tf.nn.relu)
    x = layers.dropout(x, 0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = layers.dense(x, 10)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    spec = tf1.estimator.tpu.TPUEstimatorSpec
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf1.train.get_global_step()
        rate = tf1.train.exponential_decay(RATE, step, 100000 // BATCH, 0.95)
        train_op = tf1.train.MomentumOptimizer(rate, MOMENTUM).minimize(loss, step)
        return spec(mode, loss=loss, train_op=train_op)
    metric_fn = lambda labels, logits: {"accuracy": tf1.metrics.accuracy(labels,
                                                                         tf.argmax(logits, 1))}
    return spec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))


def input_fn(images, labels, repeat):
    def fn(params):
        dataset = tf1.data.Dataset.from_tensor_slices((images, labels))
        return (dataset.repeat() if repeat else dataset).batch(params["batch_size"],
                                                               drop_remainder=True)
    return fn


def values_of(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def save(prefix, values):
    with tf.Graph().as_default(), tf1.Session() as session:
        names = sorted(values)
        session.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names,
                                      shape_and_slices=[""] * len(names),
                                      tensors=[tf.constant(values[name]) for name in names]))


def check_slots(model_dir, train, who):
    """Runs a step of `train` from a copy of model_dir in which the momentum of the bias is 100. It
    must become 90."""
    copy = model_dir + "_slots_" + who
    shutil.copytree(model_dir, copy)
    prefix = tf.train.latest_checkpoint(copy)
    before = values_of(prefix)
    step = int(before["global_step"])
    before[BIAS + "/Momentum"] = np.full([10], 100, np.float32)
    save(prefix, before)
    train(copy, step + 1)
    newest = tf.train.latest_checkpoint(copy)
    assert newest.endswith(f"-{step + 1}"), newest
    after = values_of(newest)
    assert sorted(after) == sorted(before), (sorted(after), sorted(before))
    assert int(after["global_step"]) == step + 1
    momentum = after[BIAS + "/Momentum"]
    # a gradient of the mean loss is below 1
    assert np.all(np.abs(momentum - MOMENTUM * 100) < 2), momentum
    moved = before[BIAS] - after[BIAS]
    assert np.allclose(moved, RATE * 0.95 ** (step / (100000 // BATCH)) * momentum,
                       rtol=1e-5), (moved, momentum)
    print(f"{who} continues from step {step} at step {step + 1}, including slots")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        model_dir = os.path.join(directory, "model")
        data_dir = os.environ.get("MNIST_DIR") or directory
        data = read_data(data_dir) if data_dir != directory else make_data(directory,
                                                                           np.random.default_rng(1))
        test_examples = len(data["t10k"][1])
        result_json = os.path.join(directory, "result.json")

        def tensorflows(path):
            tpu = tf1.estimator.tpu
            return tpu.TPUEstimator(
                model_fn=model_fn, use_tpu=False, train_batch_size=BATCH,
                eval_batch_size=EVAL_BATCH,
                config=tpu.RunConfig(model_dir=path, log_step_count_steps=None))

        def train_theirs(path, steps):
            tensorflows(path).train(input_fn(*data["train"], True), max_steps=steps)

        def theirs():
            return tensorflows(model_dir).evaluate(input_fn(*data["t10k"], False),
                                                   steps=test_examples // EVAL_BATCH)

        def ours(path, steps, use_tpu=False):
            subprocess.run([program, f"--use_tpu={use_tpu}", f"--data_dir={data_dir}",
                            f"--model_dir={path}", f"--train_steps={steps}",
                            f"--batch_size={BATCH}", f"--momentum={MOMENTUM}",
                            f"--learning_rate={RATE}", "--enable_predict=false",
                            f"--result_json={result_json}"],
                           check=True, capture_output=True)
            with open(result_json, encoding="utf-8") as f:
                return json.load(f)

        def compare(a, b, step):
            assert a["global_step"] == b["global_step"] == step, (a, b)
            assert a["examples_evaluated"] == test_examples, a
            correct = [round(x["accuracy"] * test_examples) for x in (a, b)]
            assert correct[0] == correct[1], (a, b)
            assert abs(a["loss"] - b["loss"]) <= 1e-5 * b["loss"], (a, b)
            print(f"step {step}: {correct[0]} of {test_examples} correct in both, loss "
                  f"{a['loss']:.7f}; TensorFlow {b['loss']:.7f}")

        train_theirs(model_dir, 200)
        compare(ours(model_dir, 200), theirs(), 200)  # both evaluate TensorFlow's checkpoint
        check_slots(model_dir, ours, "ours")
        compare(ours(model_dir, 200, use_tpu=True), theirs(), 200)  # on eight replicas
        # we continue, and both evaluate our checkpoint
        compare(ours(model_dir, 300), theirs(), 300)
        check_slots(model_dir, train_theirs, "TensorFlow")
        train_theirs(model_dir, 310)  # TensorFlow continues from our checkpoint
        compare(ours(model_dir, 310), theirs(), 310)
        assert ours(model_dir, 310)["accuracy"] > 0.3, "the model has not learned anything"
    print("check_mnist: ok")


if __name__ == "__main__":
    main()
