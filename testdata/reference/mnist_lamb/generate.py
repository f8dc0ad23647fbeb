"""The MNIST network with LAMB, written from You et al. 2019, algorithm 2, without bias
correction."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class Lamb(tf1.train.Optimizer):
    """Biases are neither decayed nor adapted, as in ALBERT. The names of slots are those of
    ALBERT."""

    def __init__(self, rate, decay):
        super().__init__(False, "LAMBOptimizer")
        self._rate, self._decay = rate, decay

    def _create_slots(self, var_list):
        for v in var_list:
            for slot in ("adam_m", "adam_v"):
                self._zeros_slot(v, slot, slot)

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "adam_m"), self.get_slot(var, "adam_v")
        mean = m.assign(0.9 * m + 0.1 * grad)
        square = v.assign(0.999 * v + 0.001 * grad * grad)
        direction = mean / (tf.sqrt(square) + 1e-6)
        if "bias" in var.name:
            return var.assign_sub(self._rate * direction)
        direction += self._decay * var
        ratio = tf.norm(var) / tf.norm(direction)  # of weights that are not 0: always good here
        return var.assign_sub(self._rate * ratio * direction)


network.generate(__file__, lambda: Lamb(0.01, 0.01),
                 "the MNIST network, LAMB(0.01, weight_decay_rate 0.01, not of biases)")
