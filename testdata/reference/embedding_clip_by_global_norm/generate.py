"""The global norm is that of the slices, before slices of the same row are added."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


def clip(pairs):
    gradients, variables = zip(*pairs)
    return zip(tf.clip_by_global_norm(gradients, 0.3)[0], variables)


network.generate(__file__, lambda: tf1.train.MomentumOptimizer(0.2, 0.9),
                 "the embedding network, Momentum(0.2, 0.9), gradients clipped to global norm 0.3",
                 clip=clip)
