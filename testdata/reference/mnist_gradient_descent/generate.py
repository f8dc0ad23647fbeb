"""The MNIST network with gradient descent."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.GradientDescentOptimizer(0.1),
                 "the MNIST network, GradientDescent(0.1)")
