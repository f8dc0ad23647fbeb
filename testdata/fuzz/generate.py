#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets from files that TensorFlow writes.

Usage: generate.py     (needs tensorflow-cpu 2.15.1; writes <target>/<seed> beside this script)
The comments of the *_fuzz.cc files describe the format of the seeds.
"""

import gzip
import io
import os
import struct
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "images"))
import pictures  # noqa: E402


def save(target, name, contents):
    os.makedirs(os.path.join(HERE, target), exist_ok=True)
    with open(os.path.join(HERE, target, name), "wb") as file:
        file.write(contents)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def chunk(contents):
    return struct.pack("<H", len(contents)) + contents


def varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def table_entries(index):
    """Returns key and value of every entry of a table that has one uncompressed data block."""
    footer = index[-48:]
    position = 0
    handles = []
    for _ in range(4):
        value, position = varint(footer, position)
        handles.append(value)
    block = index[: handles[0] - 5]  # up to the meta block
    restarts = struct.unpack("<I", block[-4:])[0]
    end = len(block) - 4 - 4 * restarts
    position, key, entries = 0, b"", []
    while position < end:
        shared, position = varint(block, position)
        fresh, position = varint(block, position)
        size, position = varint(block, position)
        key = key[:shared] + block[position : position + fresh]
        position += fresh
        entries.append((key, block[position : position + size]))
        position += size
    return entries, block


def checkpoints(directory):
    v1 = tf.compat.v1
    cases = {
        "dense": lambda: [v1.get_variable("dense/kernel", initializer=tf.ones([3, 2])),
                          v1.get_variable("global_step", initializer=tf.constant(7, tf.int64))],
        "partitioned": lambda: [v1.get_variable("part", shape=[5, 2],
                                                initializer=v1.ones_initializer(),
                                                partitioner=v1.fixed_size_partitioner(2, axis=axis))
                                for axis in (0,)],
        "strings": lambda: [v1.get_variable("text", initializer=tf.constant(["", "hello"])),
                            v1.get_variable("complex", initializer=tf.constant([1j], tf.complex64)),
                            v1.get_variable("flags", initializer=tf.constant([True, False]))],
    }
    for name, build in cases.items():
        prefix = os.path.join(directory, name)
        with tf.Graph().as_default(), v1.Session() as session:
            build()
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, prefix, write_meta_graph=False)
        index, data = read(prefix + ".index"), read(prefix + ".data-00000-of-00001")
        entries, block = table_entries(index)
        save("bundle", f"raw_{name}", b"\0" + chunk(index) + data)
        fields = b"".join(chunk(key) + chunk(value) for key, value in entries)
        save("bundle", f"entries_{name}", b"\x01" + chunk(data) + fields)
        save("bundle", f"mended_{name}", b"\x07" + chunk(data) + fields)
        save("index_table", f"raw_{name}", b"\0" + index)
        with tf.Graph().as_default(), v1.Session() as session:
            build()
            session.run(v1.global_variables_initializer())
            v1.train.Saver(write_version=v1.train.SaverDef.V1).save(session, prefix,
                                                                    write_meta_graph=False)
        old = read(prefix)
        entries, _ = table_entries(old)
        save("v1_checkpoint", f"raw_{name}", b"\0" + old)
        save("v1_checkpoint", f"entries_{name}",
             b"\x01" + b"".join(chunk(key) + chunk(value) for key, value in entries))
        save("v1_checkpoint", f"listed_{name}",
             b"\x03" + b"".join(chunk(value) for _, value in entries))
        save("index_table", f"data_block_{name}", b"\x01" + block)
    # An index block of one entry, of a data block at offset 0; and the same by snappy, as a
    # literal.
    entry = b"\0\x03\x02zzz\0\x14" + struct.pack("<II", 0, 1)
    save("index_table", "index_block", b"\x02" + entry)
    save("index_table", "snappy", b"\x04" + bytes([len(entry), (len(entry) - 1) << 2]) + entry)


def records(directory):
    bodies = [b"", b"hello", b"x" * 300]
    for mode, compression in enumerate(["", "GZIP", "ZLIB"]):
        path = os.path.join(directory, "records" + compression)
        with tf.io.TFRecordWriter(path, compression) as writer:
            for body in bodies:
                writer.write(body)
        contents = bytearray(read(path))
        if compression == "GZIP":
            contents[4:8] = bytes(4)  # the time
        save("tfrecord", "raw" + compression.lower(), bytes([mode]) + bytes(contents))
        save("tfrecord", "chunks" + compression.lower(),
             bytes([mode | 12]) + b"".join(chunk(body) for body in bodies))


def events(directory):
    event = tf.compat.v1.Event
    summary = tf.compat.v1.Summary
    values = [
        event(wall_time=1, file_version="brain.Event:2"),
        event(wall_time=2, step=5,
              summary=summary(value=[summary.Value(tag="loss", simple_value=0.5)])),
        event(wall_time=3, step=6, summary=summary(value=[
            summary.Value(tag="text", tensor=tf.make_tensor_proto(["a"])),
            summary.Value(tag="scalar", tensor=tf.make_tensor_proto(1.5)),
            summary.Value(tag="half", tensor=tf.make_tensor_proto([2.0], tf.float64)),
            summary.Value(tag="image", image=summary.Image(height=1, width=1, colorspace=1,
                                                           encoded_image_string=b"png"))])),
        event(wall_time=4, step=7, graph_def=b"graph"),
    ]
    path = os.path.join(directory, "events")
    with tf.io.TFRecordWriter(path) as writer:
        for value in values:
            writer.write(value.SerializeToString())
    save("event", "raw", b"\0" + read(path))
    save("event", "chunks", b"\x01" + b"".join(chunk(value.SerializeToString())
                                               for value in values))


def examples():
    def feature(**kwargs):
        return tf.train.Feature(**{key: {"bytes_list": tf.train.BytesList,
                                         "float_list": tf.train.FloatList,
                                         "int64_list": tf.train.Int64List}[key](value=value)
                                   for key, value in kwargs.items()})
    full = {"image": feature(bytes_list=[b"abcd"]), "label": feature(int64_list=[3]),
            "floats": feature(float_list=[1, 2]), "rows": feature(int64_list=[1, 2, 3, 4]),
            "any": feature(bytes_list=[b"a", b""]), "var": feature(float_list=[1, 2, 3]),
            "var_any": feature(int64_list=[-1])}
    for name, features in {"full": full, "empty": {},
                           "wrong": {"label": feature(float_list=[1]), "var": feature()}}.items():
        example = tf.train.Example(features=tf.train.Features(feature=features))
        save("parse_example", name, example.SerializeToString(deterministic=True))
    lists = {"rows": tf.train.FeatureList(feature=[feature(int64_list=[1, 2]),
                                                   feature(int64_list=[3, 4])]),
             "padded": tf.train.FeatureList(feature=[feature(float_list=[1])]),
             "var": tf.train.FeatureList(feature=[feature(bytes_list=[b"a", b"b"]), feature()])}
    sequence = tf.train.SequenceExample(
        context=tf.train.Features(feature={"label": feature(int64_list=[3])}),
                                        feature_lists=tf.train.FeatureLists(feature_list=lists))
    save("parse_example", "sequence", sequence.SerializeToString(deterministic=True))


def lines():
    save("decode_csv", "plain", b"\x001,2.5,a")
    save("decode_csv", "quotes", b'\x011,"a,""b""",')
    save("decode_csv", "selected", b"\x03x,1,NA,y")
    save("decode_csv", "semicolons", b'\x05-7;"1;\n2";inf')
    save("decode_csv", "wrong", b'\x011,a"b')


def tables():
    save("csv_table", "plain", b"path,label\na.jpg,3\n\nb.jpg,4\n")
    save("csv_table", "quotes", b'\xef\xbb\xbfid,"a ""b"", c"\r\n"x,\ny",\r\n')
    save("csv_table", "open_quote", b'a,b\n1,"2\n')
    save("csv_table", "short_row", b"a,b\n1\n")
    save("csv_table", "same_names", b"a,a\n1,2\n")
    save("feature_file", "fixed", b"# name type shape\nimage raw:uint8 [28,28]\nlabel int64 [] "
                                  b"default=0\n")
    save("feature_file", "variable", b"words int64 var[12] default=-1\nscores float32 [2] "
                                     b"default=0.5,1e3\n")
    save("feature_file", "wrong", b"a float32\nb string [] default=x y\nc int32 [0]\n")


def idx_files():
    def idx(code, sizes, values):
        return bytes([0, 0, code, len(sizes)]) + b"".join(struct.pack(">I", n)
                                                          for n in sizes) + values
    save("idx", "images", idx(0x08, [2, 3, 2], bytes(range(12))))
    save("idx", "floats", idx(0x0D, [2], struct.pack(">2f", 1.5, -2)))
    save("idx", "scalar", idx(0x0E, [], struct.pack(">d", 0.1)))
    save("idx", "empty", idx(0x0B, [0, 0xFFFFFFFF], b""))
    save("idx", "gzip", gzip.compress(idx(0x08, [3], b"abc"), mtime=0))
    save("idx", "truncated", idx(0x0C, [2, 2], bytes(12)))


def bitmaps():
    def bmp(width, height, channels):
        row = bytes(range(1, 1 + width * channels))
        rows = (row + bytes(-len(row) % 4)) * abs(height)
        return (b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54)
                + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, len(rows), 0,
                              0, 0, 0) + rows)
    for number, (name, size) in enumerate({"grey": (3, 2, 1), "rgb": (3, 2, 3),
                                           "top_down": (2, -3, 3), "rgba": (1, 1, 4)}.items()):
        save("bmp", name, bytes([number % 2 * size[2]]) + bmp(*size))


def arrays():
    def npy(array, version=(1, 0)):
        out = io.BytesIO()
        np.lib.format.write_array(out, array, version)
        return out.getvalue()
    save("npy", "floats", npy(np.arange(3, dtype=np.float32)))
    save("npy", "scalar", npy(np.int64(7).reshape(())))
    save("npy", "bools2", npy(np.array([[True], [False]]), (2, 0)))
    save("npy", "bytes", npy(np.array([b"ab", b"abc"])))
    save("npy", "characters", npy(np.array(["\u00e9", "\u20aca"]), (3, 0)))
    save("npy", "fortran", npy(np.asfortranarray(np.zeros([2, 2]))))


def images():
    jpegs = pictures.jpegs()
    for number, name in enumerate(("quality_20", "grey_progressive", "one_pixel", "rgb_422",
                                   "rgb_420_restarts", "cmyk", "ycck", "two_components")):
        flags = (number << 4 & 0x70) | number % 4 << 2 | (0x80 if number % 2 else 0)
        save("jpeg", name, bytes([flags, 255, 30, 60, 100, 120]) + jpegs[name])
    pngs = pictures.pngs()
    for number, name in enumerate(("grey_1", "grey_2_transparent_interlaced", "palette_4",
                                   "palette_4_transparent", "grey_16", "channels_2_8",
                                   "channels_3_8_interlaced", "channels_4_16", "gamma",
                                   "significant_bits")):
        save("png", name, bytes([number % 3 << 3 | number % 5]) + pngs[name])


def elements():
    """Elements of Dataset::Cache(filename): the format is in
    estimator/data/pipeline/element_bytes.h."""
    def array(name, dtype, sizes, values):
        return bytes([len(name)]) + name + bytes([dtype, len(sizes), *sizes]) + values
    int64 = array(b"", 9, [], b"\x08" + (7).to_bytes(8, "little"))
    image = array(b"image", 4, [2, 2], b"\x04\x01\x02\x03\xff")
    words = array(b"words", 7, [2], b"\x01a\x02bc")
    none = array(b"none", 1, [0, 3], b"\x00")
    save("element_bytes", "scalar", b"\x01" + int64 + b"\x00")
    save("element_bytes", "labelled", b"\x03" + image + none + words + b"\x01" + int64)
    save("element_bytes", "nothing", b"\x00\x00")


def keras_files():
    """Small files with the layouts of Keras: those of Keras itself are ten times as large."""
    def h5(fill, **options):
        stream = io.BytesIO()
        with h5py.File(stream, "w", **options) as file:
            fill(file)
        return stream.getvalue()

    def legacy(file):  # save_weights("w.h5")
        group = file.create_group("dense")
        group.attrs["weight_names"] = np.array([b"dense/kernel:0", b"dense/bias:0"])
        group.create_dataset("dense/kernel:0", data=np.ones([2, 3], np.float32))
        group.create_dataset("dense/bias:0", data=np.zeros([3], np.float16))

    def chunked(file):
        group = file.create_group("d")
        group.attrs["weight_names0"] = np.array([b"k:0"])
        group.create_dataset("k:0", data=np.arange(6, dtype=">i4").reshape(2, 3), chunks=(1, 2))
        group.create_dataset("s:0", data=np.float64(3))
        group.create_dataset("e:0", shape=(0, 2), dtype=np.int64)

    def numbered(file):  # model.weights.h5
        file.create_dataset("layers/dense/vars/0", data=np.ones([2, 3], np.float32))
        file.create_dataset("layers/dense/vars/1", data=np.zeros([3], np.float32))
        file.create_dataset("optimizer/vars/0", data=np.int64(2))

    config = (b'{"class_name":"Sequential","config":{"layers":[{"class_name":"Dense",'
              b'"config":{"name":"head"}}]},"compile_config":{"optimizer":{"class_name":"Adam"}}}')
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", config)
        file.writestr("model.weights.h5", h5(numbered))
    save("keras_file", "weights_h5", b"\0" + h5(legacy))
    save("keras_file", "chunked_h5", b"\0" + h5(chunked))
    save("keras_file", "latest_h5", b"\0" + h5(legacy, libver="latest"))
    save("keras_file", "numbered_h5", b"\0" + h5(numbered, libver="latest"))
    save("keras_file", "archive", b"\1" + archive.getvalue())
    save("keras_file", "parts", b"\2" + chunk(config) + h5(numbered, libver="latest"))
    save("keras_file", "stored_parts", b"\3" + chunk(config) + h5(numbered, libver="latest"))


def main():
    with tempfile.TemporaryDirectory() as directory:
        checkpoints(directory)
        records(directory)
        events(directory)
    examples()
    arrays()
    lines()
    images()
    elements()
    tables()
    idx_files()
    bitmaps()
    keras_files()


if __name__ == "__main__":
    main()
