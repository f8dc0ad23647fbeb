"""Adadelta: rows that a step does not look up keep their slots."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.AdadeltaOptimizer(1.0, 0.9, 1e-4),
                 "the embedding network, Adadelta(1, rho 0.9)")
