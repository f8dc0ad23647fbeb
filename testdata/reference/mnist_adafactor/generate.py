"""The MNIST network with Adafactor, written from Shazeer and Stern 2018, algorithms 4 and 5, and
with momentum."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


class Adafactor(tf1.train.Optimizer):
    """The names of slots are those in Tensor2Tensor's checkpoints."""

    def __init__(self, rate, beta1):
        super().__init__(False, "Adafactor")
        self._rate, self._beta1 = rate, beta1

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", "Adafactor")
            shape = v.shape.as_list()
            if len(shape) < 2:
                self._zeros_slot(v, "v", "Adafactor")
            else:
                self._get_or_make_slot(v, tf.zeros(shape[:-1]), "rows", "Adafactor")
                self._get_or_make_slot(v, tf.zeros(shape[:-2] + shape[-1:]), "columns", "Adafactor")

    def _prepare(self):
        t = tf.cast(tf1.train.get_global_step(), tf.float32) + 1
        self._beta2 = 1 - t ** -0.8

    def _moving(self, slot, value):
        return slot.assign(self._beta2 * slot + (1 - self._beta2) * value)

    def _apply_dense(self, grad, var):
        square = grad * grad + 1e-30
        if len(var.shape) < 2:
            update = grad * tf.math.rsqrt(self._moving(self.get_slot(var, "v"), square))
        else:
            rows = self._moving(self.get_slot(var, "rows"), tf.reduce_mean(square, -1))
            columns = self._moving(self.get_slot(var, "columns"), tf.reduce_mean(square, -2))
            # The divisor is the root of the rank-1 matrix with these margins (outer product / mean
            # of all). Divide by one factor after the other: their product may underflow to 0 for
            # units that never fire.
            rows = tf.math.rsqrt(rows / tf.reduce_mean(rows, -1, keepdims=True))
            update = grad * rows[..., None] * tf.math.rsqrt(columns)[..., None, :]
        update /= tf.maximum(1.0, tf.sqrt(tf.reduce_mean(update * update)))
        scale = tf.maximum(1e-3, tf.sqrt(tf.reduce_mean(tf.square(var))))
        m = self.get_slot(var, "m")
        return var.assign_sub(m.assign(self._beta1 * m + (1 - self._beta1) * self._rate * scale
                                       * update))


network.generate(__file__, lambda: Adafactor(0.02, 0.9),
                 "the MNIST network, Adafactor(0.02, beta1 0.9)")
