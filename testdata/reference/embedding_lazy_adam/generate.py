"""LazyAdam(0.05): rows that a step does not look up keep their values and slots."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "embedding"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class LazyAdam(tf1.train.AdamOptimizer):
    """The rule of TF 1.15's tf.contrib.opt.LazyAdamOptimizer, which TF 2 lacks."""

    def _apply_sparse(self, grad, var):
        beta1_power, beta2_power = self._get_beta_accumulators()
        rate = self._lr_t * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v, i = self.get_slot(var, "m"), self.get_slot(var, "v"), grad.indices
        next_m = tf1.scatter_update(
            m, i, self._beta1_t * tf.gather(m, i) + (1 - self._beta1_t) * grad.values)
        next_v = tf1.scatter_update(
            v, i, self._beta2_t * tf.gather(v, i) + (1 - self._beta2_t) * tf.square(grad.values))
        step = rate * tf.gather(next_m, i) / (tf.sqrt(tf.gather(next_v, i)) + self._epsilon_t)
        return tf.group(tf1.scatter_sub(var, i, step), next_m, next_v)


network.generate(__file__, lambda: LazyAdam(0.05), "the embedding network, LazyAdam(0.05)")
