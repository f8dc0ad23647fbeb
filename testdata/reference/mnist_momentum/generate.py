"""The MNIST network with momentum, with the decaying rate of models/mnist."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402


def optimizer():
    rate = tf1.train.exponential_decay(0.02, tf1.train.get_global_step(), 10, 0.95)
    return tf1.train.MomentumOptimizer(rate, 0.9)


network.generate(__file__, optimizer, "the MNIST network, Momentum(exponential_decay(0.02, s, 10, "
                                      "0.95), 0.9)")
