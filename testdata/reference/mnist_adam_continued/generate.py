"""The MNIST network with Adam from a checkpoint of step 25, with the slots, powers of beta and
global_step of that step."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf1  # noqa: E402


def optimizer():
    return tf1.train.AdamOptimizer(tf1.train.exponential_decay(0.002, tf1.train.get_global_step(),
                                                               10, 0.9))


network.generate(__file__, optimizer, "the MNIST network, Adam(exponential_decay(0.002, s, 10, "
                                      "0.9)), from step 25 on",
                 steps_before=25, num_steps=25, max_forward_elements=2000)
