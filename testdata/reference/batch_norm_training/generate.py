"""Batch normalization in training, fused (images) and not fused (rows): gradients, and moving
averages over 20 steps."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    layers = tf1.layers
    x = layers.conv2d(features, 6, 3, use_bias=False)
    x = tf.nn.relu(layers.batch_normalization(x, momentum=0.9, training=True))
    x = layers.conv2d(x, 4, 3, strides=2, padding="same", use_bias=False)
    x = tf.nn.relu(layers.batch_normalization(x, momentum=0.8, epsilon=1e-2, scale=False,
                                              training=True))
    x = layers.dense(layers.flatten(x), 8, use_bias=False)
    x = tf.nn.tanh(layers.batch_normalization(x, momentum=0.9, training=True))
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, layers.dense(x, 3))
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf1.train.get_global_step())
    return Step(loss=loss, train_op=train_op)


rng = np.random.default_rng(2)
batches = {"features": (3 * rng.standard_normal((5, 6, 8, 8, 3)) + 1).astype(np.float32),
           "labels": rng.integers(0, 3, (5, 6)).astype(np.int32)}
generate(__file__, model_fn, "batch normalization in training, fused and not", batches=batches,
         num_steps=20, forward_ops={"BiasAdd", "Conv2D", "MatMul", "FusedBatchNormV3", "Relu",
                                    "Tanh"})
