"""The MNIST network with centred RMSProp and momentum."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.RMSPropOptimizer(0.005, momentum=0.5, epsilon=1e-3,
                                                              centered=True),
                 "the MNIST network, RMSProp(0.005, momentum 0.5, epsilon 1e-3, centered)")
