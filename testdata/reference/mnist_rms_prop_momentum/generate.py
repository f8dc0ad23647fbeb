"""The MNIST network with RMSProp and momentum. Epsilon is that of the ImageNet programs."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.RMSPropOptimizer(0.002, decay=0.9, momentum=0.9,
                                                              epsilon=1e-3),
                 "the MNIST network, RMSProp(0.002, decay 0.9, momentum 0.9, epsilon 1e-3)")
