"""Each gradient clipped by its own norm. Some exceed the limit, some do not."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402

from reference_lib import tf  # noqa: E402

network.generate_with_gradients(
    __file__, lambda grads_and_vars: [(tf.clip_by_norm(gradient, 0.2), variable) for gradient,
                                      variable in grads_and_vars],
    "gradients clipped to norm 0.2, each by itself")
