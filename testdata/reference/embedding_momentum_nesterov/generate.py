"""Nesterov momentum on looked-up rows."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.MomentumOptimizer(0.2, 0.9, use_nesterov=True),
                 "the embedding network, Momentum(0.2, 0.9), Nesterov")
