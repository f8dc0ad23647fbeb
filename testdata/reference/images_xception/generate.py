"""Keras' Xception at 1/40 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import xception  # noqa: E402

networks.generate_case(__file__, networks.keras_network(xception.Xception, xception, 1 / 40),
                       "Xception, width 1/40", size=18)
