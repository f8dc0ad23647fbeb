"""The MNIST network with Adam with decoupled weight decay and without bias correction, as in
BERT."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from bert.adam_weight_decay import AdamWeightDecay  # noqa: E402

network.generate(__file__, lambda: AdamWeightDecay(0.002, 0.1, exclude=["bias"]),
                 "the MNIST network, AdamWeightDecay(0.002, weight_decay_rate 0.1, not of biases)")
