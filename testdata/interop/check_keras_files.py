#!/usr/bin/env python3
"""Reads files of Keras with tools/checkpoint, and loads what it writes with Keras.

Usage: check_keras_files.py CHECKPOINT     (built from //tools/checkpoint)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
keras = tf.keras


def load_generator():
    path = os.path.join(HERE, "..", "keras", "generate.py")
    spec = importlib.util.spec_from_file_location("generate_keras", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = load_generator()


class Tool:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments):
        run = subprocess.run([self.path, *arguments], capture_output=True, text=True)
        assert run.returncode == 0, (arguments, run.returncode, run.stdout, run.stderr)
        return run.stdout + run.stderr


def models():
    """name -> (function that makes it, optimizer)"""
    shape = (64, 64, 3)
    nets = keras.applications
    return {
        "small": (generate.small_model, keras.optimizers.Adam()),
        "amsgrad": (generate.small_model, keras.optimizers.Adam(amsgrad=True)),
        "sgd": (generate.small_model, keras.optimizers.SGD(0.01, momentum=0.9)),
        "adagrad": (generate.small_model, keras.optimizers.Adagrad()),
        "adadelta": (generate.small_model, keras.optimizers.Adadelta()),
        "ftrl": (generate.small_model, keras.optimizers.Ftrl()),
        "text": (generate.text_model, None),
        "mobilenet_v2": (lambda: nets.MobileNetV2(shape, alpha=0.35, weights=None), None),
        "efficientnet": (lambda: nets.EfficientNetB0(input_shape=shape, weights=None), None),
    }


def read(tool, file, directory):
    """The values in a file of Keras, by the names of the tool."""
    copy = os.path.join(directory, "copy")
    tool("convert", file, copy, "--force")
    reader = tf.train.load_checkpoint(copy)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def check_read(tool, name, model, directory):
    """Every file has every variable of the model by its name, and its slots, the same in all."""
    wanted = {generate.name_of(v): v.numpy() for v in model.weights}
    stem = os.path.join(directory, name)
    model.save(f"{stem}.h5")
    model.save(f"{stem}.keras")
    model.save_weights(f"{stem}_weights.h5")
    model.save_weights(f"{stem}_objects")
    values = {file: read(tool, file, directory)
              for file in (f"{stem}.h5", f"{stem}.keras", f"{stem}_weights.h5", f"{stem}_objects")}
    for file, got in values.items():
        for variable, value in wanted.items():
            assert variable in got, (file, variable, sorted(got))
            assert np.array_equal(got[variable], value), (file, variable)
    assert sorted(values[f"{stem}_weights.h5"]) == sorted(wanted)
    if model.optimizer is not None and name != "text":
        whole = values[f"{stem}.h5"]
        slots = sorted(set(whole) - set(wanted))
        assert len(slots) == len(model.optimizer.variables), (name, slots)
        for file in (f"{stem}.keras", f"{stem}_objects"):
            for slot in slots:
                assert np.array_equal(values[file][slot], whole[slot]), (file, slot)


def check_written(tool, name, make, model, directory):
    """Keras loads the weights that the tool writes, by name."""
    prefix, file = os.path.join(directory, f"{name}.ckpt"), os.path.join(directory, f"{name}_w.h5")
    arrays = {generate.name_of(v): v.numpy() for v in model.weights}
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(arrays), shape_and_slices=[""] * len(arrays),
                      tensors=list(arrays.values()))
    tool("convert", prefix, file)
    keras.backend.clear_session()
    other = make()
    layers = {layer.name for layer in other.layers}
    other.load_weights(file, by_name=True)
    for variable in other.weights:
        # A model in a model is no layer to the tool: only layers of the model itself are compared.
        if generate.name_of(variable).rsplit("/", 1)[0] not in layers and name == "small":
            continue
        got, wanted = variable.numpy(), arrays[generate.name_of(variable)]
        assert np.array_equal(got, wanted), (name, variable.name)


def check_order(tool, directory):
    """If the order of layers is that of their names, Keras needs no names."""
    def make(prefix):
        return keras.Sequential([keras.layers.Dense(3, name=f"{prefix}_a", input_shape=(2,)),
                                 keras.layers.BatchNormalization(name=f"{prefix}_b"),
                                 keras.layers.Dense(2, name=f"{prefix}_c")])

    model, other = make("x"), make("y")
    for key, variable in enumerate(model.weights):
        variable.assign(generate.values(variable.shape, key))
    source = os.path.join(directory, "order_source.h5")
    model.save_weights(source)
    file = os.path.join(directory, "order.h5")
    tool("convert", source, file)
    other.load_weights(file)
    for a, b in zip(model.weights, other.weights):
        assert np.array_equal(a.numpy(), b.numpy()), a.name


def main():
    tool = Tool(sys.argv[1])
    for name, (make, optimizer) in models().items():
        with tempfile.TemporaryDirectory() as directory:
            keras.backend.clear_session()
            model = make()
            if optimizer is not None:
                generate.trained(model, optimizer, generate.values((2, 6, 6, 2), 9))
            check_read(tool, name, model, directory)
            if optimizer is None or name == "small":
                check_written(tool, name, make, model, directory)
            print(f"{name}: {len(model.weights)} weights", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        check_order(tool, directory)


if __name__ == "__main__":
    main()
