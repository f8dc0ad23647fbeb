"""Keras' Xception at 1/40 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import xception  # noqa: E402


def make_network(shape):
    with networks.replaced(xception, layers=networks.Narrow(1 / 40)):
        return xception.Xception(weights=None, input_shape=shape, classes=networks.CLASSES,
                                 classifier_activation=None)


networks.generate_case(__file__, make_network, "Xception, width 1/40", size=24, times=3,
                       **networks.NORMS_ONLY)
