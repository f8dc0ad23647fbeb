"""Keras' VGG16 at 1/40 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import vgg16  # noqa: E402


def make_network(shape):
    with networks.replaced(vgg16, layers=networks.Narrow(1 / 40)):
        return vgg16.VGG16(weights=None, input_shape=shape, classes=networks.CLASSES,
                           classifier_activation=None)


networks.generate_case(__file__, make_network, "VGG16, width 1/40", size=16, times=2, rate=0.1,
                       **networks.NORMS_ONLY)
