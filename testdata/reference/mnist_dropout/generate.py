"""The MNIST network with dropout. The seeds of the graph and of the layer determine what each step
drops."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import Step, generate, tf1  # noqa: E402


def model_fn(features, labels):
    logits = network.logits(features, lambda x: tf1.layers.dropout(x, rate=0.4, seed=5,
                                                                   training=True))
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    return Step(loss=loss,
                train_op=tf1.train.MomentumOptimizer(0.02, 0.9).minimize(
                    loss, tf1.train.get_global_step()))


generate(__file__, model_fn, "the MNIST network with dropout of 0.4, seeds 1 and 5, Momentum(0.02, "
                             "0.9)",
         batches=network.batches(), num_steps=20, random=True, max_forward_elements=2000,
         forward_ops={"BiasAdd", "Relu", "MaxPool", "SelectV2"})
