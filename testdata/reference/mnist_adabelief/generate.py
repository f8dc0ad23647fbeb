"""The MNIST network with AdaBelief, written from Zhuang et al. 2020, algorithm 2, with decoupled
weight decay."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class AdaBelief(tf1.train.Optimizer):
    """The names of slots and powers are those of the authors' TensorFlow package."""

    def __init__(self, rate, epsilon, decay, rectify):
        super().__init__(False, "AdaBeliefOptimizer")
        self._rate, self._epsilon, self._decay, self._rectify = rate, epsilon, decay, rectify

    def _create_slots(self, var_list):
        first = var_list[0]
        self._create_non_slot_variable(0.9, "beta1_power", first)
        self._create_non_slot_variable(0.999, "beta2_power", first)
        self._create_non_slot_variable(1, "step", first)
        for v in var_list:
            self._zeros_slot(v, "m", "AdaBeliefOptimizer")
            self._zeros_slot(v, "s", "AdaBeliefOptimizer")

    def _shared(self, name):
        return self._get_non_slot_variable(name, graph=tf1.get_default_graph())

    def _apply_dense(self, grad, var):
        m, s = self.get_slot(var, "m"), self.get_slot(var, "s")
        mean = m.assign(0.9 * m + 0.1 * grad)
        belief = s.assign(0.999 * s + 0.001 * (grad - mean) ** 2 + self._epsilon)
        corrected = mean / (1 - self._shared("beta1_power"))
        deviation = tf.sqrt(belief / (1 - self._shared("beta2_power")))
        update = corrected / (deviation + self._epsilon)
        if self._rectify:
            update = self._rectified(corrected, update)
        return var.assign_sub(self._rate * (update + self._decay * var))

    def _rectified(self, mean, update):
        """Liu et al. 2019, algorithm 2. In float32, where the order of operations matters in the
        first steps."""
        power, t = self._shared("beta2_power"), tf.cast(self._shared("step"), tf.float32)
        sma_inf = 2 / (1 - tf.constant(0.999)) - 1
        sma = sma_inf - 2 * t * power / (1 - power)
        r = tf.sqrt((sma - 4) / (sma_inf - 4) * (sma - 2) / (sma_inf - 2) * sma_inf / sma)
        return tf.where(sma >= 5, r * update, mean)

    def _finish(self, update_ops, name_scope):
        with tf.control_dependencies(update_ops):
            ends = [self._shared("beta1_power").assign(self._shared("beta1_power") * 0.9),
                    self._shared("beta2_power").assign(self._shared("beta2_power") * 0.999),
                    self._shared("step").assign_add(1)]
        return tf.group(*update_ops, *ends, name=name_scope)


if __name__ == "__main__":
    network.generate(__file__, lambda: AdaBelief(0.001, 1e-8, 0.01, False),
                     "the MNIST network, AdaBelief(0.001, epsilon 1e-8, weight_decay 0.01), not "
                     "rectified")
