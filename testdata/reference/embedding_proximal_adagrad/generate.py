"""Proximal Adagrad: penalties apply to looked-up rows only."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__,
                 lambda: tf1.train.ProximalAdagradOptimizer(0.3, l1_regularization_strength=0.01,
                                                            l2_regularization_strength=0.02),
                 "the embedding network, ProximalAdagrad(0.3, l1, l2)")
