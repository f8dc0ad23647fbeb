"""Keras' EfficientNetV2-S at a small width and depth."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import efficientnet_v2  # noqa: E402


def efficient_net_v2(**options):
    return efficientnet_v2.EfficientNetV2(0.1, 0.26, 0, dropout_rate=0, drop_connect_rate=0,
                                          model_name="efficientnetv2-s", **options)


networks.generate_case(__file__, networks.keras_network(efficient_net_v2),
                       "EfficientNetV2-S, width 0.1, depth 0.26", scale=False)
