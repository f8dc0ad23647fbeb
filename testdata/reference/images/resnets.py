"""ResNets at small width: Keras' own, and those of Keras' layers that Keras lacks: with two 3x3
convolutions a block (ResNet-18 and 34), and v1.5, whose blocks halve in their 3x3 convolution.
"""

from keras.src.applications import resnet, resnet_v2

import narrow

EPSILON = 1.001e-5


def narrowed(width):
    return narrow.replaced(resnet, layers=None,
                           VersionAwareLayers=lambda: narrow.Narrow(width))


def keras_network(function, width):
    """A function that makes Keras' ResNet50, ResNet50V2, ..."""
    def make_network(shape):
        module = resnet_v2 if function.endswith("V2") else resnet
        with narrowed(width):
            return getattr(module, function)(weights=None, input_shape=shape,
                                             classes=narrow.CLASSES, classifier_activation=None)
    return make_network


def norm(x, name, relu=True):
    x = resnet.layers.BatchNormalization(epsilon=EPSILON, name=name + "_bn")(x)
    return resnet.layers.Activation("relu", name=name + "_relu")(x) if relu else x


def conv(x, filters, size, strides, name, use_bias=True):
    """Padded as Keras' block2 does it."""
    if size > 1:
        x = resnet.layers.ZeroPadding2D(1, name=name + "_pad")(x)
    return resnet.layers.Conv2D(filters, size, strides=strides, use_bias=use_bias,
                                name=name + "_conv")(x)


def stack_v1_5(x, filters, blocks, group, name):
    layers = resnet.layers
    for i in range(1, blocks + 1):
        block, strides = f"{name}_block{i}", 2 if i == 1 and group > 0 else 1
        shortcut = x
        if i == 1:
            shortcut = norm(conv(x, 4 * filters, 1, strides, block + "_0"), block + "_0", False)
        y = norm(conv(x, filters, 1, 1, block + "_1"), block + "_1")
        y = norm(conv(y, filters, 3, strides, block + "_2"), block + "_2")
        y = norm(conv(y, 4 * filters, 1, 1, block + "_3"), block + "_3", False)
        x = layers.Activation("relu", name=block + "_out")(
            layers.Add(name=block + "_add")([shortcut, y]))
    return x


def stack_basic(x, filters, blocks, group, name):
    layers = resnet.layers
    for i in range(1, blocks + 1):
        block, strides = f"{name}_block{i}", 2 if i == 1 and group > 0 else 1
        shortcut = x
        if strides > 1:  # the first group has as many channels as its input
            shortcut = norm(conv(x, filters, 1, strides, block + "_0"), block + "_0", False)
        y = norm(conv(x, filters, 3, strides, block + "_1"), block + "_1")
        y = norm(conv(y, filters, 3, 1, block + "_2"), block + "_2", False)
        x = layers.Activation("relu", name=block + "_out")(
            layers.Add(name=block + "_add")([shortcut, y]))
    return x


def stack_basic_v2(x, filters, blocks, group, name):
    """Halves in the last block, as Keras' stack2."""
    layers = resnet.layers
    for i in range(1, blocks + 1):
        block, strides = f"{name}_block{i}", 2 if i == blocks and group < 3 else 1
        active = norm(x, block + "_preact")
        shortcut = x
        if i == 1 and group > 0:
            shortcut = conv(active, filters, 1, strides, block + "_0")
        elif strides > 1:
            shortcut = layers.MaxPooling2D(1, strides=strides)(x)
        y = norm(conv(active, filters, 3, strides, block + "_1", use_bias=False), block + "_1")
        x = layers.Add(name=block + "_out")([shortcut, conv(y, filters, 3, 1, block + "_2")])
    return x


def network(depth, version, width=1, classes=narrow.CLASSES):
    """A function that makes a ResNet that Keras lacks. version: "1", "1.5" or "2"."""
    blocks = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3],
              152: [3, 8, 36, 3]}[depth]
    stack = stack_v1_5 if depth >= 50 else stack_basic_v2 if version == "2" else stack_basic

    def make_network(shape):
        def stacks(x):
            for i, count in enumerate(blocks):
                x = stack(x, 64 << i, count, i, f"conv{i + 2}")
            return x

        with narrowed(width):
            return resnet.ResNet(stacks, version == "2", True, weights=None, input_shape=shape,
                                 classes=classes, classifier_activation=None)
    return make_network
