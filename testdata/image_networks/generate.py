#!/usr/bin/env python3
"""Writes keras_networks.txt: what each network of tf.keras.applications 2.15 has.

    generate.py            writes the file
    generate.py NAME       prints the variables of one network, to find a difference

A line: the network, its parameters, those that are trained, its variables, and a hash of their
names and shapes: FNV-1a, 64 bits, of the sorted lines "name [sizes]\\n".
"""

import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.disable_v2_behavior()  # a graph only: nothing is initialized
tf1.logging.set_verbosity(tf1.logging.ERROR)

HEADER = """# Written by generate.py with TensorFlow 2.15.1: networks of tf.keras.applications.
# network, parameters, trainable parameters, variables, hash of names and shapes
"""
# Arguments besides weights=None, by the line's name; the function is what is before the bracket.
NETWORKS = {
    "VGG16": {}, "ResNet50": {}, "ResNet101": {}, "ResNet152": {}, "ResNet50V2": {},
    "ResNet101V2": {}, "ResNet152V2": {}, "InceptionV3": {}, "Xception": {}, "DenseNet121": {},
    "MobileNet": {}, "MobileNet(alpha=0.5)": {"alpha": 0.5}, "MobileNetV2": {},
    "MobileNetV2(alpha=0.35)": {"alpha": 0.35}, "MobileNetV2(alpha=1.4)": {"alpha": 1.4},
    "MobileNetV3Small": {}, "MobileNetV3Small(minimalistic)": {"minimalistic": True},
    "MobileNetV3Large": {}, "MobileNetV3Large(alpha=1.25)": {"alpha": 1.25},
    "MobileNetV3Large(minimalistic)": {"minimalistic": True},
    **{f"EfficientNetB{i}": {} for i in range(8)},
    "EfficientNetV2S": {}, "EfficientNetV2S(include_top=False)": {"include_top": False},
}


def build(name):
    tf.keras.backend.clear_session()
    size = {"InceptionV3": 299, "Xception": 299}.get(name, 224)
    return getattr(tf.keras.applications, name.split("(")[0])(
        weights=None, input_shape=(size, size, 3), **NETWORKS[name])


def variables(model):
    return sorted("%s [%s]\n" % (v.name.removesuffix(":0"), ",".join(map(str, v.shape)))
                  for v in model.weights)


def count(weights):
    return sum(int(np.prod(v.shape)) for v in weights)


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def line(name):
    model = build(name)
    assert count(model.weights) == model.count_params()
    return "%s %d %d %d %016x\n" % (name, model.count_params(), count(model.trainable_weights),
                                    len(model.weights), fnv1a("".join(variables(model))))


def main():
    if len(sys.argv) > 1:
        sys.stdout.write("".join(variables(build(sys.argv[1]))))
        return
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_networks.txt")
    text = HEADER + "".join(line(name) for name in NETWORKS)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
