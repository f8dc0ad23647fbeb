"""The MNIST network with Adam."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.AdamOptimizer(0.001),
                 "the MNIST network, Adam(0.001)")
