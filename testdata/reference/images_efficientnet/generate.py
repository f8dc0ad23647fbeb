"""Keras' EfficientNet at a small width and half of the depth."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import efficientnet  # noqa: E402


def efficient_net(**options):
    return efficientnet.EfficientNet(0.1, 0.5, 0, dropout_rate=0, drop_connect_rate=0, **options)


networks.generate_case(__file__, networks.keras_network(efficient_net),
                       "EfficientNet, width 0.1, depth 0.5", scale=False)
