"""L2 penalties of the kernels in the loss, with momentum."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402

from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    network.loss(features, labels, kernel_regularizer=lambda kernel: 0.02 * tf.nn.l2_loss(kernel))
    loss = tf1.losses.get_total_loss()
    train_op = tf1.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf1.train.get_global_step())
    return Step(loss=loss, train_op=train_op)


generate(__file__, model_fn, "L2 regularization of the kernels", batches=network.batches(),
         num_steps=20)
