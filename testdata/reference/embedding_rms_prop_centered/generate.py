"""Centred RMSProp on looked-up rows."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.RMSPropOptimizer(0.1, 0.9, 0.5, epsilon=1e-3,
                                                              centered=True),
                 "the embedding network, RMSProp(0.1, decay 0.9, momentum 0.5, centred)")
