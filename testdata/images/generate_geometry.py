#!/usr/bin/env python3
"""Writes what TensorFlow's crops, flips and stateless random functions of images compute.

Command: python generate_geometry.py [--seeds N]   (needs tensorflow-cpu 2.15.1; writes into the
                                                   folder of this script)
  --seeds N  seeds for each configuration of distorted_bounding_box.txt (default 40)
The output is the same at every run. estimator/image/*_test.cc read the files.

In all files a line is one call: its name, its arguments, "=" and its result. Lists are joined by
commas. Element i of every input image is (i * 37 + 11) % 101; for bool, whether that is odd.

geometry.txt                NAME DTYPE SHAPE ARGUMENTS = SHAPE VALUES
                            NAME DTYPE SHAPE ARGUMENTS ! a part of the message of the error, or "-"
random_geometry.txt         uniform SEED SHAPE MINVAL,MAXVAL = bits of the values, in hexadecimal
                            uniform_int DTYPE SEED SHAPE MINVAL,MAXVAL = VALUES
                            crop SEED SHAPE SIZE = begin of the crop, for each axis
                            flip_left_right, flip_up_down SEED SHAPE = for each image, 1 if it is
                            flipped
random_color.txt            NAME DTYPE SEED SHAPE ARGUMENTS = VALUES; those of float32 as bits
distorted_bounding_box.txt  config HEIGHT,WIDTH MIN_OBJECT_COVERED ASPECT_RATIO_RANGE AREA_RANGE
MAX_ATTEMPTS
                              USE_IMAGE_IF_NO_BOUNDING_BOXES BOXES     (for the lines that follow)
                            SEED = Y,X,HEIGHT,WIDTH                    (begin and size)
                            SEED = Y,X,HEIGHT,WIDTH bits of bboxes
"""

import argparse
import os
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))


def join(values):
    """Returns "1,2,3"; "-" for no values."""
    return ",".join(str(value) for value in values) or "-"


def image(dtype, shape):
    """The input of every call: see the head of this file."""
    values = (np.arange(np.prod(shape), dtype=np.int64) * 37 + 11) % 101
    return tf.constant((values % 2 if dtype == "bool" else values).reshape(shape).astype(dtype))


def numbers(array):
    """Returns integers as they are, floats as their bits in hexadecimal."""
    array = np.asarray(array).ravel()
    if array.dtype == np.float32:
        return ["%08x" % bits for bits in array.view(np.uint32)]
    return [int(value) for value in array]


def part_of_message(error):
    """The part of a message that does not depend on how shapes are printed; "-" if there is
    none."""
    message = str(error).split("\n")[0]
    return "-" if any(word in message for word in ["shape", "rank", "xpected",
                                                   "NaN"]) else message.rstrip(".")


GEOMETRY = {
    "crop_to_bounding_box": lambda x, a: tf.image.crop_to_bounding_box(x, *a),
    "pad_to_bounding_box": lambda x, a: tf.image.pad_to_bounding_box(x, *a),
    "resize_with_crop_or_pad": lambda x, a: tf.image.resize_with_crop_or_pad(x, *a),
    "central_crop": lambda x, a: tf.image.central_crop(x, *a),
    "flip_left_right": lambda x, a: tf.image.flip_left_right(x),
    "flip_up_down": lambda x, a: tf.image.flip_up_down(x),
    "rot90": lambda x, a: tf.image.rot90(x, *a),
    "transpose": lambda x, a: tf.image.transpose(x),
    "slice": lambda x, a: tf.slice(x, *tf.reshape(tf.constant(a, tf.int64), [2, -1])),
}


def geometry_cases():
    """Yields (name, dtype, shape, arguments)."""
    dtypes = ["uint8", "float32", "int64", "bool", "float16", "int32", "float64", "int8", "int16"]
    for i, dtype in enumerate(dtypes):
        for shape in [(3, 4, 2), (2, 3, 2, 1)] if i < 2 else [(2, 3, 2)]:
            for name in ["flip_left_right", "flip_up_down", "transpose"]:
                yield name, dtype, shape, []
            for k in range(-5, 6) if i == 0 else [1, 2, 3]:
                yield "rot90", dtype, shape, [k]
            yield "crop_to_bounding_box", dtype, shape, [1, 0, 1, 2]
            yield "pad_to_bounding_box", dtype, shape, [1, 2, shape[-3] + 2, shape[-2] + 2]
            yield "resize_with_crop_or_pad", dtype, shape, [2, 4]
            yield "central_crop", dtype, shape, [0.5]
            yield "slice", dtype, shape, [0] * (len(shape) - 2) + [1, 0] + [-1] * (len(shape)
                                                                                   - 1) + [1]
    for channels in [1, 2, 3, 4, 5]:  # pixels of every size that has a loop of its own
        for dtype in ["uint8", "float32"]:
            yield "flip_left_right", dtype, (2, 3, channels), []
            yield "rot90", dtype, (2, 3, channels), [1]
    crop = "crop_to_bounding_box"
    for arguments in [
        [0, 0, 3, 4], [0, 1, 3, 2], [1, 0, 2, 4], [2, 3, 1, 1], [0, 0, 1, 4], [-1, 0, 1, 1],
        [0, -1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, -1, 1], [1, 0, 3, 1], [0, 1, 1, 4],
        [4, 0, 1, 1], [-1, -1, 0, 0], [0, 2, 4, 3],
    ]:  # fmt: skip
        yield crop, "uint8", (3, 4, 1), arguments
    for arguments in [
        [0, 0, 2, 3], [0, 0, 3, 3], [1, 0, 3, 3], [0, 2, 2, 6], [-1, 0, 3, 3], [0, -1, 3, 3],
        [0, 0, 1, 3], [0, 0, 2, 2], [1, 0, 2, 3], [0, 1, 2, 3], [-1, -1, 0, 0], [0, 3, 2, 2],
        [3, 0, 1, 3],
    ]:  # fmt: skip
        yield "pad_to_bounding_box", "uint8", (2, 3, 1), arguments
    for height in [1, 2, 3, 4, 5, 6]:
        for width in [1, 4, 7]:
            yield "resize_with_crop_or_pad", "uint8", (3, 4, 1), [height, width]
    for arguments in [[0, 1], [1, 0], [-1, 2], [0, 0]]:
        yield "resize_with_crop_or_pad", "uint8", (3, 4, 1), arguments
    yield "resize_with_crop_or_pad", "float32", (2, 3, 4, 1), [5, 2]
    for fraction in [0.0, -0.5, 1.5, float("nan")]:
        yield "central_crop", "uint8", (3, 4, 1), [fraction]
    for shape in [(3, 4), (), (1, 1, 2, 2, 1), (0, 2, 1), (2, 0, 1), (2, 2, 0), (1, 0, 2, 1),
                  (0, 1, 1, 1)]:
        for name in ["flip_left_right", "flip_up_down", "transpose"]:
            yield name, "uint8", shape, []
        yield "rot90", "uint8", shape, [1]
        yield "central_crop", "uint8", shape, [0.5]
        yield "central_crop", "uint8", shape, [1.0]
        yield crop, "uint8", shape, [0, 0, 1, 1]
        yield "pad_to_bounding_box", "uint8", shape, [0, 0, 4, 4]
        yield "resize_with_crop_or_pad", "uint8", shape, [2, 2]
    yield "slice", "uint8", (5,), [1, 3]
    yield "slice", "uint8", (5,), [5, 0]
    yield "slice", "uint8", (5,), [5, -1]
    yield "slice", "uint8", (5,), [0, -1]
    yield "slice", "uint8", (), []
    yield "slice", "uint8", (2, 3, 2, 2, 2), [1, 1, 0, 0, 1, 1, 2, 2, 1, 1]
    for arguments in [[6, 0], [-1, 1], [2, 4], [0, -2], [0, 6]]:
        yield "slice", "uint8", (5,), arguments
    draw = random.Random(1)
    for i in range(250):  # how sizes are rounded
        size = draw.randint(1, 60)
        fraction = draw.choice([draw.random(), round(draw.random(), 1) or 0.1, 0.875, 1 / 3,
                                draw.randint(1, size) / size])
        yield "central_crop", "uint8", (size, 1, 1), [fraction]


def write_geometry():
    with open(os.path.join(HERE, "geometry.txt"), "w") as out:
        for name, dtype, shape, arguments in geometry_cases():
            head = "%s %s %s %s" % (name, dtype, join(shape), join(arguments))
            try:
                result = GEOMETRY[name](image(dtype, shape), arguments)
            except (ValueError, tf.errors.InvalidArgumentError) as error:
                print(head, "!", part_of_message(error), file=out)
                continue
            values = [int(value) for value in result.numpy().ravel()]
            print(head, "=", join(result.shape), join(values), file=out)


def seeds(count, number):
    """Seeds of every kind: small ones, negative ones, any of 64 bits. Some are int32 for
    TensorFlow."""
    draw = random.Random(number)
    for i in range(count):
        if i % 4 == 0:
            yield np.array([i, number], np.int32)
        elif i % 4 == 1:
            yield np.array([draw.randint(-(2**31), 2**31 - 1) for _ in range(2)], np.int32)
        elif i % 4 == 2:
            yield np.array([draw.randint(-(2**63), 2**63 - 1) for _ in range(2)], np.int64)
        else:
            yield np.array([draw.randint(-5, 5), draw.randint(2**32, 2**40)], np.int64)


def write_random_geometry():
    with open(os.path.join(HERE, "random_geometry.txt"), "w") as out:
        for i, seed in enumerate(seeds(20, 1)):
            shape = [(), (1,), (3,), (2, 3), (9,), (0,)][i % 6]
            bounds = [(0.0, 1.0), (-0.25, 0.75), (0.5, 1.5)][i % 3]
            values = tf.random.stateless_uniform(shape, seed, *bounds)
            print("uniform", join(seed), join(shape), join(bounds), "=", join(numbers(values)),
                  file=out)
        for i, seed in enumerate(seeds(24, 2)):
            dtype = ["int32", "int64"][i % 2]
            shape = [(), (3,), (2, 2), (5,), (0,)][i % 5]
            limits = np.iinfo(dtype)
            bounds = [(0, 10), (-7, 9), (limits.min, limits.max), (0, limits.max)][i % 4]
            values = tf.random.stateless_uniform(shape, seed, *bounds, dtype=dtype)
            print("uniform_int", dtype, join(seed), join(shape), join(bounds), "=",
                  join(numbers(values)), file=out)
        for i, seed in enumerate(seeds(60, 3)):
            shape, size = [
                ((32, 32, 3), (24, 24, 3)), ((500, 375, 3), (224, 224, 3)), ((7, 5, 1), (7, 1, 1)),
                ((2, 9, 9, 2), (2, 4, 4, 1)), ((11,), (3,)), ((3, 3, 3), (3, 3, 3)),
            ][i % 6]  # fmt: skip
            index = np.arange(np.prod(shape)).reshape(shape)
            first = tf.image.stateless_random_crop(index, size, seed).numpy().ravel()[0]
            print("crop", join(seed), join(shape), join(size), "=",
                  join(np.unravel_index(first, shape)), file=out)
        for i, seed in enumerate(seeds(60, 4)):
            shape = [(2, 2, 1), (6, 2, 2, 1), (3, 2, 3), (0, 2, 2, 1)][i % 4]
            for name in ["flip_left_right", "flip_up_down"]:
                before = image("uint8", shape)
                after = getattr(tf.image, "stateless_random_" + name)(before, seed).numpy()
                flipped = getattr(tf.image, name)(before).numpy()
                batch = [(after, flipped)] if len(shape) == 3 else list(zip(after, flipped))
                print(name, join(seed), join(shape), "=",
                      join(int((a == f).all()) for a, f in batch), file=out)


def write_random_color():
    calls = [("brightness", [32.0 / 255.0]), ("contrast", [0.5, 1.5]), ("saturation", [0.5, 1.5]),
             ("hue", [0.2])]
    with open(os.path.join(HERE, "random_color.txt"), "w") as out:
        for i, seed in enumerate(seeds(16, 5)):
            dtype = ["uint8", "float32"][i // 2 % 2]
            shape = [(2, 2, 3), (2, 1, 2, 3)][i % 2]
            for name, arguments in calls:
                values = getattr(tf.image, "stateless_random_" + name)(image(dtype, shape),
                                                                       *arguments, seed=seed)
                print(name, dtype, join(seed), join(shape), join(arguments), "=",
                      join(numbers(values)), file=out)


# (height, width), min_object_covered, aspect_ratio_range, area_range, max_attempts,
# use_image_if_no_bounding_boxes, boxes
BOXES = [
    ((375, 500), 0.1, (0.75, 1.33), (0.05, 1.0), 100, False, [0.0, 0.0, 1.0, 1.0]),
    ((500, 333), 0.1, (0.75, 1.33), (0.08, 1.0), 10, True, []),
    ((32, 32), 0.1, (0.75, 1.33), (0.05, 1.0), 100, True, []),
    ((375, 500), 0.5, (0.75, 1.33), (0.05, 1.0), 100, False, [0.25, 0.3, 0.5, 0.9]),
    ((375, 500), 1.0, (0.5, 2.0), (0.3, 0.9), 100, False,
     [0.1, 0.1, 0.3, 0.2, 0.6, 0.5, 0.9, 0.75]),
    ((375, 500), 1.0, (0.75, 1.33), (0.05, 0.2), 3, False, [0.0, 0.0, 1.0, 1.0]),  # the whole image
    ((7, 5), 0.0, (0.1, 10.0), (0.01, 1.0), 20, True, []),  # rounding matters
    ((3, 40), 0.1, (0.5, 5.0), (0.05, 1.0), 50, True, []),
    ((640, 480), 0.3, (1.0, 1.0), (0.1, 0.1), 100, False, [0.4, 0.4, 0.6, 0.6]),
    # one box is empty
    ((64, 64), 0.1, (1.33, 0.75), (0.2, 0.8), 100, False, [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.7, 0.7]),
    ((1, 1), 0.1, (0.75, 1.33), (0.05, 1.0), 100, True, []),
    ((50, 50), 0.1, (0.75, 1.33), (0.9, 0.1), 5, True, []),  # no such area
    ((4000, 6000), 0.1, (0.75, 1.33), (0.08, 1.0), 100, True, []),
    ((100, 300), 0.1, (2.9, 3.1), (0.5, 1.0), 100, True, []),  # the aspect ratio of the image
]


def write_boxes(count):
    with open(os.path.join(HERE, "distorted_bounding_box.txt"), "w") as out:
        for number, (size, covered, ratios, areas, attempts, use_image, boxes) in enumerate(BOXES):
            print("config", join(size), covered, join(ratios), join(areas), attempts,
                  int(use_image), join(boxes), file=out)
            boxes = np.array(boxes, np.float32).reshape([1, -1, 4])
            for i, seed in enumerate(seeds(count, number + 10)):
                begin, extent, bboxes = tf.image.stateless_sample_distorted_bounding_box(
                    # fmt: skip
                    [*size, 3], boxes, seed, covered, ratios, areas, attempts, use_image)
                assert begin[2] == 0 and extent[2] == -1
                window = join([*begin.numpy()[:2], *extent.numpy()[:2]])
                print(join(seed), "=", window, *([join(numbers(bboxes))] if i < 4 else []),
                      file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    count = parser.parse_args().seeds
    write_geometry()
    write_random_geometry()
    write_random_color()
    write_boxes(count)


if __name__ == "__main__":
    main()
