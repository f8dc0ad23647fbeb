"""A table that is both looked up and multiplied: its gradient is dense, in the norm and in the
update."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


def clip(pairs):
    gradients, variables = zip(*pairs)
    return zip(tf.clip_by_global_norm(gradients, 0.3)[0], variables)


network.generate(__file__, lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
                 "the embedding network with a tied output, Momentum(0.1, 0.9), gradients clipped "
                 "to global norm 0.3",
                 clip=clip, tied=True, batches=network.batches(), forward_ops={"BiasAdd", "Tanh"})
