"""The MNIST network with Adam with decoupled weight decay and without bias correction, as in BERT. Written from the formulas
of Loshchilov and Hutter 2017 and Devlin et al. 2018, appendix A.2."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class AdamWeightDecay(tf1.train.Optimizer):
    """Biases do not decay. The names of slots are those in BERT's checkpoints."""

    def __init__(self, rate, decay):
        super().__init__(False, "AdamWeightDecayOptimizer")
        self._rate, self._decay = rate, decay

    def _create_slots(self, var_list):
        for v in var_list:
            for slot in ("adam_m", "adam_v"):
                self._zeros_slot(v, slot, slot)

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "adam_m"), self.get_slot(var, "adam_v")
        mean = m.assign(0.9 * m + 0.1 * grad)
        square = v.assign(0.999 * v + 0.001 * grad * grad)
        step = mean / (tf.sqrt(square) + 1e-6)
        if "bias" not in var.name:
            step += self._decay * var
        return var.assign_sub(self._rate * step)


network.generate(__file__, lambda: AdamWeightDecay(0.002, 0.1),
                 "the MNIST network, AdamWeightDecay(0.002, weight_decay_rate 0.1, not of biases)")
