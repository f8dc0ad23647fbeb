"""All gradients clipped together. The norm falls below the limit during the run."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402

from reference_lib import tf  # noqa: E402


def clip(grads_and_vars):
    gradients, variables = zip(*grads_and_vars)
    return zip(tf.clip_by_global_norm(gradients, 0.5)[0], variables)


network.generate_with_gradients(__file__, clip, "gradients clipped to global norm 0.5")
