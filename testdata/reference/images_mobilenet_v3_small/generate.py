"""Keras' MobileNetV3Small at a small width."""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "keras_images"))
from small_network import generate_case  # noqa: E402
from keras.src.applications import mobilenet_v3  # noqa: E402

# Keras has no argument for the filters before the top, 1024.
whole = mobilenet_v3.MobileNetV3
mobilenet_v3.MobileNetV3 = lambda stack_fn, _, *args: whole(stack_fn, 32, *args)
generate_case(__file__,
              functools.partial(mobilenet_v3.MobileNetV3Small, alpha=0.1, dropout_rate=0),
              "Keras' MobileNetV3Small, alpha 0.1, 32 filters before the top")
