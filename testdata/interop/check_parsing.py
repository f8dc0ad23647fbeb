#!/usr/bin/env python3
"""Examples, SequenceExamples and CSV lines: random ones, damaged ones among them, parse as
TensorFlow parses them, and fail where TensorFlow fails. TFRecordDataset and CsvDataset give the
elements of TensorFlow's in its order.

Usage: check_parsing.py PARSE_TOOL     (built from //tools/interop:parse_tool)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

A request is an Example of string lists: "mode", "specs" (a line for each feature, as
tools/interop/parse_tool.cc describes them), "sequences" (the same for the lists of a
SequenceExample), "inputs" and "options". A result has the string "error", or for each array "array
NAME": its dtype, its shape, and its bytes or strings.
"""

import collections
import os
import random
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

NAMES = "abcdef"
DTYPES = {"float32": tf.float32, "int64": tf.int64, "string": tf.string}
NUM_SINGLE, NUM_BATCHES, NUM_SEQUENCES, NUM_LINES, NUM_FILES = 10000, 500, 2000, 3000, 40


def feature(dtype, values):
    if dtype == "float32":
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if dtype == "int64":
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(v) for v in values]))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"v%d" % int(v) for v in values]))


def random_values(rng, count):
    return [rng.choice([0, 1, -1, 7, 127, 128, 300, -2**31, 2**31, 2**62,
                        rng.randrange(-1000, 1000)]) for _ in range(count)]


def random_feature(rng, dtype, sizes):
    dtype = dtype if rng.random() < 0.97 else rng.choice(list(DTYPES))
    if rng.random() < 0.03:
        return tf.train.Feature()
    return feature(dtype, random_values(rng, rng.choice(sizes)))


Spec = collections.namedtuple("Spec", "kind name dtype shape default allow_missing")


def random_spec(rng, kinds, name, always_allow=True):
    kind = rng.choice(kinds)
    shape = rng.choice([[], [], [1], [2], [3], [2, 2]])
    default = rng.choice([None, 0, 7, -3]) if kind == "fixed" else rng.choice([0, 0, 7, -3])
    dtype = rng.choice(list(DTYPES))
    if dtype == "string" and kind != "fixed":
        default = 0
    return Spec(kind, name, dtype, shape, default, always_allow or rng.random() < 0.5)


def spec_line(spec):
    default = "none" if spec.default is None else str(spec.default)
    shape = "x".join(map(str, spec.shape)) or "-"
    if spec.kind == "var":
        return f"var {spec.name} {spec.dtype} {default}"
    return f"{spec.kind} {spec.name} {spec.dtype} {shape} {default} {int(spec.allow_missing)}"


def tf_spec(spec):
    dtype = DTYPES[spec.dtype]
    if spec.kind == "var":
        return tf.io.VarLenFeature(dtype)
    padding = {"default_value": "" if spec.dtype == "string"
               else spec.default} if spec.default is not None else {}
    if spec.kind == "rows":
        return tf.io.FixedLenSequenceFeature(spec.shape, dtype, allow_missing=spec.allow_missing,
                                             **padding)
    if spec.default is None:
        return tf.io.FixedLenFeature(spec.shape, dtype)
    value = str(spec.default) if spec.dtype == "string" else spec.default
    return tf.io.FixedLenFeature(spec.shape, dtype, np.full(spec.shape, value).tolist())


def sizes_of(spec):
    """Numbers of values, of which most are valid."""
    row = int(np.prod(spec.shape)) if spec.kind != "var" else 1
    return [row] * 30 + [0, 1, 2 * row] if spec.kind == "fixed" else [0, row, 2 * row,
                                                                      3 * row] * 8 + [1]


def damage(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        position = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0:
            data = data[:position]
        elif change == 1:
            data.insert(position, rng.choice([0, 1, 8, 10, 13, 18, 26, 127, 255]))
        elif data and change == 2:
            data[position % len(data)] ^= 1 << rng.randrange(8)
        elif data:
            del data[position % len(data)]
    return bytes(data)


def random_example(rng, specs):
    features = {spec.name: random_feature(rng, spec.dtype, sizes_of(spec)) for spec in specs
                if rng.random() < 0.95}
    features["other"] = feature("int64", [1])
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def random_sequence(rng, context, sequences):
    lists = {}
    for spec in sequences:
        if rng.random() < 0.9:
            row = int(np.prod(spec.shape)) if spec.kind == "rows" else None
            sizes = [row] * 30 + [1, 0] if row else [0, 1, 2, 3]
            steps = [random_feature(rng, spec.dtype, sizes) for _ in range(rng.randrange(5))]
            lists[spec.name] = tf.train.FeatureList(feature=steps)
    # No feature without a list: with it, TensorFlow refuses a context that has a default for it.
    features = {spec.name: feature(spec.dtype, random_values(rng, rng.choice(sizes_of(spec))))
                for spec in context
                if rng.random() < 0.9}
    return tf.train.SequenceExample(context=tf.train.Features(feature=features),
                                    feature_lists=tf.train.FeatureLists(
                                        feature_list=lists)).SerializeToString()


def dense(spec, value, rank):
    """Our form of a TensorFlow result: the arrays by name."""
    if not isinstance(value, tf.SparseTensor):
        return {spec.name: value.numpy()}
    if rank == 1:
        return {spec.name: value.values.numpy(),
                spec.name + "_length": np.int32(value.values.shape[0])}
    default = "" if spec.dtype == "string" else np.array(spec.default,
                                                         DTYPES[spec.dtype].as_numpy_dtype)
    lengths = np.bincount(value.indices.numpy()[:, 0], minlength=value.dense_shape.numpy()[0])
    array = (tf.sparse.to_dense(value, default).numpy() if lengths.size
             else np.zeros([0, 0], value.dtype.as_numpy_dtype))
    return {spec.name: array[:, :lengths.max(initial=0)],
            spec.name + "_length": lengths.astype(np.int32)}


def text(value):
    """The form of an array in a result, without shape and values of strings that tell nothing
    apart."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind == "S":
        return [b"string", "x".join(map(str, value.shape)).encode()] + [bytes(v)
                                                                        for v in value.reshape(-1)]
    return [value.dtype.name.encode(), "x".join(map(str, value.shape)).encode(), value.tobytes()]


class Cases:
    def __init__(self):
        self.requests, self.expected = [], []

    def add(self, mode, compute, specs=(), sequences=(), inputs=(), options=()):
        encode = [(key, [v.encode() if isinstance(v, str) else v for v in values]) for key,
                  values in (
            ("mode", [mode]), ("specs", specs), ("sequences", sequences), ("inputs", inputs),
                      ("options", options))]
        self.requests.append(tf.train.Example(features=tf.train.Features(feature={
            key: tf.train.Feature(bytes_list=tf.train.BytesList(value=values)) for key,
            values in encode})))
        try:
            self.expected.append({name: text(value) for name, value in compute().items()})
        # a message may quote the input's bytes
        except (tf.errors.InvalidArgumentError, UnicodeDecodeError) as error:
            self.expected.append(str(error))

    def check(self, tool, directory):
        requests, results = os.path.join(directory, "requests"), os.path.join(directory, "results")
        with tf.io.TFRecordWriter(requests) as writer:
            for request in self.requests:
                writer.write(request.SerializeToString())
        subprocess.run([tool, requests, results], check=True)
        different, errors = [], 0
        records = list(tf.data.TFRecordDataset(results).as_numpy_iterator())
        assert len(records) == len(self.requests), (len(records), len(self.requests))
        for i, (record, expected) in enumerate(zip(records, self.expected)):
            features = tf.train.Example.FromString(record).features.feature
            if "error" in features:
                actual = features["error"].bytes_list.value[0].decode(errors="replace")
            else:
                actual = {name[len("array "):]: list(value.bytes_list.value) for name,
                          value in features.items()}
            errors += isinstance(expected, str)
            only_one_failed = isinstance(actual, str) != isinstance(expected, str)
            if only_one_failed or not isinstance(actual, str) and actual != expected:
                different.append((i, actual, expected))
        for i, actual, expected in different[:5]:
            print(f"case {i}: {self.requests[i]}\nours: {actual}\nTensorFlow: {expected}",
                  file=sys.stderr)
        assert not different, f"{len(different)} of {len(records)} results differ"
        assert errors < len(records), "all requests are errors"
        return f"{len(records)} requests, {errors} of them errors"


def single_examples(rng, cases, _):
    for i in range(NUM_SINGLE):
        specs = [random_spec(rng, ["fixed", "rows", "var"], name)
                 for name in rng.sample(NAMES, rng.randrange(1, 5))]
        data = random_example(rng, specs)
        if i % 4 == 0:
            data = damage(rng, data)

        def compute():
            parsed = tf.io.parse_single_example(data, {spec.name: tf_spec(spec) for spec in specs})
            return {k: v for spec in specs for k, v in dense(spec, parsed[spec.name], 1).items()}
        cases.add("single", compute, map(spec_line, specs), inputs=[data])


def batches(rng, cases, _):
    for _ in range(NUM_BATCHES):
        specs = [random_spec(rng, ["fixed", "rows", "var"], name)
                 for name in rng.sample(NAMES, rng.randrange(1, 4))]
        specs = [spec._replace(default=7) if spec.kind == "fixed" else spec for spec in specs]
        data = [random_example(rng, specs) for _ in range(rng.randrange(1, 5))]

        def compute():
            parsed = tf.io.parse_example(data, {spec.name: tf_spec(spec) for spec in specs})
            return {k: v for spec in specs for k, v in dense(spec, parsed[spec.name], 2).items()}
        cases.add("batch", compute, map(spec_line, specs), inputs=data)


def sequence_examples(rng, cases, _):
    for _ in range(NUM_SEQUENCES):
        names = rng.sample(NAMES, 4)
        context = [random_spec(rng, ["fixed", "var"], name) for name in names[:rng.randrange(0, 3)]]
        sequences = [random_spec(rng, ["rows", "var"], name, False)
                     for name in names[2:2 + rng.randrange(1, 3)]]
        data = random_sequence(rng, context, sequences)

        def compute():
            def steps(spec):
                return tf_spec(spec if spec.kind == "var" else spec._replace(default=None))
            outer, lists = tf.io.parse_single_sequence_example(
                data, {spec.name: tf_spec(spec) for spec in context},
                {spec.name: steps(spec) for spec in sequences})
            result = {k: v for spec in context for k, v in dense(spec, outer[spec.name], 1).items()}
            result.update({k: v for spec in sequences for k,
                           v in dense(spec, lists[spec.name], 2).items()})
            return result
        cases.add("sequence", compute, map(spec_line, context), map(spec_line, sequences), [data])


CSV_DTYPES = {"float32": tf.float32, "float64": tf.float64, "int32": tf.int32, "int64": tf.int64,
              "string": tf.string}


def random_field(rng, delim):
    kind = rng.randrange(12)
    if kind == 0:
        return "".join(rng.choice("0123456789-+.eExinfa NA\"\n\r" + delim)
                       for _ in range(rng.randrange(6)))
    if kind == 1:
        return rng.choice(["", "NA", " 5 ", "0x1F", "inf", "-nan", "1e9", "1e400", "-1e-400",
                           "99999999999", "1.5", ".5", "5."])
    if kind == 2:
        return '"' + rng.choice(["", "a", 'a""b', "x" + delim + "y", "l\nm", '"', "12", "NA"]) + '"'
    return str(rng.randrange(-100, 100))


def csv_defaults(specs):
    return [tf.constant([], CSV_DTYPES[dtype]) if default == "none" else
            tf.constant([default if dtype == "string" else int(default)], CSV_DTYPES[dtype])
            for dtype, default in specs]


def csv_lines(rng, cases, _):
    for _ in range(NUM_LINES):
        specs = [(rng.choice(list(CSV_DTYPES)), rng.choice(["none", "0", "7", "-3"]))
                 for _ in range(rng.randrange(1, 4))]
        delim, quotes, missing = rng.choice(",,,;\t"), rng.random() < 0.8, rng.choice(["", "NA"])
        columns = sorted(rng.sample(range(4), len(specs))) if rng.random() < 0.3 else []
        line = delim.join(random_field(rng, delim)
                          for _ in range((columns or [len(specs) - 1])[-1]
                                         + rng.choice([1, 1, 1, 1, 2])))

        def compute():
            fields = tf.io.decode_csv(line, csv_defaults(specs), delim, quotes, missing, columns
                                      or None)
            return {str(i): field.numpy() for i, field in enumerate(fields)}
        cases.add("csv", compute, [" ".join(spec) for spec in specs], inputs=[line],
                  options=[delim, str(int(quotes)), missing] + list(map(str, columns)))


def csv_files(rng, cases, directory):
    for i in range(NUM_FILES):
        specs = [(rng.choice(["float32", "int32", "string"]), "7")
                 for _ in range(rng.randrange(2, 4))]
        end = rng.choice(["\n", "\r\n"])

        def field(dtype):
            if rng.random() < 0.1:
                return ""
            number = str(rng.randrange(100))
            return rng.choice([number, '"a""b"', '"x,y"', '"l\nm"',
                               "word"]) if dtype == "string" else number
        lines = [",".join("abc"[:len(specs)])] + [",".join(field(spec[0]) for spec in specs)
                                                  for _ in range(rng.randrange(1, 9))]
        path = os.path.join(directory, f"{i}.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(end.join(lines) + rng.choice(["", end]))

        def compute():
            rows = list(tf.data.experimental.CsvDataset(path, csv_defaults(specs), header=True))
            return {"abc"[k]: np.stack([row[k].numpy() for row in rows]) for k in range(len(specs))}
        cases.add("csv_files", compute, [" ".join(spec) for spec in specs], inputs=[path],
                  options=[",", "1", ""])


def record_files(rng, cases, directory):
    for i in range(NUM_FILES):
        paths = []
        for k in range(rng.randrange(1, 7)):
            paths.append(os.path.join(directory, f"{i}-{k}.tfrecord"))
            with tf.io.TFRecordWriter(paths[-1]) as writer:
                for record in range(rng.randrange(k == 0, 6)):
                    writer.write(f"{k} {record}".encode())
        reads = rng.randrange(1, 9)

        def compute():
            dataset = tf.data.TFRecordDataset(paths, num_parallel_reads=reads if reads > 1
                                              else None)
            return {"": np.array(list(dataset.as_numpy_iterator()), object)}
        cases.add("reads", compute, inputs=paths, options=[str(reads)])


def main():
    tool = os.path.abspath(sys.argv[1])
    for check in (single_examples, batches, sequence_examples, csv_lines, csv_files, record_files):
        with tempfile.TemporaryDirectory() as directory:
            cases = Cases()
            check(random.Random(1), cases, directory)
            print(f"passed: {check.__name__}: {cases.check(tool, directory)}")


if __name__ == "__main__":
    main()
