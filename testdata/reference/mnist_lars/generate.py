"""The MNIST network with LARS, written from You et al. 2017, algorithm 1."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class Lars(tf1.train.Optimizer):
    """Biases use plain momentum, as in the ResNet-50 programs. The name of the slot is theirs."""

    def __init__(self, rate, momentum, decay, trust):
        super().__init__(False, "LARSOptimizer")
        self._rate, self._momentum, self._decay, self._trust = rate, momentum, decay, trust

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", "LARSOptimizer")

    def _apply_dense(self, grad, var):
        rate = self._rate
        if "bias" not in var.name:
            local = self._trust * tf.norm(var) / (tf.norm(grad) + self._decay * tf.norm(var))
            rate, grad = rate * local, grad + self._decay * var
        velocity = self.get_slot(var, "momentum")
        return var.assign_sub(velocity.assign(self._momentum * velocity + rate * grad))


network.generate(__file__, lambda: Lars(0.02, 0.9, 1e-3, 0.1),
                 "the MNIST network, LARS(0.02, momentum 0.9, weight_decay 1e-3, eeta 0.1, "
                 "skip_list bias)")
