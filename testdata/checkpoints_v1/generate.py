#!/usr/bin/env python3
"""Makes checkpoints in TensorFlow's V1 format, and the same variables in the V2 format.

Usage: generate.py     with tensorflow-cpu 2.15.1; writes its files beside this script

  all_dtypes               one file; every dtype that the V1 saver takes, scalars, empty tensors
  partitioned              one file; partitioned variables
  sharded-?????-of-00002   two files of a sharded saver, with a variable whose parts are in both
  blocks                   one file of two blocks, each with more than one variable
For each except blocks, expected/ has <name>.index and <name>.data-...: the same variables of the
same session in the V2 format.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
v1 = tf.compat.v1
V1 = v1.train.SaverDef.V1


def save(name, build, sharded=False, expected=True):
    with tf.Graph().as_default():
        config = tf.compat.v1.ConfigProto(device_count={"CPU": 2})
        with v1.Session(config=config) as session:
            build()
            session.run(v1.global_variables_initializer())
            v1.train.Saver(write_version=V1, sharded=sharded).save(
                session, os.path.join(HERE, name), write_meta_graph=False, write_state=False)
            if expected:
                v1.train.Saver().save(
                    session, os.path.join(HERE, "expected", name), write_meta_graph=False,
                    write_state=False)


def all_dtypes():
    numbers = [0, 1, 2, 3, 100, 127]
    for dtype in [tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.int64,
                  tf.uint16, tf.half, tf.complex64, tf.complex128]:
        v1.get_variable(f"layer/{dtype.name}",
                        initializer=tf.constant(np.reshape(numbers, [2, 3]), dtype))
    for dtype in [tf.int8, tf.int16, tf.int32, tf.int64, tf.float32, tf.half]:
        low, high = dtype.min, dtype.max
        v1.get_variable(f"extreme/{dtype.name}", initializer=tf.constant([low, -1, high], dtype))
    v1.get_variable("layer/bool", initializer=tf.constant([True, False, True]))
    for dtype, plain in [(tf.qint8, tf.int8), (tf.quint8, tf.uint8), (tf.qint32, tf.int32)]:
        v1.get_variable(f"layer/{dtype.name}",
                        initializer=tf.bitcast(tf.constant([1, 2, 3], plain), dtype))
    v1.get_variable("text", initializer=tf.constant([["", "hello"], ["x" * 200, "\0\xff"]]))
    v1.get_variable("one_text", initializer=tf.constant("a"))
    v1.get_variable("global_step", initializer=tf.constant(7, tf.int64))
    v1.get_variable("scalar", initializer=tf.constant(-2.5))
    v1.get_variable("empty", initializer=tf.zeros([0, 4]))
    v1.get_variable("empty_text", initializer=tf.constant([], tf.string, [0]))


def partitioned():
    rows = v1.fixed_size_partitioner(3)
    columns = v1.fixed_size_partitioner(2, axis=1)
    v1.get_variable("rows", shape=[7, 3], initializer=v1.random_uniform_initializer(seed=1),
                    partitioner=rows)
    v1.get_variable("columns", shape=[4, 5], initializer=v1.random_uniform_initializer(seed=2),
                    partitioner=columns)
    v1.get_variable("whole", initializer=tf.constant([1.0, 2.0]))
    v1.get_variable("counts", initializer=tf.constant(np.arange(-3, 7).reshape(5, 2), tf.int64),
                    partitioner=columns)


def two_devices():
    with v1.device("/cpu:0"):
        v1.get_variable("first", initializer=tf.constant([1.0, 2.0]))
        v1.get_variable("global_step", initializer=tf.constant(7, tf.int64))
    with v1.device("/cpu:1"):
        v1.get_variable("second", initializer=tf.constant([[3.0], [4.0]]))
    devices = iter(["/cpu:0", "/cpu:1"] * 10)
    with v1.device(lambda op: next(devices) if op.type == "VarHandleOp" else "/cpu:0"):
        v1.get_variable("both", shape=[4, 3], initializer=v1.random_uniform_initializer(seed=3),
                        partitioner=v1.fixed_size_partitioner(2))


def blocks():
    # Large enough for two blocks: TensorFlow ends a block after 256 KiB.
    v1.get_variable("a/small", initializer=tf.constant(np.arange(10), tf.float32))
    v1.get_variable("b/small", initializer=tf.constant([1.0]))
    v1.get_variable("c/large", initializer=tf.zeros([66000]))
    v1.get_variable("d/small", initializer=tf.constant([2, -3]))
    v1.get_variable("e/small", initializer=tf.constant([3.0]))


def main():
    os.makedirs(os.path.join(HERE, "expected"), exist_ok=True)
    save("all_dtypes", all_dtypes)
    save("partitioned", partitioned)
    save("sharded", two_devices, sharded=True)
    save("blocks", blocks, expected=False)


if __name__ == "__main__":
    main()
