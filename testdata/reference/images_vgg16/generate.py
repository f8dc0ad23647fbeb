"""Keras' VGG16 at 1/40 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
from keras.src.applications import vgg16  # noqa: E402

networks.generate_case(__file__, networks.keras_network(vgg16.VGG16, vgg16, 1 / 40),
                       "VGG16, width 1/40", times=2, rate=0.1)
