"""A transformer block as in BERT: masked multi-head attention, layer normalization, and a GELU
feed-forward part.

The optimizer is gradient descent: the gradient of the keys' bias consists of rounding errors, which
Adam would scale to the size of the other gradients.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

HEADS, WIDTH, LENGTH = 2, 8, 6


def layer_norm(x, name):
    """tf.contrib.layers.layer_norm(begin_norm_axis=-1) of TensorFlow 1.15."""
    with tf1.variable_scope(name):
        beta = tf1.get_variable("beta", [WIDTH], initializer=tf1.zeros_initializer())
        gamma = tf1.get_variable("gamma", [WIDTH], initializer=tf1.ones_initializer())
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def heads(x, name):
    x = tf1.layers.dense(x, WIDTH, name=name)
    return tf.transpose(tf.reshape(x, [-1, LENGTH, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])


def model_fn(features, labels):
    x = features["x"]
    with tf1.variable_scope("attention"):
        query, key, value = (heads(x, name) for name in ("query", "key", "value"))
        scores = tf.matmul(query, key, transpose_b=True) * (WIDTH // HEADS) ** -0.5
        scores += (1 - tf.cast(features["mask"], tf.float32)[:, None, None, :]) * -10000.0
        context = tf.matmul(tf.nn.softmax(scores), value)
        context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, LENGTH, WIDTH])
        attended = layer_norm(tf1.layers.dense(context, WIDTH, name="output") + x, "LayerNorm")
    hidden = tf1.layers.dense(attended, 16, name="intermediate")
    hidden *= 0.5 * (1 + tf.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * tf.pow(hidden, 3))))
    y = layer_norm(tf1.layers.dense(hidden, WIDTH, name="output") + attended, "LayerNorm")
    pooled = tf1.layers.dense(y[:, 0, :], WIDTH, activation=tf.tanh, name="pooler")
    loss = tf1.losses.sparse_softmax_cross_entropy(labels,
                                                   tf1.layers.dense(pooled, 3, name="classifier"))
    return Step(loss=loss,
                train_op=tf1.train.GradientDescentOptimizer(0.1).minimize(
                    loss, tf1.train.get_global_step()))


rng = np.random.default_rng(8)
batches = {"features/x": rng.standard_normal((4, 6, LENGTH, WIDTH)).astype(np.float32),
           "features/mask": (np.arange(LENGTH)
                             < rng.integers(2, LENGTH + 1, (4, 6, 1))).astype(np.int32),
           "labels": rng.integers(0, 3, (4, 6)).astype(np.int32)}
generate(__file__, model_fn, "a transformer block", batches=batches, num_steps=20,
         forward_ops={"Softmax", "BiasAdd"},
         atol=1e-7)  # for the keys' bias
