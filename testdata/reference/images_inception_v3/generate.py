"""Keras' Inception v3 at 1/32 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import inception_v3  # noqa: E402


def make_network(shape):
    with networks.replaced(inception_v3, layers=networks.Narrow(1 / 32)):
        return inception_v3.InceptionV3(weights=None, input_shape=shape, classes=networks.CLASSES,
                                        classifier_activation=None)


# Images of 108x108 are the smallest of these sizes with a last feature map of 2x2.
networks.generate_case(__file__, make_network, "Inception v3, width 1/32", size=18, times=6)
