"""A tf.cond that chooses between two optimizers: two steps of Adam, then one of Momentum."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    loss = network.loss(features, labels)
    step = tf1.train.get_global_step()
    adam, momentum = tf1.train.AdamOptimizer(0.02), tf1.train.MomentumOptimizer(0.05, 0.9)
    train_op = tf.cond(tf.less(step % 3, 2), lambda: adam.minimize(loss, step),
                       lambda: momentum.minimize(loss, step))
    return Step(loss=loss, train_op=train_op)


generate(__file__, model_fn, "Adam or Momentum, chosen by a cond",
         batches=network.batches(), num_steps=20)
