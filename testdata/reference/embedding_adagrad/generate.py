"""Adagrad. Its sparse updates equal those of dense gradients."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402

network.generate(__file__, lambda: tf1.train.AdagradOptimizer(0.3),
                 "the embedding network, Adagrad(0.3)")
