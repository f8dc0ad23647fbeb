"""Keras' MobileNet at a sixteenth of the width."""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "keras_images"))
from small_network import generate_case, keras  # noqa: E402

applications = keras.applications
generate_case(__file__, functools.partial(applications.MobileNet, alpha=1 / 16, dropout=0),
              "Keras' MobileNet, alpha 1/16", applications.mobilenet.preprocess_input,
              rate=1e-5)  # gradients of so few filters are large
