#!/usr/bin/env python3
"""Checkpoints: TensorFlow reads what we write, and we read what TensorFlow writes.

Usage: check_checkpoint.py BUNDLE_TOOL     (built from //tools/interop:bundle_tool)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

DTYPES = ["float32", "float64", "int32", "uint8", "int16", "int8", "int64", "bool", "bfloat16",
          "float16"]


def expected():
    values = {name: np.array([[0, 1, 2], [3, 4, 5]]).astype(tf.as_dtype(name).as_numpy_dtype)
              for name in DTYPES}
    values["scalar"] = np.float32(3.5)
    values["empty"] = np.zeros([0, 4], np.float32)
    values["string"] = np.array([b"", b"hello", b"x" * 200], dtype=object)
    values["part"] = np.arange(6, dtype=np.float32).reshape(3, 2)
    return values


def tensorflow_reads_ours(tool, directory):
    prefix = os.path.join(directory, "ours")
    subprocess.run([tool, "write", prefix], check=True)
    reader = tf.train.load_checkpoint(prefix)
    values = expected()
    assert sorted(reader.get_variable_to_shape_map()) == sorted(
        values), reader.get_variable_to_shape_map()
    for name, value in values.items():
        got = reader.get_tensor(name)
        assert np.shape(got) == np.shape(value), (name, got)
        assert name == "string" or np.asarray(got).dtype == np.asarray(value).dtype, (name, got)
        assert np.array_equal(got, value), (name, got, value)


def check_print(tool, prefix, values):
    """Compares the tool's output for a checkpoint with values (name -> array)."""
    lines = subprocess.run([tool, "print", prefix], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    printed = {line.split("\t")[0]: line.split("\t")[1:] for line in lines}
    for name, value in values.items():
        value = np.asarray(value)
        dtype, shape, digest = printed[name]
        assert shape == "[" + ",".join(str(size)
                                       for size in value.shape) + "]", (name, printed[name])
        if dtype == "string":
            assert int(digest) == sum(len(text) for text in value.reshape(-1)), (name, digest)
            continue
        assert dtype == tf.as_dtype(value.dtype).name, (name, dtype)
        flat = value.reshape(-1).astype(np.float64)
        total = float(np.sum(flat * np.arange(1, flat.size + 1)))
        assert abs(float(digest) - total) <= 1e-5 * max(1, abs(total)), (name, digest, total)
    return printed


def we_read_tensorflows(tool, directory):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        variables = {name: v1.get_variable(name, initializer=tf.constant(value)) for name,
                     value in expected().items() if name != "part"}
        v1.get_variable("complex", initializer=tf.constant(1j, tf.complex64))
        partitioned = v1.get_variable("part", shape=[10, 3],
                                      initializer=v1.random_normal_initializer(seed=3),
                                      partitioner=v1.fixed_size_partitioner(3))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            values = session.run(variables)
            values["part"] = np.concatenate([session.run(v) for v in partitioned])
            plain = v1.train.Saver().save(session, os.path.join(directory, "v1.ckpt"),
                                          global_step=7)
    assert check_print(tool, plain, values)["complex"] == ["unsupported"]

    # Two data shards, merged from one bundle per device, as parameter servers write them.
    with tf.Graph().as_default(), v1.Session() as session:
        parts = []
        for i, names in enumerate((["a"], ["b", "c"])):
            part = os.path.join(directory, f"part-{i}")
            tensors = [tf.fill([i + 2, 3], float(i + 1)) for _ in names]
            session.run(tf.raw_ops.SaveV2(prefix=part, tensor_names=names,
                                          shape_and_slices=[""] * len(names), tensors=tensors))
            parts.append(part)
        sharded = os.path.join(directory, "sharded")
        session.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts,
                                                  destination_prefix=sharded))
    assert os.path.exists(sharded + ".data-00001-of-00002")
    check_print(tool, sharded, {"a": np.full([2, 3], 1, np.float32),
                                "c": np.full([3, 3], 2, np.float32)})

    objects = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]),
                                  b=tf.Variable("hi")).save(os.path.join(directory, "v2"))
    check_print(tool, objects, {"a/.ATTRIBUTES/VARIABLE_VALUE": np.array([1, 2], np.float32),
                                "b/.ATTRIBUTES/VARIABLE_VALUE": np.array(b"hi", dtype=object)})


def main():
    tool = os.path.abspath(sys.argv[1])
    for check in (tensorflow_reads_ours, we_read_tensorflows):
        with tempfile.TemporaryDirectory() as directory:
            check(tool, directory)
        print(f"passed: {check.__name__}")


if __name__ == "__main__":
    main()
