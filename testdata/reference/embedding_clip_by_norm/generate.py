"""Norms are those of the slices, before slices of the same row are added."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


def clip(pairs):
    return [(tf.clip_by_norm(gradient, 0.1), variable) for gradient, variable in pairs]


network.generate(__file__, lambda: tf1.train.MomentumOptimizer(0.2, 0.9),
                 "the embedding network, Momentum(0.2, 0.9), gradients clipped to norm 0.1, each "
                 "by itself", clip=clip)
