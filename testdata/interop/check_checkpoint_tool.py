#!/usr/bin/env python3
"""Runs tools/checkpoint on checkpoints that TensorFlow writes. TensorFlow loads the results.

Usage: check_checkpoint_tool.py CHECKPOINT     (built from //tools/checkpoint)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

ODD = {"complex64": [1 + 2j, 3], "complex128": [1j], "uint16": [1, 65535], "uint32": [4294967295],
       "uint64": [2**64 - 1], "int8": [-1], "bool": [True, False]}


class Tool:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments, code=0):
        run = subprocess.run([self.path, *arguments], capture_output=True, text=True)
        assert run.returncode == code, (arguments, run.returncode, run.stdout, run.stderr)
        return run.stdout + run.stderr


def same(prefix, values):
    """Checks that TensorFlow reads exactly `values` (name -> array) at the prefix."""
    reader = tf.train.load_checkpoint(prefix)
    assert sorted(reader.get_variable_to_shape_map()) == sorted(
        values), reader.get_variable_to_shape_map()
    for name, value in values.items():
        got = np.asarray(reader.get_tensor(name))
        assert got.dtype == np.asarray(value).dtype or got.dtype.kind in "SO", (name, got.dtype)
        assert np.array_equal(got, value), (name, got, value)


def save(prefix, tensors):
    names = sorted(tensors)
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names),
                      tensors=[tensors[name] for name in names])


def values_of_every_kind():
    values = {f"odd/{name}": np.array(value, tf.as_dtype(name).as_numpy_dtype) for name,
              value in ODD.items()}
    values["dense/kernel"] = np.random.RandomState(1).randn(300, 7).astype(np.float32)
    values["dense/kernel/Momentum"] = np.ones([300, 7], np.float32)
    values["half"] = np.array([1.5, -2], tf.bfloat16.as_numpy_dtype)
    values["text"] = np.array([b"", b"hello", b"x" * 5000], dtype=object)
    return values


def every_dtype(tool, directory):
    prefix = os.path.join(directory, "all")
    values = values_of_every_kind()
    tensors = {name: tf.constant(value) for name, value in values.items()}
    tensors["variant"] = tf.raw_ops.TensorListFromTensor(tensor=tf.constant([[1.0], [2.0]]),
                                                         element_shape=[1])
    tensors["quantized"] = tf.bitcast(tf.constant([1, 2], tf.uint8), tf.quint8)
    save(prefix, tensors)
    listed = tool("list", prefix)
    for name in tensors:
        assert name in listed, (name, listed)
    assert "whole" in tool("verify", prefix)
    tool("diff", prefix, prefix)
    assert "(1+2j)" in tool("show", prefix,
                            "odd/complex64") and "18446744073709551615" in tool("show", prefix,
                                                                                "odd/uint64")

    renamed = os.path.join(directory, "renamed")
    tool("rename", prefix, renamed, "--map=dense=head,text=t,variant=v,quantized=q")
    assert "whole" in tool("verify", renamed)
    subset = os.path.join(directory, "subset")
    tool("extract", renamed, subset, "--exclude=^v$|^q$")
    expected = {name.replace("dense", "head").replace("text", "t"): value for name,
                value in values.items()}
    same(subset, expected)
    back = os.path.join(directory, "back")
    tool("rename", renamed, back, "--map=head=dense,t=text,v=variant,q=quantized")
    tool("diff", prefix, back)
    variant = tf.raw_ops.RestoreV2(prefix=back, tensor_names=["variant", "quantized"],
                                   shape_and_slices=["", ""], dtypes=[tf.variant, tf.quint8])
    stacked = tf.raw_ops.TensorListStack(input_handle=variant[0], element_shape=[1],
                                         element_dtype=tf.float32)
    assert np.array_equal(stacked, [[1], [2]]) and np.array_equal(tf.bitcast(variant[1], tf.uint8),
                                                                  [1, 2])


def casts(tool, directory):
    prefix, low, high = (os.path.join(directory, name) for name in ("f32", "bf16", "again"))
    values = values_of_every_kind()
    save(prefix, {name: tf.constant(value) for name, value in values.items()})
    for name in ("bfloat16", "float16"):
        dtype = tf.as_dtype(name).as_numpy_dtype
        tool("cast", prefix, low, f"--to={name}", "--force")
        lowered = {key: value.astype(dtype) if tf.as_dtype(value.dtype).is_floating else value
                   for key, value in values.items()}
        lowered["half"] = values["half"].astype(np.float32).astype(dtype)
        same(low, lowered)
        tool("cast", low, high, f"--from={name}", "--force")
        same(high, {key: value.astype(np.float32) if value.dtype == dtype else value for key,
                    value in lowered.items()})
    assert "already" in tool("cast", prefix, low, code=2)
    assert "differ" in tool("diff", prefix, high, code=1)
    tool("diff", high, prefix, "--rtol=0.01", "--ignore_dtype")


def partitioned_and_sharded(tool, directory):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        initializer = v1.random_normal_initializer(seed=3)
        rows = v1.get_variable("rows", shape=[10, 3], initializer=initializer,
                               partitioner=v1.fixed_size_partitioner(3))
        columns = v1.get_variable("columns", shape=[4, 9], initializer=initializer,
                                  partitioner=v1.fixed_size_partitioner(2, axis=1))
        v1.train.get_or_create_global_step()
        session.run(v1.global_variables_initializer())
        prefix = v1.train.Saver().save(session, os.path.join(directory, "model.ckpt"),
                                       global_step=7)
        values = {"rows": np.concatenate([session.run(v) for v in rows]),
                  "columns": np.concatenate([session.run(v) for v in columns], axis=1),
                  "global_step": np.int64(0)}
    whole = os.path.join(directory, "whole")
    save(whole, {name: tf.constant(value) for name, value in values.items()})
    # the directory: its newest checkpoint
    assert "variables: 3 equal" in tool("diff", directory, whole)
    renamed = os.path.join(directory, "renamed")
    tool("rename", prefix, renamed, "--map=rows=r,columns=c")
    same(renamed, {"r": values["rows"], "c": values["columns"],
                   "global_step": values["global_step"]})
    mean = os.path.join(directory, "mean")
    tool("average", prefix, whole, mean)
    same(mean, values)
    # TensorFlow restores the slices of a variable that is still partitioned.
    with tf.Graph().as_default(), v1.Session() as session:
        again = v1.get_variable("r", shape=[10, 3], partitioner=v1.fixed_size_partitioner(3))
        v1.train.Saver().restore(session, renamed)
        assert np.array_equal(np.concatenate([session.run(v) for v in again]), values["rows"])

    parts = []
    for i, name in enumerate(("a", "b", "c")):
        part = os.path.join(directory, f"part-{i}")
        save(part, {name: tf.fill([i + 2], float(i))})
        parts.append(part)
    sharded = os.path.join(directory, "sharded")
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=sharded)
    assert "3 data files" in tool("verify", sharded)
    tool("extract", sharded, os.path.join(directory, "bc"), "b", "c")
    same(os.path.join(directory, "bc"),
         {"b": np.full([3], 1, np.float32), "c": np.full([4], 2, np.float32)})
    os.remove(sharded + ".data-00001-of-00003")
    assert "is missing" in tool("verify", sharded, code=1)


def odd_names_and_shapes(tool, directory):
    """Scalars, tensors without elements, names beyond ASCII; half of them in another data file."""
    names = ["größe/重み", "a b", "x=y,z", "scalar", "none", "no_rows", "texts", "no_texts",
             "long/" + "n" * 300]
    values = dict(zip(names, [np.float32([1, 2]), np.int32([[3]]), np.uint8([255]), np.float64(2.5),
                              np.zeros([0], np.int64), np.zeros([0, 7], np.float16),
                              np.array([["", "ü"], ["a\0b", "\0"]], dtype=object),
                              np.zeros([2, 0], dtype=object), np.array(True)]))
    values = {name: np.vectorize(str.encode, otypes=[object])(value) if value.dtype == object
              and value.size else value
              for name, value in ((name, np.asarray(value)) for name, value in values.items())}
    parts = []
    for i in range(2):
        part = os.path.join(directory, f"part-{i}")
        save(part, {name: tf.constant(values[name], tf.string if values[name].dtype == object
                                      else None)
                    for name in names[i::2]})
        parts.append(part)
    prefix = os.path.join(directory, "odd")
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
    assert "9 variables" in tool("list", prefix) and "2 data files" in tool("verify", prefix)
    for name in names:
        assert name in tool("show", prefix, name)
    entries = os.path.join(directory, "map")
    with open(entries, "w", encoding="utf-8") as file:
        file.write("größe = size\na b=文字/ä\n")
    renamed, subset = os.path.join(directory, "renamed"), os.path.join(directory, "subset")
    tool("rename", prefix, renamed, "--map=" + entries)
    same(renamed, {name.replace("größe", "size").replace("a b", "文字/ä"): value for name,
                   value in values.items()})
    tool("extract", prefix, subset, "größe/重み", "x=y,z", "none")
    same(subset, {name: values[name] for name in ("größe/重み", "x=y,z", "none")})
    tool("average", prefix, prefix, os.path.join(directory, "mean"))
    same(os.path.join(directory, "mean"), values)


def global_step_of_other_programs(tool, directory):
    """A program whose global_step is int32 reads one that was int64, and vice versa."""
    v1 = tf.compat.v1
    wide, narrow = os.path.join(directory, "model.ckpt-7"), os.path.join(directory, "narrow")
    save(wide, {"global_step": tf.constant(7, tf.int64), "w": tf.constant([1.0])})
    assert "cast 1 variables" in tool("cast", wide, narrow, "--to=int32", "--include=^global_step$")
    with tf.Graph().as_default(), v1.Session() as session:
        step = tf.Variable(0, name="global_step", trainable=False)
        v1.get_variable("w", [1])
        assert step.dtype.base_dtype == tf.int32
        v1.train.Saver().restore(session, narrow)
        assert session.run(step) == 7
    again = os.path.join(directory, "again")
    tool("cast", narrow, again, "--to=int64")
    tool("diff", wide, again)


def saved_models(tool, directory):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0], name="v")
    tf.saved_model.save(module, directory)
    assert "\nv " in tool("list", directory) and "whole" in tool("verify", directory)


def snappy_index(tool, directory):
    """An index with compressed blocks, as in some published checkpoints. The blocks consist of
    literals only."""
    prefix = os.path.join(directory, "s")
    save(prefix, {"v": tf.constant([1.0, 2.0]), "w": tf.constant(3)})
    with open(prefix + ".index", "rb") as file:
        index = file.read()

    def varint(value):
        out = b""
        while value >= 0x80:
            out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
        return out + bytes([value])

    def crc32c(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        return crc ^ 0xFFFFFFFF

    def masked(data):
        crc = crc32c(data)
        return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")

    def read_varints(data, count):
        values, position = [], 0
        for _ in range(count):
            value = shift = 0
            while True:
                byte = data[position]
                position += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
            values.append(value)
        return values

    meta_offset, meta_size, index_offset, index_size = read_varints(index[-48:], 4)
    data, key = index[: meta_offset - 5], index[index_offset : index_offset + index_size]
    file, handles = b"", []

    def add(block, compress):
        nonlocal file
        if compress:  # length, then one literal with a length of two bytes
            block = varint(len(block)) + b"\xf4" + (len(block) - 1).to_bytes(2, "little") + block
        handles.append(varint(len(file)) + varint(len(block)))
        block += b"\x01" if compress else b"\x00"
        file += block + masked(block)

    add(data, True)
    add(index[meta_offset : meta_offset + meta_size], True)
    name_size = key[1]
    entry = key[:2] + bytes([len(handles[0])]) + key[3 : 3 + name_size] + handles[0] + key[-8:]
    add(entry, True)
    footer = (handles[1] + handles[2]).ljust(40, b"\0") + index[-8:]
    with open(prefix + ".index", "wb") as out:
        out.write(file + footer)
    assert tf.train.load_checkpoint(prefix).get_tensor("w") == 3  # TensorFlow reads it
    assert "whole" in tool("verify", prefix) and "2 variables" in tool("list", prefix)
    tool("rename", prefix, os.path.join(directory, "t"), "--map=v=x")
    same(os.path.join(directory, "t"), {"x": np.array([1, 2], np.float32), "w": np.int32(3)})


def damage(tool, directory):
    prefix = os.path.join(directory, "m")
    save(prefix, {"v": tf.ones([1000])})
    path = prefix + ".data-00000-of-00001"
    with open(path, "r+b") as file:
        file.seek(2345)
        file.write(b"x")
    assert f"{path}: v (4000 bytes at offset 0): crc32c" in tool("verify", prefix, code=1)
    assert "DATA_LOSS" in tool("rename", prefix, os.path.join(directory, "n"), "--map=v=w", code=2)
    assert not os.path.exists(os.path.join(directory, "n.index"))


def main():
    tool = Tool(os.path.abspath(sys.argv[1]))
    for check in (every_dtype, casts, partitioned_and_sharded, odd_names_and_shapes,
                  global_step_of_other_programs, saved_models, snappy_index, damage):
        with tempfile.TemporaryDirectory() as directory:
            check(tool, directory)
        print(f"passed: {check.__name__}")


if __name__ == "__main__":
    main()
