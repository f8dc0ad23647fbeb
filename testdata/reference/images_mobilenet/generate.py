"""Keras' MobileNet at a sixteenth of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402

networks.generate_case(__file__,
                       networks.keras_network(networks.tf.keras.applications.MobileNet,
                                              alpha=1 / 16, dropout=0),
                       "MobileNet, alpha 1/16")
