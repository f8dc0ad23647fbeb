#!/usr/bin/env python3
"""Writes what TensorFlow's functions of image sizes and colors return for small random images:
ops.txt and ops.npy.

Command: python generate_ops.py     (needs tensorflow-cpu 2.15.1; writes into the folder of this
                                    script)
estimator/image/ops_golden_test.cc reads the files and describes their format.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(1)
v1 = tf.compat.v1
HERE = os.path.dirname(os.path.realpath(__file__))
EXACT = 0
# Relative to the largest value: sums whose order depends on Eigen, and powers.
CLOSE = 1e-6
METHODS = ["bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area",
           "nearest"]


class Writer:
    """Collects arrays as bytes and lines of cases."""

    def __init__(self):
        self.bytes = bytearray()
        self.lines = []

    def store(self, value):
        """Returns where an array is in ops.npy: DTYPE:SHAPE:OFFSET."""
        value = np.ascontiguousarray(value)
        offset = len(self.bytes)
        self.bytes += value.tobytes()
        return f"{value.dtype.name}:{','.join(map(str, value.shape))}:{offset}"

    def add(self, name, value):
        self.lines.append(f"array {name} {self.store(value)}")

    def case(self, function, inputs, result, tolerance=EXACT, **arguments):
        words = [f"{key}={value}" for key, value in {**arguments, "tolerance": tolerance}.items()
                 if value != 0]
        self.lines.append(" ".join(["case", function, f"in={inputs}",
                                    f"out={self.store(result.numpy())}"] + words))

    def save(self):
        with open(os.path.join(HERE, "ops.txt"), "w") as file:
            file.write("\n".join(self.lines) + "\n")
        np.save(os.path.join(HERE, "ops.npy"), np.frombuffer(bytes(self.bytes), np.uint8))


def bfloat16_bits(values):
    return tf.cast(values, tf.bfloat16).numpy()


def images():
    """Images to resize: every number of channels that has code of its own, every dtype, one pixel,
    a batch."""
    random = np.random.RandomState(20151)

    def u8(*shape):
        return random.randint(0, 256, shape).astype(np.uint8)

    def f32(*shape):
        return random.uniform(-50, 300, shape).astype(np.float32)

    return {
        "rgb_u8": u8(13, 11, 3), "rgb_f32": f32(9, 14, 3), "gray_u8": u8(6, 7, 1),
        "rgba_u8": u8(5, 8, 4), "two_f32": f32(2, 7, 5, 2), "batch_u8": u8(3, 4, 6, 3),
        "pixel_u8": u8(1, 1, 3), "large_u8": u8(40, 31, 3),
        "rgb_i8": random.randint(-128, 128, (4, 5, 3)).astype(np.int8),
        "rgb_i16": random.randint(-32768, 32768, (4, 5, 3)).astype(np.int16),
        "rgb_i32": random.randint(-1 << 31, 1 << 31, (4, 5, 3)).astype(np.int32),
        "rgb_i64": random.randint(-1 << 62, 1 << 62, (4, 5, 3)).astype(np.int64),
        "rgb_f16": f32(4, 5, 3).astype(np.float16), "rgb_bf16": bfloat16_bits(f32(4, 5, 3)),
        "rgb_f64": random.uniform(-50, 300, (4, 5, 3)),
    }


def size_text(size):
    return f"{size[0]},{size[1]}"


def add_resize(writer, arrays):
    def resize(name, size, method, antialias=False, preserve=False):
        result = tf.image.resize(arrays[name], size, method, preserve_aspect_ratio=preserve,
                                 antialias=antialias)
        writer.case("Resize", name, result, size=size_text(size), method=method,
                    antialias=int(antialias), preserve_aspect_ratio=int(preserve))

    for method in METHODS:
        for antialias in (False, True) if method not in ("area", "nearest") else (False,):
            for name, size in [("rgb_u8", (5, 4)), ("rgb_f32", (4, 15)), ("gray_u8", (9, 2)),
                               ("rgba_u8", (3, 11)), ("two_f32", (4, 8)), ("batch_u8", (5, 5)),
                               ("pixel_u8", (2, 3)), ("large_u8", (11, 9)), ("rgb_u8", (1, 1)),
                               ("rgb_u8", (20, 2))]:
                resize(name, size, method, antialias)
    for method in ["bilinear", "bicubic", "area", "nearest"]:
        resize("rgb_u8", (13, 11), method)  # the same size
    for name in ["rgb_i8", "rgb_i16", "rgb_i32", "rgb_i64", "rgb_f16", "rgb_bf16", "rgb_f64"]:
        for method in ["bilinear", "bicubic", "area", "nearest", "lanczos3"]:
            resize(name, (3, 4), method)
    for size in [(8, 8), (16, 9), (3, 40), (7, 1)]:
        resize("rgb_u8", size, "bilinear", preserve=True)
        resize("two_f32", size, "area", preserve=True)
    for name in ["rgb_u8", "rgb_f32", "gray_u8", "rgb_f64", "rgb_i32"]:
        for method in METHODS:
            for antialias in (False, True) if name == "rgb_u8" else (True,):
                result = tf.image.resize(arrays[name], (8, 5), method, antialias=antialias)
                rounded = tf.saturate_cast(tf.round(result), tf.uint8)
                writer.case("ResizeToUint8", name, rounded, size="8,5", method=method,
                            antialias=int(antialias))
    for size in [(10, 8), (4, 12), (12, 4), (3, 3)]:
        for name, method in [("rgb_u8", "bilinear"), ("two_f32", "bicubic"),
                             ("rgb_i16", "nearest")]:
            result = tf.image.resize_with_pad(arrays[name], *size, method=method)
            writer.case("ResizeWithPad", name, result, size=size_text(size), method=method)


def add_legacy(writer, arrays):
    functions = {"ResizeBilinear": v1.image.resize_bilinear,
                 "ResizeBicubic": v1.image.resize_bicubic,
                 "ResizeNearestNeighbor": v1.image.resize_nearest_neighbor}
    for name, size in [("rgb_u8", (5, 4)), ("rgb_f32", (4, 15)), ("gray_u8", (9, 2)),
                       ("two_f32", (14, 3)), ("rgb_u8", (1, 25)), ("pixel_u8", (2, 3))]:
        image = arrays[name]
        batch = image if image.ndim == 4 else image[None]
        squeeze = (lambda x: x) if image.ndim == 4 else (lambda x: x[0])
        for function, run in functions.items():
            for align, half in [(False, False), (True, False), (False, True)]:
                result = run(batch, size, align_corners=align, half_pixel_centers=half)
                writer.case(function, name, squeeze(result), size=size_text(size),
                            align_corners=int(align), half_pixel_centers=int(half))
        for align in (False, True):
            result = v1.image.resize_area(batch, size, align_corners=align)
            writer.case("ResizeArea", name, squeeze(result), size=size_text(size),
                        align_corners=int(align))


def add_crop_and_resize(writer, arrays):
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.3],
                      [-0.3, 0.5, 0.6, 1.4], [0.5, 0.5, 0.5, 0.5]],
                     np.float32)
    indices = np.array([0, 1, 1, 0, 1], np.int32)
    writer.add("boxes", boxes)
    writer.add("box_indices", indices)
    for name in ["two_f32", "batch_u8"]:
        for size in [(3, 5), (1, 4), (6, 1)]:
            for method in ["bilinear", "nearest"]:
                result = tf.image.crop_and_resize(arrays[name], boxes, indices, size, method,
                                                  extrapolation_value=7.5)
                writer.case("CropAndResize", f"{name},boxes,box_indices", result,
                            size=size_text(size), method=method, extrapolation_value=7.5)


def colors():
    """Images whose colors change: with gray, black, white and saturated pixels."""
    random = np.random.RandomState(20152)
    special = [[0, 0, 0], [255, 255, 255], [9, 9, 9], [255, 0, 0], [0, 255, 0], [0, 0, 255],
               [7, 7, 90], [90, 7, 7], [7, 90, 7], [90, 90, 7], [7, 90, 90], [90, 7, 90]]
    pixels = np.concatenate([np.array(special), random.randint(0, 256, (12, 3))]).reshape(4, 6, 3)
    fractions = np.concatenate([np.array(special).reshape(-1, 3) / 255,
                                random.uniform(0, 1, (12, 3))]).reshape(4, 6, 3)
    return {
        "color_u8": pixels.astype(np.uint8), "color_f32": fractions.astype(np.float32),
        "color_batch_u8": random.randint(0, 256, (2, 3, 5, 3)).astype(np.uint8),
        "color_batch_f32": random.uniform(-0.5, 1.5, (2, 3, 5, 3)).astype(np.float32),
        "color_i16": (pixels * 128).astype(np.int16), "color_f64": fractions,
        "color_bf16": bfloat16_bits(fractions), "color_f16": fractions.astype(np.float16),
    }


def add_color(writer, arrays):
    rounded = {"color_u8": 1, "color_batch_u8": 1, "color_i16": 1}  # a step of integers may differ
    every = list(colors())
    no_half = [name for name in every if name != "color_f16"]  # no kernel for f16 on CPU
    for name in every:
        image = arrays[name]
        for delta in [0.1, -0.25, 0]:
            writer.case("AdjustBrightness", name, tf.image.adjust_brightness(image, delta),
                        delta=delta)
        for gamma, gain in [(2.2, 1), (0.5, 1.5), (0, 1)]:
            if name in ("color_batch_f32", "color_f16", "color_bf16"):
                continue  # powers of negative numbers are NaN; others differ in the last bit of 16
            writer.case("AdjustGamma", name, tf.image.adjust_gamma(image, gamma, gain),
                        rounded.get(name, CLOSE), gamma=gamma, gain=gain)
        if name not in ("color_f16", "color_bf16"):
            writer.case("RgbToGrayscale", name, tf.image.rgb_to_grayscale(image),
                        rounded.get(name, CLOSE))
        writer.case("PerImageStandardization", name, tf.image.per_image_standardization(image),
                    CLOSE)
    for name in no_half:
        image = arrays[name]
        for factor in [0.5, 1.7, -1]:
            writer.case("AdjustContrast", name, tf.image.adjust_contrast(image, factor),
                        contrast_factor=factor)
        for factor in [0, 0.5, 2.5]:
            writer.case("AdjustSaturation", name, tf.image.adjust_saturation(image, factor),
                        saturation_factor=factor)
        for delta in [0.1, -0.4, 1, -1]:
            writer.case("AdjustHue", name, tf.image.adjust_hue(image, delta), delta=delta)
    for name in ["color_f32", "color_f64"]:
        image = tf.constant(arrays[name])  # of a NumPy array it makes f32
        writer.case("RgbToHsv", name, tf.image.rgb_to_hsv(image), CLOSE)
        writer.case("HsvToRgb", name, tf.image.hsv_to_rgb(image))
    for name in ["gray_u8"]:
        writer.case("GrayscaleToRgb", name, tf.image.grayscale_to_rgb(tf.constant(arrays[name])))
    add_convert(writer, arrays)


def add_convert(writer, arrays):
    dtypes = [tf.uint8, tf.int8, tf.int16, tf.int32, tf.int64, tf.float16, tf.bfloat16, tf.float32,
              tf.float64]
    sources = {name: arrays[name] for name in
               ["color_u8", "rgb_i8", "rgb_i16", "rgb_i32", "rgb_i64", "color_f16", "color_bf16",
                "color_f32", "color_f64", "color_batch_f32"]}
    for source, image in sources.items():
        name, image = f"few_{source}", image[:1, :3]
        writer.add(name, image)
        for dtype in dtypes:
            for saturate in (False, True):
                if name == "few_color_f16" and dtype == tf.int32:
                    continue  # TensorFlow's scale is infinite
                floating = np.issubdtype(image.dtype, np.floating) or image.dtype.name == "bfloat16"
                if floating and dtype.is_integer and not saturate and dtype.max * float(
                    image.max()) > dtype.max:
                    continue  # unspecified
                if floating and dtype == tf.int64:
                    continue  # 1 becomes 2**63, which overflows even with saturate
                if floating and dtype == tf.int32 and not saturate:
                    continue  # the same for 2**31
                if name == "few_color_f16" and dtype == tf.int16 and not saturate:
                    continue  # the same
                if name == "few_color_bf16" and dtype.is_integer and not saturate:
                    continue  # the same
                writer.case("ConvertImageDtype", name,
                            tf.image.convert_image_dtype(image, dtype, saturate=saturate),
                            dtype=dtype.name, saturate=int(saturate))


def main():
    writer = Writer()
    arrays = {**images(), **colors()}
    for name, value in arrays.items():
        writer.add(name, value)
    add_resize(writer, arrays)
    add_legacy(writer, arrays)
    add_crop_and_resize(writer, arrays)
    add_color(writer, arrays)
    writer.save()


if __name__ == "__main__":
    main()
