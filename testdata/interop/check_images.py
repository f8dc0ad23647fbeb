#!/usr/bin/env python3
"""Images: TensorFlow and we decode the same files and encode the same pixels.

  - JPEG: whole, cropped, at smaller sizes, with every option; pixels differ by at most one grey
  level
  - JPEG files that are cut off at every length give TensorFlow's pixels, or an error where
  TensorFlow gives one
  - PNG: every kind of file; the pixels are equal
  - encoded files decode in TensorFlow to what TensorFlow's own encoder gives
  - sizes and colors: results differ by at most one grey level

Usage: check_images.py IMAGE_TOOL [--sample_dir DIR]     (built from //tools/interop:image_tool)
The script draws pictures. If there is --sample_dir, or SAMPLE_DIR=DIR in the environment, it also
decodes all *.jpg, *.jpeg and *.JPEG files there. Needs tensorflow-cpu 2.15.1;
tools/verify_interop.sh installs it and runs this.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import pictures  # noqa: E402

raw = tf.raw_ops


class Jobs:
    """Collects jobs of image_tool, each with what TensorFlow computes, runs them in one process and
    compares."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.lines, self.checks = [], []
        self.largest = {}  # group -> largest difference

    def path(self, suffix):
        return os.path.join(self.directory, f"{len(self.lines)}{suffix}")

    def save(self, contents):
        path = os.path.join(self.directory,
                            f"in{len(self.lines)}_{len(os.listdir(self.directory))}")
        with open(path, "wb") as f:
            f.write(contents)
        return path

    def add(self, group, function, source, expected, tolerance, after=None, **options):
        """expected: an array, or None for an error. after: a function of the output's path that
        returns the array."""
        out = self.path(".out")
        words = [f"{name}={value if isinstance(value, str) else f'{float(value):.9g}'}" for name,
                 value in options.items()]
        self.lines.append(" ".join([function, source, out, *words]))
        self.checks.append((group, self.lines[-1], out, expected, tolerance, after or np.load))

    def run(self):
        jobs = os.path.join(self.directory, "jobs")
        with open(jobs, "w", encoding="utf-8") as f:
            f.write("\n".join(self.lines))
        subprocess.run([self.program, jobs], check=True)
        bad = 0
        for group, line, out, expected, tolerance, load in self.checks:
            problem = self._compare(group, out, expected, tolerance, load)
            if problem:
                bad += 1
                if bad <= 20:
                    print(f"{line}\n  {problem}")
        counts = {}
        for group, *_ in self.checks:
            counts[group] = counts.get(group, 0) + 1
        for group, count in counts.items():
            print(f"{group}: {count} compared, largest difference {self.largest.get(group, 0):g}")
        assert not bad, f"{bad} of {len(self.checks)} differ"
        self.lines, self.checks = [], []

    def _compare(self, group, out, expected, tolerance, load):
        if os.path.exists(out + ".error"):
            with open(out + ".error", encoding="utf-8") as f:
                error = f.read()
            return f"TensorFlow decodes this; ours: {error}" if expected is not None else None
        if expected is None:
            return "TensorFlow gives an error, ours decodes"
        ours = load(out)
        if ours.shape != expected.shape:
            return f"shape {ours.shape}, TensorFlow {expected.shape}"
        difference = np.abs(ours.astype(np.float64) - expected.astype(np.float64))
        largest = float(difference.max()) if difference.size else 0.0
        self.largest[group] = max(self.largest.get(group, 0), largest)
        if largest <= tolerance:
            return None
        return f"{np.sum(difference > tolerance)} pixels differ, by up to {largest:g}"


def result_of(function, **arguments):
    """What TensorFlow returns, or None if it gives an error."""
    try:
        return function(**arguments).numpy()
    except tf.errors.InvalidArgumentError:
        return None


JPEG_OPTIONS = [
    {}, {"channels": 1}, {"channels": 3}, {"ratio": 2}, {"ratio": 4}, {"ratio": 8},
    {"fancy_upscaling": False}, {"dct_method": "INTEGER_ACCURATE"}, {"channels": 1, "ratio": 2},
    {"fancy_upscaling": False, "ratio": 2},
]


def tool_options(options):
    words = {name: value for name, value in options.items() if name != "dct_method"}
    return {**words, "accurate": 1} if options.get("dct_method") == "INTEGER_ACCURATE" else words


def crop_windows(rng, height, width, count):
    """Random windows, and the whole image."""
    windows = [(0, 0, height, width)]
    for _ in range(count):
        h, w = rng.integers(1, height + 1), rng.integers(1, width + 1)
        windows.append((rng.integers(0, height - h + 1), rng.integers(0, width - w + 1), h, w))
    return [tuple(int(n) for n in window) for window in windows]


def add_jpeg(jobs, rng, group, source, contents, options, crops):
    image = result_of(raw.DecodeJpeg, contents=contents, **options)
    jobs.add(group, "decode_jpeg", source, image, 1, **tool_options(options))
    if image is None:
        return
    for y, x, height, width in crop_windows(rng, image.shape[0], image.shape[1], crops):
        cropped = result_of(raw.DecodeAndCropJpeg, contents=contents,
                            crop_window=[y, x, height, width], **options)
        jobs.add(group + ", cropped", "decode_and_crop_jpeg", source, cropped, 1, y=y, x=x,
                 height=height, width=width, **tool_options(options))


def check_jpegs(jobs, rng, sample_dir):
    for contents in pictures.jpegs().values():
        source = jobs.save(contents)
        for options in JPEG_OPTIONS:
            add_jpeg(jobs, rng, "drawn JPEG files", source, contents, options, crops=6)
    if sample_dir:
        paths = sorted(path for suffix in ("jpg", "jpeg", "JPEG")
                       for path in glob.glob(f"{sample_dir}/*.{suffix}"))
        assert paths, f"{sample_dir} has no JPEG files"
        for path in paths:
            with open(path, "rb") as f:
                contents = f.read()
            add_jpeg(jobs, rng, "sample", path, contents, {}, crops=2)
    jobs.run()


def checksum(image):
    return -1 if image is None else pictures.crc32c(image.tobytes()) & 0x7FFFFFFF


def check_truncated_jpegs(jobs):
    """Every length of a cut-off file, with and without recovery."""
    for name, contents in pictures.jpegs_to_cut().items():
        for options in pictures.options_of_cut(name):
            first = pictures.first_cut(contents, options)
            height, width, _ = tf.io.decode_jpeg(contents).shape
            window = [height // 4, width // 4, height // 4, width // 2]
            expected = np.array([
                [checksum(result_of(raw.DecodeJpeg, contents=contents[:size], **options)),
                 checksum(result_of(raw.DecodeAndCropJpeg, contents=contents[:size],
                                    crop_window=window, **options))]
                for size in range(first, len(contents))])
            names = dict(zip(("y", "x", "height", "width"), window))
            jobs.add(f"cut-off JPEG file {name} {options}", "every_prefix", jobs.save(contents),
                     expected, 0, first=first, **names, **options)
    jobs.run()


def check_pngs(jobs):
    for contents in pictures.pngs().values():
        source = jobs.save(contents)
        for channels in range(5):
            for bits, dtype in ((8, tf.uint8), (16, tf.uint16)):
                # DecodePng refuses 2 channels, which its decoder supports.
                if channels == 2:
                    continue
                image = result_of(raw.DecodePng, contents=contents, channels=channels, dtype=dtype)
                jobs.add("PNG files", "decode_png", source, image, 0, channels=channels, bits=bits)
            if channels != 2:
                image = result_of(raw.DecodeImage, contents=contents, channels=channels,
                                  dtype=tf.float32)
                jobs.add("PNG files as float32", "decode_image", source, image, 0,
                         channels=channels, bits=32)
    for name, contents in [*pictures.jpegs().items(), *pictures.bmps().items()]:
        source = jobs.save(contents)
        for channels in (0, 1, 3, 4):
            # TensorFlow allocates a negative size for a BMP whose first row is the top one, unless
            # it is uint8.
            for bits, dtype in ((8, tf.uint8), (16, tf.uint16),
                                (32, tf.float32))[:1 if name == "top_down" else 3]:
                image = result_of(raw.DecodeImage, contents=contents, channels=channels,
                                  dtype=dtype)
                jobs.add("decode_image", "decode_image", source, image,
                         {8: 1, 16: 256, 32: 1 / 255}[bits], channels=channels, bits=bits)
    jobs.run()


def check_encoders(jobs):
    def load_bytes(path):
        with open(path, "rb") as f:
            return np.frombuffer(f.read(), np.uint8)

    for name, image in pictures.arrays().items():
        source = jobs.path(f"_{name}.npy")
        np.save(source, image.astype(np.int32) if image.dtype == np.uint16 else image)
        for compression in (-1, 0, 9):
            jobs.add("encoded PNG files", "encode_png", source, image, 0,
                     after=lambda path,
                     d=image.dtype: tf.io.decode_png(load_bytes(path).tobytes(), dtype=d).numpy(),
                     compression=compression)
        if image.dtype == np.uint8 and image.shape[2] in (1, 3):
            for options in ({}, {"quality": 30}, {"progressive": True}, {"optimize_size": True},
                            {"chroma_downsampling": False, "quality": 100}):
                theirs = raw.EncodeJpeg(image=image, **options).numpy()
                jobs.add("encoded JPEG files", "encode_jpeg", source,
                         np.frombuffer(theirs, np.uint8), 0, after=load_bytes, **options)
    jobs.run()


RESIZE_OPTIONS = [
    {"method": "bilinear"}, {"method": "bicubic"}, {"method": "area"}, {"method": "nearest"},
    {"method": "bilinear", "antialias": True}, {"method": "lanczos3", "antialias": True},
    {"method": "mitchellcubic", "antialias": False},
]


def add_ops(jobs, group, image):
    """Resizes a picture of u8 down and up, and changes its colors."""
    source = jobs.path(".npy")
    np.save(source, image)
    for size in ((224, 224), (331, 57)):
        for options in RESIZE_OPTIONS:
            jobs.add(f"{group}: resize", "Resize", source,
                     tf.image.resize(image, size, **options).numpy(), 1,
                     size=f"{size[0]},{size[1]}", **options)
        for name, function in (("ResizeBilinear", raw.ResizeBilinear),
                               ("ResizeBicubic", raw.ResizeBicubic)):
            for align_corners in (False, True):
                theirs = function(images=image[None], size=size,
                                  align_corners=align_corners)[0].numpy()
                jobs.add(f"{group}: resize", name, source, theirs, 1, size=f"{size[0]},{size[1]}",
                         align_corners=align_corners)
    colors = [("AdjustBrightness", "delta", tf.image.adjust_brightness, 0.2),
              ("AdjustContrast", "contrast_factor", tf.image.adjust_contrast, 1.4),
              ("AdjustSaturation", "saturation_factor", tf.image.adjust_saturation, 0.7),
              ("AdjustHue", "delta", tf.image.adjust_hue, -0.1)]
    for name, argument, function, value in colors:
        jobs.add(f"{group}: colors", name, source, function(image, value).numpy(), 1,
                 **{argument: value})
    jobs.add(f"{group}: colors", "RgbToGrayscale", source, tf.image.rgb_to_grayscale(image).numpy(),
             1)


def check_ops(jobs, sample_dir):
    rng = np.random.default_rng(2)
    add_ops(jobs, "drawn picture", rng.integers(0, 256, (190, 251, 3)).astype(np.uint8))
    if sample_dir:
        for path in sorted(glob.glob(f"{sample_dir}/*.[jJ]*[gG]"))[:20]:
            with open(path, "rb") as f:
                add_ops(jobs, "sample", tf.io.decode_jpeg(f.read(), channels=3).numpy())
    jobs.run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("image_tool")
    parser.add_argument("--sample_dir", default=os.environ.get("SAMPLE_DIR"))
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as directory:
        jobs = Jobs(os.path.abspath(arguments.image_tool), directory)
        check_jpegs(jobs, rng, arguments.sample_dir)
        check_truncated_jpegs(jobs)
        check_pngs(jobs)
        check_encoders(jobs)
        check_ops(jobs, arguments.sample_dir)


if __name__ == "__main__":
    main()
