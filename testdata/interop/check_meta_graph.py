#!/usr/bin/env python3
"""The .meta files of our checkpoints: TensorFlow's import_meta_graph reads graph and variables, its
saver restores them, its train_op continues training, and we continue from the checkpoint that it
saves.

Usage: check_meta_graph.py MNIST_TPU     (built from //models/mnist:mnist_tpu)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import os
import struct
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.disable_eager_execution()
BATCH = 32


def write_data(directory, rng):
    """A bright bar whose row is the label."""
    for split in ("train", "t10k"):
        labels = rng.integers(0, 10, 320).astype(np.uint8)
        images = rng.integers(0, 40, (320, 28, 28)).astype(np.uint8)
        for image, label in zip(images, labels):
            image[2 + 2 * label:4 + 2 * label] += 200
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            with open(os.path.join(directory, f"{split}-{name}-ubyte"), "wb") as f:
                f.write(struct.pack(">HBB", 0, 8, array.ndim)
                        + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes())
    return images, labels.astype(np.int32)


def train(program, directory, model_dir, steps, *flags):
    subprocess.run([program, f"--data_dir={directory}", f"--model_dir={model_dir}",
                    f"--train_steps={steps}", f"--batch_size={BATCH}", "--momentum=0.9",
                    "--learning_rate=0.02", "--enable_predict=false",
                    "--save_checkpoints_steps=5", "--keep_checkpoint_max=2", *flags], check=True,
                   capture_output=True)


def imported(prefix, check):
    """Calls check(session, saver, reader) in a graph that was imported and restored in the usual
    way of TensorFlow."""
    with tf.Graph().as_default(), tf1.Session() as session:
        saver = tf1.train.import_meta_graph(prefix + ".meta")
        saver.restore(session, prefix)
        reader = tf.train.load_checkpoint(prefix)
        saved = reader.get_variable_to_shape_map()
        variables = {v.op.name: v for v in tf1.global_variables()}
        assert sorted(variables) == sorted(saved), (sorted(variables), sorted(saved))
        for name, value in session.run(variables).items():
            assert np.array_equal(value, reader.get_tensor(name)), name
        assert [v.op.name for v in tf1.trainable_variables()] == [n for n in (
            "conv2d/kernel", "conv2d/bias", "conv2d_1/kernel", "conv2d_1/bias", "dense/kernel",
            "dense/bias", "dense_1/kernel", "dense_1/bias")], tf1.trainable_variables()
        assert session.run(tf1.train.get_global_step()) == int(prefix.rsplit("-", 1)[1])
        assert not session.run(tf1.report_uninitialized_variables(tf1.global_variables())).size
        return check(session, saver)


def files(model_dir):
    return sorted(name for name in os.listdir(model_dir) if name.endswith(".meta"))


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        images, labels = write_data(directory, np.random.default_rng(1))
        model_dir = os.path.join(directory, "local")
        train(program, directory, model_dir, 10, "--use_tpu=false")
        assert files(model_dir) == ["model.ckpt-10.meta", "model.ckpt-5.meta"], files(model_dir)

        def go_on(session, saver):
            graph = tf1.get_default_graph()
            (train_op,) = tf1.get_collection("train_op")
            (loss,) = tf1.get_collection("losses")
            placeholders = [op for op in graph.get_operations() if op.type == "Placeholder"]
            feeds = {op.outputs[0]: (images if op.outputs[0].shape.rank == 3
                                     else labels)[:op.outputs[0].shape[0]]
                     for op in placeholders}
            losses = [session.run((loss, train_op), feeds)[0] for _ in range(20)]
            assert losses[-1] < 0.9 * losses[0], losses
            print(f"TensorFlow continues for 20 steps: loss {losses[0]:.4f} to {losses[-1]:.4f}")
            return saver.save(session, os.path.join(model_dir, "model.ckpt"),
                              tf1.train.get_global_step())

        assert imported(os.path.join(model_dir, "model.ckpt-10"), go_on).endswith("-30")
        print("passed: import_meta_graph, restore, train, save")
        train(program, directory, model_dir, 40, "--use_tpu=false")  # from TensorFlow's step 30
        # TensorFlow's new saver has removed 5 and 10 from the list, so we keep them; we deleted its
        # 30, which was on the list.
        assert files(model_dir) == [f"model.ckpt-{n}.meta"
                                    for n in (10, 35, 40, 5)], files(model_dir)
        imported(os.path.join(model_dir, "model.ckpt-40"), lambda *_: None)
        print("passed: we continue from there, and TensorFlow reads the result")

        # A graph of replicas is written as the graph of one replica: TensorFlow cannot run the sum
        # over replicas on a CPU.
        model_dir = os.path.join(directory, "replicas")
        train(program, directory, model_dir, 10, "--use_tpu=true", "--num_shards=4",
              "--iterations=5")
        imported(os.path.join(model_dir, "model.ckpt-10"), go_on)
        print("passed: a graph of replicas")
    print("check_meta_graph: ok")


if __name__ == "__main__":
    main()
