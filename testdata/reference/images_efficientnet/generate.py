"""Keras' EfficientNet at a small width and half of the depth."""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "keras_images"))
from small_network import generate_case  # noqa: E402
from keras.src.applications import efficientnet  # noqa: E402

generate_case(__file__,
              functools.partial(efficientnet.EfficientNet, 0.1, 0.5, 48, dropout_rate=0,
                                drop_connect_rate=0),
              "Keras' EfficientNet, width 0.1, depth 0.5")
