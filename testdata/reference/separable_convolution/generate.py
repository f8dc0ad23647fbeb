"""Separable convolutions with strides, dilation and a depth multiplier, as in MobileNet and
Xception."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    layers = tf1.layers
    x = layers.conv2d(features, 6, 3, strides=2, padding="same", activation=tf.nn.relu6)
    x = layers.separable_conv2d(x, 8, 3, padding="same", activation=tf.nn.relu6)
    x = layers.separable_conv2d(x, 8, 3, strides=2, padding="same", depth_multiplier=2,
                                activation=tf.nn.elu)
    x = layers.separable_conv2d(x, 6, 3, padding="same", dilation_rate=2, activation=tf.nn.relu,
                                use_bias=False)
    x = layers.average_pooling2d(x, 2, 2)
    logits = layers.dense(layers.flatten(x), 3)
    loss = tf1.losses.sigmoid_cross_entropy(labels, logits)
    return Step(loss=loss,
                train_op=tf1.train.MomentumOptimizer(0.1, 0.9).minimize(
                    loss, tf1.train.get_global_step()))


rng = np.random.default_rng(6)
batches = {"features": rng.standard_normal((4, 5, 17, 17, 3)).astype(np.float32),
           "labels": rng.integers(0, 2, (4, 5, 3)).astype(np.float32)}
generate(__file__, model_fn, "separable convolutions", batches=batches, num_steps=20,
         forward_ops={"Relu6", "Relu", "Elu", "AvgPool", "BiasAdd"})
