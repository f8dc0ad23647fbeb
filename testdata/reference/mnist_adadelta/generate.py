"""The MNIST network with Adadelta."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.AdadeltaOptimizer(1.0, epsilon=1e-5),
                 "the MNIST network, Adadelta(1.0, epsilon 1e-5)")
