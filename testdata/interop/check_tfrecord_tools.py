#!/usr/bin/env python3
"""TensorFlow reads what the tools for TFRecords write, byte for byte, and the tools read what
TensorFlow writes.

Usage: check_tfrecord_tools.py TFRECORD TO_TFRECORD IMAGENET_TO_TFRECORD     (built from tools/)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import glob
import gzip
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


class Tool:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def __call__(self, *arguments, code=0):
        run = subprocess.run([self.path, *arguments], capture_output=True, text=True)
        assert run.returncode == code, (arguments, run.returncode, run.stdout, run.stderr)
        return run.stdout + run.stderr


def records_of(path, compression=""):
    return [record.numpy()
            for record in tf.data.TFRecordDataset(path, compression_type=compression)]


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, records, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)


def save(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def feature(value):
    if isinstance(value, (bytes, str)):
        value = [value]
    value = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    if value and isinstance(value[0], (bytes, str)):
        value = [v.encode() if isinstance(v, str) else v for v in value]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if value and isinstance(value[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def serialized(features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(
        deterministic=True)


def pictures(seed, count, channels=3):
    random = np.random.RandomState(seed)
    return [random.randint(0, 256, [12 + i, 17, channels], np.uint8) for i in range(count)]


def same_file_after_tensorflow(path, directory):
    """TensorFlow reads the records of a file and writes them to a file with the same bytes."""
    copy = os.path.join(directory, "copy")
    write(copy, records_of(path))
    assert contents(copy) == contents(path), path


def folders(tfrecord, to_tfrecord, _, directory):
    """Records by folder equal Examples that TensorFlow serializes, and so does the file."""
    source, output = os.path.join(directory, "in"), os.path.join(directory, "out")
    files = {}
    for label, name in enumerate(("cat", "dog")):
        for i, image in enumerate(pictures(label, 5)):
            data = tf.io.encode_jpeg(image).numpy() if i % 2 else tf.io.encode_png(image).numpy()
            files[f"{name}{i}"] = (data, label + 1, name, image.shape)
            save(os.path.join(source, name, f"{name}{i}"), data)
    to_tfrecord("--input_dir=" + source, "--output_dir=" + output, "--num_shards=3")
    seen = 0
    for path in sorted(glob.glob(os.path.join(output, "train-*"))):
        same_file_after_tensorflow(path, directory)
        for record in records_of(path):
            features = tf.train.Example.FromString(record).features.feature
            name = features["image/filename"].bytes_list.value[0].decode()
            data, label, text, shape = files[name]
            expected = {"image/height": shape[0], "image/width": shape[1], "image/channels": 3,
                        "image/colorspace": "RGB", "image/format": "JPEG" if data[:2] == b"\xff\xd8"
                        else "PNG", "image/encoded": data, "image/filename": name,
                        "image/class/label": label, "image/class/text": text}
            assert record == serialized({key: feature(value) for key,
                                         value in expected.items()}), name
            seen += 1
    assert seen == len(files), seen
    assert "10 records" in tfrecord("verify", output + "/train-00000-of-00003",
                                    output + "/train-00001-of-00003",
                                    output + "/train-00002-of-00003", "--images")


def keys_of_users(tfrecord, to_tfrecord, _, directory):
    """A CSV with a column for each label becomes what programs on the web parse."""
    source, output = os.path.join(directory, "in"), os.path.join(directory, "out")
    images = pictures(7, 4)
    columns = ["healthy", "rust", "scab"]
    targets = [[1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1]]
    lines = ["image_id," + ",".join(columns)]
    for i, image in enumerate(images):
        save(os.path.join(source, f"Train_{i}.jpg"), tf.io.encode_jpeg(image, quality=100).numpy())
        lines.append(f"Train_{i}," + ",".join(map(str, targets[i])))
    save(os.path.join(source, "train.csv"), "\n".join(lines).encode())
    flags = ["--input_dir=" + source, "--csv=train.csv", "--path_suffix=.jpg",
             "--label_columns=" + ",".join(columns), "--nodefault_keys", "--image_key=image",
             "--filename_key=image_name", "--noshuffle", "--counts_in_names"]
    to_tfrecord(*flags, "--output_dir=" + output, "--label_key=target",
                "--one_hot_key=one_hot_class")
    path = os.path.join(output, "train-00000-of-00001-4.tfrec")
    spec = {"image": tf.io.FixedLenFeature([], tf.string),
            "image_name": tf.io.FixedLenFeature([], tf.string),
            "target": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
            "one_hot_class": tf.io.VarLenFeature(tf.float32)}
    for i, record in enumerate(records_of(path)):
        parsed = tf.io.parse_single_example(record, spec)
        assert parsed["image"].numpy() == contents(os.path.join(source, f"Train_{i}.jpg"))
        assert parsed["image_name"].numpy() == f"Train_{i}".encode()
        assert parsed["target"].numpy().tolist() == targets[i]
        assert tf.sparse.to_dense(parsed["one_hot_class"]).numpy().tolist() == targets[i]
    assert "4 records" in tfrecord("count", path)
    columns_out = os.path.join(directory, "columns")
    to_tfrecord(*flags, "--output_dir=" + columns_out, "--label_format=columns")
    spec = {key: tf.io.FixedLenFeature([], tf.int64) for key in columns}
    for i, record in enumerate(records_of(os.path.join(columns_out,
                                                       "train-00000-of-00001-4.tfrec"))):
        parsed = tf.io.parse_single_example(record, spec)
        assert [parsed[key].numpy() for key in columns] == targets[i]


def idx(_, to_tfrecord, __, directory):
    images = np.random.RandomState(3).randint(0, 256, [6, 28, 28], np.uint8)
    labels = bytes([3, 1, 4, 1, 5, 9])
    header = b"\0\0\x08\x03" + b"".join(size.to_bytes(4, "big") for size in images.shape)
    save(os.path.join(directory, "in/train-images-idx3-ubyte.gz"),
         gzip.compress(header + images.tobytes()))
    save(os.path.join(directory, "in/train-labels-idx1-ubyte.gz"),
         gzip.compress(b"\0\0\x08\x01\0\0\0\x06" + labels))
    output = os.path.join(directory, "out")
    to_tfrecord("--input_dir=" + os.path.join(directory, "in"), "--output_dir=" + output,
                "--noshuffle", "--compression=zlib")
    records = records_of(os.path.join(output, "train-00000-of-00001"), "ZLIB")
    assert len(records) == 6
    for record, image, label in zip(records, images, labels):
        features = tf.train.Example.FromString(record).features.feature
        assert features["image/class/label"].int64_list.value[0] == label
        assert np.array_equal(
            tf.io.decode_png(features["image/encoded"].bytes_list.value[0])[:, :, 0], image)


def imagenet(tfrecord, _, imagenet_to_tfrecord, directory):
    """Records equal those of build_imagenet_data.py, whose _convert_to_example and _process_image
    these lines repeat."""
    source, output = os.path.join(directory, "in"), os.path.join(directory, "out")
    synsets = {"n01440764": "tench, Tinca tinca", "n01443537": "goldfish, Carassius auratus"}
    boxes = {"n01440764_1.JPEG": [[0.0060, 0.2620, 0.7545, 0.9940], [0.1, 0.2, 0.3, 0.4]]}
    rgb, gray, png = pictures(1, 3)
    encoded = {("n01440764", 1): tf.io.encode_jpeg(rgb).numpy(),
               ("n01440764", 2): tf.io.encode_jpeg(gray[:, :, :1], format="grayscale").numpy(),
               ("n01443537", 3): tf.io.encode_png(png).numpy(),
               ("n01443537", 4): contents(os.path.join(os.path.dirname(__file__),
                                                       "../images/jpeg/cmyk_adobe.jpg"))}
    for (synset, number), data in encoded.items():
        save(os.path.join(source, f"train/{synset}/{synset}_{number}.JPEG"), data)
    save(os.path.join(source, "validation/ILSVRC2012_val_00000001.JPEG"), encoded["n01440764", 1])
    save(os.path.join(source, "imagenet_2012_validation_synset_labels.txt"), b"n01443537\n")
    save(os.path.join(source, "imagenet_lsvrc_2015_synsets.txt"), "\n".join(synsets).encode())
    save(os.path.join(source, "imagenet_metadata.txt"),
         "\n".join(f"{k}\t{v}" for k, v in synsets.items()).encode())
    save(os.path.join(source, "imagenet_2012_bounding_boxes.csv"),
         "".join(f"{name},{x0:.4f},{y0:.4f},{x1:.4f},{y1:.4f}\n" for name, of in boxes.items()
                 for x0, y0, x1, y1 in of).encode())
    imagenet_to_tfrecord("--input_dir=" + source, "--output_dir=" + output, "--train_shards=2",
                         "--validation_shards=1")
    records = {}
    for path in glob.glob(os.path.join(output, "train-*")):
        same_file_after_tensorflow(path, directory)
        for record in records_of(path):
            name = tf.train.Example.FromString(record).features.feature[
                "image/filename"].bytes_list.value[0]
            records[name.decode()] = record
    assert len(records) == 4, records.keys()
    for (synset, number), data in encoded.items():
        name = f"{synset}_{number}.JPEG"
        if number in (3, 4):  # PNG and CMYK
            image = tf.io.decode_png(data, channels=3) if number == 3 else tf.io.decode_jpeg(
                data, channels=0)
            want = tf.io.decode_jpeg(tf.io.encode_jpeg(image, format="rgb", quality=100),
                                     channels=3)
            data = tf.train.Example.FromString(records[name]).features.feature[
                "image/encoded"].bytes_list.value[0]
            got = tf.io.decode_jpeg(data, channels=3)
            assert np.abs(got.numpy().astype(int) - want.numpy()).max() <= 1
        shape = tf.io.decode_jpeg(data, channels=3).shape
        of = boxes.get(name, [])
        label = list(synsets).index(synset) + 1
        empty_ints = tf.train.Feature(int64_list=tf.train.Int64List())
        expected = {"image/height": shape[0], "image/width": shape[1], "image/colorspace": "RGB",
                    "image/channels": 3, "image/class/label": label, "image/class/synset": synset,
                    "image/class/text": synsets[synset],
                    "image/object/bbox/xmin": [b[0] for b in of],
                    "image/object/bbox/xmax": [b[2] for b in of],
                    "image/object/bbox/ymin": [b[1] for b in of],
                    "image/object/bbox/ymax": [b[3] for b in of],
                    "image/object/bbox/label": [label] * len(of), "image/format": "JPEG",
                    "image/filename": name, "image/encoded": data}
        features = {key: feature(value) for key, value in expected.items()}
        if not of:
            features["image/object/bbox/label"] = empty_ints
        assert records[name] == serialized(features), name
    validation = records_of(os.path.join(output, "validation-00000-of-00001"))
    assert tf.train.Example.FromString(validation[0]).features.feature[
        "image/class/label"].int64_list.value[0] == 2
    assert "goldfish" in tfrecord("stats", os.path.join(output, "validation-00000-of-00001"))


def files_of_tensorflow(tfrecord, _, __, directory):
    """The tools read and copy what TensorFlow writes, compressed and not."""
    records = [serialized({"image": feature(tf.io.encode_png(image).numpy()),
                           "class": feature(i % 3)})
               for i, image in enumerate(pictures(5, 20))] + [serialized({"class": feature(1)}) * 3]
    path = os.path.join(directory, "a.tfrec")
    write(path, records)
    merged = os.path.join(directory, "merged")
    for compression in ("", "GZIP", "ZLIB"):
        compressed = os.path.join(directory, "a" + compression)
        write(compressed, records, compression)
        flag = "--compression=" + (compression or "none")
        tfrecord("merge", compressed, merged, flag, "--force")
        assert contents(merged) == contents(path)
        tfrecord("merge", path, merged, "--output_compression=" + (compression or "none"),
                 "--force")
        assert records_of(merged, compression) == records
        assert "21 records" in tfrecord("verify", merged, flag, "--noexamples")
    tfrecord("split", path, os.path.join(directory, "part"), "--num_shards=4")
    parts = sorted(glob.glob(os.path.join(directory, "part-*")))
    assert [len(records_of(part)) for part in parts] == [5, 5, 5, 6]
    assert sum((records_of(part) for part in parts), []) == records
    sheet = os.path.join(directory, "sheet.png")
    tfrecord("sample", parts[0], sheet, "--image_key=image", "--label_key=class", "--num=4",
             "--side=64")
    assert tf.io.decode_png(contents(sheet)).shape[1] == 2 * 70 + 6


def main():
    tools = [Tool(path) for path in sys.argv[1:4]]
    for check in (folders, keys_of_users, idx, imagenet, files_of_tensorflow):
        with tempfile.TemporaryDirectory() as directory:
            check(*tools, directory)
        print(f"passed: {check.__name__}")


if __name__ == "__main__":
    main()
