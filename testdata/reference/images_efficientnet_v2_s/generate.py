"""Keras' EfficientNetV2-S at a small width and depth."""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "keras_images"))
from small_network import generate_case  # noqa: E402
from keras.src.applications import efficientnet_v2  # noqa: E402

generate_case(__file__,
              functools.partial(efficientnet_v2.EfficientNetV2, 0.1, 0.26, 48, dropout_rate=0,
                                drop_connect_rate=0, model_name="efficientnetv2-s"),
              "Keras' EfficientNetV2-S, width 0.1, depth 0.26")
