"""Keras' MobileNetV3Large at a small width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import mobilenet_v3  # noqa: E402

# Keras has no argument for the filters before the top, 1024 or 1280.
whole = mobilenet_v3.MobileNetV3
mobilenet_v3.MobileNetV3 = lambda stack_fn, _, *args: whole(stack_fn, 32, *args)
networks.generate_case(__file__,
                       networks.keras_network(mobilenet_v3.MobileNetV3Large, alpha=0.1,
                                              dropout_rate=0),
                       "MobileNetV3Large, alpha 0.1, 32 filters before the top", scale=False)
