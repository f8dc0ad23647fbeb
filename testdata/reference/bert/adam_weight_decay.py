"""Adam with decoupled weight decay and without bias correction. Written from the formulas of
Loshchilov and Hutter 2017 and Devlin et al. 2018, appendix A.2."""

from reference_lib import tf, tf1


class AdamWeightDecay(tf1.train.Optimizer):
    """The names of slots are those in BERT's checkpoints. Variables whose name contains a word of
    `exclude` do not decay."""

    def __init__(self, rate, decay, exclude):
        super().__init__(False, "AdamWeightDecayOptimizer")
        self._rate, self._decay, self._exclude = rate, decay, exclude

    def _create_slots(self, var_list):
        for v in var_list:
            for slot in ("adam_m", "adam_v"):
                self._zeros_slot(v, slot, slot)

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "adam_m"), self.get_slot(var, "adam_v")
        mean = m.assign(0.9 * m + 0.1 * grad)
        square = v.assign(0.999 * v + 0.001 * grad * grad)
        step = mean / (tf.sqrt(square) + 1e-6)
        if not any(word in var.name for word in self._exclude):
            step += self._decay * var
        return var.assign_sub(self._rate * step)

    def _apply_sparse_duplicate_indices(self, grad, var):
        # words that are not looked up change too
        return self._apply_dense(tf.convert_to_tensor(grad), var)
