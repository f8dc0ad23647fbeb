#!/usr/bin/env python3
"""Writes the files of Keras in this folder, and what a reader must find in them.

    python3 -m venv /tmp/tf && /tmp/tf/bin/pip install tensorflow-cpu==2.15.1
    /tmp/tf/bin/python testdata/keras/generate.py

NAME.expected is a checkpoint (TensorBundle) with the variables of NAME.*, by the names that a
reader gives them. hostile/ has files that a reader must refuse, each with one defect.
"""
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import h5py
import numpy as np
import tensorflow as tf
from keras.src.saving.legacy import hdf5_format

HERE = os.path.dirname(os.path.abspath(__file__))
keras = tf.keras


def values(shape, key):
    """Numbers that do not depend on a library's random generator."""
    n = int(np.prod(shape))
    numbers = np.sin(np.arange(n, dtype=np.float64) * 0.7 + key) * 0.5
    return numbers.astype(np.float32).reshape(shape)


def small_model():
    """Convolutions, a frozen layer, a model in the model; the names are partly Keras' own."""
    image = keras.Input((6, 6, 2), name="image")
    x = keras.layers.Conv2D(3, 3, name="block1/conv", use_bias=False)(image)
    x = keras.layers.BatchNormalization(name="block1/bn", scale=False)(x)
    x = keras.layers.DepthwiseConv2D(3)(x)
    x = keras.layers.SeparableConv2D(2, 1, name="frozen", trainable=False)(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.LayerNormalization()(x)
    x = keras.layers.Dense(2)(x)
    inner = keras.Sequential(
        [keras.layers.Dense(3, name="hidden"), keras.layers.Dense(2)], name="inner")
    return keras.Model(image, inner(x))


def text_model():
    """Layers that have layers in them."""
    words = keras.Input((4,), name="words")
    x = keras.layers.Embedding(5, 4, name="words_to_vectors")(words)
    x = keras.layers.Bidirectional(keras.layers.LSTM(2, return_sequences=True), name="both")(x)
    x = keras.layers.MultiHeadAttention(2, 2, name="attention")(x, x)
    x = keras.layers.TimeDistributed(keras.layers.Dense(3), name="each")(x)
    x = keras.layers.PReLU()(x)
    x = keras.layers.GRU(2, name="gru")(x)
    return keras.Model(words, x)


def trained(model, optimizer, inputs):
    for key, variable in enumerate(model.weights):
        shift = 1 if "variance" in variable.name else 0
        variable.assign(values(variable.shape, key) + shift)
    model.compile(optimizer, "mse")
    for step in range(2):
        outputs = values((2,) + tuple(model.output_shape[1:]), step)
        model.train_on_batch(inputs, outputs)
    return model


# Keras' slot and ours, for the optimizers that the models below have.
OURS = {
    "Adam/m": "Adam", "Adam/v": "Adam_1",
    "RMSprop/velocity": "RMSProp", "RMSprop/average_gradient": "RMSProp_1",
    "RMSprop/momentum": "RMSProp_2",
}


def name_of(variable):
    return variable.name.split(":")[0]


def slot_name(name):
    if name == "iteration":
        return "global_step"
    parts = name.split("/")
    ours = OURS.get("/".join(parts[:2]))
    return "/".join(parts[2:] + [ours]) if ours else name


def write_bundle(name, arrays):
    tf.raw_ops.SaveV2(prefix=os.path.join(HERE, name), tensor_names=list(arrays),
                      shape_and_slices=[""] * len(arrays), tensors=list(arrays.values()))


def expect(name, model, optimizer=True):
    arrays = {name_of(v): v.numpy() for v in model.weights}
    if optimizer:
        arrays.update({slot_name(name_of(v)): v.numpy() for v in model.optimizer.variables})
    write_bundle(f"{name}.expected", arrays)


def write_models():
    images = values((2, 6, 6, 2), 9)
    keras.backend.clear_session()
    model = trained(small_model(), keras.optimizers.Adam(0.01), images)
    model.save(f"{HERE}/small.h5")
    model.save(f"{HERE}/small.keras")
    model.save_weights(f"{HERE}/small_objects")
    expect("small", model)
    model.save_weights(f"{HERE}/small_weights.h5")
    model.save_weights(f"{HERE}/small.weights.h5")
    expect("small_weights", model, optimizer=False)
    keras.backend.clear_session()
    optimizer = keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True)
    model = trained(small_model(), optimizer, images)
    model.save(f"{HERE}/rmsprop.keras")
    model.save(f"{HERE}/rmsprop.h5")
    expect("rmsprop", model)
    keras.backend.clear_session()
    model = trained(small_model(), keras.optimizers.legacy.Adam(0.01), images)
    model.save_weights(f"{HERE}/legacy_objects")
    arrays = {name_of(v): v.numpy() for v in model.weights}
    for variable in model.optimizer.variables():
        parts = name_of(variable).split("/")
        ours = "/".join(parts[1:-1] + [{"m": "Adam", "v": "Adam_1"}.get(parts[-1], "")])
        arrays["global_step" if parts[-1] == "iter" else ours] = variable.numpy()
    write_bundle("legacy.expected", arrays)
    keras.backend.clear_session()
    words = np.array([[1, 2, 3, 4], [0, 1, 1, 2]])
    model = trained(text_model(), keras.optimizers.Adam(0.01), words)
    model.save_weights(f"{HERE}/text.h5")
    model.save(f"{HERE}/text.keras")
    expect("text", model, optimizer=False)
    # Lists of names that are split, as those of networks with thousands of layers.
    hdf5_format.HDF5_OBJECT_HEADER_LIMIT = 64
    keras.backend.clear_session()
    trained(small_model(), "sgd", images).save_weights(f"{HERE}/split_names.h5")
    os.remove(f"{HERE}/checkpoint")


def weights_file(path):
    file = h5py.File(f"{HERE}/{path}", "w")
    file.attrs["layer_names"] = [b"dense"]
    group = file.create_group("dense")
    group.attrs["weight_names"] = [b"dense/kernel:0"]
    return file, group.create_group("dense")


def write_dtypes():
    numbers = np.arange(6).reshape(2, 3)
    arrays = {}
    with weights_file("dtypes.h5")[0] as file:
        group = file["dense/dense"]
        for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
                      "bool"):
            arrays[f"dense/{dtype}"] = numbers.astype(dtype)
            group[f"{dtype}:0"] = arrays[f"dense/{dtype}"]
        arrays["dense/big_endian"] = numbers.astype("float32")
        group["big_endian:0"] = numbers.astype(">f4")
        arrays["dense/scalar"] = np.float32(1.5)
        group["scalar:0"] = np.float32(1.5)
        arrays["dense/empty"] = np.zeros((0, 3), "float32")
        group["empty:0"] = arrays["dense/empty"]
        # Chunks that are no divisors of the shape.
        arrays["dense/chunks"] = values((50, 30), 1)
        group.create_dataset("chunks:0", data=arrays["dense/chunks"], chunks=(16, 7))
    write_bundle("dtypes.expected", arrays)


def write_names():
    """Names of weights that are no paths: Keras 1 had the layer's name in them, Keras 3 has not."""
    with h5py.File(f"{HERE}/names.h5", "w") as file:
        file.attrs["layer_names"] = [b"old", b"new", b"newer"]
        for layer, weights in {"old": ["old_W_1", "old_b_1"], "new": ["kernel", "bias"],
                               "newer": ["kernel"]}.items():
            group = file.create_group(layer)
            group.attrs["weight_names"] = [f"{weight}:0".encode() for weight in weights]
            for weight in weights:
                group[f"{weight}:0"] = np.float32(1)


def write_hostile():
    shutil.rmtree(f"{HERE}/hostile", ignore_errors=True)
    os.mkdir(f"{HERE}/hostile")

    def hostile(name, write):
        file, group = weights_file(f"hostile/{name}.h5")
        with file:
            write(file, group)

    data = np.ones((2, 3), "float32")
    hostile("external_link", lambda f, g: g.__setitem__(
        "kernel:0", h5py.ExternalLink("/etc/passwd", "/x")))
    hostile("soft_link", lambda f, g: g.__setitem__("kernel:0", h5py.SoftLink("/dense")))
    hostile("cycle", lambda f, g: g.__setitem__("dense", f["dense"]))
    hostile("external_storage", lambda f, g: g.create_dataset(
        "kernel:0", (2, 3), "float32", external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)]))

    def virtual(file, group):
        layout = h5py.VirtualLayout((2, 3), "float32")
        layout[:] = h5py.VirtualSource("/etc/passwd", "x", (2, 3))
        group.create_virtual_dataset("kernel:0", layout)

    hostile("virtual", virtual)
    hostile("compound", lambda f, g: g.create_dataset(
        "kernel:0", data=np.zeros(2, [("a", "f4"), ("b", "i4")])))
    hostile("strings", lambda f, g: g.create_dataset("kernel:0", data=["a", "b"]))
    hostile("lzf", lambda f, g: g.create_dataset("kernel:0", data=data, compression="lzf"))
    hostile("huge", lambda f, g: g.create_dataset(
        "kernel:0", (1 << 40, 1 << 10), "float32", chunks=(1, 1 << 10)))
    hostile("overflow", lambda f, g: g.create_dataset(
        "kernel:0", (1 << 32, 1 << 32), "float32", chunks=(1, 1 << 10)))
    hostile("never_written", lambda f, g: g.create_dataset("kernel:0", (64, 64), "float32"))

    def bomb(file, group):
        """A chunk of zeros is stored; all others are missing, and read as zeros."""
        dataset = group.create_dataset("kernel:0", (1 << 30,), "float32", chunks=(1 << 20,),
                                       compression="gzip")
        dataset[:8] = 1

    hostile("bomb", bomb)
    hostile("empty_name", lambda f, g: f.create_dataset(":0", data=data))
    with h5py.File(f"{HERE}/hostile/not_keras.h5", "w") as file:
        file["a/b"] = data


def main():
    for name in os.listdir(HERE):
        if name.split(".")[-1] in ("h5", "keras", "index", "data-00000-of-00001"):
            os.remove(f"{HERE}/{name}")
    write_models()
    write_dtypes()
    write_names()
    write_hostile()


if __name__ == "__main__":
    main()
