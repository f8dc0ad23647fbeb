"""Keras' DenseNet121 with a growth rate of 2 in place of 32."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import densenet  # noqa: E402

WIDTH = 1 / 16


class NarrowStem:
    """Keras' layers with a narrow first convolution: the others get their numbers of filters from
    conv_block and from their inputs."""

    def __getattr__(self, name):
        return getattr(networks.layers, name)

    def Conv2D(self, filters, *args, **kwargs):
        if kwargs["name"] == "conv1/conv":
            filters = networks.scaled(filters, WIDTH)
        return networks.layers.Conv2D(filters, *args, **kwargs)


def make_network(shape):
    whole = densenet.conv_block

    def conv_block(x, growth_rate, name):
        return whole(x, networks.scaled(growth_rate, WIDTH), name)

    with networks.replaced(densenet, layers=NarrowStem(), conv_block=conv_block):
        return densenet.DenseNet121(weights=None, input_shape=shape, classes=networks.CLASSES,
                                    classifier_activation=None)


networks.generate_case(__file__, make_network, "DenseNet121, width 1/16")
