"""Keras' MobileNetV2 at the smallest width: most layers have 8 filters."""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "keras_images"))
from small_network import generate_case, keras  # noqa: E402

applications = keras.applications
generate_case(__file__, functools.partial(applications.MobileNetV2, alpha=0.05),
              "Keras' MobileNetV2, alpha 0.05", applications.mobilenet_v2.preprocess_input)
