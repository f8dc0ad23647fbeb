#!/usr/bin/env python3
"""tf.data on the files and crops that input_benchmark wrote: the same work as its rows.

usage: tf_data.py --row=parse_small|parse_images|shuffle_batch|jpeg_bilinear|jpeg_bicubic
--work_dir=DIR
                  [--data_dir=DIR] [--seconds=5]
"""
import glob
import os
import struct
import time

import measure

ROWS = ["parse_small", "parse_images", "shuffle_batch", "jpeg_bilinear", "jpeg_bicubic"]
IMAGE_SIZE = 224


def need(path):
    if not os.path.exists(path):
        raise SystemExit("%s does not exist: run input_benchmark with the same --row and "
                         "--work_dir first" % path)
    return path


def parse_examples(tf, flags, kind):
    files = sorted(glob.glob(os.path.join(flags.work_dir, "parse_%s-*.tfrecord" % kind)))
    if not files:
        need(os.path.join(flags.work_dir, "parse_%s-0.tfrecord" % kind))
    if kind == "small":
        specs = {"label": tf.io.FixedLenFeature([], tf.int64)}
        specs.update({"float_%d" % i: tf.io.FixedLenFeature([], tf.float32) for i in range(13)})
        specs.update({"string_%d" % i: tf.io.FixedLenFeature([], tf.string) for i in range(26)})
    else:
        specs = {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                 "image/class/label": tf.io.FixedLenFeature([], tf.int64)}
    batch_size = 1024 if kind == "small" else 128
    records = tf.data.TFRecordDataset(files, num_parallel_reads=flags.threads)
    batches = records.repeat().batch(batch_size, drop_remainder=True)
    return batches.map(lambda x: tf.io.parse_example(x, specs),
                       num_parallel_calls=flags.threads), batch_size


def shuffle_batch(tf, flags):
    import numpy as np

    def read(name, header_bytes, shape):
        with open(need(os.path.join(flags.data_dir, name)), "rb") as file:
            return np.frombuffer(file.read()[header_bytes:], np.uint8).reshape(shape)

    images = read("train-images-idx3-ubyte", 16, [-1, 28, 28])
    labels = read("train-labels-idx1-ubyte", 8, [-1]).astype(np.int32)
    examples = tf.data.Dataset.from_tensor_slices((images, labels))
    return examples.shuffle(60000).repeat().batch(1024, drop_remainder=True).prefetch(2), 1024


def jpegs(tf, flags, method):
    """crops.bin has, for each crop, seven int32: file, y, x, height, width, whether to flip, 0."""
    with open(need(os.path.join(flags.work_dir, "crops.bin")), "rb") as file:
        content = file.read()
    crops = [struct.unpack_from("<7i", content, i) for i in range(0, len(content), 28)]
    files = []
    while os.path.exists(os.path.join(flags.work_dir, "image-%d.jpg" % len(files))):
        with open(os.path.join(flags.work_dir, "image-%d.jpg" % len(files)), "rb") as file:
            files.append(file.read())
    encoded = tf.constant(files)

    def decode(crop):
        pixels = tf.image.decode_and_crop_jpeg(encoded[crop[0]], crop[1:5], channels=3)
        pixels = tf.image.resize(pixels, [IMAGE_SIZE, IMAGE_SIZE], method=method)
        return tf.cond(crop[5] != 0, lambda: tf.image.flip_left_right(pixels), lambda: pixels)

    images = tf.data.Dataset.from_tensor_slices(tf.constant(crops, tf.int32))
    if flags.max_difference:
        print_difference(tf, flags, images.map(decode), method)
    batches = images.repeat().map(decode, num_parallel_calls=flags.threads)
    return batches.batch(32, drop_remainder=True).prefetch(2), 32


def print_difference(tf, flags, images, method):
    """Compares the first images with those that input_benchmark wrote."""
    import numpy as np
    ours = np.fromfile(need(os.path.join(flags.work_dir, "pixels_%s.f32" % method)), np.float32)
    ours = ours.reshape([-1, IMAGE_SIZE, IMAGE_SIZE, 3])
    worst = max(float(np.max(np.abs(image.numpy() - other)))
                for image, other in zip(images.take(len(ours)), ours))
    measure.print_json("tf_data", {"row": flags.row, "max_difference": worst, "images": len(ours)})


def main():
    flags = measure.parser(__doc__, batch_size=0)
    flags.add_argument("--row", choices=ROWS, required=True)
    flags.add_argument("--work_dir", required=True, help="the folder that input_benchmark wrote")
    flags.add_argument("--data_dir", default="", help="folder of MNIST's four files, uncompressed; "
                                                      "for shuffle_batch")
    flags.add_argument("--max_difference", action="store_true",
                       help="also compare the pixels of the first images")
    flags = flags.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    if flags.row.startswith("parse_"):
        dataset, batch_size = parse_examples(tf, flags, flags.row[len("parse_"):])
    elif flags.row == "shuffle_batch":
        dataset, batch_size = shuffle_batch(tf, flags)
    else:
        dataset, batch_size = jpegs(tf, flags, flags.row[len("jpeg_"):])
    options = tf.data.Options()
    options.threading.private_threadpool_size = flags.threads
    iterator = iter(dataset.with_options(options))
    for _ in range(flags.warmup_steps):
        next(iterator)
    begin = time.monotonic()
    batches = 0
    seconds = 0
    while batches < flags.steps or flags.steps <= 0:
        next(iterator)
        batches += 1
        seconds = time.monotonic() - begin
        if 0 < flags.seconds <= seconds:
            break
    measure.print_json("tf_data", {
        "row": flags.row, "examples_per_second": batches * batch_size / seconds,
        "measured_examples": batches * batch_size, "peak_rss_mib": measure.peak_rss_mib(),
        "threads": flags.threads})


if __name__ == "__main__":
    main()
