"""Functions with gradients of their own: a reversed gradient, a straight-through sign of a
variable, two outputs."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402

from reference_lib import Step, generate, tf, tf1  # noqa: E402


@tf.custom_gradient
def reverse_gradient(x):
    return x, lambda dy: -0.1 * dy


@tf.custom_gradient
def binary_matmul(x, w):
    """x times the signs of w. The gradient is that of x times w."""
    return tf.matmul(x, tf.sign(w)), lambda dy: (tf.matmul(dy, w, transpose_b=True),
                                                 tf.matmul(x, dy, transpose_a=True))


@tf.custom_gradient
def log1p_exp_and_sigmoid(x):
    """Only the first output is used below: the gradient of the second is zeros."""
    e = tf.exp(x)
    return (tf.math.log(1 + e), e / (1 + e)), lambda dy, ds: dy * (1 - 1 / (1 + e)) + ds


def model_fn(features, labels):
    hidden = tf1.layers.dense(features, 12)
    hidden, _ = log1p_exp_and_sigmoid(hidden)
    domain = tf1.layers.dense(reverse_gradient(hidden), 2, name="domain")
    w = tf1.get_variable("binary/kernel", [12, 4])
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, binary_matmul(hidden, w))
    loss += tf1.losses.sparse_softmax_cross_entropy(labels % 2, domain)
    train_op = tf1.train.GradientDescentOptimizer(0.02).minimize(loss, tf1.train.get_global_step())
    return Step(loss=loss, train_op=train_op)


if __name__ == "__main__":
    generate(__file__, model_fn, "functions with tf.custom_gradient", batches=network.batches(),
             num_steps=20)
