"""FTRL with penalties: rows that a step does not look up do not change. With a dense rule they
would."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01,
                                                           l2_regularization_strength=0.02,
                                                           beta=0.1),
                 "the embedding network, Ftrl(0.5, l1, l2, beta)")
