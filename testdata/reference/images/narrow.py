"""Keras' networks with fewer filters: for the cases images_*, and for twins of Keras' layers."""

import contextlib

import numpy as np
import tensorflow as tf

CLASSES = 5
layers = tf.keras.layers


def scaled(filters, width):
    return max(1, int(np.floor(filters * width + 0.5)))


class Narrow:
    """Keras' layers with fewer filters: all but those of the top."""

    def __init__(self, width):
        self._width = width

    def __getattr__(self, name):
        return getattr(layers, name)

    def _scaled(self, layer, filters, *args, **kwargs):
        if kwargs.get("name") not in ("predictions", "conv_preds"):
            filters = scaled(filters, self._width)
        return layer(filters, *args, **kwargs)

    def Conv2D(self, *args, **kwargs):
        return self._scaled(layers.Conv2D, *args, **kwargs)

    def SeparableConv2D(self, *args, **kwargs):
        return self._scaled(layers.SeparableConv2D, *args, **kwargs)

    def Dense(self, *args, **kwargs):
        return self._scaled(layers.Dense, *args, **kwargs)


@contextlib.contextmanager
def replaced(module, **values):
    """Sets attributes of a module of Keras' for a while."""
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
