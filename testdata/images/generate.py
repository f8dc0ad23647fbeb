#!/usr/bin/env python3
"""Writes small image files, and what TensorFlow decodes from them.

Command: python generate.py     (needs tensorflow-cpu 2.15.1; writes into the folder of this script)
The output is the same at every run.

  jpeg/ png/ bmp/  files that pictures.py draws
  pixels/          arrays to encode, as .npy; 16 bits are int32
  goldens.txt      a line for each call: FUNCTION FILE [OPTION=NUMBER ...] -> RESULT
                   RESULT is "dtype size,size,... checksum", "checksum" of a file, or "error". A
                   checksum is the lower 31 bits of a crc32c.
                   estimator/image/testing/image_functions.h describes the functions.
"""

import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import pictures  # noqa: E402

raw = tf.raw_ops
HERE = os.path.dirname(os.path.realpath(__file__))
JPEG_OPTIONS = [
    {}, {"channels": 1}, {"channels": 3}, {"ratio": 2}, {"ratio": 4}, {"ratio": 8},
    {"fancy_upscaling": False}, {"dct_method": "INTEGER_ACCURATE"}, {"channels": 1, "ratio": 2},
    {"fancy_upscaling": False, "ratio": 2},
]
lines = []


def result_of(function, **arguments):
    """What TensorFlow returns, or None for an error."""
    try:
        return function(**arguments).numpy()
    except tf.errors.InvalidArgumentError:
        return None


def checksum(data):
    return pictures.crc32c(data) & 0x7FFFFFFF


def checksum_of(image):
    return -1 if image is None else checksum(image.tobytes())


def add(function, path, image, **options):
    if "dct_method" in options:
        options = {**{name: value for name, value in options.items() if name != "dct_method"},
                   "accurate": 1}
    words = [function, path, *(f"{name}={float(value):g}" for name, value in options.items())]
    if image is None:
        result = "error"
    elif isinstance(image, bytes):
        result = str(checksum(image))
    else:
        image = image.astype(np.int32) if image.dtype == np.uint16 else image
        result = f"{image.dtype} {','.join(map(str, image.shape))} {checksum(image.tobytes())}"
    lines.append(" ".join([*words, "->", result]))


def write(path, contents):
    with open(os.path.join(HERE, path), "wb") as file:
        file.write(contents)
    return path


def add_jpegs(rng):
    for name, contents in pictures.jpegs().items():
        path = write(f"jpeg/{name}.jpg", contents)
        add("extract_jpeg_shape", path, result_of(raw.ExtractJpegShape, contents=contents))
        for options in JPEG_OPTIONS:
            image = result_of(raw.DecodeJpeg, contents=contents, **options)
            add("decode_jpeg", path, image, **options)
            if image is None:
                continue
            for _ in range(1 if options else 2):
                height, width = (int(rng.integers(1, size + 1)) for size in image.shape[:2])
                y, x = int(rng.integers(0, image.shape[0] - height
                                        + 1)), int(rng.integers(0, image.shape[1] - width + 1))
                cropped = raw.DecodeAndCropJpeg(contents=contents,
                                                crop_window=[y, x, height, width],
                                                **options).numpy()
                add("decode_and_crop_jpeg", path, cropped, y=y, x=x, height=height, width=width,
                    **options)


def add_truncated_jpegs():
    for name, contents in pictures.jpegs_to_cut().items():
        path = write(f"jpeg/cut_{name}.jpg", contents)
        height, width, _ = raw.DecodeJpeg(contents=contents).shape
        window = [height // 4, width // 4, height // 4, width // 2]
        for options in pictures.options_of_cut(name):
            first = pictures.first_cut(contents, options)
            sums = [(checksum_of(result_of(raw.DecodeJpeg, contents=contents[:size], **options)),
                     checksum_of(result_of(raw.DecodeAndCropJpeg, contents=contents[:size],
                                           crop_window=window, **options)))
                    for size in range(first, len(contents))]
            add("every_prefix", path, np.array(sums, np.int32), first=first,
                **dict(zip(("y", "x", "height", "width"), window)), **options)


def add_pngs():
    for name, contents in pictures.pngs().items():
        path = write(f"png/{name}.png", contents)
        for channels in (0, 1, 3, 4):
            for bits, dtype in ((8, tf.uint8), (16, tf.uint16)):
                add("decode_png", path,
                    result_of(raw.DecodePng, contents=contents, channels=channels, dtype=dtype),
                    channels=channels, bits=bits)
        add("decode_image", path, result_of(raw.DecodeImage, contents=contents, dtype=tf.float32),
            bits=32)


def add_other_images():
    paths = [(write(f"bmp/{name}.bmp", contents), contents) for name,
             contents in pictures.bmps().items()]
    paths.append(("jpeg/rgb_420.jpg", pictures.jpegs()["rgb_420"]))
    for path, contents in paths:
        for channels in (0, 1, 3, 4):
            # TensorFlow allocates a negative size for a BMP whose first row is the top one, and
            # another dtype than uint8.
            for bits, dtype in ((8, tf.uint8),) if "top_down" in path else ((8, tf.uint8),
                                                                            (16, tf.uint16),
                                                                            (32, tf.float32)):
                image = result_of(raw.DecodeImage, contents=contents, channels=channels,
                                  dtype=dtype)
                add("decode_image", path, image, channels=channels, bits=bits)


def add_encoded():
    for name, image in pictures.arrays().items():
        path = f"pixels/{name}.npy"
        np.save(os.path.join(HERE, path), image.astype(np.int32) if image.dtype == np.uint16
                else image)
        if image.dtype != np.uint8 or image.shape[2] not in (1, 3):
            continue
        for options in ({}, {"quality": 30}, {"quality": 0}, {"progressive": True},
                        {"optimize_size": True}, {"chroma_downsampling": False, "quality": 100}):
            add("encode_jpeg", path, raw.EncodeJpeg(image=image, **options).numpy(), **options)


def main():
    for folder in ("jpeg", "png", "bmp", "pixels"):
        shutil.rmtree(os.path.join(HERE, folder), ignore_errors=True)
        os.mkdir(os.path.join(HERE, folder))
    add_jpegs(np.random.default_rng(1))
    add_truncated_jpegs()
    add_pngs()
    add_other_images()
    add_encoded()
    with open(os.path.join(HERE, "goldens.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
