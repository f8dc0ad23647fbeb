"""The MNIST network with FTRL with all of its penalties."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.FtrlOptimizer(0.02, initial_accumulator_value=1e-4,
                                                           l1_regularization_strength=1e-4,
                                                           l2_regularization_strength=1e-3,
                                                          l2_shrinkage_regularization_strength=1e-3,
                                                           beta=0.01),
                 "the MNIST network, Ftrl(0.02, initial_accumulator_value 1e-4, l1 1e-4, l2 1e-3, "
                 "l2_shrinkage 1e-3, beta 0.01)")
