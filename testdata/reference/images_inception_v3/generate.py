"""Keras' Inception v3 at 1/32 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import inception_v3  # noqa: E402

# Images of 108x108 are the smallest with a last feature map of 2x2.
networks.generate_case(__file__,
                       networks.keras_network(inception_v3.InceptionV3, inception_v3, 1 / 32),
                       "Inception v3, width 1/32", size=18, times=6, rate=3e-4)
