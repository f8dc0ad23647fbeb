"""FTRL with shrinkage, on looked-up rows."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__,
                 lambda: tf1.train.FtrlOptimizer(0.5, learning_rate_power=-0.6,
                                                 l2_shrinkage_regularization_strength=0.001),
                 "the embedding network, Ftrl(0.5, power -0.6, l2_shrinkage)")
