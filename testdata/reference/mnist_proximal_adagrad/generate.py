"""The MNIST network with proximal Adagrad with both penalties."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__,
                 lambda: tf1.train.ProximalAdagradOptimizer(0.02, l1_regularization_strength=1e-3,
                                                            l2_regularization_strength=1e-2),
                 "the MNIST network, ProximalAdagrad(0.02, l1 1e-3, l2 1e-2)")
